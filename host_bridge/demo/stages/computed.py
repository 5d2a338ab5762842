"""The parts of the demo in virtual time: part 1, and the stops that depend on the car alone."""

from __future__ import annotations

import argparse
import asyncio

from host_bridge.core.errors import DeviceFault
from host_bridge.core.system.running import run_in_virtual_time
from host_bridge.core.system.virtual_time import VirtualTimeLoop
from host_bridge.demo.cars.demo_run import SPEED_MPS, DemoRun
from host_bridge.demo.cars.together import DriveResult
from host_bridge.demo.judging.attempts import run_cases
from host_bridge.demo.judging.results import Results
from host_bridge.demo.output import DemoOutput
from host_bridge.demo.part_one import part_one
from host_bridge.demo.stages.lockstep import LockstepStage
from host_bridge.demo.stops import StopCase, cases, has_pads
from host_bridge.demo.trace import TraceReader
from host_bridge.link.transports.base import Transport
from host_bridge.sharing.services import make_host
from sim_mock.programs.car import TraceWriter
from sim_mock.programs.real_time import runtime_command

TRACE = "car-a.csv"


def in_virtual_time(args: argparse.Namespace, output: DemoOutput, results: Results) -> int:
    """Run them; return 0, or the code of an interruption. Raises errors.TandemError."""
    try:
        command, results.runtime = runtime_command(args.runtime)
    except SystemExit as no_such:
        raise DeviceFault(str(no_such), where="car A", remedy="tandem doctor") from None
    output.say(f"Car A: the firmware under {results.runtime}, a process of its own.")
    output.say("Twin B: the same firmware inside this host; 1 kg heavier, on a slippery floor.")
    output.say("Cars and host in virtual time: the same figures each time, on any machine.")
    loop = VirtualTimeLoop()
    trace = TraceWriter(str(args.out / TRACE))
    try:
        stage = LockstepStage(make_host(loop), command, trace)
        return run_in_virtual_time(_computed(args, stage, output, results), loop)
    finally:
        trace.close()


async def _computed(
    args: argparse.Namespace, stage: LockstepStage, output: DemoOutput, results: Results
) -> int:
    results.vehicle = stage.vehicle
    try:
        if args.only != "stops":
            results.drive = await _together(args, stage, output, results.runtime)
        if args.only != "together":
            results.cases += await _stops(stage, output, TraceReader(args.out / TRACE))
    except asyncio.CancelledError:
        output.say("Interrupted: the cars stop.")
        raise
    return 0


async def _together(
    args: argparse.Namespace, stage: LockstepStage, output: DemoOutput, runtime: str
) -> DriveResult:
    def car_a() -> Transport:
        return stage.car("car-a")

    drive = await part_one(stage.host, car_a, args.out, output, is_altered=args.alter)
    if "MicroPython" not in runtime:
        output.note(
            f"Car A ran under {runtime}: byte identity across the two Pythons was NOT shown. "
            "`tandem doctor` says how to have a MicroPython."
        )
    return drive


async def _stops(stage: LockstepStage, output: DemoOutput, trace: TraceReader) -> list[StopCase]:
    output.heading(f"2. At {SPEED_MPS:.0f} m/s, everything that goes wrong")
    if not has_pads():
        output.say("  Without gamepads: PySDL2 is not installed (pip install 'tandem-cars[pads]').")
    done = [case for case in cases() if not case.is_real]
    await run_cases(done, DemoRun(stage, trace, stage.vehicle), output)
    return done
