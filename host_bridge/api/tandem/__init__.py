"""Drive, watch and read Tandem's cars from Python.

    import math
    import tandem

    with tandem.open("sim://nigel") as car:
        car.arm()
        for t_s in car.ticks(10.0):
            car.drive(0.3, 0.2 * math.sin(t_s))

``open`` gives one car to a script, ``connect`` the same to asyncio, ``drive`` lets a function drive
any cars while a person holds the deadman, ``read_log`` reads a log as arrays. Every error is a
``TandemError``. ``tandem.examples`` has drives to begin with. Packages of others add inputs,
transports, ROS vocabularies and stop sources by the classes here, in ``tandem.transports`` and in
``tandem.ros``.
host_bridge/api/README.md has examples. The names in ``__all__`` are stable: within one major
version none of them changes its meaning, or is removed without a deprecation in an earlier minor
version. Everything else that can be imported may change at any time.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import tandem.own_packages  # noqa: F401 - first: it refuses files in the way of what follows

# isort: split
from host_bridge.config.store import Pairings, Vehicles
from host_bridge.core import (
    CarEvent,
    CarIdentity,
    CarMotion,
    CarStatus,
    DriveCommand,
    Input,
    InputContext,
    InputLimits,
    Observed,
    OperatorRequest,
    SeenCar,
    State,
    Vehicle,
)
from host_bridge.core.errors import (
    AnotherCarFault,
    DataFileFault,
    DeviceFault,
    NotHeldFault,
    NotShownFault,
    OverrunFault,
    ProtocolFault,
    RefusedFault,
    TandemError,
    UsageFault,
    VehicleFileFault,
)
from host_bridge.core.stop_source import StopSource
from host_bridge.inputs.function import Decide
from host_bridge.logs.sensor_lines import TruePose
from host_bridge.sharing.services import Cars, Configurations, Host, make_host
from tandem.arguments import ArgumentFault, LimitWarning
from tandem.asynchronous import AsyncCar, connect
from tandem.car_driver import StoppedFault
from tandem.function_input import drive
from tandem.logs import Log, Table, read_log
from tandem.sensing import LapTimes, Located, Scan
from tandem.synchronous import Car, open, ticks  # noqa: A004 - said as tandem.open

__all__ = [
    "AnotherCarFault",
    "ArgumentFault",
    "AsyncCar",
    "Car",
    "CarEvent",
    "CarIdentity",
    "CarMotion",
    "CarStatus",
    "Cars",
    "Configurations",
    "DataFileFault",
    "Decide",
    "DeviceFault",
    "DriveCommand",
    "Host",
    "Input",
    "InputContext",
    "InputLimits",
    "LapTimes",
    "LimitWarning",
    "Located",
    "Log",
    "NotHeldFault",
    "NotShownFault",
    "Observed",
    "OperatorRequest",
    "OverrunFault",
    "Pairings",
    "ProtocolFault",
    "RefusedFault",
    "Scan",
    "SeenCar",
    "State",
    "StopSource",
    "StoppedFault",
    "Table",
    "TandemError",
    "TruePose",
    "UsageFault",
    "Vehicle",
    "VehicleFileFault",
    "Vehicles",
    "connect",
    "drive",
    "make_host",
    "open",
    "read_log",
    "ticks",
]

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        """Return what a deprecated name of 0.1 is called now, with a warning."""
        if name == "Wish":
            warnings.warn("tandem.Wish is tandem.DriveCommand", DeprecationWarning, stacklevel=2)
            return DriveCommand
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
