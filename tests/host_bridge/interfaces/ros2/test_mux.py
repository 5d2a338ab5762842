"""Who of several publishers drives, in virtual time."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from host_bridge.interfaces.ros2.making import make
from host_bridge.interfaces.ros2.mux import Command, Mux
from host_bridge.interfaces.ros2.vocabulary import F1TENTH

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
    mux.sources[name].take(Command(speed_mps, 0.0, heard_us), at_ms * MS)


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
    assert it.fallen == "joystick"
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
    it, node, clock = mux(), make("f1tenth", {}, lambda: 0), _Clock()
    node._bus, node._is_local = clock, True
    source, jumped_ms = it.sources["navigation"], 503
    drove_ms = []
    for at_ms in range(0, 1000, 5):
        clock.now_us = node._now_us = at_ms * MS
        if at_ms % 20 == 5:
            made_ns = clock.stamp_ns() - 5 * MS * 1000
            if at_ms == jumped_ms + 2:
                clock.ahead_s += jump_s
            message = _stamped(made_ns)
            message.drive = SimpleNamespace(speed=1.0, steering_angle=0.0)
            source.take(Command(1.0, 0.0, node._heard_us(message, at_ms * MS)), at_ms * MS)
        if it.decide(at_ms * MS):
            drove_ms.append(at_ms)
        assert source.latest is None or source.latest.heard_us <= at_ms * MS
    assert drove_ms[0] == 25  # the second command
    assert drove_ms[-1] == 995
    assert source.refused == (1 if abs(jump_s) > LEASE_S or jump_s < -0.05 else 0)
    assert it.fallen is None
