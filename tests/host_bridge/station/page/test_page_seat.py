"""What a hold of the page wants, number by number, and what ends it."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest

from host_bridge.core import DriveCommand, InputLimits, OperatorRequest
from host_bridge.station.server.page_seat import FRAME, PAD_AGAIN_US, STAND_FRAME, PageSeat
from tests.host_bridge.inputs.made_inputs import DRIVING

LIMITS = InputLimits(steer_rad=0.5, speed_mps=4.0, reverse_mps=2.0)
LEASE_US = 200_000
TENTH = 3_277  # of full steering: the first that is over a tenth
FULL = 32_767
HELD, BY_PAD = 1, 2


class Page:
    """A page and its seat, at a time that is set by hand."""

    def __init__(self, is_on_stand: bool = False, is_guard: bool = False) -> None:
        self.now_us = 5_000_000
        self.told: list[list[str]] = []
        self.seat = PageSeat(
            lambda: self.now_us, self.told.append, is_on_stand=is_on_stand, is_guard=is_guard
        )

    def open(self) -> Page:
        def limits(source: str) -> InputLimits:
            assert source == "seat"
            return LIMITS

        def lease_s(source: str) -> float:
            assert source == "seat"
            return LEASE_US / 1e6

        asyncio.run(self.seat.open(SimpleNamespace(limits=limits, lease_s=lease_s)))
        return self

    def hear(self, flags: int = HELD, steer: int = 0, speed: int = 0, count: int = 0) -> bool:
        return self.seat.hear(FRAME.pack(1, flags, steer, speed, count))

    def held(self, flags: int = HELD, **given: int) -> DriveCommand:
        """Released, then held."""
        self.hear(0)
        self.hear(flags, **given)
        return self.step()

    def step(self) -> DriveCommand:
        return self.seat.step(self.now_us, DRIVING)


def test_before_a_page_says_anything_nothing_is_held():
    seat = PageSeat(lambda: 0, print)
    assert (seat.is_person, seat.is_afar, seat.has_separate_enable) == (True, False, False)
    assert (seat.source, seat.is_on_stand, seat.frames) == ("seat", False, 0)
    assert (seat.held_us, seat.takes_over) == (None, False)
    assert list(seat.requests()) == []
    assert seat.step(0, DRIVING) == DriveCommand()


def test_before_it_is_opened_a_hold_goes_nowhere():
    command = Page().held(steer=FULL, speed=FULL)
    assert command == DriveCommand(is_held=True, input_count=2, heard_us=5_000_000)


@pytest.mark.parametrize(
    ("steer", "speed", "commanded"),
    [
        (0, 0, (0.0, 0.0)),
        (FULL, FULL, (0.5, 4.0)),
        (-FULL, -FULL, (-0.5, -2.0)),
        (-FULL - 1, -FULL - 1, (-0.5, -2.0)),
        (FULL // 2, FULL // 2, (0.25, 2.0)),
        (-FULL // 2, -FULL // 2, (-0.25, -1.0)),
    ],
)
def test_a_finger_moves_its_part_of_the_reach(steer, speed, commanded):
    command = Page().open().held(steer=steer, speed=speed)
    assert (command.steer_rad, command.speed_mps) == pytest.approx(commanded, abs=1e-4)
    assert (command.is_held, command.brake) == (True, 0.0)


def test_frames_are_counted_in_sixteen_bits():
    page = Page().open()
    assert page.held().input_count == page.seat.frames == 2
    page.seat.frames = 0xFFFE
    for count in (0xFFFF, 0, 1):
        page.hear()
        assert page.step().input_count == count


def test_when_it_was_last_held_is_kept_and_no_release_changes_it():
    page = Page().open()
    page.held()
    page.now_us += 7
    page.hear(0)
    assert page.seat.held_us == 5_000_000


def test_what_is_no_frame_is_neither_counted_nor_heard():
    page = Page().open()
    page.held()
    page.now_us += 1
    for frame in (b"", FRAME.pack(2, HELD, 0, 0, 0), STAND_FRAME.pack(2, HELD, 0, 0, 0, 0)):
        assert page.seat.hear(frame) is False
    assert (page.seat.frames, page.step().heard_us) == (2, 5_000_000)
    assert page.hear() is True


@pytest.mark.parametrize(("raw", "brake"), [(0, 0.0), (0xFFFF, 1.0), (0x3333, 0.2)])
def test_on_the_stand_a_frame_has_a_brake(raw, brake):
    page = Page(is_on_stand=True).open()
    assert page.seat.is_on_stand
    page.seat.hear(STAND_FRAME.pack(2, 0, 0, 0, 0, 0))
    page.seat.hear(STAND_FRAME.pack(2, HELD, 0, 0, 0, raw))
    assert page.step().brake == pytest.approx(brake)


# --- by a browser's gamepad


@pytest.mark.parametrize(("speed", "mps"), [(FULL, 0.3), (-FULL, -0.3), (0, 0.0), (1638, 0.2)])
def test_a_gamepad_is_slow_both_ways(speed, mps):
    command = Page().open().held(HELD | BY_PAD, speed=speed)
    assert command.speed_mps == pytest.approx(mps, abs=1e-3)


def test_it_is_let_go_of_a_second_after_it_said_something_new():
    assert PAD_AGAIN_US == 1_000_000
    page = Page().open()
    page.held(HELD | BY_PAD, count=1)
    for late_us, is_held in ((999_999, True), (1_000_000, False)):
        page.now_us = 5_000_000 + late_us
        page.hear(HELD | BY_PAD, count=1)
        assert page.step().is_held is is_held
    page.hear(HELD | BY_PAD, count=2)
    assert not page.step().is_held, "released first"
    page.hear(0, count=3)
    page.hear(HELD | BY_PAD, count=3)
    assert page.step().is_held


@pytest.mark.parametrize("count", [0, 1])
def test_the_first_count_is_news_whatever_it_is(count):
    page = Page().open()
    page.hear(0, count=count)
    page.hear(HELD | BY_PAD, count=count)
    page.now_us += 999_999
    assert page.step().is_held
    page.now_us += 1
    assert not page.step().is_held


def test_a_finger_need_not_say_anything_new():
    page = Page().open()
    page.held()
    page.now_us += 10_000_000
    assert page.step().is_held


def test_a_gamepad_that_is_not_held_does_not_have_to_be_released_first():
    page = Page().open()
    page.hear(BY_PAD)
    page.now_us += 2_000_000
    page.step()
    page.hear(HELD | BY_PAD, count=1)
    assert page.step().is_held


# --- a program drives while it is held

PERMITS = DriveCommand(is_held=True, permits_autonomy=True, input_count=2)


def guard() -> Page:
    return Page(is_guard=True).open()


def test_only_a_guard_is_apart_from_what_drives():
    assert guard().seat.has_separate_enable
    assert not Page().seat.has_separate_enable


def test_a_guard_that_is_held_permits_and_commands_nothing():
    page = guard()
    assert page.held(speed=FULL, steer=TENTH - 1) == PERMITS
    assert not page.seat.takes_over


def test_a_guard_that_is_not_held_permits_nothing():
    page = guard()
    assert page.step() == DriveCommand()
    page.hear(HELD)
    assert page.step() == DriveCommand(), "held before it was seen released"
    page.held()
    page.hear(0)
    assert page.step() == DriveCommand()


def test_a_permission_is_counted_in_sixteen_bits():
    page = guard()
    page.held()
    page.seat.frames = 0xFFFE
    for count in (0xFFFF, 0, 1):
        page.hear()
        assert page.step() == DriveCommand(is_held=True, permits_autonomy=True, input_count=count)


@pytest.mark.parametrize("steer", [TENTH, -TENTH])
def test_who_steers_by_more_than_a_tenth_drives_until_they_let_go(steer):
    page = guard()
    command = page.held(steer=steer, speed=FULL)
    assert page.seat.takes_over
    assert not command.permits_autonomy
    assert command.steer_rad == pytest.approx(0.05 if steer > 0 else -0.05, abs=1e-4)
    assert command.speed_mps == 4.0
    page.hear(HELD)
    assert not page.step().permits_autonomy, "straight again, and still theirs"
    page.hear(0)
    assert not page.seat.takes_over
    page.hear(HELD)
    assert page.step().permits_autonomy


def test_a_guard_that_is_silent_for_its_lease_is_lost_and_released():
    page = guard()
    page.held()
    page.now_us += LEASE_US - 1
    assert page.step() == PERMITS
    page.now_us += 1
    assert page.step() == DriveCommand(lost="The page was silent while it let a program drive")
    page.hear(HELD)
    assert page.step() == DriveCommand(), "the same hold permits nothing any more"
    page.hear(0)
    page.hear(HELD)
    assert page.step().permits_autonomy


def test_what_takes_over_is_not_judged_by_silence_here():
    """The car does, by the age of the claims."""
    page = guard()
    page.held(steer=FULL)
    page.now_us += 10 * LEASE_US
    assert page.step().is_held
    assert page.step().heard_us == 5_000_000


def test_before_it_is_opened_a_guard_is_lost_at_once():
    assert Page(is_guard=True).held().lost


# --- its end


def test_words_are_orders_and_are_given_once():
    seat = Page().open().seat
    seat.request(OperatorRequest.ARM)
    assert list(seat.requests()) == [OperatorRequest.ARM]
    assert list(seat.requests()) == []


def test_a_page_that_goes_twice_stops_once():
    page = Page().open()
    page.held()
    page.seat.leave()
    page.seat.leave()
    assert list(page.seat.requests()) == [
        OperatorRequest.STOP,
        OperatorRequest.QUIT,
        OperatorRequest.QUIT,
    ]
    assert page.step() == DriveCommand(lost="The page that drove is gone")


def test_one_that_goes_without_a_hold_is_no_loss():
    page = Page().open()
    page.hear(0)
    page.seat.leave()
    assert list(page.seat.requests()) == [OperatorRequest.QUIT]
    assert page.step() == DriveCommand()


def test_what_the_drive_says_is_told_to_the_page():
    page = Page()
    screen = page.seat.screen()
    assert screen is page.seat
    assert screen.size() == (200, 100)
    screen.show(("a line", "another"))
    assert page.told == [["a line", "another"]]
