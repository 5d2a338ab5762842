"""Autoware's external commands: pedals, shift and signals of a driver outside, and their heartbeat.

There are two such drivers, ``local`` before ``remote``, and both before Autoware itself. A command
of one counts while its heartbeat is there. Throttle is a share of the vehicle's top speed, which
the car holds, in the way of the gear; any brake takes it away.
"""

from __future__ import annotations

from math import isfinite
from typing import Any

from host_bridge.interfaces.ros2.mux import Command, Source
from host_bridge.interfaces.ros2.vocabulary import Heard, MuxRow, Part

_MSG = "tier4_external_api_msgs/msg/"
_SRV = "tier4_external_api_msgs/srv/"
_COMMAND = "/api/external/set/command/"
DRIVERS = {"local": 100, "remote": 90}  # and their priorities; Autoware's own has 10
HEARTBEAT_US = 500_000  # as long as Autoware's gate waits for one
ENGAGE, EMERGENCY = "/api/autoware/set/engage", "/api/autoware/set/emergency"
SERVICES = {ENGAGE: f"{_SRV}Engage", EMERGENCY: f"{_SRV}SetEmergency"}
_TOPICS = (
    ("control", "ControlCommandStamped", Part.PEDALS),
    ("shift", "GearShiftStamped", Part.SHIFT),
    ("turn_signal", "TurnSignalStamped", Part.SIGNAL),
    ("heartbeat", "Heartbeat", Part.HEARTBEAT),
)
EXTERNAL = tuple(
    Heard(f"{_COMMAND}{driver}/{name}", f"{_MSG}{kind}", part, driver, may_lack=True)
    for driver in DRIVERS
    for name, kind, part in _TOPICS
)
EXTERNAL_ROWS = tuple(
    MuxRow(driver, f"{_COMMAND}{driver}/control", priority, 0.2)
    for driver, priority in DRIVERS.items()
)
# GearShift to GearCommand; TurnSignal to TurnIndicatorsCommand and HazardLightsCommand
GEARS = {0: 0, 1: 22, 2: 20, 3: 1, 4: 2, 5: 23}
SIGNALS = {0: (1, 1), 1: (2, 1), 2: (3, 1), 3: (1, 2)}


class Outside:
    """What drivers outside want, as long as their heartbeats are heard."""

    def __init__(self) -> None:
        self._beats_us: dict[str, int] = {}

    def beat(self, source: Source, heard_us: int, now_us: int) -> None:
        """Somebody is there; a stamp of the future makes it no younger."""
        self._beats_us[source.row.name] = min(heard_us, now_us)

    def control(
        self, source: Source, message: Any, heard_us: int, now_us: int, top_mps: float
    ) -> None:
        """Give the source a command, which counts no longer than the heartbeat does."""
        control, beat_us = message.control, self._beats_us.get(source.row.name)
        values = [float(it) for it in (control.throttle, control.brake, control.steering_angle)]
        if beat_us is None:
            source.refuse("its heartbeat was never heard")
        elif now_us - beat_us > HEARTBEAT_US:
            source.refuse(f"its heartbeat was last heard {(now_us - beat_us) * 1e-6:.2f} s ago")
        elif not all(map(isfinite, values)):
            source.refuse("it was not a number")
        else:
            throttle, brake, steer_rad = values
            throttle, brake = (min(max(it, 0.0), 1.0) for it in (throttle, brake))
            speed_mps = 0.0 if brake else throttle * top_mps
            as_of_us = min(heard_us, beat_us + HEARTBEAT_US - source.timeout_us)
            source.take(Command(speed_mps, steer_rad, as_of_us, brake), now_us)
