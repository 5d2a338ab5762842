"""The modes in which a station may have the car, by the standard modes protocol.

A mode says whose setpoints of this gateway the car follows. It permits nothing: arming, deadman and
the car's own arbitration do. Stations fall back on the modes of an autopilot that they know: so the
numbers are those of ArduPilot's rover, which MAVProxy and pymavlink show by name, and those of PX4
are taken too, which MAVSDK asks for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from host_bridge.core import CarStatus, State
from host_bridge.station.mavlink.messages.dialect import mavlink


@dataclass(frozen=True)
class Mode:
    """A mode: its number in ``custom_mode``, its name, the bits of ``base_mode`` that it adds."""

    number: int
    name: str
    bits: int


MANUAL = Mode(0, "Manual", mavlink.MAV_MODE_FLAG_MANUAL_INPUT_ENABLED)
HOLD = Mode(4, "Hold", mavlink.MAV_MODE_FLAG_STABILIZE_ENABLED)
OFFBOARD = Mode(15, "Offboard", mavlink.MAV_MODE_FLAG_GUIDED_ENABLED)
MODES = (MANUAL, HOLD, OFFBOARD)
_OF_PX4 = {1: MANUAL, 6: OFFBOARD}  # its main modes; 4 is its automatic one, which holds

_VERSION = 3  # of HEARTBEAT, since MAVLink 1.0
_STATES = {
    State.STARTING: mavlink.MAV_STATE_BOOT,
    State.STANDBY: mavlink.MAV_STATE_STANDBY,
    State.ACTIVE: mavlink.MAV_STATE_ACTIVE,
    State.HOLD: mavlink.MAV_STATE_ACTIVE,
    State.STOPPING: mavlink.MAV_STATE_CRITICAL,  # a failsafe acts
    State.STOPPED: mavlink.MAV_STATE_STANDBY,
    State.FAULT: mavlink.MAV_STATE_CRITICAL,
}


def find_mode(number: float) -> Mode | None:
    """Return the mode of this number, None if there is none."""
    found = next((mode for mode in MODES if mode.number == number), None)
    return found or next((mode for known, mode in _OF_PX4.items() if known == number), None)


def base_mode(status: CarStatus | None, mode: Mode) -> int:
    """Return the bits of a heartbeat."""
    is_armed = status is not None and status.state.is_armed
    armed = mavlink.MAV_MODE_FLAG_SAFETY_ARMED if is_armed else 0
    return int(mavlink.MAV_MODE_FLAG_CUSTOM_MODE_ENABLED | mode.bits | armed)


def heartbeat(status: CarStatus | None, mode: Mode) -> Any:
    """Return the heartbeat of a rover that is neither PX4 nor ArduPilot."""
    state = _STATES.get(status.state) if status else None
    return mavlink.MAVLink_heartbeat_message(
        mavlink.MAV_TYPE_GROUND_ROVER,
        mavlink.MAV_AUTOPILOT_GENERIC,
        base_mode(status, mode),
        mode.number,
        mavlink.MAV_STATE_UNINIT if state is None else state,
        _VERSION,
    )


def available_modes(index: int) -> list[Any]:
    """Return AVAILABLE_MODES of the mode of this index, from 1; all of them for 0."""
    wanted = range(1, len(MODES) + 1) if index == 0 else [index]
    return [
        mavlink.MAVLink_available_modes_message(
            len(MODES),
            place,
            mavlink.MAV_STANDARD_MODE_NON_STANDARD,
            MODES[place - 1].number,
            0,
            MODES[place - 1].name.encode(),
        )
        for place in wanted
        if 1 <= place <= len(MODES)
    ]


def current_mode(mode: Mode) -> Any:
    """Return CURRENT_MODE."""
    return mavlink.MAVLink_current_mode_message(
        mavlink.MAV_STANDARD_MODE_NON_STANDARD, mode.number, mode.number
    )
