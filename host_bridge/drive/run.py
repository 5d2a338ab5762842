"""The loop of ``tandem drive``: opens cars and inputs, keeps the ticks, and releases everything."""

from __future__ import annotations

import asyncio
import platform
import sys
from collections.abc import Callable, Coroutine
from contextlib import AsyncExitStack
from typing import Any

from host_bridge.cars.fleet import Fleet
from host_bridge.config.store import Host
from host_bridge.core import Input, OperatorRequest
from host_bridge.core.errors import (
    AnotherCarFault,
    DeviceFault,
    NotHeldFault,
    OverrunFault,
    RefusedFault,
    TandemError,
    UsageFault,
)
from host_bridge.core.system.clock import Clock
from host_bridge.core.system.line_writer import LineWriter
from host_bridge.drive.control_task import ControlTask, next_tick_us
from host_bridge.drive.controls import Controls, make_input, open_inputs
from host_bridge.drive.drive import Drive, Phase
from host_bridge.drive.opening import start_log
from host_bridge.drive.options import DriveOptions
from host_bridge.drive.twins import twin_uri
from host_bridge.drive.view import View
from host_bridge.drive.wake_signal import WakeSignal
from host_bridge.logs.recorder import Recorder
from host_bridge.sharing.open_car import OpenCar

_NARROW = 40  # columns that every terminal is assumed to have
_VIEW_EVERY = 10  # ticks: ten times a second


async def drive(options: DriveOptions, view: View, host: Host) -> int:
    """Drive until the person, the file or the time ends it; return the exit code.

    Raises errors.TandemError. When cancelled it first brings the cars to rest; when cancelled
    again it does not.
    """
    async with AsyncExitStack() as logs, AsyncExitStack() as stack:  # logs are closed last
        now_us = host.cars.clock.now_us
        chosen = _chosen(options, now_us)
        if options.is_lockstep:
            _refuse_real_time(options, chosen)
        person = None if options.is_lockstep else _person(options, chosen, now_us)
        epoch = (
            1 if options.is_lockstep else host.cars.new_epoch()
        )  # fixed: it is part of the bytes
        cars = await _open_cars(options, host, epoch, stack)
        log = await start_log(options.record, host, cars, logs)
        lines = LineWriter(sys.stdout, waits=options.waits_for_reader)
        drive_loop = DriveLoop(options, view, host.cars.clock, person, lines)
        ended, fault = await drive_loop.drive(cars, epoch, chosen, log)
        lines.finish(view.summary(ended, now_us()))
    if lines.lost:
        message = f"tandem: {lines.lost} lines of its output are left out: nobody read them in time"
        LineWriter(sys.stderr).finish([message])
    lost = log.fault if log else None  # checked after closing: its last write may have failed
    if lost and (fault or drive_loop.was_cancelled):
        print(f"tandem: {lost}", file=sys.stderr)
    if drive_loop.was_cancelled:
        raise asyncio.CancelledError
    if fault:
        raise fault
    if lost:
        raise lost
    return 0


async def drive_both(first: Coroutine[Any, Any, int], second: Coroutine[Any, Any, int]) -> int:
    """Run two drives at once; when one ends the other comes to rest. Return the first's exit code.

    Raises errors.TandemError of either. When cancelled both come to rest first.
    """
    tasks = [asyncio.ensure_future(it) for it in (first, second)]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        results = await asyncio.gather(*tasks, return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException) and not isinstance(result, asyncio.CancelledError):
            raise result
    return next((result for result in results if isinstance(result, int)), 0)


def _chosen(options: DriveOptions, now_us: Callable[[], int]) -> Input:
    if isinstance(options.input, Input):
        return options.input
    return make_input(options.input, options.input_options, now_us)


