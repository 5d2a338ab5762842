"""``tandem sim``: a virtual car alone, behind a port that any serial tool can open."""

from __future__ import annotations

import argparse
import json
import select
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from host_bridge.errors import DeviceFault

if TYPE_CHECKING:  # handed in
    from host_bridge.context import HostContext

EPILOG = """\
examples:
  tandem sim nigel
  tandem sim f1tenth --seed 3 --payload-kg 1.0 --link /tmp/car
  tandem sim nigel --runtime micropython32

It runs the very program that runs on the board, under MicroPython where there is one, with a model
of the vehicle around it. While it runs it takes lines: runstop open, runstop close, unplug, plug.
Ctrl-C ends it.
"""
RUNTIMES = ("auto", "micropython", "micropython32", "cpython")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.description = "A virtual car alone, behind a serial port."
    parser.epilog = EPILOG
    parser.add_argument("vehicle", metavar="VEHICLE", help="a type that tandem vehicles lists")
    parser.add_argument("--seed", type=int, default=0, help="of its sensors' noise")
    parser.add_argument("--name", default="", help="the car's own name (default: its type's)")
    parser.add_argument("--runtime", choices=RUNTIMES, default="auto", help="what runs its program")
    parser.add_argument("--link", type=Path, help="a name that stays, for the port")
    parser.add_argument("--trace", type=Path, help="write its true path to this CSV file")
    parser.add_argument("--payload-kg", type=float, default=0.0, help="a load, in kg")
    parser.add_argument("--payload-x-m", type=float, default=0.0, help="and how far ahead, in m")
    parser.add_argument("--blank", action="store_true", help="with no configuration stored")
    parser.add_argument("--json", action="store_true", help="print the port as JSON")


def run(args: argparse.Namespace, context: HostContext) -> int:
    """Until Ctrl-C or the end of the input. Raises errors.TandemError."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # a polite end, as Ctrl-C
    process = context.start_virtual_car(_facts(args, context), _options(args))
    try:
        ready = process.stdout.readline() if process.stdout else ""
        if not ready:
            raise _did_not_start(args.vehicle, process)
        print(ready.strip() if args.json else _welcome(json.loads(ready), args), flush=True)
        _relay(process)
    except KeyboardInterrupt:
        return 130  # the way in which it is meant to end
    finally:
        _end(process)
    return 0


def _facts(args: argparse.Namespace, context: HostContext) -> dict[str, Any]:
    vehicle = context.vehicle(args.vehicle)
    return {
        "vehicle": vehicle.name,
        "plant": vehicle.plant,
        "channels": vehicle.channels,
        "parameters": vehicle.parameters,
        "seed": args.seed,
        "car_name": args.name,
        "payload_kg": args.payload_kg,
        "payload_x_m": args.payload_x_m,
        "blank": args.blank,
    }


def _options(args: argparse.Namespace) -> list[str]:
    paths = [("--link", args.link), ("--trace", args.trace)]
    extra = [text for name, path in paths if path for text in (name, str(path))]
    return ["--runtime", args.runtime, "--ends-alone", *extra]


def _welcome(ready: dict[str, Any], args: argparse.Namespace) -> str:
    device = args.link or ready["device"]
    return (
        f"{args.name or args.vehicle} runs under {ready['runtime']}, behind {device}\n"
        f"  drive it:  tandem drive --car serial://{Path(device).absolute()}\n"
        f"  watch it:  tandem monitor serial://{Path(device).absolute()}\n"
        "  lines it takes here: runstop open, runstop close, unplug, plug; Ctrl-C ends"
    )


def _relay(process: subprocess.Popen[str]) -> None:
    """What is typed to the car, what it says to us, until it ends or is left alone."""
    sources: list[Any] = [sys.stdin, process.stdout]
    while process.poll() is None:
        ready, _, _ = select.select(sources, [], [], 1.0)
        for source in ready:
            line = source.readline()
            if not line:
                sources.remove(source)  # no more input: it runs on
            elif source is sys.stdin and process.stdin:
                process.stdin.write(line)
                process.stdin.flush()
            else:
                print(line.strip(), flush=True)


def _end(process: subprocess.Popen[str]) -> None:
    """It leaves when it has come to rest; its plant outlives us until then."""
    if process.poll() is None and process.stdin:
        process.stdin.write("quit\n")
        process.stdin.close()
        process.wait()


def _did_not_start(vehicle: str, process: subprocess.Popen[str]) -> DeviceFault:
    printed = process.stderr.read().strip() if process.stderr else ""
    return DeviceFault("the virtual car did not start", where=vehicle, got=printed)
