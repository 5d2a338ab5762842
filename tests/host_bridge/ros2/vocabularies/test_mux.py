"""Who of several publishers drives, in virtual time."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from host_bridge.ros2.node.command_topics import CommandTopics
from host_bridge.ros2.node.mux import Mux, MuxSource, StampedCommand
from host_bridge.ros2.vocabularies.f1tenth.vocabulary import F1TENTH
from tests.host_bridge.ros2.vocabularies.installed import VOCABULARIES

LEASE_S = 0.12
MS = 1000


def mux() -> Mux:
    made = Mux(F1TENTH.mux, LEASE_S)
    made.begin()
    return made


def say(
    mux: Mux, name: str, at_ms: int, speed_mps: float = 1.0, made_ms: int | None = None
) -> None:
    heard_us = (at_ms if made_ms is None else made_ms) * MS
    mux.sources[name].take(StampedCommand(speed_mps, 0.0, heard_us), at_ms * MS)


def test_nothing_moves_before_the_second_command():
    it = mux()
    say(it, "navigation", 0)
    assert it.decide(1 * MS) is None
    assert "the second one counts" in it.words(1 * MS)
    say(it, "navigation", 20, 2.0)
    command = it.decide(21 * MS)
    assert command is not None
    assert command.speed_mps == 2.0
    assert it.words(21 * MS) == "drive drives."


def test_a_second_command_counts_only_soon_after_the_first():
    it = mux()
    say(it, "navigation", 0)
    say(it, "navigation", 500)
    assert it.decide(501 * MS) is None


def test_a_planner_ranks_and_falls_silent_alike_in_each_table_that_has_one():
    """As in the mux of the F1TENTH cars, whose other rows are a joystick's above it."""
    rows = [row for it in VOCABULARIES.values() for row in it.mux if row.name == "navigation"]
    assert len(rows) >= 3
    assert {(row.priority, row.timeout_s) for row in rows} == {(10, 0.2)}


def test_the_higher_priority_wins_while_it_is_heard():
    it = mux()
    for at_ms in (0, 20):
        say(it, "navigation", at_ms, 1.0)
        say(it, "joystick", at_ms, 2.0)
    command = it.decide(21 * MS)
    assert command is not None
    assert command.speed_mps == 2.0


def test_silence_of_who_drives_lets_nobody_else_drive():
    """What a mux does then is let the next one drive: the car that drove off when the pad died."""
    it = mux()
    for at_ms in range(0, 100, 20):
        say(it, "joystick", at_ms)
        say(it, "navigation", at_ms)
    assert it.decide(100 * MS) is not None
    for at_ms in range(100, 300, 20):
        say(it, "navigation", at_ms)
    assert it.decide(300 * MS) is None
    assert it.timed_out == "joystick"
    say(it, "joystick", 310)
    say(it, "joystick", 330)
    assert it.decide(331 * MS) is None  # its return changes nothing
    it.begin()
    say(it, "navigation", 340)
    say(it, "navigation", 360)
    assert it.decide(361 * MS) is not None


def test_silence_of_who_does_not_drive_is_nothing():
    it = mux()
    for at_ms in range(0, 300, 20):
        if at_ms < 60:
            say(it, "navigation", at_ms)
        say(it, "joystick", at_ms)
        it.decide(at_ms * MS)
    assert it.decide(300 * MS) is not None


def test_no_timeout_is_longer_than_the_lease():
    it = mux()
    assert it.sources["navigation"].timeout_us == round(LEASE_S * 1e6)


@pytest.mark.parametrize(
    ("shift_ms", "why"), [(-500, "0.50 s old"), (1000, "1.00 s in the future")]
)
def test_an_old_command_and_one_of_the_future_are_refused(shift_ms, why):
    it = mux()
    for at_ms in (10, 20):
        say(it, "navigation", at_ms, made_ms=at_ms + shift_ms)
    assert it.decide(21 * MS) is None
    assert it.sources["navigation"].refused == 2
    assert why in it.words(21 * MS)


def test_a_command_that_was_overtaken_changes_nothing():
    it = mux()
    say(it, "navigation", 0, 1.0)
    say(it, "navigation", 40, 2.0)
    say(it, "navigation", 41, 9.0, made_ms=20)
    command = it.decide(42 * MS)
    assert command is not None
    assert command.speed_mps == 2.0
    assert it.sources["navigation"].refused == 1


def test_what_was_said_before_arming_counts_for_nothing():
    it = mux()
    say(it, "navigation", 0)
    say(it, "navigation", 20)
    it.begin()
    assert it.decide(21 * MS) is None
    say(it, "navigation", 40)
    assert it.decide(41 * MS) is None


# --- to the microsecond

TIMEOUT_US = 120_000


def source() -> MuxSource:
    made = mux().sources["navigation"]
    assert (made.latest, made.is_confirmed, made.refused, made.why_refused) == (None, False, 0, "")
    return made


@pytest.mark.parametrize(
    ("age_us", "is_taken"),
    [(TIMEOUT_US, True), (TIMEOUT_US + 1, False), (-50_000, True), (-50_001, False)],
)
def test_a_command_may_be_as_old_as_the_timeout_and_little_ahead(age_us, is_taken):
    it = source()
    it.take(StampedCommand(1.0, 0.0, 1_000_000 - age_us), 1_000_000)
    assert (it.latest is not None, it.refused) == (is_taken, 0 if is_taken else 1)


