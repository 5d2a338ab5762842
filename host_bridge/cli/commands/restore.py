"""Write the configuration of a backup onto a car.

examples:
  tandem restore --car nigel nigel.json
  tandem restore --car serial:///dev/ttyACM0 red.json --board e6614103e7452a2f
                                        onto another board, which is to be this car from now on

The file is of one board. Another one is refused unless --board says that it is meant (tandem
identify shows its id), and has to be of the same type.
Writing needs a car that is parked or in fault; all of it is read back. A parameter that is unknown
to this version is refused. One that the file lacks stays as the vehicle file has it.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any

from host_bridge.cli.arguments.backup_option import (
    add_backup_file,
    print_outcome,
    refuse_car_as_file,
)
from host_bridge.cli.arguments.car_option import parse_board_id
from host_bridge.config import by_name, parameter_count
from host_bridge.config.store.backup_file import read_backup
from host_bridge.config.store.pairings import Pairing
from host_bridge.core import CarMatch, KnownCar, Vehicle, another_car_text, compare_cars
from host_bridge.core.errors import AnotherCarFault, DataFileFault, UsageFault
from host_bridge.core.system.progress import progress_count
from host_bridge.core.system.running import run_async
from host_bridge.sharing.open_car import OpenCar
from host_bridge.sharing.services import Host


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    add_backup_file(parser)
    parser.add_argument(
        "--board", metavar="ID", help="the id of the board to write to, if it is another one"
    )
    parser.add_argument("--json", action="store_true", help="print the outcome as JSON")


def run(args: argparse.Namespace, host: Host) -> int:
    """Run the command; return 0. Raises errors.TandemError."""
    refuse_car_as_file(args.file)
    return run_async(_restore(args, host))


async def _restore(args: argparse.Namespace, host: Host) -> int:
    row = read_backup(args.file)
    word = args.vehicle or row.get("vehicle_file", row["vehicle"])  # earlier backups lack it
    vehicle = host.vehicles.load(word)
    _refuse_another_type(vehicle, row, word)
    numbers = {name: values for name, values in row["parameters"].items() if name != "board_id"}
    _refuse_unknown(args.file, numbers, set(by_name([0] * parameter_count())))
    kept = replace(vehicle, parameters={**vehicle.parameters, **numbers})
    epoch = host.cars.command_epoch(args.car)
    opened = await host.cars.open(args.car, epoch=epoch, vehicle=word)
    try:
        held = host.vehicles.recognised(opened.identity)
        _refuse_another_type(held, row, opened.name)  # first: no --board would help there
        _refuse_another_board(opened, held, row, parse_board_id(args.board))
        changed = await host.configurations.write(opened, kept, row["car_name"], progress_count)
        known = (
            Pairing.from_row(row["pairing"])
            if row["pairing"]
            else Pairing.new(opened.identity, row["car_name"], row["vehicle"])
        )
        trim = {name: v for name, v in numbers.items() if v != vehicle.parameters.get(name, v)}
        board_id = opened.identity.board_id.hex()
        host.pairings.keep(replace(known, board_id=board_id, trim=trim), is_on_car=True)
    finally:
        await opened.close()
    print_outcome(
        args, {"car": row["car_name"], "vehicle": row["vehicle"], "changed": changed}, "restored"
    )
    return 0


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
    opened: OpenCar, held: Vehicle | None, row: dict[str, Any], chosen_board: bytes | None
) -> None:
    """Raise errors.AnotherCarFault unless the board is the backup's, or the one of ``--board``."""
    board_id = chosen_board or bytes.fromhex(row["board_id"])
    expected_car = KnownCar(board_id, str(row["car_name"]), str(row["vehicle"]))
    identity = opened.identity
    seen = KnownCar(identity.board_id, identity.car_name, held.name if held else "")
    if compare_cars(expected_car, seen) is CarMatch.ANOTHER:
        raise AnotherCarFault(
            another_car_text(expected_car, seen),
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
