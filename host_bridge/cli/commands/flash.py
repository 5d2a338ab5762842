"""``tandem flash``: put the car's program onto a board, verified, on trial, and configured."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from host_bridge.cli.commands.pair import folded, has_key
from host_bridge.cli.output.status_line import counted
from host_bridge.config.boards import load_board
from host_bridge.config.store import Host
from host_bridge.core.errors import UsageFault
from host_bridge.core.system.running import run_async
from host_bridge.deploy.flash.board.board import BoardFacts, RawBoard
from host_bridge.deploy.flash.board.box import watch_box
from host_bridge.deploy.flash.board.heap import fitting, refuse_too_little
from host_bridge.deploy.flash.board.repl import BAUD, raw_board
from host_bridge.deploy.flash.board.runtime import install_runtime
from host_bridge.deploy.flash.commissioning import Aftercare
from host_bridge.deploy.flash.install import install, look
from host_bridge.deploy.flash.job import Job, prepare, refuse_wrong
from host_bridge.deploy.flash.plan import SLOTS, Plan
from host_bridge.deploy.flash.precheck import Before, look_at_car, uri_of
from host_bridge.deploy.flash.program.image import Image, examined, where_to_get
from host_bridge.deploy.flash.selftest_prompt import left_out, offer_self_test

EPILOG = """\
examples:
  tandem flash --vehicle f1tenth --board pico --port /dev/ttyACM0 --name red
  tandem flash --vehicle f1tenth --board pico --port /dev/ttyACM0 --dry-run
  tandem flash --vehicle runstop_box --board pico --port /dev/ttyACM0
                                a runstop box: no name, no configuration; watched until healthy
  tandem flash --vehicle f1tenth --board pico --port /dev/ttyACM0 --runtime FILE.uf2
                                a bare board: hold BOOTSEL while you plug it in

MicroPython comes from micropython.org; with --dry-run it is said which file, for this board. A .uf2
is read through first: whole, for this chip and board, not too old. That site publishes no hashes:
the file's is shown, and --runtime-sha256 compares it with one that you trust.

Everything is checked and compiled before the board is touched. A car that is armed, that a program
serves, or a board of another kind is refused. What changed goes into the slot that is not running,
every hash is read back from the board, and one record switches over. The new program starts on
trial: unless it is healthy for ten seconds the board starts the old one again. Ctrl-C, a pulled
cable, a power cut: the old program starts; say the same again, and only the rest is sent. At a
terminal a car is offered its self-test then, on blocks; exit code 1 if that finds something.

The way to the REPL of a board by hand: sixteen times Ctrl-C at once to a car that is not armed; or
Ctrl-C while it starts. machine.reset() there starts the car again.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.description = "Put the car's program onto a board."
    parser.epilog = EPILOG
    parser.add_argument(
        "--vehicle", required=True, help="a type of car, the path of a vehicle file, or runstop_box"
    )
    parser.add_argument("--board", required=True, help="a board, or the path of a board file")
    parser.add_argument("--port", required=True, help="the board's serial port")
    parser.add_argument("--name", help="the car's own name (default: the one it has, or its type)")
    parser.add_argument("--runtime", type=Path, help="put this MicroPython on it first")
    parser.add_argument("--runtime-sha256", metavar="HEX", help="and only if this is its hash")
    parser.add_argument("--baud", type=int, default=BAUD, help="of a REPL on a UART")
    parser.add_argument("--no-selftest", action="store_true", help="do not offer it afterwards")
    parser.add_argument("--dry-run", action="store_true", help="check and compile; touch nothing")
    parser.add_argument("--json", action="store_true", help="print the outcome as JSON")


def run(args: argparse.Namespace, host: Host) -> int:
    """Return 0 once the board is as requested, or else the self-test's exit code.

    Raises errors.TandemError.
    """
    image = _image(args)
    job = prepare(args.board, args.vehicle, host.vehicles.load, counted("compiled"))
    _refuse_name(args, job)
    runtime = image.row() if image else {"runtime_from": where_to_get(job.board)}
    if args.dry_run:
        return _say(args, {**_what(job), **runtime, **_room(job), "is_dry_run": True})
    before = Before()
    if args.runtime:
        print("\n".join(_lines(runtime)))
        print(install_runtime(args.runtime, job.board.chip.name, args.port))
    else:
        run_async(look_at_car(args.port, host, before))
    row = _flash(args, job, before)
    return _cared_for(args, host, job, before, row)


