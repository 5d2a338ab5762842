"""The choice of the car that a person named."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence

from host_bridge.config import vehicle_names
from host_bridge.core.errors import DeviceFault, UsageFault
from host_bridge.link.transports.uri import Uri
from host_bridge.sharing.endpoints.served import ServedCar

LOCAL = "tandem"  # the scheme of served cars


def find_served(text: str | None, cars: Sequence[ServedCar]) -> ServedCar | None:
    """Return the served car of a name or a URI; without a text, the only one that is served.

    None for a URI that nobody serves. Raises errors.UsageFault, errors.DeviceFault.
    """
    if text is None:
        if len(cars) != 1:
            raise _which_car(cars)
        return cars[0]
    name = _served_name(text)
    for car in cars:
        if car.name == name or (name is None and _is_same(car.uri, text)):
            return car
    if name is not None:
        raise _not_served(name, cars)
    return None


def _served_name(text: str) -> str | None:
    """Return the name in ``nigel`` or ``tandem:///nigel``; None for the URI of a car itself."""
    if "://" not in text:
        return text
    uri = Uri.parse(text)
    return uri.path.removeprefix("/") if uri.scheme == LOCAL and not uri.authority else None


def _is_same(one: str, other: str) -> bool:
    """Return whether two URIs mean one car: a serial port can have several names."""
    if one == other:
        return True
    uris = Uri.parse(one), Uri.parse(other)
    if any(uri.scheme != "serial" for uri in uris):
        return False
    return os.path.realpath(uris[0].path) == os.path.realpath(uris[1].path)


def _which_car(cars: Sequence[ServedCar]) -> UsageFault:
    names = ", ".join(car.name for car in cars)
    return UsageFault(
        "which car?" if cars else "no car is served, and none was named",
        expected=f"one of {names}" if cars else "a name or a URI: serial:///dev/ttyACM0",
        remedy="name it" if cars else "or serve one: tandem serve --car sim://nigel",
    )


def _not_served(name: str, cars: Sequence[ServedCar]) -> DeviceFault:
    names = ", ".join(car.name for car in cars)
    return DeviceFault(
        f"nobody serves a car by the name of {name}",
        expected="a name that tandem cars lists, or a URI",
        got=f"served here: {names or 'no car'}",
        remedy=_suggestion(name),
    )


def _suggestion(name: str) -> str:
    """Return a remedy for a name that no served car has."""
    serve = f"serve it: tandem serve --car serial:///dev/ttyACM0 --name {shlex.quote(name)}"
    if name in vehicle_names():
        return f"a virtual one is meant? say sim://{name}; a real one: {serve}"
    return serve
