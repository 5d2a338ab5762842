"""``tandem sim``: runs one virtual car behind a port that any serial tool can open."""

from __future__ import annotations

import argparse
import json
import os
import secrets
import select
import shlex
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from host_bridge.cars import virtual_cars
from host_bridge.core import Vehicle
from host_bridge.core.errors import INTERRUPTED, DeviceFault, UsageFault
from host_bridge.logs.new_file import refuse_unwritable
from host_bridge.sharing.services import Host

EPILOG = """\
examples:
  tandem sim nigel
  tandem sim f1tenth --seed 3 --payload-kg 1.0 --link /tmp/car
  tandem sim nigel --runtime micropython32
  tandem sim f1tenth --track corridor --sensors run.jsonl
  tandem sim f1tenth --map ./lab.yaml --start 1.5,0,90
  tandem sim f1tenth --fault 'stuck_servo@30s;lossy_wire:share=0.3@45s'
  tandem sim autorally --track autorally --scenario bad_day
  tandem sim runstop_box --key box.key   a button that stops the car that is served with it, if
                                         that was started with the same key (tandem pair)
  tandem sim autorally --model autorally_full
  tandem sim --list                      which models, tracks, faults and scenarios there are

It runs the very program that runs on the board, under MicroPython where there is one, with a model
of the vehicle around it. While it runs it takes lines: runstop open, runstop close, unplug, plug.
Each start is another board out of the box, though of the same name; --board with the word that it
prints is that very board again, be it as another car.
--sensors writes a line of JSON for each sample, with the truth beside it, while it runs; a named
pipe (mkfifo) will do too. A fault's time counts from when the car is switched on. Ctrl-C ends it.
"""
_BOX = "runstop_box"
_BOARD_BYTES = 4  # random bytes in the name of a new board: enough for the boards of one desk
_LINES = ("runstop open", "runstop close", "unplug", "plug")  # what may be typed while it runs
_BOX_LINES = ("press", "release", "unplug", "plug")
RUNTIMES = ("auto", "micropython", "micropython32", "cpython")

