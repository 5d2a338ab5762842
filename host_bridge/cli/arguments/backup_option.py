"""The arguments and the outcome that ``tandem backup`` and ``restore`` share."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from host_bridge.cli.arguments.car_option import add_car_option, add_vehicle_option
from host_bridge.core.errors import UsageFault


def add_backup_file(parser: argparse.ArgumentParser) -> None:
    """Declare ``--car CAR``, ``--vehicle NAME`` and the file."""
    add_car_option(parser)
    add_vehicle_option(parser)
    parser.add_argument("file", type=Path, help="the JSON file")


def refuse_car_as_file(path: Path) -> None:
    """Raise errors.UsageFault if the file looks like a car's URI."""
    if ":" in path.parts[0]:
        raise UsageFault(
            "this names a car where the file belongs",
            expected="--car CAR, and a file: red.json",
            got=str(path),
            remedy="name the car by --car, and the file after it",
        )


def print_outcome(args: argparse.Namespace, row: dict[str, Any], what: str) -> None:
    """Print what was done and to what, for people or as JSON."""
    rest = ", ".join(f"{name} {value}" for name, value in row.items())
    print(json.dumps(row) if args.json else f"{what}: {rest}")
