"""A car on blocks under a session of its own: its setpoint, and waits for its reports."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

from host_bridge.cars.fleet import Fleet, is_ready
from host_bridge.core import (
    Action,
    DriveCommand,
    OperatorAction,
    Profile,
    Sender,
    State,
    arm_action,
)
from host_bridge.core.errors import RefusedFault
from host_bridge.core.system.clock import Clock
from host_bridge.core.texts.table import NO_LINK
from host_bridge.drive import control_task
from host_bridge.sharing.open_car import OpenCar

_ANSWER_S = 2.0
_READY_S = 3.0  # of the clock, which is good within some tenths of a second where nothing is lost
_COUNT_S = 5  # how often a person is told how much time is left
# The holder of the deadman: a program for virtual cars; for a real one the person who said that its
# wheels are off the ground, in the seat.
_SOURCES = {True: "script", False: "seat"}


@dataclass(frozen=True)
class CheckResult:
    """One result. ``is_good`` is None if there is nothing to test, or it was left out."""

    what: str
    is_good: bool | None
    got: str
    remedy: str = ""


class BenchInput:
    """The test's input, which the session asks a hundred times a second."""

    def __init__(self) -> None:
        self.command = DriveCommand()
        self._reports = 0

    def read(self, now_us: int) -> DriveCommand:
        self._reports = self._reports + 1 & 0xFFFF
        return DriveCommand(
            self.command.steer_rad,
            self.command.speed_mps,
            self.command.brake,
            is_held=self.command.is_held,
            input_count=self._reports,
        )


class SelfTestBench:
    """The car under test; its actions raise errors.RefusedFault if the car refuses."""

    def __init__(self, opened: OpenCar, clock: Clock, tell: Callable[[str], None]) -> None:
        self.opened = opened
        self.car = opened.car
        self.vehicle = opened.vehicle
        self.tell = tell  # tells the person what to do now
        self.input = BenchInput()
        self._clock = clock

    @asynccontextmanager
    async def driven(self) -> AsyncIterator[None]:
        """Send claims in this context; the deadman is released before and after."""
        epoch = self.car.connection.epoch
        assert epoch is not None, "opened with one"
        source = self.vehicle.source(_SOURCES[self.opened.is_virtual])
        driving = control_task.ControlTask(Fleet([self.car], epoch), source, self.input.read)
        task = asyncio.ensure_future(control_task.run(driving, self._clock))
        try:
            yield
        finally:
            self.input.command = DriveCommand()
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    async def hold(self, command: DriveCommand, seconds: float) -> None:
        """Claim this command, which holds the deadman; return after so long, while it stays."""
        self.input.command = command
        await asyncio.sleep(seconds)

    def let_go(self) -> None:
        self.input.command = DriveCommand()

    async def until(self, is_so: Callable[[], bool], within_s: float) -> bool:
        return await self.opened.until(is_so, within_s)

    async def ask(self, what: str, is_so: Callable[[], bool], within_s: float) -> bool:
        """Tell the person repeatedly what to do and how much time is left.

        Returns False if it was not done in time.
        """
        for left_s in range(round(within_s), 0, -_COUNT_S):
            self.tell(f"{what} {left_s} s are left.")
            if await self.until(is_so, min(_COUNT_S, left_s)):
                return True
        return False

    async def do(self, action: OperatorAction) -> None:
        """Arm, clear or disarm. Raises errors.RefusedFault with every reason."""
        request = self.car.request(action, self._clock.now_us())
        await self.until(lambda: request.result is not None, _ANSWER_S)
        result = request.result
        if result is None or not result.is_done:
            reasons = "; ".join(result.reasons) if result else "no answer"
            raise RefusedFault(f"{self.opened.name} did not {action.kind.phrase}: {reasons}")

    async def arm(self) -> None:
        """Arm in the profile for a stand: slow, and for a minute at most."""
        await self.until(self._may_arm, _READY_S)
        await self.do(arm_action(Profile.STAND, Sender.COMMAND))
        await self.until(lambda: self.state is State.HOLD, 1.0)

    def _may_arm(self) -> bool:
        return self.state not in (None, State.STARTING) and is_ready(self.car)

    async def disarm(self) -> None:
        self.let_go()
        await self.until(lambda: self.state is State.HOLD, 3.0)
        if self.state is State.HOLD:
            await self.do(OperatorAction(Action.DISARM, Sender.COMMAND))

    async def clear(self) -> None:
        await self.do(OperatorAction(Action.CLEAR, Sender.COMMAND))

    @property
    def is_armed(self) -> bool:
        return self.state is not None and self.state.is_armed

    @property
    def state(self) -> State | None:
        return self.car.status.state if self.car.status else None

    @property
    def state_word(self) -> str:
        """The word of the state that is shown for the car."""
        return self.car.status.shown_state.word if self.car.status else NO_LINK
