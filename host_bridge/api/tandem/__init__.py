"""Drive, watch and read Tandem's cars from Python.

    import math
    import tandem

    with tandem.open("sim://nigel") as car:
        car.arm()
        for t_s in car.ticks(10.0):
            car.drive(0.3, 0.2 * math.sin(t_s))

``open`` gives one car to a script, ``connect`` the same to asyncio, ``drive`` lets a function drive
any cars while a person holds the deadman, ``read_log`` reads a log as arrays.
host_bridge/api/README.md has examples. The names in ``__all__`` are stable: within one major
version none of them changes its meaning, or is removed without a deprecation in an earlier minor
version. Everything else that can be imported may change at any time.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from host_bridge.config.store import Pairings, Vehicles
from host_bridge.core import (
    CarEvent,
    CarIdentity,
    CarMotion,
    CarStatus,
    DriveCommand,
    Observed,
    SeenCar,
    State,
    Vehicle,
)
from host_bridge.core.errors import TandemError
from host_bridge.sharing.services import Cars, Configurations, Host, make_host
from tandem.asynchronous import AsyncCar, connect
from tandem.car_driver import StoppedFault
from tandem.function_input import Decide, drive
from tandem.logs import Log, Table, read_log
from tandem.synchronous import Car, open  # noqa: A004 - said as tandem.open

__all__ = [
    "AsyncCar",
    "Car",
    "CarEvent",
    "CarIdentity",
    "CarMotion",
    "CarStatus",
    "Cars",
    "Configurations",
    "Decide",
    "DriveCommand",
    "Host",
    "Log",
    "Observed",
    "Pairings",
    "SeenCar",
    "State",
    "StoppedFault",
    "Table",
    "TandemError",
    "Vehicle",
    "Vehicles",
    "connect",
    "drive",
    "make_host",
    "open",
    "read_log",
]

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        """Return what a deprecated name of 0.1 is called now, with a warning."""
        if name == "Wish":
            warnings.warn("tandem.Wish is tandem.DriveCommand", DeprecationWarning, stacklevel=2)
            return DriveCommand
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
