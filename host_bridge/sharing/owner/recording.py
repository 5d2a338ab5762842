"""The connection of a tap to a log."""

from __future__ import annotations

import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

from host_bridge.core.system.clock import Clock
from host_bridge.link.protocol.transcript import LogDecoder
from host_bridge.link.protocol.wire import own_protocol_hash
from host_bridge.logs import recorder
from host_bridge.logs.recorder import Recorder
from host_bridge.sharing.owner.board_verification import RelayedFrames


def new_recorder(path: Path, clock: Clock) -> Recorder:
    """Create a log for any number of cars, raw and decoded. Raises errors.DataFileFault."""
    facts = {"version": version("tandem-cars"), "protocol_hash": own_protocol_hash().hex()}
    return recorder.create(path, clock, time.time_ns(), facts, LogDecoder)


def tap_into(log: Recorder, car: str) -> Callable[[RelayedFrames], None]:
    """Return a tap that logs one car's frames."""

    def tap(relayed: RelayedFrames) -> None:
        log.frame(car, relayed.direction, relayed.frames, relayed.time_us)

    return tap
