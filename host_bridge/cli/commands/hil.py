"""``tandem hil``: measure a board on a bench through its port, into one file to send."""

from __future__ import annotations

import argparse
import json
import signal
import subprocess
import sys
from pathlib import Path

from host_bridge.cli.arguments.arg_types import number, whole
from host_bridge.core.errors import (
    INTERRUPTED,
    DataFileFault,
    DeviceFault,
    ProtocolFault,
    UsageFault,
)
from host_bridge.core.system.progress import progress_count
from host_bridge.deploy.flash.board.repl import refuse_missing_port
from host_bridge.deploy.hil.bench import HilBench
from host_bridge.deploy.hil.host.port import BAUD, NoAnswer
from host_bridge.deploy.hil.parts import PARTS, PartContext, measure_through_port
from host_bridge.deploy.hil.person import person_here
from host_bridge.deploy.hil.report import analyser, pages
from host_bridge.deploy.hil.report.limits import unmeasured
from host_bridge.deploy.hil.report.report import HilReport, Measurement
from host_bridge.logs.new_file import refuse_unwritable
from host_bridge.sharing.services import Host

EPILOG = """\
examples:
  tandem hil /dev/ttyACM0                      all of it: some six minutes, and a person's time
  tandem hil /dev/ttyACM0 --vehicle f1tenth --board pico    flashed first
  tandem hil /dev/ttyACM0 --only driving,bytes
  tandem hil /dev/ttyACM0 --no-hands           nobody is asked for anything, some six minutes
  tandem hil /dev/ttyUSB0 --repl /dev/ttyACM0  a car whose link is a UART
  tandem hil --csv capture.csv --channel esc=D0 --channel loop=D1 --channel life=D2
  tandem hil /dev/pts/3 --patience 20          a board that runs slower than real time

The board has its car's program and configuration, or is flashed first. WHEELS OFF THE GROUND: the
car is armed, and its drive enable closes. At --speed 0, as it is unless you say otherwise, it is
driven at standstill. It is reset a few times. Programs that measure on the chip itself are put into
its memory only.

parts: flash (with --vehicle and --board), told (round trips, beats, as flashed), repl, heap,
driving (step times), stops, line, guard, bytes, start; then what a person does at this terminal,
told step by step: runstop, encoder, power (pulled --pulls times: standing by, while it stores its
configuration, while a flashed program is on trial). Where nobody can be asked these are not
measured. The CSV: seconds, then a column of 0 and 1 for each channel, their names in the first
line. Ctrl-C stops the car and writes what was measured. Each row of the file names the page that
waits for it. Exit code 0 if all that was measured holds, 1 if something does not.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.description = "Measure a board on a bench through its port."
    parser.epilog = EPILOG
    parser.add_argument("port", nargs="?", help="the serial port of the car's link")
    _add_line(parser.add_argument_group("the board and its line"))
    _add_parts(parser.add_argument_group("what is measured"))
    _add_capture(parser.add_argument_group("the capture of a logic analyser"))
    _add_report(parser.add_argument_group("the report"))


def _add_line(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--repl", metavar="PORT", help="the port of its REPL, if the link is a UART")
    group.add_argument(
        "--baud", type=whole, default=BAUD, help="the baud rate of a UART (default %(default)s)"
    )
    group.add_argument("--vehicle", help="the vehicle type; with --board it is flashed first")
    group.add_argument("--board", help="the board's type, as for tandem flash")
    group.add_argument(
        "--patience", type=number, default=1.0, metavar="TIMES",
        help="the factor on this machine's time limits (default 1)",
    )  # fmt: skip


def _add_parts(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--only", default=",".join(PARTS), help="the parts, separated by commas (default: all)"
    )
    group.add_argument(
        "--seconds",
        type=number,
        default=60.0,  # a garbage collection comes every few seconds
        help="the time of each drive in s (default 60)",
    )
    group.add_argument(
        "--stops",
        type=whole,
        default=100,
        help="the number of stops, at different phases (default 100)",
    )
    group.add_argument(
        "--speed", type=number, default=0.0, help="the speed to drive at, in m/s (default 0)"
    )
    group.add_argument(
        "--beats",
        type=whole,
        default=3500,  # 35 s of steps of 10 ms
        help="the control periods of the stress test (default 3500)",
    )
    group.add_argument(
        "--pulls", type=whole, default=3, help="how often the power is cut by hand (default 3)"
    )
    group.add_argument("--no-hands", action="store_true", help="leave out what needs a person")


def _add_capture(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--csv", type=Path, help="the file of the capture")
    group.add_argument("--channel", action="append", default=[], metavar="PART=COLUMN",
                       help="; ".join(f"{k}: {v}" for k, v in analyser.PARTS.items()))  # fmt: skip
    group.add_argument(
        "--neutral-us",
        type=number,
        metavar="US",
        default=1500.0,  # of servos and ESCs that are not set otherwise
        help="the neutral pulse of the ESC in us",
    )


def _add_report(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--note", default="", help="a note for the report: board, wires")
    group.add_argument(
        "--out", type=Path, default=Path("hil_report.json"), help="the report's file"
    )
    group.add_argument("--json", action="store_true", help="print the report as JSON too")


def run(args: argparse.Namespace, host: Host) -> int:
    """Return 0 if all that was measured holds. Raises errors.TandemError."""
    chosen = _chosen(args)
    refuse_unwritable(args.out, "the report")  # an hour's work, and that of an earlier hour
    report = HilReport({"note": args.note, "program_here": _commit()}, pages=pages.by_what())
    pulses = _capture(args)  # a wrong file is reported before the board is touched
    mute, is_ended = None, False
    if args.port:
        refuse_missing_port(args.port)
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # stops the car, as Ctrl-C does
        bench = HilBench(
            args.port, args.repl or args.port, args.baud, args.patience, _print_progress
        )
        mute, is_ended = measure_through_port(
            PartContext(bench, report, args, host, person_here(args.no_hands)), chosen
        )
    report.rows += pulses
    _hand_over(report, args)
    if mute:
        raise _fault_of(mute)
    return INTERRUPTED if is_ended else 1 if report.failed else 0


def _chosen(args: argparse.Namespace) -> list[str]:
    """Return the requested parts. Raises errors.UsageFault."""
    parts = [part.strip() for part in args.only.split(",")]
    wrong = [part for part in parts if part not in PARTS]
    if wrong:
        raise UsageFault(
            f"there is no part {wrong[0]!r} of the measurements",
            expected=f"some of {', '.join(PARTS)}",
            got=f"--only {args.only}",
            remedy="tandem hil --help says what each of them is",
        )
    if not (args.port or args.csv):
        raise UsageFault(
            "neither a port nor a capture is given",
            expected="a PORT, or --csv",
            remedy="tandem identify lists ports",
        )
    return parts


def _capture(args: argparse.Namespace) -> list[Measurement]:
    """Return the rows of a logic analyser. Raises errors.UsageFault, errors.DataFileFault."""
    if args.csv is None:
        why = "needs a logic analyser: --csv and --channel"
        return [unmeasured(key, why) for key in analyser.KEYS]
    channels = analyser.read(args.csv, _channels(args.channel), progress_count("bytes read"))
    return list(analyser.measure(channels, args.neutral_us))


def _channels(words: list[str]) -> dict[str, str]:
    """Return the column of each part. Raises errors.UsageFault."""
    named: dict[str, str] = {}
    for word in words:
        part, _, column = (it.strip() for it in word.partition("="))
        if part not in analyser.PARTS or not column or part in named or column in named.values():
            break
        named[part] = column
    if not named or len(named) < len(words):
        raise UsageFault(
            "--channel does not name a part and its column, each once",
            expected=f"--channel PART=COLUMN, of {', '.join(analyser.PARTS)}",
            got=words[len(named)] if words else "none",
        )
    return named


def _hand_over(report: HilReport, args: argparse.Namespace) -> None:
    """Write the file and show its contents. Raises errors.DataFileFault."""
    try:
        report.write(args.out)
    except OSError as error:
        raise DataFileFault.unwritable("the report", args.out, error) from None
    finally:
        if args.json:
            print(json.dumps(report.plain(), indent=1, ensure_ascii=False))
        else:
            report.show()
    _print_progress(f"written: {args.out}")


def _fault_of(mute: NoAnswer) -> DeviceFault | ProtocolFault:
    """Return a DeviceFault for a silent port, a ProtocolFault for one with other bytes."""
    kind = ProtocolFault if mute.has_sent_bytes else DeviceFault
    return kind(
        f"the board does not speak: {mute.what}",
        where=mute.where,
        expected=mute.expected,
        got=mute.got,
        remedy=mute.remedy,
    )


def _commit() -> str:
    """Return the version of Tandem that measures."""
    done = subprocess.run(
        ["git", "describe", "--always", "--dirty"],
        cwd=Path(__file__).parent, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.stdout.strip() or "not a git work tree"


def _print_progress(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
