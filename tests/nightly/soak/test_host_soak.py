"""Hours of the bridge: two cars under one session, trouble, recovery, and no memory taken."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from host_bridge.core import State
from tests.host_bridge.drive.drives import Drive, Line, Rig, is_ready, whole
from tests.nightly.soak.length import MINUTES, WALL_LIMIT_S, Growth
from tests.support.evidence import every

MINUTE_US = 60_000_000
COMES_TO_REST_WITHIN_S = 20.0  # a car that was cut at full speed only rolls
pytestmark = [pytest.mark.soak, pytest.mark.timeout(WALL_LIMIT_S)]


class Trouble:
    """Seeded: one thing that goes wrong, and then everything right again."""

    def __init__(self, drive: Drive, seed: int) -> None:
        self._drive = drive
        self._rng = random.Random(seed)
        self.kinds: tuple[Callable[[], None], ...] = (
            self._none,
            self._let_go,
            self._stop,
            self._open_runstop,
            self._freeze,
            self._kill_host,
            self._unplug,
            self._lose,
            self._flip,
        )

    def happen(self) -> None:
        self._rng.choice(self.kinds)()
        self._drive.advance(self._rng.uniform(0.3, 1.0))

    def end(self) -> None:
        self._drive.is_host_alive = True
        self._drive.hand.is_alive = True
        self._drive.let_go()
        for rig in self._drive.rigs:
            rig.world.runstop_closed = rig.is_plugged = True
            rig.up = rig.down = whole

    def _none(self) -> None:
        """A drive without any."""

    def _let_go(self) -> None:
        self._drive.let_go()

    def _stop(self) -> None:
        self._drive.stop()

    def _open_runstop(self) -> None:
        self._a_rig().world.runstop_closed = False

    def _freeze(self) -> None:
        self._drive.hand.is_alive = False

    def _kill_host(self) -> None:
        self._drive.is_host_alive = False

    def _unplug(self) -> None:
        self._a_rig().is_plugged = False

    def _lose(self) -> None:
        rig = self._a_rig()
        rig.up = rig.down = self._losing(self._rng.uniform(0.05, 0.5))

    def _flip(self) -> None:
        rig = self._a_rig()
        rig.up = rig.down = self._flipping(self._rng.uniform(0.01, 0.2))

    def _a_rig(self) -> Rig:
        return self._rng.choice(self._drive.rigs)

    def _losing(self, share: float) -> Line:
        return lambda data: b"" if self._rng.random() < share else data

    def _flipping(self, share: float) -> Line:
        def line(data: bytes) -> bytes:
            damaged = bytearray(data)
            if damaged and self._rng.random() < share:
                damaged[self._rng.randrange(len(damaged))] ^= 1 << self._rng.randrange(8)
            return bytes(damaged)

        return line


def at_rest(drive: Drive) -> bool:
    return every(rig.car.status and abs(rig.car.status.speed_mps) < 0.01 for rig in drive.rigs)


def recover(drive: Drive) -> None:
    """What a person does after a stop: stop what has not, wait, clear, arm."""
    drive.until(lambda: every(map(is_ready, drive.rigs)), 5.0)
    drive.advance(0.5)
    if drive.is_in(State.HOLD):
        return
    drive.stop()
    drive.until(lambda: at_rest(drive), COMES_TO_REST_WITHIN_S)
    drive.until(lambda: every(map(is_stopped, drive.rigs)), COMES_TO_REST_WITHIN_S)
    drive.advance(0.5)
    for request in (drive.fleet.clear, drive.fleet.arm):
        done = drive.finish(request(drive.now_us))
        assert done.is_done(), str(done)
    drive.until(lambda: drive.is_in(State.HOLD))


def is_stopped(rig: Rig) -> bool:
    """Latched: where it stood already, it is in STANDBY with a cause."""
    status = rig.car.status
    is_over = status.state in (State.STANDBY, State.STOPPED)
    return is_over and bool(status.causes)


def test_hours_of_trouble_leave_the_bridge_as_it_was():
    drive = Drive(Rig("a"), Rig("b", board_us=77_000_000, phase_us=4000, seed=2))
    drive.arm()
    rng, trouble, growth = random.Random(7), Trouble(drive, 8), Growth("self")
    for minute in range(MINUTES):
        ends_us = drive.now_us + MINUTE_US
        while drive.now_us < ends_us:
            drive.go(rng.uniform(0.5, 3.5), rng.uniform(-0.3, 0.3))
            drive.advance(rng.uniform(0.5, 2.0))
            assert drive.is_in(State.ACTIVE)
            trouble.happen()
            trouble.end()
            recover(drive)
            assert drive.fleet.agreement().is_equal()
            for rig in drive.rigs:
                rig.heard.clear()
        growth.look(minute)
