"""The commands of a station, each acknowledged, in one table. No I/O."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from host_bridge.station.mavlink.messages.dialect import HeardMessage, mavlink
from host_bridge.station.mavlink.messages.modes import available_modes, heartbeat
from host_bridge.station.mavlink.messages.schedule import Schedule, build
from host_bridge.station.mavlink.messages.telemetry import View
from host_bridge.station.mavlink.stations import NONE, Right, Station

ACCEPTED: int = mavlink.MAV_RESULT_ACCEPTED
DENIED: int = mavlink.MAV_RESULT_DENIED
UNSUPPORTED: int = mavlink.MAV_RESULT_UNSUPPORTED
FAILED: int = mavlink.MAV_RESULT_FAILED
IN_PROGRESS: int = mavlink.MAV_RESULT_IN_PROGRESS
_HEARTBEAT: int = mavlink.MAVLINK_MSG_ID_HEARTBEAT
_U16 = 0xFFFF
_TERMINATE: int = mavlink.MAV_CMD_DO_FLIGHTTERMINATION
_EVERY_US = 1_000_000  # the heartbeat's interval in us, which no station changes


@dataclass(frozen=True)
class Command:
    """A COMMAND_LONG or COMMAND_INT: its number, its parameters, who sent it, what that may do."""

    number: int
    params: tuple[float, ...]
    station: Station
    right: Right
    is_signed: bool

    def whole(self, place: int) -> int:
        """Return a parameter, from 1, as a whole number; -1 where it is none."""
        value = self.params[place - 1]
        return int(value) if math.isfinite(value) else -1


class GatewayActions(Protocol):
    """The actions that commands may ask of the gateway; each is acknowledged when it is done."""

    schedule: Schedule

    def stop(self, command: Command) -> None: ...

    def arm(self, command: Command) -> None: ...

    def set_mode(self, command: Command, number: float) -> int: ...

    def view(self) -> View: ...

    def version(self) -> Any: ...

    def send(self, messages: list[Any], station: Station) -> None: ...


def command_of(heard: HeardMessage, station: Station, right: Right) -> Command:
    """Return the command in a COMMAND_LONG or COMMAND_INT."""
    message = heard.message
    is_int = message.get_type() == "COMMAND_INT"
    last = (
        (message.x, message.y, message.z)
        if is_int
        else (
            message.param5,
            message.param6,
            message.param7,
        )
    )
    first = (message.param1, message.param2, message.param3, message.param4)
    return Command(message.command, (*first, *last), station, right, heard.is_signed)


def is_stop(command: Command) -> bool:
    """Return whether a command stops: whoever sends it, from wherever, signed or not.

    A disarm that is no number is a stop too: only 1 arms.
    """
    if command.number == mavlink.MAV_CMD_COMPONENT_ARM_DISARM:
        return command.params[0] != 1
    return command.number == _TERMINATE


def obey(command: Command, actions: GatewayActions) -> int | None:
    """Do what a command asks; return its result, None if it is acknowledged when it is done."""
    if is_stop(command):
        actions.stop(command)
        return None
    if command.right == NONE:
        return DENIED
    row = _ROWS.get(command.number)
    return row(command, actions) if row else UNSUPPORTED


def _arm(command: Command, actions: GatewayActions) -> int | None:
    actions.arm(command)
    return None


def _set_mode(command: Command, actions: GatewayActions) -> int | None:
    return actions.set_mode(command, command.params[1])


def _request_message(command: Command, actions: GatewayActions) -> int | None:
    return _send_message(command, actions, command.whole(1))


def _send_message(command: Command, actions: GatewayActions, number: int) -> int:
    view = actions.view()
    if number == mavlink.MAVLINK_MSG_ID_AVAILABLE_MODES:
        found = available_modes(command.whole(2))
    elif number == mavlink.MAVLINK_MSG_ID_AUTOPILOT_VERSION:
        found = [actions.version()]
    elif number == mavlink.MAVLINK_MSG_ID_MESSAGE_INTERVAL:
        found = [_interval(command.whole(2), actions)]
    elif number == _HEARTBEAT:
        found = [heartbeat(view.status, view.mode)]
    else:
        found = [it for it in [build(number, view)] if it is not None]
    if not found:
        return UNSUPPORTED
    actions.send(found, command.station)
    return ACCEPTED


def _request_version(command: Command, actions: GatewayActions) -> int | None:
    return _send_message(command, actions, mavlink.MAVLINK_MSG_ID_AUTOPILOT_VERSION)


def _request_home(command: Command, actions: GatewayActions) -> int | None:
    return _send_message(command, actions, mavlink.MAVLINK_MSG_ID_HOME_POSITION)


def _set_interval(command: Command, actions: GatewayActions) -> int | None:
    return (
        ACCEPTED if actions.schedule.set_interval(command.whole(1), command.params[1]) else DENIED
    )


def _get_interval(command: Command, actions: GatewayActions) -> int | None:
    actions.send([_interval(command.whole(1), actions)], command.station)
    return ACCEPTED


def _interval(number: int, actions: GatewayActions) -> Any:
    every_us = _EVERY_US if number == _HEARTBEAT else actions.schedule.interval_us(number)
    return mavlink.MAVLink_message_interval_message(number & _U16, every_us)


_ROWS: dict[int, Callable[[Command, GatewayActions], int | None]] = {
    mavlink.MAV_CMD_COMPONENT_ARM_DISARM: _arm,
    mavlink.MAV_CMD_DO_SET_MODE: _set_mode,
    mavlink.MAV_CMD_REQUEST_MESSAGE: _request_message,
    mavlink.MAV_CMD_REQUEST_AUTOPILOT_CAPABILITIES: _request_version,
    mavlink.MAV_CMD_GET_HOME_POSITION: _request_home,
    mavlink.MAV_CMD_SET_MESSAGE_INTERVAL: _set_interval,
    mavlink.MAV_CMD_GET_MESSAGE_INTERVAL: _get_interval,
}
