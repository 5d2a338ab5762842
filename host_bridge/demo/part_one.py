"""Part 1: two cars driven by one frame, and again with one bit altered."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from host_bridge.demo.cars.demo_cars import DemoCars
from host_bridge.demo.cars.together import (
    MANOEUVRES,
    SHORT,
    AlteredTransport,
    DriveResult,
    drive_together,
)
from host_bridge.demo.judging.part_one_checks import LOG, judge, judge_altered
from host_bridge.demo.judging.verdict import MachineTiming
from host_bridge.demo.output import DemoOutput
from host_bridge.link.transports.base import Transport
from host_bridge.sharing.owner.recording import new_recorder
from host_bridge.sharing.services import Host

VEHICLE = "f1tenth_vesc"
SEED = 7  # of both cars: equal sensor errors, so that only the load and the floor differ
# One kilogram behind the middle, and a fifth of the friction on two patches: one that the slalom
# reaches after some 6 m, one under a part of the skidpad
PATCHES = ((9.0, 2.0, 3.0, 0.2), (18.0, 2.0, 1.5, 0.2))  # x, y, radius in m; times the friction
_PATCH = ";".join(",".join(map(str, patch)) for patch in PATCHES)
TWIN = f"sim://{VEHICLE}?seed={SEED}&name=twin&payload_kg=1.0&payload_x_m=-0.1&patch={_PATCH}"
_ALTERED_CLAIM = 120  # a second and a bit after the first: while driving


async def part_one(
    host: Host,
    car_a: Callable[[], Transport],
    out: Path,
    output: DemoOutput,
    *,
    is_altered: bool,
    machine: MachineTiming | None = None,
) -> DriveResult:
    """Drive both cars, record, compare and judge.

    ``car_a`` makes the line to car A for each drive; without a ``machine`` it all happens in
    virtual time.
    """
    output.heading("1. One frame, two cars")
    vehicle = host.vehicles.load(VEHICLE)
    demo_cars = DemoCars(host, vehicle, _lines(host, car_a(), is_altered=is_altered))
    log_path = out / LOG
    log_path.unlink(missing_ok=True)
    log = new_recorder(log_path, host.cars.clock)
    try:
        await demo_cars.start()
        demo_cars.record(log)
        drive = await drive_together(demo_cars, MANOEUVRES, output)
    finally:
        await demo_cars.close()
        log.close()
    judge(drive, output, machine)
    output.say("\n  Again, with one bit of one claim altered on the way to B:")
    demo_cars = DemoCars(host, vehicle, _lines(host, car_a(), is_altered=True))
    try:
        await demo_cars.start()
        altered = await drive_together(demo_cars, SHORT, output)
    finally:
        await demo_cars.close()
    judge_altered(altered, output, LOG)
    return drive


def _lines(host: Host, car_a: Transport, *, is_altered: bool) -> dict[str, Transport]:
    to_twin = host.cars.transport(TWIN)
    return {
        "demo-a": car_a,
        "demo-b": AlteredTransport(to_twin, _ALTERED_CLAIM) if is_altered else to_twin,
    }
