"""``tandem flash``: put the car's program onto a board, verified, on trial, and configured."""

from __future__ import annotations

import argparse
from pathlib import Path

from host_bridge.cli.arguments.arg_types import whole
from host_bridge.deploy.flash.board.repl import BAUD
from host_bridge.deploy.flash.flash import FlashOptions, flash
from host_bridge.sharing.services import Host

EPILOG = """\
examples:
  tandem flash --vehicle f1tenth --board pico --port /dev/ttyACM0 --name red
  tandem flash --vehicle f1tenth --board pico --port /dev/ttyACM0 --dry-run
  tandem flash --vehicle runstop_box --board pico --port /dev/ttyACM0
                                a runstop box: no name, no configuration; watched until healthy
  tandem flash --vehicle f1tenth --board pico --port /dev/ttyACM0 --runtime FILE.uf2
                                a bare board: hold BOOTSEL while you plug it in
  tandem flash --vehicle f1tenth --board ./my_pico.toml --port /dev/ttyUSB0 --repl /dev/ttyACM0
                                a car whose link is a UART, told by its board file

MicroPython comes from micropython.org; with --dry-run it is said which file, for this board. A .uf2
is read through first: whole, for this chip and board, not too old. That site publishes no hashes:
the file's is shown, and --runtime-sha256 compares it with one that you trust.

Everything is checked and compiled before the board is touched. A car that is armed, that a program
serves, or a board of another kind is refused. What changed goes into the slot that is not running,
every hash is read back from the board, and one record switches over. The new program starts on
trial: unless it is healthy for ten seconds the board starts the old one again. Ctrl-C, a pulled
cable, a power cut: the old program starts; run the command again, and only the rest is sent. At a
terminal the self-test on blocks is offered then; the exit code is 1 if it finds something.

The way to the REPL of a board by hand: sixteen times Ctrl-C at once to a car that is not armed; or
Ctrl-C while it starts. machine.reset() there starts the car again.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.description = "Put the car's program onto a board."
    parser.epilog = EPILOG
    parser.add_argument(
        "--vehicle",
        required=True,
        help="a vehicle type, the path of a vehicle file, or runstop_box",
    )
    parser.add_argument(
        "--board", required=True, help="the board's type, or the path of a board file"
    )
    parser.add_argument("--port", required=True, help="the board's serial port")
    parser.add_argument(
        "--repl", metavar="PORT", help="the port of its REPL, if the car's link is a UART"
    )
    parser.add_argument("--name", help="the car's own name (default: the one it has, or its type)")
    parser.add_argument("--runtime", type=Path, help="install this MicroPython first")
    parser.add_argument(
        "--runtime-sha256", metavar="HEX", help="install it only if this is its hash"
    )
    parser.add_argument(
        "--baud", type=whole, default=BAUD, help="the baud rate of a REPL on a UART"
    )
    parser.add_argument(
        "--no-selftest", action="store_true", help="do not offer the self-test afterwards"
    )
    parser.add_argument("--dry-run", action="store_true", help="check and compile; touch nothing")
    parser.add_argument("--json", action="store_true", help="print the outcome as JSON")


def run(args: argparse.Namespace, host: Host) -> int:
    """Return 0 once the board is as requested, or else the self-test's exit code.

    Raises errors.TandemError.
    """
    options = FlashOptions(
        vehicle=args.vehicle,
        board=args.board,
        port=args.port,
        repl=args.repl,
        name=args.name,
        runtime=args.runtime,
        runtime_sha256=args.runtime_sha256,
        baud=args.baud,
        has_selftest=not args.no_selftest,
        is_dry_run=args.dry_run,
        is_json=args.json,
    )
    return flash(options, host)
