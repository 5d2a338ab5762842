"""``python -m tests.studies.chip PORT…``: all that is measured of cars on chips, into its tables.

Each car is flashed to the board at each PORT as its user would do it; then its heap and its steps
are measured, with each beat that it may have, without a box's key and with one. The board is left
with the last of the cars, and without a key. With a board for each release of MicroPython, all
tables are made anew by one command; a change of the firmware asks for that. A board file that puts
the link on a UART makes the rows of that; such a board has two ports, PORT and --repl.

What the tables have of this very program is not measured again. So the command goes on where it was
ended, by Ctrl-C or a cable; ``--again`` measures all of it. At the end, and alone without a PORT,
it prints what the tables have then.
"""

from __future__ import annotations

import argparse
import contextlib
import secrets
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from host_bridge.config import load_vehicle
from host_bridge.config.boards import load_board
from host_bridge.config.boards.beat import link_on
from host_bridge.config.boards.heap import read_needs
from host_bridge.config.boards.measured import TABLE, read_measured
from host_bridge.core.errors import TandemError
from host_bridge.deploy.flash.board import pairing_key
from host_bridge.deploy.flash.build import build_program
from host_bridge.deploy.hil.host.paced_car import NotDriving
from host_bridge.deploy.hil.host.port import NoAnswer
from host_bridge.deploy.hil.on_chip import HEAP_KEYS
from tests.studies import chip_heap, chip_steps, chip_summary, chip_tables

EPILOG = """examples:
  python -m tests.studies.chip --board pico
  python -m tests.studies.chip /dev/ttyACM0 --board pico --how "a Pico"
  python -m tests.studies.chip /dev/pts/3 /dev/pts/4 --models auto 40 --board pico \\
    --how "emulated RP2040" --patience 30 --cars f1tenth
  python -m tests.studies.chip /dev/ttyUSB0 --repl /dev/ttyACM0 --board ./pico_uart.toml \\
    --how "a Pico whose link is a UART"
  python -m tests.studies.chip /dev/ttyACM0 --board pico --how "a Pico" --only heap

WHEELS OFF THE GROUND: the cars are armed, and driven at standstill. A key on the board is replaced,
and taken away at the end."""
CARS = ("f1tenth", "f1tenth_vesc", "autorally")
BEATS_US = (10_000, 20_000)
NO_KEY = bytes(pairing_key.KEY)
_SLOW_TRIES = 2


_TROUBLE = (
    NotDriving, NoAnswer, chip_steps.Few, chip_heap.NoStart, TandemError, OSError,
    subprocess.CalledProcessError,
)  # fmt: skip


@dataclass(frozen=True)
class Piece:
    """A part of the work: a car's heap, or its steps with one control period."""

    car: str
    is_paired: bool
    beat_us: int = 0  # 0 for the heap

    def __str__(self) -> str:
        what = f"steps at {self.beat_us / 1000:g} ms" if self.beat_us else "heap"
        return f"{self.car}{', with a key' if self.is_paired else ''}, {what}"


@dataclass(frozen=True)
class Board:
    """A board at its ports: its chip and its MicroPython."""

    port: str
    repl: str  # the same one, unless the link is a UART
    chip: str
    micropython: str


def main() -> int:
    """0 if each row was measured."""
    args = _arguments()
    programs = {
        car: build_program(args.board, car, load_vehicle, _silent).hash for car in args.cars
    }
    repls, models = args.repl or args.ports, args.models or [args.model] * len(args.ports)
    failed = []
    for port, repl, model in zip(args.ports, repls, models, strict=True):
        args.model = model
        failed += _measured_at(port, repl, args, programs)
    print("\n".join(chip_summary.table(load_board(args.board).chip.name, programs)))
    for what in failed:
        chip_tables.say(f"not measured: {what}")
    return 1 if failed else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.studies.chip", description=__doc__, epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("ports", metavar="PORT", nargs="*", help="of a board; each, one by one")
    parser.add_argument(
        "--repl", metavar="PORT", nargs="+", help="their REPLs, in turn, where the link is a UART"
    )
    parser.add_argument("--board", required=True, help="as tandem vehicles --check calls it")
    parser.add_argument("--cars", nargs="+", default=CARS, help=f"default: {' '.join(CARS)}")
    parser.add_argument("--only", choices=("heap", "steps"), help="one of the two")
    parser.add_argument("--again", action="store_true", help="what the tables have already, too")
    chip_tables.add_how(parser, is_required=False)
    chip_steps.add_arguments(parser)
    parser.add_argument(
        "--models", metavar="MODEL", nargs="+", help="each PORT's own --model, in turn"
    )
    args = parser.parse_args()
    if args.ports and not args.how:
        parser.error("--how says on what these PORTs' rows were measured")
    for name, given in (("--repl", args.repl), ("--models", args.models)):
        if given and len(given) != len(args.ports):
            parser.error(f"{name} has one for each PORT")
    return args


def _silent(done: int, of: int) -> None:
    """Report nothing of the compiling, which takes seconds."""


