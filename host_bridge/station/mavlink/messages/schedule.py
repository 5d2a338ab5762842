"""The messages that a car sends unasked, how often, and how a station changes that."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from host_bridge.station.mavlink.messages import telemetry
from host_bridge.station.mavlink.messages.dialect import mavlink
from host_bridge.station.mavlink.messages.modes import current_mode
from host_bridge.station.mavlink.messages.telemetry import View

MOST_HZ = 50.0  # SET_MESSAGE_INTERVAL: half of a car's reports; a gateway ticks at 100 Hz
LEAST_HZ = 0.1  # and at least once in 10 s, or not at all


@dataclass(frozen=True)
class Row:
    """A message: its number, how often it comes unasked (0: only when asked), its builder."""

    number: int
    hz: float
    build: Callable[[View], Any | None]


ROWS: Sequence[Row] = (
    Row(mavlink.MAVLINK_MSG_ID_SYS_STATUS, 1, telemetry.sys_status),
    Row(mavlink.MAVLINK_MSG_ID_SYSTEM_TIME, 1, telemetry.system_time),
    Row(mavlink.MAVLINK_MSG_ID_ATTITUDE, 10, telemetry.attitude),
    Row(mavlink.MAVLINK_MSG_ID_LOCAL_POSITION_NED, 10, telemetry.local_position),
    Row(mavlink.MAVLINK_MSG_ID_ODOMETRY, 10, telemetry.odometry),
    Row(mavlink.MAVLINK_MSG_ID_VFR_HUD, 4, telemetry.vfr_hud),
    Row(mavlink.MAVLINK_MSG_ID_BATTERY_STATUS, 1, telemetry.battery),
    Row(mavlink.MAVLINK_MSG_ID_EXTENDED_SYS_STATE, 1, telemetry.extended_state),
    Row(mavlink.MAVLINK_MSG_ID_WHEEL_DISTANCE, 4, telemetry.wheels),
    Row(mavlink.MAVLINK_MSG_ID_CURRENT_MODE, 0.5, lambda view: current_mode(view.mode)),
    Row(mavlink.MAVLINK_MSG_ID_GLOBAL_POSITION_INT, 4, telemetry.global_position),
    Row(mavlink.MAVLINK_MSG_ID_GPS_RAW_INT, 1, telemetry.gps),
    Row(mavlink.MAVLINK_MSG_ID_HOME_POSITION, 0.2, telemetry.home),
    Row(mavlink.MAVLINK_MSG_ID_GPS_GLOBAL_ORIGIN, 0, telemetry.global_origin),
)
_BY_NUMBER = {row.number: row for row in ROWS}


def build(number: int, view: View) -> Any | None:
    """Return the message of this number; None if there is none, or nothing to say."""
    row = _BY_NUMBER.get(number)
    return row.build(view) if row else None


class Schedule:
    """The times at which each message is due; rates are the same for every station."""

    def __init__(self) -> None:
        self._every_us = {row.number: _period_us(row.hz) for row in ROWS}
        self._due_us: dict[int, int] = {}

    def interval_us(self, number: int) -> int:
        """Return the interval as MESSAGE_INTERVAL has it: -1 off, 0 not a message of ours."""
        every_us = self._every_us.get(number)
        return 0 if every_us is None else every_us or -1

    def set_interval(self, number: int, interval_us: float) -> bool:
        """Set it as SET_MESSAGE_INTERVAL asks (-1 off, 0 default); return False if it may not be.

        What is beyond the bounds is refused: a station that asks for 1000 Hz is told no.
        """
        if number not in self._every_us or not math.isfinite(interval_us):
            return False
        if interval_us == 0:
            self._every_us[number] = _period_us(_BY_NUMBER[number].hz)
        elif interval_us == -1:
            self._every_us[number] = 0
        elif 1e6 / MOST_HZ <= interval_us <= 1e6 / LEAST_HZ:
            self._every_us[number] = int(interval_us)
        else:
            return False
        self._due_us.pop(number, None)
        return True

    def due(self, view: View, now_us: int) -> list[Any]:
        """Return the messages that are due now; what was missed is not made up for."""
        found = []
        for number, every_us in self._every_us.items():
            due_us = self._due_us.get(number, now_us)
            if every_us and now_us >= due_us:
                self._due_us[number] = max(due_us + every_us, now_us - every_us)
                found.append(build(number, view))
        return [message for message in found if message is not None]


def _period_us(hz: float) -> int:
    return round(1e6 / hz) if hz else 0