@pytest.mark.parametrize(("gap_us", "is_live"), [(TIMEOUT_US, True), (TIMEOUT_US + 1, False)])
def test_the_second_command_has_as_long(gap_us, is_live):
    it = source()
    for at_us in (0, gap_us):
        it.take(StampedCommand(1.0, 0.0, at_us), at_us)
    assert (it.live_command(gap_us) is not None) is is_live


@pytest.mark.parametrize(("age_us", "is_live"), [(TIMEOUT_US, True), (TIMEOUT_US + 1, False)])
def test_and_counts_for_as_long(age_us, is_live):
    it = source()
    for _ in range(2):  # of one moment: the second is not older
        it.take(StampedCommand(1.0, 0.0, 0), 0)
    assert it.refused == 0
    assert (it.live_command(age_us) is not None) is is_live


def test_a_command_has_no_brake_unless_it_says_so():
    assert StampedCommand(1.0, 0.0, 0).brake == 0.0


def test_before_anything_is_said_nobody_drives():
    it = Mux(F1TENTH.mux, LEASE_S)
    assert (it.winner, it.timed_out) == (None, None)
    assert it.decide(0) is None
    assert it.words(0) == "Nothing comes on teleop or drive or commands/motor/speed."


def test_an_arming_takes_the_confirmation_too():
    it = mux()
    for at_ms in (0, 20):
        say(it, "navigation", at_ms)
    it.begin()
    assert not it.sources["navigation"].is_confirmed


def test_a_source_of_less_priority_does_not_drive_in_the_step_in_which_one_falls_silent():
    it = mux()
    for at_ms in (0, 20):
        say(it, "joystick", at_ms)
    assert it.decide(20 * MS) is not None
    for at_ms in (120, 140):
        say(it, "navigation", at_ms)
    assert it.decide(141 * MS) is None
    assert (it.timed_out, it.winner) == ("joystick", None)
    assert it.words(141 * MS) == (
        "teleop fell silent: nobody drives until the cars are armed again."
    )


def test_who_cedes_by_its_own_word_leaves_the_wheel_to_the_next():
    it = mux()
    for at_ms in (0, 20):
        say(it, "joystick", at_ms)
        say(it, "navigation", at_ms, 2.0)
    assert it.decide(21 * MS) is not None
    it.release("joystick")
    joystick = it.sources["joystick"]
    assert (joystick.latest, joystick.is_confirmed, it.winner) == (None, False, None)
    command = it.decide(22 * MS)
    assert command is not None
    assert (command.speed_mps, it.winner, it.timed_out) == (2.0, "navigation", None)


def test_one_that_does_not_drive_cedes_nothing_of_who_does():
    it = mux()
    for at_ms in (0, 20):
        say(it, "navigation", at_ms)
    it.decide(21 * MS)
    it.release("joystick")
    assert it.winner == "navigation"
    it.suspend()
    assert it.winner is None


def test_a_refusal_is_told_until_its_source_is_live_again():
    it = mux()
    it.sources["joystick"].refuse("it was not a number")
    assert it.words(0) == "A command on teleop was refused: it was not a number."
    for at_ms in (0, 20):
        say(it, "joystick", at_ms)
    assert "refused" not in it.words(21 * MS)
    assert it.words(21 * MS) == "One command came on teleop; the second one counts."


# --- the machine's clock is set while somebody drives by it


class _Clock:
    """The machine's clock, which may be set, as the bus tells it."""

    ahead_s = 1_800_000_000.0

    def __init__(self):
        self.now_us = 0

    def stamp_ns(self):
        return round(self.ahead_s * 1e9) + self.now_us * 1000


def _stamped(stamp_ns: int) -> SimpleNamespace:
    sec, nanosec = divmod(stamp_ns, 1_000_000_000)
    return SimpleNamespace(header=SimpleNamespace(stamp=SimpleNamespace(sec=sec, nanosec=nanosec)))


@pytest.mark.parametrize("jump_s", [-100.0, -0.2, 0.2, 100.0])
def test_a_machine_s_clock_that_jumps_makes_no_command_younger(jump_s):
    """Commands at 50 Hz, each 5 ms on its way; the clock is set while one is on its way."""
    it, clock = mux(), _Clock()
    topics = CommandTopics(clock, it, None, None, lambda: clock.now_us, is_local=True)
    source, jumped_ms = it.sources["navigation"], 503
    drove_ms = []
    for at_ms in range(0, 1000, 5):
        clock.now_us = at_ms * MS
        if at_ms % 20 == 5:
            made_ns = clock.stamp_ns() - 5 * MS * 1000
            if at_ms == jumped_ms + 2:
                clock.ahead_s += jump_s
            message = _stamped(made_ns)
            message.drive = SimpleNamespace(speed=1.0, steering_angle=0.0)
            source.take(StampedCommand(1.0, 0.0, topics._heard_us(message, at_ms * MS)), at_ms * MS)
        if it.decide(at_ms * MS):
            drove_ms.append(at_ms)
        assert source.latest is None or source.latest.heard_us <= at_ms * MS
    assert drove_ms[0] == 25  # the second command
    assert drove_ms[-1] == 995
    assert source.refused == (1 if abs(jump_s) > LEASE_S or jump_s < -0.05 else 0)
    assert it.timed_out is None
