"""``tandem drive --lockstep``: the lockstep loop with a view, a log, and a way in for a stop.

Between two ticks the sockets are looked at, so any other terminal stops the cars, as it stops all
others. As long as no other program says anything, the cars hear what a campaign's cars hear.
"""

from __future__ import annotations

import asyncio
import itertools
import sys
from contextlib import AsyncExitStack, ExitStack

from host_bridge.core.errors import TandemError, UsageFault
from host_bridge.core.system.line_writer import LineWriter
from host_bridge.drive.controls import make_input
from host_bridge.drive.display.view import DriveDisplay
from host_bridge.drive.lockstep.car import LockstepCar, VehicleFiles, open_in_lockstep
from host_bridge.drive.lockstep.loop import LockstepDrive
from host_bridge.drive.lockstep.service import LockstepService
from host_bridge.drive.opening import tell_notes
from host_bridge.drive.options import DriveOptions
from host_bridge.drive.outcome import fault_of
from host_bridge.logs.recorder import Recorder
from host_bridge.sharing.owner.recording import new_recorder

_VIEW_EVERY = 10  # ticks: ten times a virtual second


async def drive_in_lockstep(options: DriveOptions, view: DriveDisplay, files: VehicleFiles) -> int:
    """Drive virtual cars as fast as they can be computed; return the exit code.

    Raises errors.TandemError. When cancelled it first brings the cars to rest; when cancelled
    again it does not.
    """
    with ExitStack() as stack:
        cars = _open_cars(options, files, stack)
        log = _start_log(options, cars, stack)
        chosen = make_input(str(options.input), options.input_options, cars[0].clock.now_us)
        stepped = LockstepDrive(cars, chosen, options)
        stack.callback(stepped.close)
        tell_notes(options, stepped.drive.notes, log)
        lines = LineWriter(sys.stdout, waits=options.waits_for_reader)
        async with AsyncExitStack() as served:
            for car in cars:
                await served.enter_async_context(LockstepService(car))
            was_cancelled = await _ticks(stepped, view, lines, log)
        lines.finish(view.summary(stepped.drive, stepped.now_us))
        fault: TandemError | None = fault_of(stepped.drive, has_hand=False, is_virtual=True)
    lost = log.fault if log else None  # checked after closing: its last write may have failed
    if lost and (fault or was_cancelled):
        print(f"tandem: {lost}", file=sys.stderr)
    if was_cancelled:
        raise asyncio.CancelledError
    if fault or lost:
        raise fault or lost  # type: ignore[misc]  # one of them is there
    return 0


async def _ticks(
    stepped: LockstepDrive, view: DriveDisplay, lines: LineWriter, log: Recorder | None
) -> bool:
    """Drive to the end; return whether somebody ended it before."""
    was_cancelled = False
    for number in itertools.count(1):
        if stepped.drive.is_over():
            return was_cancelled
        stepped.tick()
        if log:
            stepped.drive.log_fault = log.fault
        if number % _VIEW_EVERY == 0:
            lines.put(view.news(stepped.drive, stepped.now_us))
        try:
            await asyncio.sleep(0)  # the sockets and signals have their turn
        except asyncio.CancelledError:
            if was_cancelled:
                raise
            was_cancelled = True
            stepped.end()
    raise AssertionError("the count has no end")


def _open_cars(options: DriveOptions, files: VehicleFiles, stack: ExitStack) -> list[LockstepCar]:
    cars: list[LockstepCar] = []
    for text in options.cars:
        if text is None:
            raise UsageFault(
                "which virtual car is to be driven in lockstep?",
                expected="sim://VEHICLE, with its options",
                remedy="name it: tandem drive sim://f1tenth --lockstep",
            )
        car = open_in_lockstep(files, text)
        stack.callback(car.close)
        if car.car.name in [it.car.name for it in cars]:
            raise UsageFault(
                f"{text} is the car {car.car.name}, which is driven already",
                expected="another car as the twin",
                remedy="virtual cars of one vehicle are told apart by their name: "
                "--car sim://nigel --twin 'sim://nigel?name=twin'",
            )
        cars.append(car)
    return cars


def _start_log(options: DriveOptions, cars: list[LockstepCar], stack: ExitStack) -> Recorder | None:
    if options.record is None:
        return None
    log = new_recorder(options.record, cars[0].clock)
    stack.callback(log.close)
    for car in cars:
        car.log = log
    return log
