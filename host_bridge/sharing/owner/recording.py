"""Logs of cars that are served here or watched: their beginning, and the tap that fills them."""

from __future__ import annotations

import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

from host_bridge.cars.car import ConnectedCar
from host_bridge.core.system.clock import Clock
from host_bridge.link.protocol.transcript import LogDecoder
from host_bridge.link.protocol.wire import own_protocol_hash
from host_bridge.logs import recorder
from host_bridge.logs.recorder import Recorder
from host_bridge.sharing.owner.board_verification import RelayedFrames
from host_bridge.sharing.owner.car_place import place_of


def new_recorder(path: Path, clock: Clock) -> Recorder:
    """Create a log for any number of cars, raw and decoded. Raises errors.DataFileFault."""
    facts = {"version": version("tandem-cars"), "protocol_hash": own_protocol_hash().hex()}
    return recorder.create(path, clock, time.time_ns(), facts, LogDecoder)


def tap_into(log: Recorder, car: str) -> Callable[[RelayedFrames], None]:
    """Return a tap that logs one car's frames."""

    def tap(relayed: RelayedFrames) -> None:
        log.frame(car, relayed.direction, relayed.frames, relayed.time_us)

    return tap


def describe_car(log: Recorder, name: str, car: ConnectedCar, uri: str, vehicle: str) -> None:
    """Write into a log which car ``name`` is, and where a virtual one began.

    ``vehicle`` is the name by which others find its vehicle, too; "" where it is not known.
    """
    known = {"config_hash": car.identity.config_hash.hex()} if car.identity else {}
    board_id = car.as_known_car().board_id.hex()
    log.car(name, {"uri": uri, "vehicle": vehicle, "board_id": board_id, **known})
    log.place(name, car.vehicle, *place_of(uri, car.vehicle))
