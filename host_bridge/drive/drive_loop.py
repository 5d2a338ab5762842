"""The loop of a drive: ticks a hundred times a second, the person's requests, the screen."""

from __future__ import annotations

import asyncio
import platform
import sys
from collections.abc import Callable

from host_bridge.cars.fleet import Fleet
from host_bridge.core import Input, OperatorRequest
from host_bridge.core.errors import TandemError
from host_bridge.core.system.clock import Clock
from host_bridge.core.system.line_writer import LineWriter
from host_bridge.drive.control_task import ControlTask, next_tick_us
from host_bridge.drive.controls import make_input, open_inputs
from host_bridge.drive.display.view import DriveDisplay
from host_bridge.drive.drive import FleetDrive, Phase
from host_bridge.drive.opening import begin_drive, tell_notes
from host_bridge.drive.options import DriveOptions
from host_bridge.drive.outcome import fault_of
from host_bridge.drive.wake_signal import WakeSignal
from host_bridge.logs.recorder import Recorder
from host_bridge.sharing.open_car import OpenCar

_VIEW_EVERY = 10  # ticks: ten times a second


def _terminal(person: Input | None, now_us: Callable[[], int]) -> Input | None:
    """Return a terminal display, whose keys can stop the cars, for a person without a screen."""
    if person is None or person.reads_terminal or person.screen() or not sys.stdin.isatty():
        return None
    return make_input("keyboard", {}, now_us)


class DriveLoop:
    """The loop that keeps the ticks, with the inputs and the screen of the person at it."""

    def __init__(
        self,
        options: DriveOptions,
        view: DriveDisplay,
        clock: Clock,
        person: Input | None,
        lines: LineWriter,
    ) -> None:
        self._options = options
        self._lines = lines
        self._view = view
        self._clock = clock
        self._person = person
        self._terminal = _terminal(person, clock.now_us) if options.is_watched else None
        seen_by = self._terminal or person
        self._screen = seen_by.screen() if seen_by and not options.is_json else None
        is_alone = (
            options.is_watched or options.is_json
        )  # a second drive must not write into the screen
        self._has_log = (self._screen is None and is_alone) or not sys.stdout.isatty()
        self._requests: list[OperatorRequest] = []
        self.was_cancelled = False

    async def drive(
        self, cars: list[OpenCar], epoch: int, chosen: Input, log: Recorder | None
    ) -> tuple[FleetDrive, TandemError | None]:
        """Drive the cars; return the drive and its fault, None if there is none."""
        vehicles = [opened.vehicle for opened in cars]
        for opened in cars:
            opened.car.is_afar |= self._options.is_afar
        is_virtual = all(opened.is_virtual for opened in cars)
        is_afar = any(opened.car.is_afar for opened in cars)
        guest_caps_mps = [cap for opened in cars if (cap := opened.guest_cap_mps) is not None]
        wake_signal = WakeSignal(self._clock.now_us)
        controls = await open_inputs(
            self._options,
            vehicles,
            is_virtual,
            chosen,
            self._person,
            self._clock.now_us,
            self._terminal,
            wake_signal.notify,
            [opened.name for opened in cars],
            is_afar=is_afar,
            guest_cap_mps=min(guest_caps_mps, default=None),
        )
        try:
            fleet = Fleet([opened.car for opened in cars], epoch)
            driven = begin_drive(
                self._options, fleet, controls, self._clock.now_us(), f"drive@{platform.node()}"
            )
            tell_notes(self._options, driven.notes, log)
            control_task = ControlTask(fleet, controls.source, driven.read, controls.guardian)
            await self._loop(driven, control_task, log, wake_signal)
        finally:
            await controls.close()
        return driven, fault_of(driven, has_hand=self._person is not None, is_virtual=is_virtual)

    async def _loop(
        self,
        driven: FleetDrive,
        control_task: ControlTask,
        log: Recorder | None,
        wake_signal: WakeSignal,
    ) -> None:
        tick_us = self._clock.now_us()
        while not driven.is_over():
            self._tick(driven, control_task)
            if log:
                log.step()
                driven.log_fault = log.fault
            tick_us, late = next_tick_us(tick_us, self._clock.now_us())
            control_task.late += late
            try:
                if await wake_signal.wait_until(tick_us):
                    self._step_between_ticks(driven, control_task)
                    await asyncio.sleep((tick_us - self._clock.now_us()) * 1e-6)
            except asyncio.CancelledError:
                if self.was_cancelled:
                    raise
                self.was_cancelled = True
                self._requests.append(OperatorRequest.QUIT)

    def _obey(self, driven: FleetDrive, now_us: int) -> None:
        requests, self._requests = [*self._requests, *driven.controls.requests()], []
        for request in requests:
            self.was_cancelled |= request is OperatorRequest.INTERRUPT
            driven.handle(request, now_us)

    def _step_between_ticks(self, driven: FleetDrive, control_task: ControlTask) -> None:
        """Serve an input that woke the session between two ticks: its command and its requests."""
        now_us = self._clock.now_us()
        control_task.claim_between_ticks(driven.read(now_us, is_between_ticks=True), now_us)
        self._obey(driven, now_us)

    def _tick(self, driven: FleetDrive, control_task: ControlTask) -> None:
        now_us = self._clock.now_us()
        self._obey(driven, now_us)
        control_task.tick(now_us)
        driven.step(now_us)
        if (
            driven.phase is Phase.STOPPED
            and self._person is None
            and not self._waits(driven, now_us)
        ):
            driven.quit(now_us)  # nobody is there to arm again
        if control_task.ticks % _VIEW_EVERY == 0:
            self._show(driven, now_us)

    def _waits(self, driven: FleetDrive, now_us: int) -> bool:
        """Return True if the input itself may still arm the stopped cars within the drive's time.

        That holds for inputs that ``outlives_stops``, once driving has begun or if it began
        unarmed.
        """
        seconds = self._options.seconds
        is_in_time = seconds is None or driven.lasted_s(now_us) < seconds
        has_begun = driven.begun_us is not None or self._options.is_unarmed
        return has_begun and is_in_time and driven.controls.input.outlives_stops

    def _show(self, driven: FleetDrive, now_us: int) -> None:
        if self._screen:
            columns, rows = self._screen.size()
            self._screen.show(self._view.screen(driven, now_us, columns, rows))
        if self._has_log:
            self._lines.put(self._view.news(driven, now_us))