def _person(options: DriveOptions, chosen: Input, now_us: Callable[[], int]) -> Input | None:
    """Return the input of the person who may stop the drive.

    It is the chosen input itself, the named hand, or the keyboard of the terminal; None without
    one.
    """
    if options.hand is not None:
        hand = make_input(options.hand, {}, now_us)
        if chosen.is_person or not hand.is_person:
            raise UsageFault(
                f"--hand {options.hand} with --input {options.input}: who holds whose deadman?",
                expected="a person's hand (gamepad, keyboard) for a program (csv, script, devkit)",
                remedy="tandem drive --input script:slalom --hand gamepad",
            )
        return hand
    if chosen.is_person:
        return chosen
    is_there = options.is_watched and sys.stdin.isatty()
    return make_input("keyboard", {}, now_us) if is_there else None


def _refuse_real_time(options: DriveOptions, chosen: Input) -> None:
    """Raise errors.UsageFault for inputs and cars that do not run in virtual time."""
    if not chosen.is_computed:
        raise UsageFault(
            f"--lockstep is for what is computed: {options.input} keeps the time of the world",
            expected="--input csv:FILE or script:NAME",
            remedy="leave --lockstep out",
        )
    for text in options.cars:
        scheme = (text or "").partition(":")[0].removeprefix("lossy+")
        if scheme != "sim":
            raise UsageFault(
                "only virtual cars in this program can be driven in lockstep",
                where=text or "the car that is served",
                expected="sim://VEHICLE, with its options",
                remedy="leave --lockstep out to drive it in the time of the world",
            )


def _terminal(person: Input | None, now_us: Callable[[], int]) -> Input | None:
    """Return a terminal display, whose keys can stop the cars, for a person without a screen."""
    if person is None or person.reads_terminal or person.screen() or not sys.stdin.isatty():
        return None
    return make_input("keyboard", {}, now_us)


async def _open_cars(
    options: DriveOptions, host: Host, epoch: int, stack: AsyncExitStack
) -> list[OpenCar]:
    cars: list[OpenCar] = []
    for named in options.cars:
        text = twin_uri(named, cars, host.vehicles)
        opened = await host.cars.open(text, epoch=epoch, vehicle=options.vehicle)
        stack.push_async_callback(opened.close)
        if opened.name in [car.name for car in cars]:
            raise UsageFault(
                f"{text} is the car {opened.name}, which is driven already",
                expected="another car as the twin",
                remedy="virtual cars of one vehicle are told apart by their name: "
                "--car sim://nigel --twin 'sim://nigel?name=twin'",
            )
        cars.append(opened)
    return cars


