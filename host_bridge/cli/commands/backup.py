"""Save a car's configuration and pairing to a file.

examples:
  tandem backup --car nigel nigel.json
  tandem backup --car serial:///dev/ttyACM0 red.json

The file holds every parameter by name, the car's name, what this host keeps of it (its trim and its
key: treat the file as a key), and a hash of all of it.
"""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import Any

from host_bridge.cli.arguments.backup_option import (
    add_backup_file,
    print_outcome,
    refuse_car_as_file,
)
from host_bridge.config import by_name, values_hash, vehicle_word
from host_bridge.config.store.backup_file import KIND, write_backup
from host_bridge.core.errors import NotHeldFault
from host_bridge.core.system.progress import progress_count
from host_bridge.core.system.running import run_async
from host_bridge.logs.new_file import refuse_existing
from host_bridge.sharing.open_car import OpenCar
from host_bridge.sharing.services import Host


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    add_backup_file(parser)
    parser.add_argument("--json", action="store_true", help="print the outcome as JSON")


def run(args: argparse.Namespace, host: Host) -> int:
    """Run the command; return 0. Raises errors.TandemError."""
    refuse_car_as_file(args.file)
    refuse_existing(args.file)  # it holds the only copy of a key, perhaps
    return run_async(_backup(args, host))


async def _backup(args: argparse.Namespace, host: Host) -> int:
    opened = await host.cars.open(args.car, vehicle=args.vehicle)
    try:
        row = await _row(host, opened)
    finally:
        await opened.close()
    write_backup(args.file, row)
    print_outcome(
        args, {"car": row["car_name"], "vehicle": row["vehicle"], "file": str(args.file)}, "kept"
    )
    return 0


async def _row(host: Host, opened: OpenCar) -> dict[str, Any]:
    identity, known = opened.identity, host.pairings.of(opened.identity)
    values = await host.configurations.read(opened, progress_count("read"))
    parameters = by_name(values)
    if values_hash(values, identity.car_name) != identity.config_hash:
        raise NotHeldFault(
            "the parameters that were read do not match the car's configuration hash",
            where=opened.uri,
        )
    return {
        "what": KIND,
        "car_name": identity.car_name,
        "vehicle": opened.vehicle.name,
        "vehicle_file": vehicle_word(opened.vehicle),
        "board_id": identity.board_id.hex(),
        "parameters": parameters,
        "pairing": asdict(known) if known else None,
    }
