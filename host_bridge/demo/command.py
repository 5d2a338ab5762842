"""Two cars driven by the very same bytes, then stopped in seven ways, with numbers.

Part 1: car A is the real firmware as a process of its own behind a pseudo-terminal, car B its twin
inside the host, heavier and on a slippery patch. Every frame goes to both.
Part 2: at 3 m/s one thing after the other goes wrong; the plant outlives the host.
Exit 0 only if every number held. Writes demo.png, demo.mcap and demo.json to --out.

examples:
  tandem demo
  tandem demo --out /tmp/demo --runtime cpython
  make demo ARGS="--only together"
"""

from __future__ import annotations

import argparse
import dataclasses
import json
from pathlib import Path

from host_bridge.context import HostContext
from host_bridge.demo import peers, report
from host_bridge.demo.crew import Crew
from host_bridge.demo.show import Show
from host_bridge.demo.stops import SPEED_MPS, Case, Scene, cases, run_case
from host_bridge.demo.together import (
    MANOEUVRES,
    SHORT,
    SKEW_LIMIT_US,
    AlteredLine,
    Drive,
    drive_together,
)
from host_bridge.domain import Vehicle
from host_bridge.errors import UsageFault
from sim_mock.facts import facts_of
from sim_mock.process import CarProcess, start

VEHICLE = "f1tenth"
SEED = 7  # of both cars: their sensors err alike, so that what differs is the load and the floor
# One kilogram behind the middle, and a fifth of the friction on two patches: one that the slalom
# reaches after some 6 m, one under a part of the skidpad
PATCHES = "9,2,3,0.2;18,2,1.5,0.2"
TWIN = f"sim://{VEHICLE}?seed={SEED}&name=twin&payload_kg=1.0&payload_x_m=-0.1&patch={PATCHES}"
BEFORE_PATCH_S = 2.0
_ALTERED_AT_BYTE = 20_000  # some seconds into the session


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """``--only`` is for whoever works on one part."""
    parser.add_argument("--out", type=Path, default=Path("demo-out"), help="folder for the results")
    parser.add_argument("--runtime", default="auto", help="auto, micropython, micropython32, cpython")
    parser.add_argument("--only", choices=("together", "stops"), help="one part alone")
    parser.add_argument("--board", help="a bare board on the desk (not there yet)")


def run(args: argparse.Namespace, context: HostContext) -> int:
    """0 if every number held, 1 if not."""
    if args.board:
        raise UsageFault(
            "a bare board cannot drive the plant yet",
            where=f"--board {args.board}",
            remedy="without --board the demo needs no hardware",
        )
    args.out.mkdir(parents=True, exist_ok=True)
    show = Show()
    code = context.run(_demo(args, context, show))
    if code:
        return code
    verdict = "every number held" if show.held() else "NOT every number held"
    show.say(f"\n{len(show.checks)} checks: {verdict}. Results in {args.out}/")
    return 0 if show.held() else 1


async def _demo(args: argparse.Namespace, context: HostContext, show: Show) -> int:
    vehicle = context.vehicle(VEHICLE)
    trace = args.out / "car-a.csv"
    facts = facts_of(vehicle, {"seed": str(SEED), "name": "car-a"})
    link = (args.out / "car-a.port").absolute()
    options = ("--trace", str(trace), "--link", str(link), "--ends-alone")
    car = await start(facts, args.runtime, *options)
    car.device = str(link)
    show.say(f"car A: the firmware under {car.runtime}, process {car.process.pid}, port {link.name}")
    try:
        await _parts(args, context, show, vehicle, car, trace)
    finally:
        car.tell("quit")
        await car.process.wait()
    return 0


