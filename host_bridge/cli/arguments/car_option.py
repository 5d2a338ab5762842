"""The options that choose a car, the same for every command."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from host_bridge.core.errors import UsageFault

_BOARD_BYTES = 8  # bytes of a board's id, two digits each


class OneCar(argparse.Action):
    """An option that names one car, so that a second one is refused and not driven instead."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        """Keep the car. Ends the program, exit code 2, if one was named before."""
        before = getattr(namespace, self.dest)
        if before is not None:
            parser.error(f"{option_string} names one car: got {before} and {values}")
        setattr(namespace, self.dest, values)


def add_car(
    parser: argparse.ArgumentParser, *, what: str = "a served name, a URI or a serial port"
) -> None:
    """Declare ``CAR`` as a positional argument and as ``--car CAR``."""
    car = parser.add_mutually_exclusive_group()
    car.add_argument(
        "car", nargs="?", metavar="CAR", help=f"{what}; may be left out if one is served"
    )
    car.add_argument(
        "--car", dest="car_option", action=OneCar, metavar="CAR", help="the same as an option"
    )


def car_of(args: argparse.Namespace) -> str | None:
    """Return the car that was named, or None."""
    chosen: str | None = args.car_option or args.car
    return chosen


def add_car_option(parser: argparse.ArgumentParser) -> None:
    """Declare only ``--car CAR``, for commands whose positional arguments mean something else."""
    parser.add_argument(
        "--car",
        action=OneCar,
        metavar="CAR",
        help="a served name, a URI or a serial port; may be left out if one is served",
    )


def add_vehicle_option(parser: argparse.ArgumentParser) -> None:
    """Declare ``--vehicle``, for a car whose type this host cannot tell by its configuration."""
    parser.add_argument(
        "--vehicle",
        metavar="NAME",
        help="the vehicle type, or the path of its file (default: known from its configuration)",
    )


def vehicle_for(args: argparse.Namespace, cars: Sequence[str]) -> str | None:
    """Return the vehicle that was named for one car. Raises errors.UsageFault for several.

    They may be of several types, and each would be taken for this one.
    """
    if args.vehicle and len(cars) > 1:
        raise UsageFault(
            "--vehicle is of one car",
            expected="one car",
            got=", ".join(cars),
            remedy="name the car, or leave --vehicle out: each tells its type by its configuration",
        )
    vehicle: str | None = args.vehicle
    return vehicle


def parse_board_id(text: str | None) -> bytes | None:
    """Parse a board id of 16 hexadecimal digits; None stays None.

    Raises errors.UsageFault.
    """
    if text is None:
        return None
    try:
        board_id = bytes.fromhex(text)
    except ValueError:
        board_id = b""
    if len(board_id) != _BOARD_BYTES:
        raise UsageFault(
            "this is not the id of a board",
            expected=f"--board and {2 * _BOARD_BYTES} hexadecimal digits",
            got=text,
            remedy="tandem identify shows that of each car",
        )
    return board_id
