"""``python -m tests.hil PORT``: a board on a bench, measured through its port; one file to send."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from host_bridge.errors import TandemError
from tests.hil import analyser, as_flashed, on_chip
from tests.hil.limits import LIMITS, unmeasured
from tests.hil.port import BAUD, Mute
from tests.hil.report import Report, Row

EPILOG = """\
The board has its car's program (tandem flash) and configuration (tandem config write). WHEELS OFF
THE GROUND: the car is armed, and its drive enable closes. At --speed 0, as it is unless you say
otherwise, it is driven at standstill. What the board runs is changed by nothing here; it is reset a
few times, and what is measured on the chip itself is put into its memory only.

examples:
  python -m tests.hil /dev/ttyACM0                      all of it, some six minutes
  python -m tests.hil /dev/ttyACM0 --only driving,bytes
  python -m tests.hil /dev/ttyUSB0 --repl /dev/ttyACM0  a car whose link is a UART
  python -m tests.hil --csv capture.csv --channel esc=D0 --channel loop=D1 --channel life=D2
  python -m tests.hil /dev/pts/3 --patience 20          a board that is slower than time

parts: told (round trips, beats, as flashed), repl, heap, driving (step times), stops, line, guard,
bytes, start. The CSV: seconds, then a column of 0 and 1 for each channel, their names in the first
line.
Ends with 0 if all that was measured holds, 1 if not, 2 if the board does not speak.
"""
ROOT = Path(__file__).resolve().parents[2]
PARTS = ("told", "repl", "heap", "driving", "stops", "line", "guard", "bytes", "start")
KEYS = {
    "told": ("identify_answer", "stop_answer", *as_flashed.DRIVING_KEYS),
    "repl": ("repl",),
    "heap": tuple(on_chip.HEAP_KEYS.values()),
    "driving": on_chip.DRIVING_KEYS,
    "stops": ("stop_output",),
    "line": ("link_out", "link_in"),
    "guard": ("guard_share",),
    "bytes": ("same_bytes",),
    "start": ("first_step",),
}


def parser() -> argparse.ArgumentParser:
    """The command line."""
    it = argparse.ArgumentParser(
        prog="python -m tests.hil",
        description=__doc__,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    it.add_argument("port", nargs="?", help="the serial port that the car speaks at")
    it.add_argument("--repl", metavar="PORT", help="its REPL's port, where the link is a UART")
    it.add_argument("--baud", type=int, default=BAUD, help="of a UART (default %(default)s)")
    it.add_argument("--only", default=",".join(PARTS), help="parts, by commas (default: all)")
    it.add_argument("--seconds", type=float, default=60.0, help="of each drive (default 60)")
    it.add_argument("--stops", type=int, default=100, help="phases of a Stop (default 100)")
    it.add_argument("--speed", type=float, default=0.0, help="m/s to drive at (default 0)")
    it.add_argument("--beats", type=int, default=3500, help="of the storm (default 3500)")
    it.add_argument("--vehicle", default="f1tenth", help="of the storm (default f1tenth)")
    it.add_argument(
        "--patience", type=float, default=1.0, metavar="TIMES",
        help="this machine's time limits are so many times as long (default 1)",
    )  # fmt: skip
    it.add_argument("--csv", type=Path, help="a logic analyser's capture")
    it.add_argument("--channel", action="append", default=[], metavar="PART=COLUMN",
                    help="; ".join(f"{k}: {v}" for k, v in analyser.PARTS.items()))  # fmt: skip
    it.add_argument("--neutral-us", type=float, default=1500.0, help="of the ESC's pulse")
    it.add_argument("--note", default="", help="what the file should say besides: board, wires")
    it.add_argument("--out", type=Path, default=Path("hil_report.json"), help="the file to send")
    it.add_argument("--json", action="store_true", help="print the report as JSON too")
    return it


def main(words: list[str] | None = None) -> int:
    """Measure, show, write the file."""
    args = parser().parse_args(words)
    parts = [part.strip() for part in args.only.split(",")]
    wrong = [part for part in parts if part not in PARTS]
    if wrong or not (args.port or args.csv):
        parser().error(f"no part {wrong[0]!r}" if wrong else "give a port, or --csv")
    report = Report()
    report.board["note"] = args.note
    report.board["program_here"] = _commit()
    mute = ""
    if args.port:
        mute = through_port(report, args, parts)
    report.rows += capture(args)
    report.write(args.out)
    if args.json:
        print(json.dumps(report.plain(), indent=1, ensure_ascii=False))
    else:
        report.show()
    _say(f"written: {args.out}")
    if mute:
        _say(f"the board does not speak: {mute}")
        return 2
    return 1 if report.failed else 0


def through_port(report: Report, args: argparse.Namespace, parts: list[str]) -> str:
    """Part by part; one that fails leaves the rest. Returns why the car is mute, if it is."""
    bench = on_chip.Bench(args.port, args.repl or args.port, args.baud, args.patience, _say)
    mute = ""
    for part in PARTS:
        if part not in parts:
            report.rows += [unmeasured(key, "not asked for") for key in KEYS[part]]
            continue
        _say(f"--- {part}")
        measured: set[str] = set()
        try:
            for row in _rows(part, bench, report, args):
                report.rows.append(row)
                measured.add(row.what)
                _say(f"{row.verdict:>12}  {row.what}: {row.got or row.how}")
        except (Mute, TandemError, OSError, AssertionError) as error:
            _say(f"{part}: {error}")
            mute = mute or (str(error) if isinstance(error, Mute) and part == "told" else "")
            missing = [key for key in KEYS[part] if LIMITS[key].what not in measured]
            report.rows += [unmeasured(key, str(error)) for key in missing]
    return mute


def _rows(
    part: str, bench: on_chip.Bench, report: Report, args: argparse.Namespace
) -> Iterable[Row]:
    speed_mm_s = round(args.speed * 1000)
    ways: dict[str, Callable[[], Iterable[Row]]] = {
        "told": lambda: _told(bench, report, speed_mm_s, args.seconds),
        "repl": lambda: _facts(bench, report),
        "heap": lambda: (on_chip.heap_spare(bench, mode) for mode in on_chip.HEAP_KEYS),
        "driving": lambda: on_chip.step_times(bench, speed_mm_s, args.seconds),
        "stops": lambda: on_chip.stops(bench, speed_mm_s, args.stops),
        "line": lambda: on_chip.line_rates(bench),
        "guard": lambda: [on_chip.guard_share(bench)],
        "bytes": lambda: [on_chip.bytes_row(bench, args.vehicle, args.beats)],
        "start": lambda: [on_chip.first_step(bench)],
    }
    return ways[part]()


def _told(bench: on_chip.Bench, report: Report, speed_mm_s: int, seconds: float) -> Iterator[Row]:
    with bench.car(speed_mm_s) as car:
        report.board.update(car.meet())
        yield from as_flashed.measure(car, seconds)


def _facts(bench: on_chip.Bench, report: Report) -> Iterator[Row]:
    for found, row in on_chip.facts(bench):
        report.board.update(found)
        yield row


def capture(args: argparse.Namespace) -> list[Row]:
    """The rows of a logic analyser."""
    if args.csv is None:
        why = "needs a logic analyser: --csv and --channel"
        return [unmeasured(key, why) for key in analyser.KEYS]
    named = dict(word.split("=", 1) for word in args.channel if "=" in word)
    strange = sorted(set(named) - set(analyser.PARTS)) or [w for w in args.channel if "=" not in w]
    if strange or not named:
        known = ", ".join(analyser.PARTS)
        parser().error(f"--channel PART=COLUMN, of {known}; got {' '.join(strange) or 'none'}")
    try:
        return list(analyser.measure(analyser.read(args.csv, named), args.neutral_us))
    except (analyser.BadCapture, OSError) as error:
        parser().error(str(error))


def _commit() -> str:
    """Which Tandem measured."""
    done = subprocess.run(
        ["git", "describe", "--always", "--dirty"],
        cwd=Path(__file__).parent, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.stdout.strip() or "not a git work tree"


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
