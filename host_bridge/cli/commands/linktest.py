"""``tandem linktest``: measure a network as a car that is driven over it would feel it."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from datetime import datetime
from pathlib import Path

from host_bridge.cars.actions import ActionResult
from host_bridge.cli.arguments.arg_types import positive
from host_bridge.cli.car_actions.request import refused_fault, request_action
from host_bridge.core import Refusal, Sender, Vehicle, cap_action
from host_bridge.core.errors import DeviceFault, NotHeldFault, UsageFault
from host_bridge.core.files.link_traces import Probe, write_trace
from host_bridge.core.system.running import run_async
from host_bridge.drive.controls import REMOTE
from host_bridge.link.transports.uri import Uri
from host_bridge.logs.new_file import refuse_unwritable
from host_bridge.sharing.endpoints.naming import is_of_another_host, parts_of
from host_bridge.sharing.network.invitations import invitations_to
from host_bridge.sharing.network.link_test.findings import (
    Findings,
    StopRate,
    cap_mps,
    findings,
    metres,
)
from host_bridge.sharing.network.link_test.probing import record
from host_bridge.sharing.network.network_car import NetworkCar
from host_bridge.sharing.open_car import OpenCar
from host_bridge.sharing.services import Host

EPILOG = """\
examples:
  tandem linktest tandem://192.168.1.7/red
  tandem linktest tandem://192.168.1.7/red --for 600 --out hall.csv
  tandem linktest tandem://192.168.1.7/red --apply
  tandem drive --car 'lossy+sim://nigel?trace=hall.csv'      drives through what was recorded

