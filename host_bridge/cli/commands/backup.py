"""``tandem backup`` and ``restore``: a car's configuration and pairing, to a file and back."""

from __future__ import annotations

import argparse
import hashlib
import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from host_bridge.cli.arguments.car_option import board_of, named_car
from host_bridge.config import by_name, parameter_count, values_hash
from host_bridge.config.store import Host
from host_bridge.config.store.pairings import Pairing
from host_bridge.core import CarMatch, KnownCar, Vehicle, another_car_text, compare_cars
from host_bridge.core.errors import AnotherCarFault, DataFileFault, NotHeldFault, UsageFault
from host_bridge.core.system.progress import progress_count
from host_bridge.core.system.running import write_atomically
from host_bridge.core.system.running import run_async
from host_bridge.sharing.open_car import OpenCar

BACKUP = """\
examples:
  tandem backup --car nigel nigel.json
  tandem backup --car serial:///dev/ttyACM0 red.json

The file holds every parameter by name, the car's name, what this host keeps of it (its trim and its
key: treat the file as a key), and a hash of all of it.
"""
RESTORE = """\
examples:
  tandem restore --car nigel nigel.json
  tandem restore --car serial:///dev/ttyACM0 red.json --board e6614103e7452a2f
                                        onto another board, which is to be this car from now on

The file is of one board. Another one is refused unless --board says that it is meant (tandem
identify shows its id), and has to be of the same type.
Writing needs the car in STANDBY or FAULT; all of it is read back. A parameter that this version
does not know any more is refused, one that the file has not stays as the vehicle file has it.
"""
_WHAT = "tandem backup 1"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    is_backup = parser.get_default("command") == "backup"
    parser.description = "Keep a car's numbers." if is_backup else "Give a car its numbers back."
    parser.epilog = BACKUP if is_backup else RESTORE
    named_car(parser)
    parser.add_argument("file", type=Path, help="the file, JSON")
    if not is_backup:
        parser.add_argument(
            "--board", metavar="ID", help="the board that is to have it, if it is another one"
        )
    parser.add_argument("--json", action="store_true", help="print what a program would read")


def run(args: argparse.Namespace, host: Host) -> int:
    """Run the command; return 0.

    Raises errors.TandemError.
    """
    if ":" in args.file.parts[0]:
        raise UsageFault(
            f"{args.file} is no name for a file",
            expected="--car CAR, and a file: red.json",
            remedy="a car is named by --car",
        )
    return run_async((_backup if args.command == "backup" else _restore)(args, host))


async def _backup(args: argparse.Namespace, host: Host) -> int:
    opened = await host.cars.open(args.car)
    try:
        row = await _row(host, opened)
    finally:
        await opened.close()
    _write(args.file, {**row, "sha256": _hash(row)})
    _say(args, {"car": row["car_name"], "vehicle": row["vehicle"], "file": str(args.file)}, "kept")
    return 0


async def _row(host: Host, opened: OpenCar) -> dict[str, Any]:
    identity, known = opened.identity, host.pairings.of(opened.identity)
    values = await host.configurations.read(opened, progress_count("read"))
    parameters = by_name(values)
    if values_hash(values, identity.car_name) != identity.config_hash:
        raise NotHeldFault("what was read is not what the car reports to hold", where=opened.uri)
    return {
        "what": _WHAT,
        "car_name": identity.car_name,
        "vehicle": opened.vehicle.name,
        "board_id": identity.board_id.hex(),
        "parameters": parameters,
        "pairing": asdict(known) if known else None,
    }


