"""The course of ``tandem drive``: opens inputs, cars and log, drives, and releases everything."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Coroutine
from contextlib import AsyncExitStack
from typing import Any

from host_bridge.core import Input
from host_bridge.core.errors import UsageFault
from host_bridge.core.system.line_writer import LineWriter
from host_bridge.drive.controls import make_input
from host_bridge.drive.display.view import DriveDisplay
from host_bridge.drive.drive_loop import DriveLoop
from host_bridge.drive.opening import start_log
from host_bridge.drive.options import DriveOptions
from host_bridge.drive.twins import twin_uri
from host_bridge.sharing.open_car import OpenCar
from host_bridge.sharing.services import Host


async def drive(options: DriveOptions, view: DriveDisplay, host: Host) -> int:
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
        hand = options.hand
        if isinstance(hand, str):
            hand = make_input(hand, {}, now_us)
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
