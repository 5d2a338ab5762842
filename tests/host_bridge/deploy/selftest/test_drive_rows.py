"""The drive's rows: the standstill is that of a car which moved, and then was let go."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest

from host_bridge.core import State
from host_bridge.deploy.selftest.checks import drive

SPEED_MPS = 0.2
# state and speed once the deadman is released, report by report
BRAKES = ((State.ACTIVE, SPEED_MPS), (State.HOLD, 0.1), (State.HOLD, 0.0))
DRIVES_ON = ((State.ACTIVE, SPEED_MPS),) * 3
NOT_RELEASED = ((State.ACTIVE, 0.0),) * 3  # its wheels stand, and it is still driven
STOPS = ((State.STOPPING, 0.1), (State.STOPPED, 0.0))


class ScriptedBench:
    """A car that drives at this speed, and is told so; then its reports after the release."""

    def __init__(self, driven_mps: float, released: tuple[tuple[State, float], ...]) -> None:
        self.vehicle = SimpleNamespace(
            parameters={"channel_kind": [2]}, profile_caps_mps={"stand": 0.4}
        )
        self.input = SimpleNamespace(command=None)
        self._driven_mps, self._released = driven_mps, released
        self._at: int | None = None
        self._reports = 0

    @property
    def state(self) -> State:
        return State.ACTIVE if self._at is None else self._released[self._at][0]

    @property
    def state_word(self) -> str:
        return self.state.word

    @property
    def car(self) -> SimpleNamespace:
        mps = self._driven_mps if self._at is None else self._released[self._at][1]
        return SimpleNamespace(
            outputs=SimpleNamespace(channels=[1_500_000 + 1000 * self._reports]),
            motion=SimpleNamespace(count_left=self._reports, count_right=self._reports),
            status=SimpleNamespace(speed_mps=mps),
            why_stopped=lambda: "",
        )

    async def hold(self, command, seconds):
        self._reports += 1

    async def until(self, is_so, within_s):
        self._reports += 1
        while not is_so():
            if self._at is None or self._at == len(self._released) - 1:
                return False
            self._at += 1
        return True

    def let_go(self):
        self._at = 0


def standstill(driven_mps, released):
    async def rows():
        return [row async for row in drive(ScriptedBench(driven_mps, released))]

    (row,) = [row for row in asyncio.run(rows()) if row.what == "standstill"]
    return row


def test_a_car_that_moved_and_brakes_into_armed_once_it_is_let_go_is_good():
    row = standstill(SPEED_MPS, BRAKES)
    assert (row.is_good, row.got) == (True, "+0.00 m/s, ARMED, once the deadman was released")


@pytest.mark.parametrize(
    ("released", "got"),
    [
        (DRIVES_ON, "+0.20 m/s, DRIVING, though the deadman was released"),
        (NOT_RELEASED, "+0.00 m/s, DRIVING, though the deadman was released"),
        (STOPS, "+0.00 m/s, STOPPED, though the deadman was released"),
    ],
)
def test_a_car_that_does_anything_else_is_bad(released, got):
    row = standstill(SPEED_MPS, released)
    assert (row.is_good, row.got) == (False, got)


def test_a_car_that_never_moved_shows_no_standstill():
    row = standstill(0.0, ((State.HOLD, 0.0),))
    assert (row.is_good, row.got) == (None, "not shown: it was not seen to move before")
    assert standstill(0.0, NOT_RELEASED).is_good is False
