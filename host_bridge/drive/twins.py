"""The choice of a real car's twin: the calibrated vehicle, unless its URI says otherwise."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Protocol

from host_bridge.core import Vehicle
from host_bridge.link.transports.uri import Uri

_SCHEMES = ("sim", "sim+process")  # the schemes whose cars take a calibration
_OPTION = "calibration"


class _Opened(Protocol):
    @property
    def is_virtual(self) -> bool: ...


class _VehicleLoader(Protocol):
    def load(self, name: str) -> Vehicle: ...


def twin_uri(text: str | None, cars: Sequence[_Opened], vehicles: _VehicleLoader) -> str | None:
    """Return a twin's URI, with its vehicle file's calibration added if one of the cars is real.

    A URI that names a calibration stays as it is, as do other cars, and twins beside virtual cars
    only. Raises errors.TandemError.
    """
    if text is None or "://" not in text or all(car.is_virtual for car in cars):
        return text
    uri = Uri.parse(text)
    if uri.scheme.removeprefix("lossy+") not in _SCHEMES or _OPTION in uri.query:
        return text
    calibration = vehicles.load(uri.place).calibration
    if not calibration:
        return text
    print(
        f"tandem: {text} is the twin of a real car, so it is the calibrated {uri.place} "
        f"({_OPTION}={calibration}); {_OPTION}=none leaves it as its vehicle file has it",
        file=sys.stderr,
    )
    return f"{text}{'&' if uri.query else '?'}{_OPTION}={calibration}"
