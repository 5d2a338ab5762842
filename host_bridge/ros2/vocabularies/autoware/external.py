"""Autoware's external commands: pedals, shift, signals and heartbeat of a remote or local driver.

There are two such drivers. ``local`` has priority over ``remote``, and both over Autoware itself. A
driver's command is valid only while its heartbeat is received. Throttle is a share of the vehicle's
top speed, which the car holds in the direction of the gear; any brake sets the speed to 0.
"""

from __future__ import annotations

from math import isfinite
from typing import Any

from host_bridge.ros2.node.mux import MuxSource, StampedCommand
from host_bridge.ros2.vocabularies.topics import Content, MuxRow, Subscription

_MSG = "tier4_external_api_msgs/msg/"
_SRV = "tier4_external_api_msgs/srv/"
_COMMAND = "/api/external/set/command/"
DRIVERS = {"local": 100, "remote": 90}  # mux priorities; Autoware itself has 10
HEARTBEAT_US = 500_000  # the heartbeat timeout of Autoware's vehicle command gate
ENGAGE, EMERGENCY = "/api/autoware/set/engage", "/api/autoware/set/emergency"
SERVICES = {ENGAGE: f"{_SRV}Engage", EMERGENCY: f"{_SRV}SetEmergency"}
_TOPICS = (
    ("control", "ControlCommandStamped", Content.PEDALS),
    ("shift", "GearShiftStamped", Content.SHIFT),
    ("turn_signal", "TurnSignalStamped", Content.SIGNAL),
    ("heartbeat", "Heartbeat", Content.HEARTBEAT),
)
EXTERNAL = tuple(
    Subscription(f"{_COMMAND}{driver}/{name}", f"{_MSG}{kind}", content, driver, is_optional=True)
    for driver in DRIVERS
    for name, kind, content in _TOPICS
)
EXTERNAL_ROWS = tuple(
    MuxRow(driver, f"{_COMMAND}{driver}/control", priority, 0.2)
    for driver, priority in DRIVERS.items()
)
# From GearShift to GearCommand; from TurnSignal to (TurnIndicatorsCommand, HazardLightsCommand)
GEARS = {0: 0, 1: 22, 2: 20, 3: 1, 4: 2, 5: 23}
SIGNALS = {0: (1, 1), 1: (2, 1), 2: (3, 1), 3: (1, 2)}


class ExternalDrivers:
    """The heartbeats of the external drivers, and their pedal commands while those are fresh."""

    def __init__(self) -> None:
        self._beats_us: dict[str, int] = {}

    def on_heartbeat(self, source: MuxSource, heard_us: int, now_us: int) -> None:
        """Record a driver's heartbeat; a stamp in the future is taken as now."""
        self._beats_us[source.row.name] = min(heard_us, now_us)

    def control(
        self, source: MuxSource, message: Any, heard_us: int, now_us: int, top_mps: float
    ) -> None:
        """Give the source a command that expires no later than the driver's heartbeat.

        A command without a fresh heartbeat, or with a value that is not finite, is refused. Shares
        are clamped to 0 to 1.
        """
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
            source.take(StampedCommand(speed_mps, steer_rad, as_of_us, brake), now_us)
