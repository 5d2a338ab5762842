"""``python -m tests.studies.chip PORT``: all that is measured of cars on a chip, into its tables.

Each car is flashed to the board at PORT as its user would do it; then its heap and its steps are
measured, with each beat that it may have, without a box's key and with one. The board is left with
the last of the cars, and without a key. With a board for each release of MicroPython, all tables
are made anew by one command; a change of the firmware asks for that.
"""

from __future__ import annotations

import argparse
import secrets
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from host_bridge.config import load_vehicle
from host_bridge.config.boards.measured import TABLE
from host_bridge.deploy.flash.board import pairing_key
from host_bridge.deploy.hil.host.paced_car import NotDriving
from tests.studies import chip_heap, chip_steps, chip_tables

EPILOG = """examples:
  python -m tests.studies.chip /dev/ttyACM0 --board pico --how "a Pico"
  python -m tests.studies.chip /dev/pts/3 /dev/pts/4 --board pico --how "emulated RP2040" \\
    --model auto --patience 30 --cars f1tenth
  python -m tests.studies.chip /dev/ttyACM0 --board pico --how "a Pico" --only heap

WHEELS OFF THE GROUND: the cars are armed, and driven at standstill. A key on the board is replaced,
and taken away at the end."""
CARS = ("f1tenth", "f1tenth_vesc", "autorally")
BEATS_S = (0.01, 0.02)
NO_KEY = bytes(pairing_key.KEY)


def main() -> int:
    """0 if each row was measured."""
    args = _arguments()
    failed = [what for port in args.ports for what in _board(port, args)]
    for what in failed:
        chip_tables.say(f"not measured: {what}")
    return 1 if failed else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.studies.chip", description=__doc__, epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("ports", metavar="PORT", nargs="+", help="of a board; each, one by one")
    parser.add_argument("--board", required=True, help="as tandem vehicles --check calls it")
    parser.add_argument("--how", required=True, help="on what: a board, or what stands for one")
    parser.add_argument("--cars", nargs="+", default=CARS, help=f"default: {' '.join(CARS)}")
    parser.add_argument("--only", choices=("heap", "steps"), help="one of the two")
    parser.add_argument("--patience", type=float, default=1.0)
    chip_steps.add_arguments(parser)
    return parser.parse_args()


def _board(port: str, args: argparse.Namespace) -> Iterator[str]:
    for car in args.cars:
        args.wiring = car
        _store(port, args, NO_KEY)
        _tandem("flash", "--vehicle", car, "--board", args.board, "--port", port, "--no-selftest")
        yield from _measured(port, args, None)
        with tempfile.NamedTemporaryFile("w", suffix=".key") as file:
            key = secrets.token_bytes(pairing_key.KEY)
            file.write(key.hex())
            file.flush()
            _store(port, args, key)
            yield from _measured(port, args, file.name)
        _store(port, args, NO_KEY)


def _measured(port: str, args: argparse.Namespace, key: str | None) -> Iterator[str]:
    """Write the rows of the car that is on the board; what could not be measured, and why."""
    args.key = key
    if args.only != "steps":
        chip_heap.keep(chip_tables.bench_at(port, args), args)
    if args.only == "heap":
        return
    for step_s in BEATS_S:
        if step_s < load_vehicle(args.wiring).step_s:
            continue
        _tandem("config", "write", f"serial://{port}", f"step_s={step_s:g}")
        try:
            rows = chip_steps.measure(chip_tables.bench_at(port, args), args)
            chip_steps.keep(TABLE, rows)
        except (NotDriving, chip_steps.Few) as error:
            with_key = ", with a key" if key else ""
            yield f"{args.wiring}{with_key} at {step_s * 1e3:g} ms, {port}: {error}"


def _store(port: str, args: argparse.Namespace, key: bytes) -> None:
    """Put a key onto a board, or zeros, which are none; nothing where there is no program yet."""
    with chip_tables.bench_at(port, args).board() as board:
        if board.slots() is not None:
            pairing_key.store(board, key, "")


def _tandem(*words: str) -> None:
    chip_tables.say(f"tandem {' '.join(words)}")
    subprocess.run([str(Path(sys.executable).with_name("tandem")), *words], check=True)


if __name__ == "__main__":
    sys.exit(main())
