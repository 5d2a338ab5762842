"""Answers what a station asks besides commands: parameters, missions, times. No I/O."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from typing import Any

from host_bridge.station.mavlink.messages.dialect import COMPONENT, mavlink
from host_bridge.station.mavlink.messages.parameters import SYSTEM_ID, WRITABLE, Parameters
from host_bridge.station.mavlink.messages.schedule import LEAST_HZ, MOST_HZ, Schedule
from host_bridge.station.mavlink.messages.statustext import WARNING, StatusTexts
from host_bridge.station.mavlink.stations import Right, Station

_NO_MISSION = "This car takes no mission: it follows sticks or a program, see the page."
NO_PARAMETER_FROM_AFAR = "Parameters are written from this car's own machine only."
BY_ITS_FILE = (
    "is a value of the vehicle file: change it there and tandem config write; only "
    f"{WRITABLE} is the car's own."
)
# MAVLink's file transfer: sequence, session, opcode, size, asked opcode, burst, padding, offset
_FTP = struct.Struct("<HBBBBBBI")
_FTP_NO, _FTP_UNKNOWN = 129, 7  # its answer "no", and the reason "unknown command"
_FTP_PAYLOAD = 251  # bytes
# MAV_DATA_STREAM of REQUEST_DATA_STREAM, as MAVProxy still asks: the messages of each
_STREAMS = {
    mavlink.MAV_DATA_STREAM_EXTENDED_STATUS: (
        mavlink.MAVLINK_MSG_ID_SYS_STATUS,
        mavlink.MAVLINK_MSG_ID_GPS_RAW_INT,
    ),
    mavlink.MAV_DATA_STREAM_POSITION: (
        mavlink.MAVLINK_MSG_ID_LOCAL_POSITION_NED,
        mavlink.MAVLINK_MSG_ID_GLOBAL_POSITION_INT,
    ),
    mavlink.MAV_DATA_STREAM_EXTRA1: (mavlink.MAVLINK_MSG_ID_ATTITUDE,),
    mavlink.MAV_DATA_STREAM_EXTRA2: (mavlink.MAVLINK_MSG_ID_VFR_HUD,),
    mavlink.MAV_DATA_STREAM_EXTRA3: (
        mavlink.MAVLINK_MSG_ID_BATTERY_STATUS,
        mavlink.MAVLINK_MSG_ID_WHEEL_DISTANCE,
    ),
}
_STREAMS[mavlink.MAV_DATA_STREAM_ALL] = tuple(number for row in _STREAMS.values() for number in row)


class Requests:
    """Answers what changes nothing that moves, by the name of its message.

    ``write`` begins to write the one parameter that can be written; its outcome is told later.
    """

    def __init__(
        self,
        parameters: Callable[[], Parameters],
        schedule: Schedule,
        texts: StatusTexts,
        now_ns: Callable[[], int],
        write: Callable[[float, Station], None],
    ) -> None:
        self._parameters = parameters
        self._schedule = schedule
        self._texts = texts
        self._now_ns = now_ns
        self._write = write
        self._answers: Mapping[str, Callable[[Any, Station, Right], list[Any]]] = {
            "PARAM_REQUEST_LIST": lambda message, station, right: self._parameters().all(),
            "PARAM_REQUEST_READ": self._parameter,
            "PARAM_SET": self._set_parameter,
            "MISSION_REQUEST_LIST": self._mission_count,
            "MISSION_COUNT": self._refuse_mission,
            "MISSION_WRITE_PARTIAL_LIST": self._refuse_mission,
            "MISSION_ITEM": self._refuse_mission,
            "MISSION_ITEM_INT": self._refuse_mission,
            "MISSION_REQUEST": self._no_such_item,
            "MISSION_REQUEST_INT": self._no_such_item,
            "MISSION_CLEAR_ALL": self._clear_mission,
            "FILE_TRANSFER_PROTOCOL": self._refuse_file,
            "TIMESYNC": self._timesync,
            "PING": self._ping,
            "REQUEST_DATA_STREAM": self._set_stream,
        }

    def answer(self, name: str, message: Any, station: Station, right: Right) -> list[Any]:
        """Return the messages that answer; none for what is no request."""
        answer = self._answers.get(name)
        return answer(message, station, right) if answer and Right.WATCH in right else []

    # --- parameters

    def _parameter(self, message: Any, station: Station, right: Right) -> list[Any]:
        name, index = _text(message.param_id), message.param_index
        found = self._parameters().find(name, index)
        if found is None:
            return [_parameter_error(station, name, mavlink.MAV_PARAM_ERROR_DOES_NOT_EXIST, index)]
        return [found]

    def _set_parameter(self, message: Any, station: Station, right: Right) -> list[Any]:
        """Answer with the value that holds; the sentence says why it is not the one wanted."""
        name = _text(message.param_id).upper()
        present = self._parameters().find(name)
        if present is None:
            return [_parameter_error(station, name, mavlink.MAV_PARAM_ERROR_DOES_NOT_EXIST)]
        why = ""
        if name == SYSTEM_ID:
            why = f"{name} is chosen by tandem mavlink --system."
        elif name != WRITABLE:
            why = f"{name} {BY_ITS_FILE}"
        elif Right.CONFIGURE not in right:
            why = NO_PARAMETER_FROM_AFAR
        if not why:
            self._write(message.param_value, station)
            return []
        refusal = _parameter_error(station, name, mavlink.MAV_PARAM_ERROR_READ_ONLY)
        return [refusal, present, *self._texts.messages(WARNING, why)]

    # --- missions

    def _mission_count(self, message: Any, station: Station, right: Right) -> list[Any]:
        return [
            mavlink.MAVLink_mission_count_message(
                station.system, station.component, 0, message.mission_type
            )
        ]

    def _refuse_mission(self, message: Any, station: Station, right: Right) -> list[Any]:
        refusal = _mission_ack(station, mavlink.MAV_MISSION_UNSUPPORTED, message)
        return [refusal, *self._texts.messages(WARNING, _NO_MISSION)]

    def _no_such_item(self, message: Any, station: Station, right: Right) -> list[Any]:
        return [_mission_ack(station, mavlink.MAV_MISSION_INVALID_SEQUENCE, message)]

    def _clear_mission(self, message: Any, station: Station, right: Right) -> list[Any]:
        return [_mission_ack(station, mavlink.MAV_MISSION_ACCEPTED, message)]

    def _refuse_file(self, message: Any, station: Station, right: Right) -> list[Any]:
        """Answer no at once: a station that waits for files asks for its parameters later."""
        asked = bytes(message.payload[: _FTP.size]).ljust(_FTP.size, b"\0")
        number, session, opcode, *_ = _FTP.unpack(asked)
        no = _FTP.pack(number + 1 & 0xFFFF, session, _FTP_NO, 1, opcode, 0, 0, 0)
        payload = list((no + bytes([_FTP_UNKNOWN])).ljust(_FTP_PAYLOAD, b"\0"))
        return [
            mavlink.MAVLink_file_transfer_protocol_message(
                0, station.system, station.component, payload
            )
        ]

    # --- times and rates

    def _timesync(self, message: Any, station: Station, right: Right) -> list[Any]:
        if message.tc1 != 0:  # an answer, which is no request
            return []
        return [mavlink.MAVLink_timesync_message(self._now_ns(), message.ts1)]

    def _ping(self, message: Any, station: Station, right: Right) -> list[Any]:
        if (message.target_system, message.target_component) != (0, 0):
            return []
        return [
            mavlink.MAVLink_ping_message(
                message.time_usec, message.seq, station.system, station.component
            )
        ]

    def _set_stream(self, message: Any, station: Station, right: Right) -> list[Any]:
        """Set the rate of a group within the bounds; groups that we do not have are left out."""
        hz = min(max(message.req_message_rate, LEAST_HZ), MOST_HZ)
        interval_us = round(1e6 / hz) if message.start_stop and message.req_message_rate else -1
        for number in _STREAMS.get(message.req_stream_id, ()):
            self._schedule.set_interval(number, interval_us)
        return []


def _parameter_error(station: Station, name: str, error: int, index: int = -1) -> Any:
    return mavlink.MAVLink_param_error_message(
        station.system, station.component, name.encode("ascii", "replace"), index, error
    )


def _mission_ack(station: Station, result: int, message: Any) -> Any:
    kind = getattr(message, "mission_type", mavlink.MAV_MISSION_TYPE_MISSION)
    return mavlink.MAVLink_mission_ack_message(station.system, station.component, result, kind)


def _text(raw: str | bytes) -> str:
    return raw.decode("ascii", "replace") if isinstance(raw, bytes) else raw


def is_to_us(message: Any, system: int) -> bool:
    """Return whether a message is to this system: by name, to all, or to nobody."""
    system_of = getattr(message, "target_system", getattr(message, "target", 0))
    component_of = getattr(message, "target_component", 0)
    return system_of in (0, system) and component_of in (0, COMPONENT)