def _measured_at(
    port: str, repl: str, args: argparse.Namespace, programs: dict[str, str]
) -> Iterator[str]:
    """Measure what lacks of each car on the board at these ports; yield what failed, and why."""
    with chip_tables.bench_at(port, repl, args).board() as at_repl:
        version = ".".join(map(str, at_repl.facts().version))
    kind = load_board(args.board)
    board = Board(port, repl, kind.chip.name, version)
    for car in args.cars:
        args.link = link_on(load_vehicle(car), kind)
        left = [
            piece
            for piece in pieces(car, args.only)
            if args.again or not is_done(piece, board, args, programs[car])
        ]
        chip_tables.say(f"{port}, MicroPython {version}, {car}: {len(left)} pieces to measure")
        if left:
            yield from _car_measured(board, car, left, args)


def pieces(car: str, only: str | None) -> list[Piece]:
    """List the parts of the work of one car, without a key first."""
    beats = [beat for beat in BEATS_US if beat >= round(load_vehicle(car).step_s * 1e6)]
    kinds = ([0] if only != "steps" else []) + (beats if only != "heap" else [])
    return [Piece(car, is_paired, beat) for is_paired in (False, True) for beat in kinds]


def is_done(piece: Piece, board: Board, args: argparse.Namespace, program: str) -> bool:
    """Return whether the tables have all rows of this piece, of this very program."""
    if not piece.beat_us:
        own = {row.key for row in read_needs() if row.program == program}
        key = (board.chip, piece.car, piece.is_paired)
        return own.issuperset((*key, what, board.micropython, args.link) for what in HEAP_KEYS)
    found = {
        (row.state, row.heard)
        for row in read_measured()
        if (row.chip, row.wiring, row.is_paired) == (board.chip, piece.car, piece.is_paired)
        and (row.micropython, row.link, row.model) == (board.micropython, args.link, args.model)
        and (row.beat_us, row.program) == (piece.beat_us, program)
    }
    runs = chip_steps.runs_of(piece.is_paired)
    wanted = [row[:2] for run in runs for row in run.situations(piece.beat_us)]
    return found.issuperset(wanted)


def _car_measured(
    board: Board, car: str, left: Sequence[Piece], args: argparse.Namespace
) -> Iterator[str]:
    """Flash the car, and measure each piece with the key that it has, or without one."""
    args.wiring = car
    _store(board, args, NO_KEY)
    try:
        _flash(board, car, args)
    except subprocess.CalledProcessError as error:
        yield f"{car}, {board.port}: {error}"
        return
    with tempfile.NamedTemporaryFile("w", suffix=".key") as file:
        key = secrets.token_bytes(pairing_key.KEY)
        file.write(key.hex())
        file.flush()
        stored = NO_KEY
        for piece in left:
            wanted, args.key = (key, file.name) if piece.is_paired else (NO_KEY, None)
            if wanted != stored:
                _store(board, args, wanted)
                stored = wanted
            try:
                _piece_measured(board, piece, args)
            except _TROUBLE as error:
                yield f"{piece}, {board.port}: {error}"
    _store(board, args, NO_KEY)


def _piece_measured(board: Board, piece: Piece, args: argparse.Namespace) -> None:
    """Measure and write its rows. Raises what ``_TROUBLE`` has."""
    chip_tables.say(f"--- {piece}, MicroPython {board.micropython}")
    if not piece.beat_us:
        chip_heap.keep(chip_tables.bench_at(board.port, board.repl, args), args)
        return
    _tandem("config", "write", f"serial://{board.port}", f"step_s={piece.beat_us / 1e6:g}")
    rows = chip_steps.measure(chip_tables.bench_at(board.port, board.repl, args), args)
    chip_steps.keep(TABLE, rows)


def _flash(board: Board, car: str, args: argparse.Namespace) -> None:
    """Flash the car as its user would. Raises CalledProcessError.

    A board that is slower than time (``--patience``) may start later than ``tandem flash`` waits;
    the next one finds its program there, and goes on.
    """
    words = ["flash", "--vehicle", car, "--board", args.board, "--port", board.port]
    words += ["--repl", board.repl] if board.repl != board.port else []
    words += ["--no-selftest"]
    for _ in range(_SLOW_TRIES if args.patience > 1 else 0):
        with contextlib.suppress(subprocess.CalledProcessError):
            _tandem(*words)
            return
    _tandem(*words)


def _store(board: Board, args: argparse.Namespace, key: bytes) -> None:
    """Put a key onto a board, or zeros, which are none; nothing where there is no program yet."""
    with chip_tables.bench_at(board.port, board.repl, args).board() as at_repl:
        if at_repl.slots() is not None:
            pairing_key.store(at_repl, key, "")


def _tandem(*words: str) -> None:
    chip_tables.say(f"tandem {' '.join(words)}")
    subprocess.run([str(Path(sys.executable).with_name("tandem")), *words], check=True)


if __name__ == "__main__":
    sys.exit(main())