async def _parts(
    args: argparse.Namespace,
    context: HostContext,
    show: Show,
    vehicle: Vehicle,
    car: CarProcess,
    trace: Path,
) -> None:
    drive = await _together(args, context, show, vehicle, car) if args.only != "stops" else None
    done = await _stops(show, vehicle, car, trace) if args.only != "together" else []
    rolls = [peers.rolled_out(vehicle, SPEED_MPS, peer.holds_s) for peer in peers.PEERS]
    if done:
        show.heading("All stops")
        report.print_table(done, rolls)
    if drive and done:
        report.draw(drive, done, rolls, args.out / "demo.png")
    results = {
        "runtime": car.runtime,
        "checks": [dataclasses.asdict(check) for check in show.checks],
    }
    (args.out / "demo.json").write_text(json.dumps(results, indent=2) + "\n")


async def _together(
    args: argparse.Namespace,
    context: HostContext,
    show: Show,
    vehicle: Vehicle,
    car: CarProcess,
) -> Drive:
    show.heading("1. One frame, two cars")
    transports = {
        "demo-a": context.transport(f"serial://{car.device}"),
        "demo-b": context.transport(TWIN),
    }
    crew = Crew(context, vehicle, transports)
    log_path = args.out / "demo.mcap"
    log_path.unlink(missing_ok=True)
    log = context.recorder(log_path)
    try:
        await crew.start()
        crew.record(log)
        drive = await drive_together(crew, MANOEUVRES, show)
    finally:
        await crew.close()
        log.close()
    _judge(drive, car, show)
    await _alter_one_byte(context, show, vehicle, car)
    return drive


def _judge(drive: Drive, car: CarProcess, show: Show) -> None:
    crcs = " and ".join(f"{name} {crc}" for name, crc in drive.crcs.items())
    show.check(
        "claims that both cars accepted, byte for byte",
        f"{max(drive.counts.values(), default=0)} each, running CRC {crcs}",
        "all equal, none missed",
        drive.is_identical(),
    )
    if "MicroPython" not in car.runtime:
        show.say(f"        Car A ran under {car.runtime}: byte identity across the two Pythons")
        show.say("        was NOT shown. `make setup` says how to have a MicroPython.")
    show.check(
        "applied at the same time",
        f"{drive.skew_us} us apart at most",
        f"at most {SKEW_LIMIT_US} us, a beat and the clocks",
        drive.skew_us <= SKEW_LIMIT_US,
    )
    show.check(
        "the alarm finds the load and the slippery patch",
        f"{', '.join(drive.alarms) or 'nothing'}, first after {drive.alarm_s:.1f} s; "
        f"paths {drive.path_m:.2f} m apart",
        f"the path at least, and nothing in the {BEFORE_PATCH_S:.0f} s before the patch",
        "path" in drive.alarms and drive.alarm_s > BEFORE_PATCH_S,
    )


async def _alter_one_byte(
    context: HostContext, show: Show, vehicle: Vehicle, car: CarProcess
) -> None:
    """The same check, with one bit of one byte changed on the way to B: it has to fail."""
    show.say("\n  Again, with one bit of one byte altered on the way to B:")
    altered = AlteredLine(context.transport(TWIN), _ALTERED_AT_BYTE)
    transports = {"demo-a": context.transport(f"serial://{car.device}"), "demo-b": altered}
    crew = Crew(context, vehicle, transports)
    try:
        await crew.start()
        drive = await drive_together(crew, SHORT, show)
    finally:
        await crew.close()
    show.check(
        "that the cars accepted the same bytes",
        f"running CRC {' and '.join(drive.crcs.values())}",
        "has to be found false",
        not drive.is_identical(),
    )


async def _stops(show: Show, vehicle: Vehicle, car: CarProcess, trace: Path) -> list[Case]:
    show.heading(f"2. At {SPEED_MPS:.0f} m/s, everything that goes wrong")
    scene = Scene(car, trace, vehicle)
    done = cases()
    try:
        for case in done:
            await run_case(case, scene, show)
    finally:
        if scene.driver:
            await scene.driver.end()
    return done