# key of a sim:// URI, metavar of its option, help
QUERY = (
    ("seed", "N", "the seed of its random numbers: sensor noise, losses on its wire"),
    ("name", "NAME", "the car's own name (default: its type's)"),
    (
        "board",
        "WORD",
        "the identity of its virtual board, whatever the car's name (default: a new board)",
    ),
    (
        "model",
        "NAME",
        "the model of its motion: one that --list shows, or an Autoware parameter .yaml",
    ),
    ("payload_kg", "KG", "the mass of a load on it"),
    ("payload_x_m", "M", "how far the load is ahead of the centre of gravity"),
    ("track", "NAME", "the track that it stands on, one that --list shows"),
    ("map", "FILE", "the .yaml of a ROS map, whose walls it can hit"),
    ("start", "X,Y,DEG", "where it stands, in m and degrees (default: the origin)"),
    ("wind", "MPS,DEG", "wind: its speed, and where it blows to, in the world's axes"),
    ("slope", "PERCENT,DEG", "a slope: its rise, and which way is up, in the world's axes"),
    ("sensors", "FILE", "the file or named pipe for its sensors' samples, as lines of JSON"),
    ("located", "FILE", "the file or named pipe for its poses, as a localiser writes them"),
    (
        "poses",
        "PIPE",
        "a named pipe for poses at which to put it while it stands, as lines of JSON",
    ),
    ("key", "FILE", "the key file of tandem pair --virtual, the same as its runstop box's"),
    ("fault", "FAULTS", "NAME[:KEY=VALUE,...][@SECONDS][;...], names from --list"),
    ("scenario", "FILE", "faults and their times: a TOML file, or a name from --list"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.description = "Run a virtual car alone, behind a serial port."
    parser.epilog = EPILOG
    parser.add_argument(
        "vehicle",
        nargs="?",
        metavar="VEHICLE",
        help="a type that tandem vehicles lists, or the path of a vehicle file",
    )
    for key, metavar, text in QUERY:
        parser.add_argument("--" + key.replace("_", "-"), dest=key, metavar=metavar, help=text)
    parser.add_argument("--blank", action="store_true", help="start without a stored configuration")
    parser.add_argument(
        "--runtime", choices=RUNTIMES, default="auto", help="the runtime of its program"
    )
    parser.add_argument("--link", type=Path, help="a stable name for the port")
    parser.add_argument("--trace", type=Path, help="write its true path to this CSV file")
    parser.add_argument(
        "--list", action="store_true", help="show models, tracks, faults and scenarios, and end"
    )
    parser.add_argument("--json", action="store_true", help="print the port, or the list, as JSON")


def run(args: argparse.Namespace, host: Host) -> int:
    """Run until Ctrl-C or the end of the virtual car.

    Raises errors.TandemError.
    """
    if args.list:
        return _list(virtual_cars.choices(), args.json)
    if not args.vehicle:
        raise UsageFault(
            "no vehicle is named",
            expected="a VEHICLE, or --list",
            remedy="tandem sim nigel, for example; tandem vehicles lists the types",
        )
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # SIGTERM ends it as Ctrl-C does
    vehicle = None if args.vehicle == _BOX else host.vehicles.load(args.vehicle)
    _refuse_files(args)
    process = _start(args, vehicle)
    try:
        car_output = LineReader(process.stdout)
        greeting = car_output.first()
        if not greeting:
            raise _broke(args.vehicle, "the virtual car did not start", process)
        ready, *more = greeting
        facts = json.loads(ready)
        if vehicle and not args.blank:  # so that every other command knows a file of one's own
            board_id = bytes.fromhex(facts["board_id"])
            host.vehicles.remember(vehicle, board_id, args.name or vehicle.name)
        print(ready if args.json else _welcome(facts, args), *more, sep="\n", flush=True)
        _relay(process, car_output, _BOX_LINES if args.vehicle == _BOX else _LINES)
        if process.returncode:
            raise _broke(args.vehicle, "the virtual car ended", process)
    except KeyboardInterrupt:
        return INTERRUPTED  # its normal end
    finally:
        _end(process)
    return 0


def _refuse_files(args: argparse.Namespace) -> None:
    """Raise errors.DataFileFault for a --trace or --link that cannot be made.

    A link to a device is one that an earlier car left, and is replaced.
    """
    if args.trace:
        refuse_unwritable(args.trace, "the true path")
    link: Path | None = args.link
    if link and not (link.is_symlink() and os.readlink(link).startswith("/dev/")):
        refuse_unwritable(link, "the port's name")


def _start(args: argparse.Namespace, vehicle: Vehicle | None) -> subprocess.Popen[str]:
    """Start the vehicle, or without one the runstop box. Raises errors.UsageFault."""
    if vehicle:
        args.board = args.board or secrets.token_hex(_BOARD_BYTES)
        return virtual_cars.start(vehicle, _query(args), _options(args))
    given = {*_query(args), *(["trace"] if args.trace else [])} - {"key"}
    if given:
        raise UsageFault(
            "a runstop box has no wheels, so nothing moves it and it stands nowhere",
            expected="--key, --runtime and --link only",
            got=", ".join(sorted("--" + key.replace("_", "-") for key in given)),
            remedy="leave them out",
        )
    key = ["--key", args.key] if args.key else []
    return virtual_cars.start_box([*_options(args), *key])


def _list(choices: dict[str, list[dict[str, Any]]], as_json: bool) -> int:
    if as_json:
        print(json.dumps(choices))
        return 0
    for kind, rows in choices.items():
        print(kind)
        # columns: most names, so that they stand below each other from kind to kind
        wide = max((15, *(len(row["name"]) for row in rows)))
        for row in rows:
            keys = ",".join(f"{key}={value}" for key, value in row.get("keys", {}).items())
            print(f"  {row['name']:{wide}} {row['title']}{f'  :{keys}' if keys else ''}")
    return 0


def _query(args: argparse.Namespace) -> dict[str, str]:
    given = {key: getattr(args, key) for key, _, _ in QUERY if getattr(args, key) is not None}
    return {**given, "blank": "1"} if args.blank else given


def _options(args: argparse.Namespace) -> list[str]:
    paths = [("--link", args.link), ("--trace", args.trace)]
    extra = [text for name, path in paths if path for text in (name, str(path))]
    return ["--runtime", args.runtime, "--ends-alone", *extra]


def _welcome(ready: dict[str, Any], args: argparse.Namespace) -> str:
    device = args.link or ready["device"]
    if args.vehicle == _BOX:
        radio = shlex.quote(f"serial://{device}")
        return (
            f"a runstop box runs under {ready['runtime']}; its radio is {device}\n"
            f"  serve a car with it: tandem serve --car sim://nigel --radio {radio}\n"
            f"  lines it takes here: {', '.join(_BOX_LINES)}; Ctrl-C ends"
        )
    uri = shlex.quote(f"serial://{Path(device).absolute()}")
    return (
        f"{args.name or args.vehicle} runs under {ready['runtime']}, behind {device}\n"
        f"  its board: {ready['board_id']} (the same one again: --board {args.board})\n"
        f"  drive it:  tandem drive --car {uri}\n"
        f"  watch it:  tandem monitor {uri}\n"
        f"  lines it takes here: {', '.join(_LINES)}; Ctrl-C ends"
    )


class LineReader:
    """A reader of a file's lines as they come: ``readline`` would buffer the second of two."""

    def __init__(self, file: Any) -> None:
        self.fileno = file.fileno
        self._rest = b""

    def first(self) -> list[str]:
        """Wait for a whole line; return all that came, none at the end of the file."""
        while (lines := self.read()) == []:
            pass  # only a part of a line has come
        return lines or []

    def read(self) -> list[str] | None:
        """Wait for data; return the whole lines in it, or None at the end of the file."""
        data = os.read(self.fileno(), 65536)
        *lines, self._rest = (self._rest + data).split(b"\n")
        return [line.decode(errors="replace") for line in lines] if data else None


def _relay(process: subprocess.Popen[str], car_output: LineReader, known: Sequence[str]) -> None:
    """Pass typed lines to the car and its lines to stdout, until it ends."""
    sources = [LineReader(sys.stdin), car_output]
    while process.poll() is None:
        ready, _, _ = select.select(sources, [], [], 1.0)
        for source in ready:
            lines = source.read()
            if lines is None:
                sources.remove(source)  # without further input the car keeps running
            for line in lines or ():
                if source is car_output:
                    print(line, flush=True)
                else:
                    _pass_on(line, known, process)


def _pass_on(text: str, known: Sequence[str], process: subprocess.Popen[str]) -> None:
    line = " ".join(text.split())
    if line in known and process.stdin:
        process.stdin.write(f"{line}\n")
        process.stdin.flush()
    elif line:
        print(f"tandem: no {line!r} here; it takes {', '.join(known)}", file=sys.stderr)


def _end(process: subprocess.Popen[str]) -> None:
    """Tell the car to quit, and wait: it ends when it has come to rest."""
    if process.poll() is None and process.stdin:
        process.stdin.write("quit\n")
        process.stdin.close()
        process.wait()


def _broke(vehicle: str, what: str, process: subprocess.Popen[str]) -> DeviceFault:
    printed = process.stderr.read().strip() if process.stderr else ""
    return DeviceFault(what, where=vehicle, got=printed)