def _image(args: argparse.Namespace) -> Image | None:
    """Return the examined runtime file, None without one. Raises errors.DataFileFault.

    It comes before anything is compiled.
    """
    if args.runtime:
        return examined(args.runtime, load_board(args.board), args.runtime_sha256)
    if args.runtime_sha256:
        raise UsageFault("--runtime-sha256 is the hash of a file", expected="--runtime FILE too")
    return None


def _cared_for(
    args: argparse.Namespace,
    host: Host,
    job: Job,
    before: Before,
    row: dict[str, object],
) -> int:
    if job.vehicle is None:
        if row["sent_files"]:
            watch_box(args.port, args.baud, str(row["slot"]), counted("watched, seconds"))
        return _say(args, row)
    aftercare = Aftercare(args.port, args.name, job.vehicle, job.board, before)
    run_async(aftercare.care(host, row))
    _say(args, {**row, **aftercare.found})
    return _tested(args, host)


def _tested(args: argparse.Namespace, host: Host) -> int:
    uri = uri_of(args.port)
    if args.no_selftest:
        return left_out("--no-selftest", uri)
    if args.json:
        return left_out("a program reads what is printed here", uri)
    return offer_self_test(uri, host)


def _refuse_name(args: argparse.Namespace, job: Job) -> None:
    if args.name and job.vehicle is None:
        raise UsageFault(
            f"a {job.wiring} has no name: it has no configuration to keep it in",
            got=f"--name {args.name}",
            remedy="leave out --name",
        )


def _flash(args: argparse.Namespace, job: Job, before: Before) -> dict[str, object]:
    """Install the program on the board; return the outcome for people and programs."""
    with raw_board(args.port, args.baud) as board:
        facts = board.facts()
        before.at_repl(folded(facts.unique_id), args.port)
        refuse_wrong(job.board, facts, args.port)
        heap = _refuse_heap(args, job, board, facts)
        runtime = ".".join(map(str, facts.version))
        plan = look(board, job.program)
        row = {**_what(job), "runtime": runtime, **heap}
        if plan is None:
            slots = board.slots()
            return {**row, "slot": slots.name if slots else "", "sent_files": 0, "sent_bytes": 0}
        sent = _carried_out(board, job, plan)
        return {
            **row,
            "slot": SLOTS[plan.slot],
            "sent_files": len(plan.send),
            "sent_bytes": sent,
            "kept_files": len(plan.keep),
        }


def _refuse_heap(
    args: argparse.Namespace, job: Job, board: RawBoard, facts: BoardFacts
) -> dict[str, object]:
    """Refuse a car whose heap is too small. A box needs little, and was not measured."""
    if job.vehicle is None:
        return {"heap_bytes": facts.heap}
    is_paired = has_key(board)
    heap = refuse_too_little(job.board, job.vehicle.name, facts, is_paired, args.port)
    return {**heap, "is_paired": is_paired}


def _carried_out(board: RawBoard, job: Job, plan: Plan) -> int:
    def show(what: str, done: int, total: int) -> None:
        counted(f"{what} bytes")(done, total)

    return install(board, job.program, job.launcher, plan, show)


def _what(job: Job) -> dict[str, object]:
    return {
        "board": job.board.name,
        "wiring": job.wiring,
        "program": job.hash,
        "files": len(job.program),
        "bytes": job.size,
    }


def _room(job: Job) -> dict[str, object]:
    """Return which MicroPython release has room for the car, without a box's key and with one."""
    if job.vehicle is None:
        return {}
    name = job.vehicle.name
    return {
        "heap": fitting(job.board, name),
        "heap_with_key": fitting(job.board, name, is_paired=True),
    }


def _lines(row: Mapping[str, object]) -> Iterator[str]:
    width = max(map(len, row))
    return (f"{name:{width}} {value}" for name, value in row.items())


def _say(args: argparse.Namespace, row: dict[str, object]) -> int:
    if args.json:
        print(json.dumps(row))
    else:
        print("\n".join(_lines(row)))
    return 0
