"""Tells stations the car: heartbeat, telemetry, sentences. No I/O."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from host_bridge.cars.car import ConnectedCar
from host_bridge.core import CarEvent
from host_bridge.core.texts.events import event_text
from host_bridge.link.protocol.events import CarRestarted, LinkEvent, LinkLost
from host_bridge.station.mavlink.keys import StationKey
from host_bridge.station.mavlink.messages.dialect import Encoder, HeardMessage, mavlink
from host_bridge.station.mavlink.messages.frames import LocalFrame, Origin
from host_bridge.station.mavlink.messages.modes import Mode, heartbeat
from host_bridge.station.mavlink.messages.schedule import Schedule
from host_bridge.station.mavlink.messages.statustext import CRITICAL, INFO, StatusTexts, severity
from host_bridge.station.mavlink.messages.telemetry import View
from host_bridge.station.mavlink.stations import Address, Station, Stations

HEARTBEAT_US = 1_000_000  # MAVLink's own
_UID2 = 18  # bytes of AUTOPILOT_VERSION.uid2
_VERSION = 8  # bytes of its custom versions, and of uid


@dataclass(frozen=True)
class GatewaySettings:
    """The set-up of a gateway; ``to`` is told all that happens, whoever listens there."""

    system: int
    is_virtual: bool
    to: Address | None = None
    frame: LocalFrame = field(default_factory=LocalFrame)
    origin: Origin | None = None


@dataclass(frozen=True)
class Outside:
    """The needs of a gateway: time, a socket, a log, lines for a person.

    ``write`` begins to write the parameter that can be written.
    """

    now_us: Callable[[], int]
    unix_ns: Callable[[], int]
    send: Callable[[bytes, Address], None]
    tell: Callable[[str], None]
    log: Callable[[Address, HeardMessage | bytes], None]
    write: Callable[[float, Station], None]


class Speaker:
    """Says what a car does, to ``settings.to`` and to every station that may watch."""

    def __init__(
        self,
        car: ConnectedCar,
        settings: GatewaySettings,
        outside: Outside,
        stations: Stations,
        keys: Callable[[], Sequence[StationKey]],
    ) -> None:
        self.texts = StatusTexts()
        self.schedule = Schedule()
        self._car = car
        self._settings = settings
        self._outside = outside
        self._stations = stations
        self._keys = keys
        self._encoder = Encoder(settings.system, outside.unix_ns)
        self._begun_us = self._heartbeat_us = outside.now_us()
        self._why = ""

    def view(self, mode: Mode, damaged: int) -> View:
        """Return what messages are made of at this moment."""
        return View(
            self._car.seen(),
            self._outside.now_us() - self._begun_us,
            self._outside.unix_ns() // 1000,
            mode,
            self._settings.frame,
            self._settings.origin,
            damaged,
        )

    def version(self) -> Any:
        """Return AUTOPILOT_VERSION: what this speaks, and which board the car is."""
        identity = self._car.identity
        board_id = identity.board_id if identity else b""
        return mavlink.MAVLink_autopilot_version_message(
            mavlink.MAV_PROTOCOL_CAPABILITY_MAVLINK2
            | mavlink.MAV_PROTOCOL_CAPABILITY_PARAM_FLOAT
            | mavlink.MAV_PROTOCOL_CAPABILITY_COMMAND_INT
            | mavlink.MAV_PROTOCOL_CAPABILITY_MISSION_INT  # the list is answered: it is empty
            | mavlink.MAV_PROTOCOL_CAPABILITY_FLIGHT_TERMINATION,
            0,
            0,
            0,
            0,
            [0] * _VERSION,
            [0] * _VERSION,
            [0] * _VERSION,
            0,
            0,
            int.from_bytes(board_id[:_VERSION], "little"),
            list(board_id.ljust(_UID2, b"\0")[:_UID2]),
        )

    def say(self, level: int, sentence: str, station: Station | None = None) -> None:
        """Say a sentence to one station, if it may watch, or to all."""
        messages = list(self.texts.messages(level, sentence))
        if station is None:
            self._send_all(messages)
        elif station.is_local or station.is_signed:
            self.send(messages, station.address)

    def hear_car(self, events: Sequence[LinkEvent]) -> None:
        """Say each event of the car, and what happens to its link."""
        for event in events:
            if isinstance(event, CarEvent):
                self.say(severity(event), event_text(event, self._car.vehicle))
            elif isinstance(event, LinkLost):
                self.say(CRITICAL, f"{self._car.name}: the link is lost")
            elif isinstance(event, CarRestarted):
                self.say(CRITICAL, f"{self._car.name}: the car restarted")

    def step(self, view: View) -> None:
        """Say what is due. A car that is not online has no heartbeat, and is shown as lost."""
        now_us = self._outside.now_us()
        self._say_why()
        if not self._car.is_online():
            return
        messages = self.schedule.due(view, now_us)
        if now_us >= self._heartbeat_us:
            self._heartbeat_us = max(self._heartbeat_us + HEARTBEAT_US, now_us)
            messages.insert(0, heartbeat(view.status, view.mode))
            self._call_others(messages[0])
        self._send_all(messages)

    def send(self, messages: Sequence[Any], address: Address) -> None:
        key = self._stations.key_at(address) or next(iter(self._keys()), None)
        for message in messages:
            self._send(message, address, key)

    def _send(self, message: Any, address: Address, key: StationKey | None) -> None:
        frame = self._encoder.encode(message, address, key)
        self._outside.log(address, frame)
        self._outside.send(frame, address)

    def _call_others(self, beat: Any) -> None:
        """Send a heartbeat by each other key to where nobody signed yet.

        A station that has a key takes nothing else for the car, and speaks to no address before.
        """
        to = self._settings.to
        if to is not None and self._stations.key_at(to) is None:
            for key in self._keys()[1:]:
                self._send(beat, to, key)

    def _say_why(self) -> None:
        """Say why the car stands, once it is another reason."""
        why = self._car.why_stopped()
        if why == self._why:
            return
        self._why = why
        if why:
            self.say(CRITICAL, why)
        else:
            self.say(INFO, "Nothing stops it any more.")

    def _send_all(self, messages: Sequence[Any]) -> None:
        to = [self._settings.to] if self._settings.to else []
        for address in dict.fromkeys([*to, *self._stations.watching()]):
            self.send(messages, address)
