"""A car as a MAVLink rover: hears stations, and does what each may ask. No I/O."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from host_bridge.cars.actions import StopRequest
from host_bridge.cars.car import ConnectedCar
from host_bridge.core import Sender
from host_bridge.sharing.endpoints.attached import Attached
from host_bridge.station.mavlink.acknowledgements import Acknowledgements, Outcome
from host_bridge.station.mavlink.commands import (
    ACCEPTED,
    DENIED,
    FAILED,
    UNSUPPORTED,
    Command,
    command_of,
    obey,
)
from host_bridge.station.mavlink.driving.ages import HoldAges
from host_bridge.station.mavlink.driving.arming import Arming
from host_bridge.station.mavlink.driving.driver import Driver
from host_bridge.station.mavlink.driving.hand import Sticks
from host_bridge.station.mavlink.keys import StationKeys
from host_bridge.station.mavlink.messages.dialect import (
    Decoder,
    HeardMessage,
    mavlink,
    signing_time,
)
from host_bridge.station.mavlink.messages.modes import MANUAL, find_mode
from host_bridge.station.mavlink.messages.parameters import WRITABLE, Parameters
from host_bridge.station.mavlink.messages.statustext import WARNING
from host_bridge.station.mavlink.messages.telemetry import View
from host_bridge.station.mavlink.requests import Requests, is_to_us
from host_bridge.station.mavlink.speaker import GatewaySettings, Outside, Speaker
from host_bridge.station.mavlink.stations import NONE, Address, Right, Station, Stations, rights

_REFUSED_AGAIN_US = 5_000_000  # the same refusal is told so seldom: sticks come 25 times a second
_MOST_REFUSALS = 64  # remembered; more are no person's
_NO_MODE = "There is no such mode: Manual 0, Hold 4, Offboard 15."
_WATCH_ONLY = "Nobody drives by this gateway: it was started with --watch-only."
_OVERRIDE = "RC_CHANNELS_OVERRIDE is not followed: send MANUAL_CONTROL (a joystick of the station)."
_POSITION = "Global positions and attitudes are not followed: send MANUAL_CONTROL."
_NO_STOP_SEEN = "The car has not answered the stop: use its runstop, or cut its power."
_NOT_FOLLOWED = {
    "RC_CHANNELS_OVERRIDE": _OVERRIDE,
    "SET_POSITION_TARGET_GLOBAL_INT": _POSITION,
    "SET_ATTITUDE_TARGET": _POSITION,
}
Take = Callable[[HeardMessage, Station, Right], None]


class Gateway:
    """One car for all stations. Call ``hear`` with each datagram and ``step`` 100 times a second.

    Without a ``driver`` nobody drives by it: stations watch and stop.
    """

    def __init__(
        self,
        car: ConnectedCar,
        settings: GatewaySettings,
        outside: Outside,
        driver: Driver | None,
        keys: StationKeys,
    ) -> None:
        self.settings = settings
        self.stations = Stations()
        self.driver = driver
        self.keys = keys
        self.speaker = Speaker(car, settings, outside, self.stations, keys.all)
        self.schedule = self.speaker.schedule
        self._car = car
        self._outside = outside
        self._decoder = Decoder(keys.all, signing_time(outside.unix_ns()))
        self._acks = Acknowledgements(self._acknowledge)
        self._ages = HoldAges()
        self._requests = Requests(
            lambda: Parameters(car.vehicle, settings.system),
            self.schedule,
            self.speaker.texts,
            lambda: outside.now_us() * 1000,
            outside.write,
        )
        self._stop: StopRequest | None = None
        self._stranger_us = 0  # when one is told of again at the earliest
        self._refused: dict[str, int] = {}
        self._takes: Mapping[str, Take] = {
            "COMMAND_LONG": self._take_command,
            "COMMAND_INT": self._take_command,
            "MANUAL_CONTROL": self._take_sticks,
            "SET_MODE": self._take_mode,
            "SET_POSITION_TARGET_LOCAL_NED": self._take_program,
            "TIMESYNC": self._take_time,
            **dict.fromkeys(_NOT_FOLLOWED, self._take_unfollowed),
        }

    def hear(self, datagram: bytes, address: Address) -> None:
        """Take a datagram. A stop in it is sent to the car before this returns."""
        for heard in self._decoder.decode(datagram):
            self._outside.log(address, heard)
            if heard.system != self.settings.system and is_to_us(
                heard.message, self.settings.system
            ):
                self._take(heard, address)

    def step(self) -> None:
        """Advance. Raises errors.DataFileFault if the keys cannot be read any more."""
        now_us = self._outside.now_us()
        if self.keys.refresh():
            self._end_guests(now_us)
        for gone in self.stations.forget_silent(now_us):
            self._outside.tell(f"station {gone} is silent")
        if self.driver:
            self.driver.step(now_us)
            self._ask_time(self.driver.holder, now_us)
        self._acks.step(now_us)
        self.speaker.step(self.view())

    def tell_parameter(self, station: Station) -> None:
        """Tell a station the value that holds after it asked to write the one that it may."""
        found = Parameters(self._car.vehicle, self.settings.system).find(WRITABLE)
        self.send([found] if found is not None else [], station)

    def attached(self) -> list[Attached]:
        """Return who is connected, for whoever shows it."""
        drives = self.driver.drives if self.driver else lambda station: False
        return self.stations.attached(drives)

    # --- what comes

    def _take(self, heard: HeardMessage, address: Address) -> None:
        station, is_new = self.stations.hear(address, heard, self._outside.now_us())
        right = rights(heard.key, is_local=station.is_local, is_virtual=self.settings.is_virtual)
        if is_new:
            if heard.key is not None:
                self.keys.note_visit(heard.key, address[0])
            may = "may drive" if Right.DRIVE in right else "may watch and stop"
            self._outside.tell(f"station {station} is heard, {may}")
        elif right == NONE:
            self._tell_stranger(station)
        take = self._takes.get(heard.name, self._take_request)
        take(heard, station, right)

    def _take_request(self, heard: HeardMessage, station: Station, right: Right) -> None:
        answers = self._requests.answer(heard.name, heard.message, station, right)
        self.send(answers, station)

    def _take_command(self, heard: HeardMessage, station: Station, right: Right) -> None:
        command = command_of(heard, station, right)
        if self._acks.is_pending(command):
            return
        result = obey(command, self)
        if result is not None:
            self._acknowledge(command, result, "")

    def _take_sticks(self, heard: HeardMessage, station: Station, right: Right) -> None:
        now_us = self._outside.now_us()
        message = heard.message
        sticks = Sticks.of(message)
        if self.driver is None:
            self._refuse(station, _WATCH_ONLY)
            return
        heard_us, is_told = self._ages.age(station, now_us)
        why = self.driver.hear_sticks(station, right, sticks, (heard_us, now_us))
        if why:
            self._refuse(station, why)
        else:
            self.driver.set_age_told(is_told=is_told)

    def _take_program(self, heard: HeardMessage, station: Station, right: Right) -> None:
        why = _WATCH_ONLY
        if self.driver is not None:
            now_us = self._outside.now_us()
            why = self.driver.hear_program(station, right, heard.message, now_us)
        if why:
            self._refuse(station, why)

    def _take_mode(self, heard: HeardMessage, station: Station, right: Right) -> None:
        self._set_mode(station, right, heard.message.custom_mode)

    def _take_time(self, heard: HeardMessage, station: Station, right: Right) -> None:
        if heard.message.tc1:
            self._ages.hear_answer(station, heard.message.ts1, self._outside.now_us())
        else:
            self._take_request(heard, station, right)

    def _take_unfollowed(self, heard: HeardMessage, station: Station, right: Right) -> None:
        if right != NONE:
            self._refuse(station, _NOT_FOLLOWED[heard.name])

    def _refuse(self, station: Station, why: str) -> None:
        """Say why something that comes all the time is not followed, once in a while."""
        now_us = self._outside.now_us()
        key = f"{station} {why}"
        told_us = self._refused.get(key)
        if told_us is not None and now_us - told_us < _REFUSED_AGAIN_US:
            return
        if len(self._refused) >= _MOST_REFUSALS:
            self._refused.clear()
        self._refused[key] = now_us
        self._tell(station, why)

    def _tell_stranger(self, station: Station) -> None:
        """Tell of somebody elsewhere who signs nothing, once in a while whoever it is."""
        now_us = self._outside.now_us()
        if now_us >= self._stranger_us:
            self._stranger_us = now_us + _REFUSED_AGAIN_US
            self._outside.tell(f"{station} signs with no guest's key: it may stop, and no more")

    def _end_guests(self, now_us: int) -> None:
        """End the stations that are guests no more. One that drives stops the car by it."""
        for station in self.stations.without_key(self.keys.all()):
            self._outside.tell(f"station {station} is no guest any more")
            if self.driver and self.driver.drives(station):
                self._car.stop(Sender.OWNER, "guest is over", now_us)
            station.key = None

    def _tell(self, station: Station, why: str) -> None:
        self.speaker.say(WARNING, why, station)
        self._outside.tell(f"station {station}: {why}")

    # --- what commands make it do

    def stop(self, command: Command) -> None:
        """Stop the car now, and acknowledge when it has heard that."""
        station = command.station
        sender = Sender.COMMAND if station.is_local else Sender.GUEST
        now_us = self._outside.now_us()
        if self._stop is None or self._stop.is_over(now_us):  # else it is on its way already
            self._stop = self._car.stop(sender, f"mavlink {station.system}", now_us)
            who = station if command.is_signed else f"{station.place}, unsigned,"
            self._outside.tell(f"station {who} stops the car")
        request = self._stop
        self._acks.wait(command, lambda now_us: _stopped(request, now_us))

    def arm(self, command: Command) -> None:
        """Arm the car for a station, if it may, and acknowledge when that is done."""
        if self.driver is None:
            self._acknowledge(command, DENIED, _WATCH_ONLY)
            return
        station = command.station
        arming = self.driver.arm(station, command.right, self._outside.now_us())
        self._outside.tell(f"station {station} asks to arm")
        self._acks.wait(command, lambda now_us: _armed(arming))

    def set_mode(self, command: Command, number: float) -> int:
        return self._set_mode(command.station, command.right, number)

    def _set_mode(self, station: Station, right: Right, number: float) -> int:
        mode = find_mode(number)
        why = _NO_MODE if mode is None else _WATCH_ONLY if self.driver is None else ""
        if mode is not None and self.driver is not None:
            why = self.driver.set_mode(mode, station, right, self._outside.now_us())
        if why:
            self._tell(station, why)
            return int(UNSUPPORTED if mode is None else DENIED)
        return int(ACCEPTED)

    def view(self) -> View:
        mode = self.driver.mode if self.driver else MANUAL
        return self.speaker.view(mode, self._decoder.damaged)

    def version(self) -> Any:
        return self.speaker.version()

    def send(self, messages: list[Any], station: Station) -> None:
        self.speaker.send(messages, station.address)

    def _acknowledge(self, command: Command, result: int, why: str) -> None:
        station = command.station
        ack = mavlink.MAVLink_command_ack_message(
            command.number,
            result,
            target_system=station.system,
            target_component=station.component,
        )
        self.send([ack], station)
        if why:
            self._tell(station, why)

    def _ask_time(self, holder: Station | None, now_us: int) -> None:
        if holder is not None and self._ages.is_due(holder, now_us):
            asked_ns = self._ages.ask(holder, now_us)
            self.send([mavlink.MAVLink_timesync_message(0, asked_ns)], holder)


def _stopped(request: StopRequest, now_us: int) -> Outcome | None:
    if request.seen_us is not None:
        return int(ACCEPTED), ""
    return (int(FAILED), _NO_STOP_SEEN) if request.is_over(now_us) else None


def _armed(arming: Arming) -> Outcome | None:
    if arming.result is None:
        return None
    return int(ACCEPTED if arming.result else DENIED), arming.why
