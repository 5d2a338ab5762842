"""The named pipes to a virtual car that this command starts: its sensors, its teleport poses."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

VIRTUAL = ("sim://", "sim+process://")
_SENSORS = "sensors="


def add_pipes(parser: argparse.ArgumentParser) -> None:
    """Declare the options for the pipes of a virtual car that another command started."""
    parser.add_argument(
        "--sensors",
        metavar="PIPE",
        help="the pipe to which a served virtual car writes its sensors; not needed for sim://",
    )
    parser.add_argument(
        "--poses",
        metavar="PIPE",
        help="the pipe from which it reads the poses to be put at (tandem sim --poses)",
    )


def add_virtual_pipes(
    car: str | None, options: dict[str, str], folder: Path, whose: str = "car"
) -> tuple[str | None, dict[str, str]]:
    """Make both pipes in ``folder``, and add them to the URI of a virtual car and to the options.

    Any other car is left as it is, and so is one whose URI or options name a sensors file already.
    """
    if not car or "sensors" in options or not car.startswith(VIRTUAL) or _SENSORS in car:
        return car, options
    for name in ("sensors", "poses"):
        pipe = folder / f"{whose}_{name}"
        os.mkfifo(pipe)
        car, options = with_option(car, name, str(pipe)), {**options, name: str(pipe)}
    return car, options


def with_option(car: str, name: str, value: str) -> str:
    """Add the option to a URI, unless it has one of that name."""
    if f"?{name}=" in car or f"&{name}=" in car:
        return car
    return f"{car}{'&' if '?' in car else '?'}{name}={value}"