async def _restore(args: argparse.Namespace, host: Host) -> int:
    row = _read(args.file)
    vehicle = host.vehicles.load(row["vehicle"])
    numbers = {name: values for name, values in row["parameters"].items() if name != "board_id"}
    _refuse_unknown(args.file, numbers, set(by_name([0] * parameter_count())))
    kept = replace(vehicle, parameters={**vehicle.parameters, **numbers})
    epoch = host.cars.command_epoch(args.car)
    opened = await host.cars.open(args.car, epoch=epoch, vehicle=row["vehicle"])
    try:
        held = host.vehicles.recognised(opened.identity)
        _refuse_another_type(held, row, opened.name)  # first: no --board would help there
        _refuse_another_board(opened, held, row, board_of(args.board))
        changed = await host.configurations.write(opened, kept, row["car_name"], progress_count)
        known = (
            Pairing.from_row(row["pairing"])
            if row["pairing"]
            else Pairing.new(opened.identity, row["car_name"], row["vehicle"])
        )
        trim = {name: v for name, v in numbers.items() if v != vehicle.parameters.get(name, v)}
        board_id = opened.identity.board_id.hex()
        host.pairings.keep(replace(known, board_id=board_id, trim=trim))
    finally:
        await opened.close()
    _say(args, {"car": row["car_name"], "vehicle": row["vehicle"], "changed": changed}, "restored")
    return 0


def _read(path: Path) -> dict[str, Any]:
    try:
        row = json.loads(path.read_text())
        is_whole = row.pop("what") == _WHAT and row.pop("sha256") == _hash({"what": _WHAT, **row})
    except OSError as error:
        raise DataFileFault.unreadable(path, error) from None
    except (ValueError, AttributeError, KeyError, TypeError):
        raise _not_a_backup(path, "something else") from None
    if not is_whole:
        raise _not_a_backup(path, "its hash is not that of what is in it")
    found: dict[str, Any] = row
    return found


def _hash(row: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(row, sort_keys=True).encode()).hexdigest()


def _write(path: Path, row: dict[str, Any]) -> None:
    try:
        write_atomically(path, json.dumps(row, indent=1))
    except OSError as error:
        raise DataFileFault("cannot write the backup", where=str(path), got=str(error)) from None


def _refuse_unknown(path: Path, numbers: dict[str, list[int]], known: set[str]) -> None:
    unknown = sorted(set(numbers) - known)
    if unknown:
        raise DataFileFault(
            "the backup has parameters that this version does not know",
            where=str(path),
            got=", ".join(unknown),
            remedy="restore it with the version that made it, or write the vehicle file's: "
            "tandem config write",
        )


def _refuse_another_board(
    opened: OpenCar, held: Vehicle | None, row: dict[str, Any], said: bytes | None
) -> None:
    """Raise errors.AnotherCarFault unless the board is the backup's, or the one of ``--board``."""
    board_id = said or bytes.fromhex(row["board_id"])
    meant = KnownCar(board_id, str(row["car_name"]), str(row["vehicle"]))
    identity = opened.identity
    seen = KnownCar(identity.board_id, identity.car_name, held.name if held else "")
    if compare_cars(meant, seen) is CarMatch.ANOTHER:
        raise AnotherCarFault(
            another_car_text(meant, seen),
            where=opened.uri,
            remedy=f"is it the right port? if this board is to be that car from now on: "
            f"--board {seen.board_id.hex()}",
        )


def _refuse_another_type(held: Vehicle | None, row: dict[str, Any], name: str) -> None:
    """Refuse a board that holds another type's configuration: its wiring is different.

    A board without a configuration may become any type.
    """
    if held is not None and held.name != row["vehicle"]:
        raise UsageFault(
            "the backup is of another type of car",
            where=name,
            expected=f"a backup of a {held.name}",
            got=f"one of a {row['vehicle']}",
            remedy="if it was rebuilt: tandem flash makes it one of that type",
        )


def _not_a_backup(path: Path, got: str) -> DataFileFault:
    return DataFileFault(
        "this is no backup, or not a whole one",
        where=str(path),
        expected="what tandem backup wrote, unchanged",
        got=got,
    )


def _say(args: argparse.Namespace, row: dict[str, Any], deed: str) -> None:
    rest = ", ".join(f"{name} {value}" for name, value in row.items())
    print(json.dumps(row) if args.json else f"{deed}: {rest}")
