"""``NAME=VALUE``: what one car has other than its vehicle file says, without another file for it.

Kept with the car's pairing, as its trim is, so that the car is still known by its numbers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from host_bridge.domain import Vehicle
from host_bridge.errors import UsageFault, VehicleFileFault
from host_bridge.interfaces.cli.line import counted

if TYPE_CHECKING:  # handed in
    from host_bridge.context import HostContext
    from host_bridge.open_car import OpenCar
    from host_bridge.pairing import Pairing

_CHANGE = re.compile(r"([a-z_]\w*)=(.*)")  # a URI has :// before any =


@dataclass(frozen=True)
class Place:
    """Where a value is in a vehicle file, and the parameters of the program that follow from it."""

    key: str
    parameters: tuple[str, ...]


PLACES = {"step_s": Place("timing.step_s", ("step_us", "motion_every"))}


def is_change(word: str) -> bool:
    """Whether it is a ``NAME=VALUE`` and no car."""
    return _CHANGE.fullmatch(word) is not None


def changes_of(words: Sequence[str]) -> dict[str, float]:
    """Of some ``NAME=VALUE``, by name. Raises errors.UsageFault."""
    found = {}
    for word in words:
        name, _, text = word.partition("=")
        try:
            if name not in PLACES:
                raise ValueError
            found[name] = float(text)
        except ValueError:
            raise UsageFault(
                f"{word!r} is nothing that one car may have other than its vehicle file",
                expected=" or ".join(f"{known}=NUMBER" for known in PLACES),
                remedy="anything else is changed in the file: tandem config write --vehicle FILE",
            ) from None
    return found


def differing(
    trim: Mapping[str, list[int]], file: Vehicle, wanted: Vehicle, names: Sequence[str]
) -> dict[str, list[int]]:
    """The parameters that differ from the file's, once those of ``names`` are as ``wanted``."""
    given = {row: wanted.parameters[row] for name in names for row in PLACES[name].parameters}
    return {row: v for row, v in {**trim, **given}.items() if v != file.parameters[row]}


async def adjust(
    context: HostContext,
    opened: OpenCar,
    changes: Mapping[str, float],
    vehicle: Vehicle | None = None,
    name: str | None = None,
) -> tuple[Vehicle, int]:
    """Write the changes to an open, bound car, all of it read back, and keep them.

    Returns the vehicle as this car is, and how many parameters changed. Raises errors.TandemError.
    """
    file = vehicle or opened.vehicle
    wanted = _wanted(context, file, changes)
    name = name or opened.identity.car_name or file.name
    before = await pairing_of(context, opened, file, name)
    trim = differing(before.trim, file, wanted, tuple(changes))
    known = replace(before, car_name=name, trim=trim)
    context.keep(known)  # first: whoever serves the car looks it up as soon as it says it
    try:
        changed = await context.configure(opened, known.of(file), name, counted)
    except BaseException:
        context.keep(before)
        raise
    return known.of(file), changed


def _wanted(context: HostContext, file: Vehicle, changes: Mapping[str, float]) -> Vehicle:
    try:
        return context.vehicle(file.path, {PLACES[n].key: v for n, v in changes.items()})
    except VehicleFileFault as fault:  # of no line in the file
        raise UsageFault(fault.what, expected=fault.expected, got=fault.got) from None


async def pairing_of(context: HostContext, opened: OpenCar, vehicle: Vehicle, name: str) -> Pairing:
    """What is kept of an open, bound car, or what would be of one that this host does not know.

    A car keeps the beat that its board gives it. Raises errors.TandemError; errors.UsageFault for a
    car that is kept as one of another type.
    """
    known = context.pairing(opened.identity)
    if known is None:
        on_board = await context.on_its_board(vehicle, opened)
        trim = differing({}, vehicle, on_board, ("step_s",))
        return replace(context.new_pairing(opened.identity, name, vehicle.name), trim=trim)
    if known.vehicle != vehicle.name:
        raise UsageFault(
            f"this host knows that car as a {known.vehicle}",
            where=opened.uri,
            got=vehicle.name,
            remedy="tandem flash it as what it is now, or tandem restore it",
        )
    return known
