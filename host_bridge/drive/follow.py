"""The loop of ``tandem follow``: opens the leader and its followers, keeps the ticks, and ends."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from host_bridge.cars.following import Following
from host_bridge.core import Vehicle
from host_bridge.core.errors import DeviceFault, NotHeldFault, UsageFault, VehicleFileFault
from host_bridge.core.system.clock import Clock
from host_bridge.core.system.line_writer import LineWriter
from host_bridge.drive.control_task import next_tick_us
from host_bridge.drive.controls import source_of_all
from host_bridge.drive.opening import start_log
from host_bridge.drive.twins import twin_uri
from host_bridge.link.protocol.session_time import BoardTime
from host_bridge.logs.recorder import Recorder
from host_bridge.sharing.open_car import OpenCar
from host_bridge.sharing.services import Host

_EPOCH_S = 2.0  # a car reports its own session in turn with other slow reports
_FAREWELL_S = 0.3  # for each follower to report that it is no longer armed
_NEWS_EVERY = 10  # ticks
_RC = "rc"


@dataclass(frozen=True)
class FollowOptions:
    """The options of a following."""

    leader: str
    followers: tuple[str, ...]
    vehicle: str | None = None
    record: Path | None = None
    seconds: float | None = None


class FollowView(Protocol):
    """The display of a following, for people and programs."""

    def news(self, following: Following, now_us: int) -> Sequence[str]:
        """Return the new lines of this moment; called ten times a second."""

    def summary(self, following: Following, now_us: int) -> Sequence[str]:
        """Return the lines for the end."""


async def follow(options: FollowOptions, view: FollowView, host: Host) -> int:
    """Follow until cancelled or until the time is over; return the exit code.

    Raises errors.TandemError.
    """
    log: Recorder | None = None
    try:
        async with AsyncExitStack() as logs, AsyncExitStack() as stack:  # logs are closed last
            cars = await _open(options, host, stack)
            log = await start_log(options.record, host, cars, logs)
            source_of_all([_with_receiver(opened.vehicle) for opened in cars], _RC)
            following = Following(cars[0].car, [opened.car for opened in cars[1:]])
            lines = LineWriter(sys.stdout)
            try:
                await _run(following, options, view, host.cars.clock, log, lines)
            finally:
                await _let_go(following, cars[1:], host.cars.clock)
                lines.finish(view.summary(following, host.cars.clock.now_us()))
        _judge(following)
    except BaseException:  # Ctrl-C too; checked after closing: its last write may have failed
        if log and log.fault:
            print(f"tandem: {log.fault}", file=sys.stderr)
        raise
    if log and log.fault:
        raise log.fault
    return 0


async def _open(options: FollowOptions, host: Host, stack: AsyncExitStack) -> list[OpenCar]:
    leader = await host.cars.open(
        options.leader, epoch=host.cars.new_epoch(), vehicle=options.vehicle
    )
    stack.push_async_callback(leader.close)
    if not await leader.until(lambda: leader.car.own_epoch is not None, _EPOCH_S):
        raise DeviceFault("the leader does not name its own session", where=leader.uri)
    cars = [leader]
    for named in options.followers:
        text = twin_uri(named, cars, host.vehicles)
        opened = await host.cars.open(
            text,
            epoch=leader.car.own_epoch,
            vehicle=options.vehicle,
            session_time=BoardTime(leader.car.connection),
        )
        stack.push_async_callback(opened.close)
        if opened.name in [car.name for car in cars]:
            raise UsageFault(f"{text} is the car {opened.name}, which is here already")
        cars.append(opened)
    return cars


def _with_receiver(vehicle: Vehicle) -> Vehicle:
    if not vehicle.has_rc:
        raise VehicleFileFault(
            "this vehicle has no RC receiver, so there is nothing to follow",
            where=vehicle.path,
            expected="[rc] and [sources.rc]",
            remedy="drive several cars from here instead: tandem drive --car CAR --twin CAR",
        )
    return vehicle


async def _run(
    following: Following,
    options: FollowOptions,
    view: FollowView,
    clock: Clock,
    log: Recorder | None,
    lines: LineWriter,
) -> None:
    begun_us = tick_us = clock.now_us()
    ticks = 0
    has_reported_fault = False
    while options.seconds is None or tick_us - begun_us < options.seconds * 1e6:
        following.step(clock.now_us())
        if following.has_new_leader():
            raise DeviceFault(
                f"{following.leader.name} began anew, and forgot what it was followed by",
                remedy="begin following again",
            )
        ticks += 1
        if ticks % _NEWS_EVERY == 0:
            lines.put(view.news(following, clock.now_us()))
        if log:
            log.step()
            if log.fault and not has_reported_fault:
                has_reported_fault = True
                print(f"NOT RECORDED ANY MORE: {log.fault}", file=sys.stderr, flush=True)
        tick_us, _ = next_tick_us(tick_us, clock.now_us())
        await asyncio.sleep((tick_us - clock.now_us()) * 1e-6)


async def _let_go(following: Following, cars: Sequence[OpenCar], clock: Clock) -> None:
    following.end(clock.now_us())
    for opened, follower in zip(cars, following.followers, strict=True):
        await opened.until(lambda who=follower: not who.is_armed(), _FAREWELL_S)  # type: ignore[misc]


def _judge(following: Following) -> None:
    for follower in following.followers:
        if not follower.agreement.is_equal():
            raise NotHeldFault(
                f"{follower.car.name} did not accept the bytes that its leader did",
                expected="the same running CRC over the claims on both",
                got=f"a difference at or before claim {follower.agreement.differs_at}",
            )
