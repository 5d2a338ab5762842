"""The parts of the demo in real time: processes that are killed, paused and cut off.

A latency probe measures this machine beside them. With a board on the desk everything runs
here, since a board keeps its own time.
"""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path

from host_bridge.core import Vehicle
from host_bridge.core.errors import DeviceFault
from host_bridge.core.system.running import run_async
from host_bridge.demo.cars.demo_run import SPEED_MPS, DemoRun
from host_bridge.demo.cars.together import DriveResult
from host_bridge.demo.judging.attempts import run_cases
from host_bridge.demo.judging.latency_probe import LatencyProbe
from host_bridge.demo.judging.results import Results
from host_bridge.demo.output import DemoOutput
from host_bridge.demo.part_one import SEED, VEHICLE, part_one
from host_bridge.demo.stages.real_time import RealTimeStage
from host_bridge.demo.stops import StopCase, cases
from host_bridge.demo.trace import TraceReader
from host_bridge.link.transports.base import Transport
from host_bridge.sharing.services import Host
from sim_mock.programs.process import CarProcess, start, start_program
from sim_mock.virtual_car.config import virtual_car_config

TRACE = "car-a-wall.csv"


def in_real_time(args: argparse.Namespace, host: Host, output: DemoOutput, results: Results) -> int:
    """Run them; return 0, or the code of an interruption. Raises errors.TandemError."""
    with LatencyProbe() as probe:
        return run_async(_measured(args, host, probe, output, results))


async def _measured(
    args: argparse.Namespace, host: Host, probe: LatencyProbe, output: DemoOutput, results: Results
) -> int:
    vehicle = host.vehicles.load(VEHICLE)
    trace = args.out / TRACE
    trace.unlink(missing_ok=True)
    car = await _car(args, vehicle, trace)
    results.vehicle, results.runtime = vehicle, car.runtime
    try:
        if args.board:
            output.say(f"Car A: the firmware under {car.runtime}, {car.device}.")
            output.say("Twin B: the same firmware inside this host, heavier, on a slippery floor.")
        if args.board and args.only != "stops":
            results.drive = await _together(args, host, car, probe, output)
        if args.only != "together":
            run = DemoRun(RealTimeStage(car, vehicle, probe), TraceReader(trace), vehicle)
            results.cases += await _stops(args, run, output)
    except asyncio.CancelledError:
        output.say("Interrupted: the cars stop.")
        raise
    finally:
        car.tell("quit")
        await car.process.wait()
    return 0


async def _car(args: argparse.Namespace, vehicle: Vehicle, trace: Path) -> CarProcess:
    """Start the car's process, which outlives its driver; its link stays while its cable is out.

    Raises errors.DeviceFault.
    """
    link = (args.out / "car-a.port").absolute()
    options = ("--trace", str(trace), "--link", str(link))
    try:
        if args.board:
            uri = f"serial://{args.board}?hitl={VEHICLE}&seed={SEED}&name=car-a"
            car = await start_program("host_bridge.demo.cars.board_car", uri, *options)
        else:
            config = virtual_car_config(vehicle, {"seed": str(SEED), "name": "car-a"})
            car = await start(config, args.runtime, *options, "--ends-alone")
    except RuntimeError as fault:
        raise DeviceFault(str(fault), where="car A", remedy="tandem doctor") from None
    car.device = str(link)
    return car


async def _together(
    args: argparse.Namespace, host: Host, car: CarProcess, probe: LatencyProbe, output: DemoOutput
) -> DriveResult:
    def car_a() -> Transport:
        return host.cars.transport(f"serial://{car.device}")

    return await part_one(host, car_a, args.out, output, is_altered=args.alter, machine=probe)


async def _stops(args: argparse.Namespace, run: DemoRun, output: DemoOutput) -> list[StopCase]:
    """Run the stops; those of a board's car are all in real time, for a board keeps its own."""
    if args.board:
        output.heading(f"2. At {SPEED_MPS:.0f} m/s, everything that goes wrong")
        done = cases()
    else:
        output.say("\n  On the wall: a program is really started, killed, paused, and cut off:")
        done = [case for case in cases() if case.is_real]
    await run_cases(done, run, output)
    return done
