"""What keys mean at the wheel. Refusal before permission: first how the deadman is let go."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from host_bridge.core import InputLimits, OperatorRequest
from host_bridge.inputs.keyboard.keyboard import CLOSING, OPENING, Keyboard
from host_bridge.inputs.keyboard.seat import PRESS_AGAIN_US, KeyboardSeat
from host_bridge.inputs.keyboard.terminal_queries import ANSWER_US, ASK, POP, PUSH, ReleaseSupport

LIMITS = InputLimits(speed_mps=4.0, reverse_mps=1.0, steer_rad=0.4)
PRESS, REPEAT, RELEASE = b"\x1b[32;1:1u", b"\x1b[32;1:2u", b"\x1b[32;1:3u"
DRIVING_US = 200_000  # past the moment in neutral
FLAGS_ON = b"\x1b[?11u"


class Desk:
    """A keyboard and a terminal that answers, in a time of their own."""

    def __init__(self, *, has_releases):
        self.now_us = 1_000_000
        self.answers = True
        self.flags = b"\x1b[?11u"
        self.keyboard = Keyboard()
        opening = self.keyboard.data_to_send()
        assert opening == OPENING + ASK + b"\x1b[c"
        self.requests = []
        if has_releases:
            self.type(b"\x1b[?0u\x1b[?62c")
            assert self.keyboard.data_to_send() == PUSH + ASK
            self.type(FLAGS_ON)
        else:
            self.type(b"\x1b[?62c")
        self.keyboard.seat = self.seat = KeyboardSeat(LIMITS, has_releases)

    def type(self, data):
        self.requests += self.keyboard.receive_data(data, self.now_us)

    def wait(self, us):
        for _ in range(us // 10_000):
            self.now_us += 10_000
            self.requests += self.keyboard.step(self.now_us)
            asked = self.keyboard.data_to_send().count(ASK)
            if self.answers:
                self.type(self.flags * asked)

    def command(self):
        return self.seat.read(self.now_us)

    def drive(self):
        self.type(PRESS if self.seat.has_releases else b" ")
        self.wait(DRIVING_US)
        self.type(b"\x1b[119u" if self.seat.has_releases else b"w")
        assert self.command().is_held
        assert self.command().speed_mps == pytest.approx(0.4)


@pytest.fixture
def kitty():
    return Desk(has_releases=True)


@pytest.fixture
def legacy():
    return Desk(has_releases=False)


# --- what a terminal can do


def test_flags_are_pushed_only_where_the_question_was_understood(legacy):
    assert legacy.keyboard.releases is ReleaseSupport.NOT_REPORTED
    legacy.type(FLAGS_ON)  # too late: what was said stays
    assert legacy.keyboard.releases is ReleaseSupport.NOT_REPORTED
    assert legacy.keyboard.data_to_send() == b""


def test_a_terminal_that_knows_a_part_of_the_protocol_reports_no_release():
    keyboard = Keyboard()
    keyboard.receive_data(b"\x1b[?0u", 0)
    keyboard.data_to_send()
    keyboard.receive_data(b"\x1b[?1u", 0)
    assert keyboard.releases is ReleaseSupport.NOT_REPORTED
    assert keyboard.data_to_send() == POP


def test_a_terminal_that_never_answers_reports_no_release():
    """Within a second of the question: before that, cars may have taken long to open."""
    keyboard = Keyboard()
    for now_us in (5_000_000, 5_999_999):
        keyboard.step(now_us)
        assert keyboard.releases is ReleaseSupport.UNKNOWN
    keyboard.step(6_000_000)
    assert keyboard.releases is ReleaseSupport.NOT_REPORTED


def test_quit_works_before_anything_is_known():
    assert Keyboard().receive_data(b"\x03", 0) == [OperatorRequest.INTERRUPT]
    assert Keyboard().receive_data(b" wr", 0) == []


def test_what_is_pushed_is_popped_on_the_same_screen():
    assert CLOSING.endswith(POP + b"\x1b[?1049l")
    assert OPENING.startswith(b"\x1b[?1049h" + POP)


# --- letting go


@pytest.mark.parametrize(
    "data",
    [
        RELEASE,
        b"\x1b[32;2:3u",
        b"\x1b[O",  # the window lost the keyboard: the release may go elsewhere
        b"\x1b[122;5u",  # Ctrl-Z
        b"\x1b[101u",  # E
        b"\x1b[120u",  # X
        b"\x1b[27u",  # Esc
        b"\x1b[99;5u",  # Ctrl-C
        b"\x1b[114u",  # R: armed anew, begun anew
        b"\x1b[?0u",  # something reset the terminal: releases are no longer reported
        b"\x1b[32;1:3\x1b[119u",  # a release that lost a byte
    ],
)
def test_with_key_release_the_deadman_drops_at_once(kitty, data):
    kitty.drive()
    kitty.type(data)
    assert not kitty.command().is_held
    assert kitty.command().speed_mps == 0
    kitty.type(REPEAT)
    assert not kitty.command().is_held, "a repeat is no new press"


def test_with_key_release_the_deadman_holds_as_long_as_the_key_does(kitty):
    kitty.drive()
    kitty.wait(30_000_000)
    assert kitty.command().is_held
    assert kitty.requests == []


def test_bytes_that_no_key_made_do_not_hold_it(kitty):
    kitty.type(b"    ")
    assert not kitty.command().is_held


def test_bytes_that_no_key_made_stop_and_quit_but_do_nothing_else(kitty):
    kitty.drive()
    kitty.type(b"waadr\r")
    assert kitty.requests == []
    assert kitty.command().speed_mps == pytest.approx(0.4)
    assert kitty.command().steer_rad == 0
    kitty.type(b"e\x03")
    assert kitty.requests == [OperatorRequest.STOP, OperatorRequest.INTERRUPT]


def test_a_frozen_terminal_is_noticed_while_the_deadman_is_held(kitty):
    kitty.drive()
    kitty.answers = False
    frozen_us = kitty.now_us
    while not kitty.requests:
        kitty.wait(10_000)
    assert kitty.requests == [OperatorRequest.FROZE]
    assert kitty.now_us - frozen_us <= ANSWER_US + 60_000
    assert not kitty.command().is_held


def test_after_a_freeze_it_can_be_held_again_and_late_answers_count_for_nothing(kitty):
    kitty.drive()
    kitty.answers = False
    kitty.wait(300_000)
    late = FLAGS_ON * 5
    kitty.type(PRESS)
    kitty.wait(60_000)
    kitty.type(late)
    kitty.wait(ANSWER_US + 20_000)
    assert kitty.requests == [OperatorRequest.FROZE, OperatorRequest.FROZE]


def test_a_closed_terminal_lets_go_and_ends(kitty):
    kitty.drive()
    assert kitty.keyboard.closed() == [OperatorRequest.QUIT]
    assert not kitty.command().is_held


def test_without_key_release_the_deadman_drops_a_second_after_the_last_press(legacy):
    legacy.type(b" ")
    legacy.wait(990_000)
    assert legacy.command().is_held
    legacy.wait(10_000)
    assert not legacy.command().is_held
    assert legacy.seat.left_us(legacy.now_us) is None


def test_other_keys_do_not_hold_the_deadman(legacy):
    legacy.drive()
    for _ in range(12):
        legacy.wait(100_000)
        legacy.type(b"w")
    assert not legacy.command().is_held
    assert legacy.seat.speed_mps == 0


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"e", OperatorRequest.STOP),
        (b"X", OperatorRequest.STOP),
        (b"\x03", OperatorRequest.INTERRUPT),
        (b"r", OperatorRequest.ARM),
    ],
)
def test_without_key_release_requests_let_go_at_once(legacy, data, expected):
    legacy.drive()
    legacy.type(data)
    assert legacy.requests == [expected]
    assert not legacy.command().is_held


# --- driving


def test_driving_begins_from_neutral_and_again_after_each_release(kitty):
    kitty.type(PRESS + b"\x1b[119u")  # SPACE and W at once
    assert kitty.command().is_held
    assert kitty.command().speed_mps == 0
    kitty.wait(DRIVING_US)
    assert kitty.command().speed_mps == pytest.approx(0.4)
    kitty.type(RELEASE + PRESS)
    kitty.wait(DRIVING_US)
    assert kitty.command().is_held
    assert kitty.command().speed_mps == 0


def test_speed_asked_for_without_the_deadman_is_not_kept(legacy):
    legacy.type(b"www ")
    legacy.wait(DRIVING_US)
    assert legacy.command().speed_mps == 0


def test_a_held_key_goes_on_to_the_end_of_reach_and_no_further(kitty):
    kitty.type(PRESS)
    kitty.wait(DRIVING_US)
    kitty.type(b"\x1b[119;1:1u" + b"\x1b[119;1:2u" * 30 + b"\x1b[119;1:3u")
    assert kitty.command().speed_mps == 4.0
    kitty.type(b"\x1b[115u" * 40)
    assert kitty.command().speed_mps == -1.0


def test_a_is_left_and_positive_d_is_right_q_is_the_centre(legacy):
    legacy.type(b"a")
    assert legacy.command().steer_rad == pytest.approx(0.04)
    legacy.type(b"ddd")
    assert legacy.command().steer_rad == pytest.approx(-0.08)
    legacy.type(b"q")
    assert legacy.command().steer_rad == 0


def test_a_key_held_down_gives_its_order_once(kitty):
    kitty.type(b"\x1b[114u\x1b[114;1:2u\x1b[114;1:2u\x1b[114;1:3u")
    assert kitty.requests == [OperatorRequest.ARM]


# --- whatever bytes come

_PIECES = st.one_of(
    st.binary(max_size=6),
    st.sampled_from([b" ", b"w", b"e", b"r", PRESS, REPEAT, RELEASE, b"\x1b[O", b"\x1b", FLAGS_ON]),
)
_WAITS = st.sampled_from([0, 10_000, 60_000, 300_000])


@given(st.lists(st.tuples(_PIECES, _WAITS), max_size=40))
def test_without_key_release_no_bytes_hold_the_deadman_for_longer_than_a_second(steps):
    desk = Desk(has_releases=False)
    pressed_us = None
    for data, wait_us in steps:
        desk.type(data)
        if b" " in data or b"u" in data:  # the last byte of any press
            pressed_us = desk.now_us
        desk.wait(wait_us)
        if desk.command().is_held:
            assert pressed_us is not None
            assert desk.now_us - pressed_us < PRESS_AGAIN_US
    desk.wait(PRESS_AGAIN_US)
    assert desk.command().is_held is False


@given(st.lists(st.tuples(_PIECES, _WAITS), max_size=40))
def test_with_key_release_no_bytes_hold_the_deadman_past_a_release_or_a_freeze(steps):
    desk = Desk(has_releases=True)
    for data, wait_us in steps:
        desk.type(data)
        desk.wait(wait_us)
    was_held = desk.command().is_held
    desk.type(RELEASE)
    assert not desk.command().is_held
    if was_held:
        desk.type(PRESS)
        desk.answers = False
        desk.wait(ANSWER_US + 60_000)
        assert not desk.command().is_held