class DriveLoop:
    """The loop that keeps the ticks, with the inputs and the screen of the person at it."""

    def __init__(
        self,
        options: DriveOptions,
        view: View,
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
    ) -> tuple[Drive, TandemError | None]:
        """Drive the cars; return the drive and its fault, None if there is none."""
        vehicles = [opened.vehicle for opened in cars]
        is_virtual = all(opened.is_virtual for opened in cars)
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
        )
        if not self._options.is_json:
            _tell_limit(self._options, controls)
        try:
            fleet = Fleet([opened.car for opened in cars], epoch)
            driven = Drive(
                fleet,
                controls,
                self._clock.now_us(),
                sender_name=f"drive@{platform.node()}",
                seconds=self._options.seconds,
                profile=self._options.profile,
                cap_mps=self._options.cap_mps,
                is_unarmed=self._options.is_unarmed,
                arm_clears=self._options.arm_clears,
            )
            control_task = ControlTask(fleet, controls.source, driven.read, controls.guardian)
            await self._loop(driven, control_task, log, wake_signal)
        finally:
            await controls.close()
        return driven, _fault(driven, has_hand=self._person is not None, is_virtual=is_virtual)

    async def _loop(
        self,
        driven: Drive,
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

    def _obey(self, driven: Drive, now_us: int) -> None:
        requests, self._requests = [*self._requests, *driven.controls.requests()], []
        for request in requests:
            self.was_cancelled |= request is OperatorRequest.INTERRUPT
            driven.handle(request, now_us)

    def _step_between_ticks(self, driven: Drive, control_task: ControlTask) -> None:
        """Serve an input that woke the session between two ticks: its command and its requests."""
        now_us = self._clock.now_us()
        control_task.claim_between_ticks(driven.read(now_us, is_between_ticks=True), now_us)
        self._obey(driven, now_us)

    def _tick(self, driven: Drive, control_task: ControlTask) -> None:
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

    def _waits(self, driven: Drive, now_us: int) -> bool:
        """Return True if the input itself may still arm the stopped cars within the drive's time.

        That holds for inputs that ``outlives_stops``, once driving has begun or if it began
        unarmed.
        """
        seconds = self._options.seconds
        is_in_time = seconds is None or driven.lasted_s(now_us) < seconds
        has_begun = driven.begun_us is not None or self._options.is_unarmed
        return has_begun and is_in_time and driven.controls.input.outlives_stops

    def _show(self, driven: Drive, now_us: int) -> None:
        if self._screen:
            columns, rows = self._screen.size()
            self._screen.show(fitted(self._view.screen(driven, now_us, columns), rows))
        if self._has_log:
            self._lines.put(self._view.news(driven, now_us))


def fitted(lines: list[str], rows: int) -> list[str]:
    """Return the screen within ``rows`` lines.

    Empty lines are left out first; if that is not enough, the last line says how many are missing.
    """
    if len(lines) > rows:
        lines = [line for line in lines if line]
    if len(lines) <= rows:
        return lines
    left_out = len(lines) - rows + 1
    return [*lines[: rows - 1], f" {left_out} more lines: make the terminal higher"[:_NARROW]]


def _tell_limit(options: DriveOptions, controls: Controls) -> None:
    """Tell a person who asks for more speed than the cars and the input allow what the limit is."""
    most_mps = controls.limits.speed_mps
    if options.speed_mps is not None and options.speed_mps > most_mps:
        what = f"--speed {options.speed_mps:g} is more than these cars and this input may"
        print(f"tandem: {what}: {most_mps:g} m/s at most", file=sys.stderr)


def _fault(driven: Drive, *, has_hand: bool, is_virtual: bool) -> TandemError | None:
    """Return the fault that makes the exit code: refused, lost, different bytes, or ended early."""
    if driven.begun_us is None and driven.refusal:
        remedy = "put that right; a stop whose cause is gone: tandem clear; then try again"
        fault = OverrunFault if driven.overrunning_cars else RefusedFault
        refused = fault(driven.refusal, remedy=remedy)
        if isinstance(refused, OverrunFault):
            refused.cars = tuple(car.cli_name for car in driven.overrunning_cars)
            refused.boards = tuple(car.as_known_car().board_id for car in driven.overrunning_cars)
        return refused
    if strangers := [car for car in driven.fleet.cars if car.stranger]:
        return AnotherCarFault(strangers[0].stranger, remedy=strangers[0].remedy)
    if driven.lost():
        names = ", ".join(driven.lost())
        what = "its program, or who serves it, has ended" if is_virtual else "cable and power"
        return DeviceFault(
            f"the link to {names} was lost, and did not come back before the end",
            remedy=f"see to it: {what}; a car that hears nothing has stopped by itself",
        )
    differs_at = driven.fleet.agreement().differs_at
    if differs_at is not None:
        return NotHeldFault(
            "the cars did not accept the same bytes",
            expected="the same running CRC over the claims on all cars",
            got=f"a difference at or before claim {differs_at}",
        )
    is_shown = len(driven.fleet.cars) == 1 or driven.fleet.agreement().agreed > 0
    if not has_hand and driven.is_completed and not is_shown:
        return NotHeldFault(
            "nothing shows that the cars accepted the same bytes",
            expected="both cars' reports of the same claim",
            got="none",
            remedy="is the drive long enough, and the line to each car good?",
        )
    halted = [trip.car for trip in driven.trips if trip.is_halted()]
    if halted and not driven.is_completed and not driven.controls.input.is_person:
        why = "; ".join(f"{car.name}: {car.why_stopped()}" for car in halted)
        return NotHeldFault("the cars stopped before the end", got=why)
    if not has_hand and not driven.is_completed:
        return NotHeldFault("the cars stopped before the end", got=driven.notice)
    return None