It sends 200 sealed datagrams a second, each as long as a claim, and needs a token (tandem accept).
It says how long they take, how many are lost, how often a car would have stopped over it, and how
fast it should drive at most. Stops are counted over the trace itself; an hour's number has the
bounds of 95 %: a minute without a stop can have 180 an hour. --apply lowers the car's cap to what
follows, and needs a token that drives. Measure while nobody drives: it takes room on the air.
"""
_CLOCK_BOUND_US = 10_000  # of a vehicle that is not known: hardware/vehicles/bases/car.toml
_CLOCK_BOUND_MOST_S = 0.03  # of any vehicle file: firmware/core/settings/params.py
_SECONDS = 60.0  # long enough to see a scan of the WiFi or two


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.description = "Measure a network as a car that is driven over it would feel it."
    parser.epilog = EPILOG
    parser.add_argument("car", metavar="CAR", help="tandem://HOST/NAME")
    parser.add_argument(
        "--for", dest="seconds", type=positive, default=_SECONDS, metavar="S", help="for so long"
    )
    parser.add_argument("--out", type=Path, metavar="FILE.csv", help="write the trace")
    parser.add_argument("--vehicle", help="its vehicle type (default: as the car says)")
    parser.add_argument("--apply", action="store_true", help="lower the car's cap to what follows")
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")


def run(args: argparse.Namespace, host: Host) -> int:
    """Return 0 if a car can be driven over it. Raises errors.TandemError."""
    if not is_of_another_host(args.car):
        raise UsageFault(
            "only a car that another machine serves has a network to measure",
            expected="tandem://HOST/NAME",
            got=args.car,
        )
    if args.out:
        refuse_unwritable(args.out, "the trace")
    return run_async(_linktest(args, host))


async def _linktest(args: argparse.Namespace, host: Host) -> int:
    probes = await _probes(args, host)
    if args.out:
        when = f"{datetime.now().astimezone():%Y-%m-%d %H:%M:%S %z}"
        write_trace(args.out, probes, [f"tandem linktest {args.car} {when}"])
    found = findings(probes)
    # A session only to lower the cap: who may only watch has none
    epoch = host.cars.command_epoch(args.car) if args.apply else None
    opened = await host.cars.open(args.car, epoch=epoch)
    try:
        vehicle = host.vehicles.load(args.vehicle) if args.vehicle else opened.recognised()
        lease_s = found.lease_s()
        cap = _cap_mps(vehicle, lease_s) if vehicle and lease_s else None
        is_driven = _is_drivable(found, vehicle)
        if args.json:
            print(json.dumps({**asdict(found), "lease_s": lease_s, "cap_mps": cap,
                              "is_drivable": is_driven}))  # fmt: skip
        else:
            print("\n".join(_lines(found, vehicle)))
        if args.apply and cap is not None:
            result = await request_action(opened, cap_action(cap, Sender.COMMAND), host)
            print(f"{opened.name}: {_lowered(result, cap, opened)}", file=sys.stderr)
    finally:
        await opened.close()
    return 0 if is_driven else NotHeldFault.exit_code


async def _probes(args: argparse.Namespace, host: Host) -> list[Probe]:
    now_us = host.cars.clock.now_us
    tokens = invitations_to(parts_of(args.car)[2], args.car)
    car = NetworkCar(Uri.parse(args.car), tokens, now_us)
    await car.open(lambda data: None, lambda fault: None)

    def tell(sent: int, came: int) -> None:
        if sys.stderr.isatty():
            print(f"\r{sent} sent, {came} came back", end="", file=sys.stderr, flush=True)

    try:
        recording = await record(car, args.seconds, now_us, tell)
    finally:
        car.close()
    if sys.stderr.isatty():
        print(file=sys.stderr)
    probes = recording.trace()
    if not probes:
        raise DeviceFault(
            "no probe came back",
            where=args.car,
            got=f"{len(recording.sent)} sent",
            remedy="is that host's tandem as new as this one?",
        )
    return probes


def _lowered(result: ActionResult | None, cap_mps: float, opened: OpenCar) -> str:
    """Return what came of the request to lower the cap. Raises errors.RefusedFault."""
    if result is not None and result.is_done:
        return f"{cap_mps:.2g} m/s at most from now on"
    if result is not None and result.refusals == (Refusal.CAP,):  # a guest only lowers it
        return f"its cap is lower already than {cap_mps:.2g} m/s"
    raise refused_fault(result, opened)


def _is_drivable(found: Findings, vehicle: Vehicle | None) -> bool:
    """Return whether a car takes claims over it, and drives by one of the leases."""
    lease_s = found.lease_s()
    if found.clock_s is None or lease_s is None:
        return False
    return found.clock_s <= min(_bound_s(vehicle), lease_s / 4)


def _cap_mps(vehicle: Vehicle, lease_s: float) -> float:
    """Return the cap for a guest: it drives no further blind than the vehicle file allows."""
    return min(cap_mps(lease_s, vehicle.blind_m), vehicle.source(REMOTE).speed_cap_mps)


def _bound_s(vehicle: Vehicle | None) -> float:
    parameters = vehicle.parameters if vehicle else {}
    return parameters.get("clock_bound_us", [_CLOCK_BOUND_US])[0] * 1e-6


def _lines(found: Findings, vehicle: Vehicle | None) -> list[str]:
    trips = (found.trip_least_s, found.trip_p50_s, found.trip_p95_s, found.trip_p99_s)
    least, p50, p95, p99 = (f"{1e3 * (it or 0.0):.1f}" for it in trips)
    lines = [
        f"{found.probes} probes in {found.seconds:.0f} s",
        f"round trip: {p50} ms (p50), {p95} (p95), {p99} (p99), {least} at least",
        f"lost: {100 * found.lost_up:.2g} % there, {100 * found.lost_down:.2g} % back, "
        f"{found.longest_run} in a row at most; {100 * found.reordered:.2g} % reordered",
        _clock_line(found, vehicle),
        "a car with this lease would have stopped so often (claims sent once; with a copy):",
    ]
    pairs = zip(found.single, found.doubled, strict=True)
    lines += [f"  {it.lease_s:g} s: {_rate(it)}; {_rate(twice)}" for it, twice in pairs]
    lease_s = found.lease_s()
    if lease_s is None:
        return [*lines, "no lease drives over this without a stop: nearer, or another channel"]
    if vehicle is None:
        return [*lines, f"shortest lease without a stop: {lease_s:g} s; its vehicle is not known "
                "here: --vehicle"]  # fmt: skip
    cap = _cap_mps(vehicle, lease_s)
    decel_mps2 = vehicle.parameters["decel_mm_s2"][0] * 1e-3
    way_m, blind_m = metres(cap, lease_s, decel_mps2)
    lines.append(
        f"shortest lease without a stop: {lease_s:g} s. At {cap:.2g} m/s, its cap, {vehicle.name} "
        f"rests {way_m:.2g} m after the link's end, {blind_m:.2g} m of it blind"
    )
    return lines


def _clock_line(found: Findings, vehicle: Vehicle | None) -> str:
    known_ms, bound_ms = 1e3 * (found.clock_s or 0.0), 1e3 * _bound_s(vehicle)
    if known_ms <= bound_ms:
        return f"clock: known to {known_ms:.1f} ms, and {bound_ms:g} are allowed: it can be driven"
    is_too_far = known_ms > 1e3 * _CLOCK_BOUND_MOST_S
    other = "" if is_too_far else ", or a wider clock_bound_s in its vehicle file"
    return (
        f"clock: known to {known_ms:.1f} ms, and {bound_ms:g} are allowed"
        f"{', 30 by any vehicle file' * is_too_far}: NOT DRIVABLE. Nearer{other}"
    )


def _rate(it: StopRate) -> str:
    if not it.stops:
        return f"never, which is under {it.high_per_h:.0f} an hour"
    return f"{it.stops} times, {it.low_per_h:.0f} to {it.high_per_h:.0f} an hour"
