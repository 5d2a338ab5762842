"""A virtual car with the real program, a gateway, and stations at its socket, in virtual time."""

from __future__ import annotations

import hashlib
import tempfile
import weakref
from dataclasses import replace
from pathlib import Path
from typing import Any

from pymavlink.dialects.v20 import development as mavlink

from host_bridge.cars.fleet import Fleet
from host_bridge.core import State, Vehicle
from host_bridge.drive import DriveOptions
from host_bridge.drive.control_task import TICK_US
from host_bridge.drive.controls import DriveContext
from host_bridge.sharing.network.guests import MAVLINK, GuestBook, new_guest
from host_bridge.sharing.network.sealed.handshake import Role
from host_bridge.station.mavlink.driving.driver import Driver, program_seat
from host_bridge.station.mavlink.gateway import Gateway
from host_bridge.station.mavlink.keys import StationKeys
from host_bridge.station.mavlink.messages.dialect import signing_time
from host_bridge.station.mavlink.speaker import GatewaySettings, Outside
from tests.host_bridge.drive.drives import EPOCH, START_US, STEP_US, Rig, vehicle

UNIX_NS = 1_800_000_000 * 1_000_000_000  # a day in 2027
PASSPHRASE = "a passphrase of some length for tests"
KEY = hashlib.sha256(PASSPHRASE.encode()).digest()
LOCAL, AFAR = ("127.0.0.1", 14_550), ("192.0.2.7", 14_550)


class StationEnd:
    """A ground station as the library makes one: what it got, and what it may send."""

    def __init__(
        self,
        rover: Rover,
        address: tuple[str, int] = LOCAL,
        key: bytes | None = None,
        system: int = 255,
    ) -> None:
        self.rover = rover
        self.address = address
        self.got: list[Any] = []
        self.is_cut = False
        self.answers_times = True
        self._asked: list[Any] = []
        self._library = mavlink.MAVLink(None, srcSystem=system, srcComponent=190)
        if key:
            self._library.signing.secret_key = key
            self._library.signing.sign_outgoing = True
        self._reader = mavlink.MAVLink(None)
        rover.ends[address] = self

    def frame(self, message: Any) -> bytes:
        signing = self._library.signing  # the library counts it up for each frame
        signing.timestamp = max(signing.timestamp, signing_time(self.rover.unix_ns()))
        self._library.seq = (self._library.seq + 1) % 256
        return bytes(message.pack(self._library))

    def send(self, message: Any) -> None:
        if not self.is_cut:
            self.rover.gateway.hear(self.frame(message), self.address)
            self.rover.rig.flush()

    def take(self, frame: bytes) -> None:
        if not self.is_cut:
            got = self._reader.parse_buffer(frame) or []
            self._asked += [it for it in got if it.get_type() == "TIMESYNC" and not it.tc1]
            self.got += got

    def answer_times(self) -> None:
        """Answer what the car asked for the time, as stations do that keep the protocol."""
        asked, self._asked = self._asked, []
        for it in asked if self.answers_times else ():
            self.send(mavlink.MAVLink_timesync_message(1, it.ts1))

    def command(self, number: int, *params: float) -> None:
        padded = [*params, *[0.0] * (7 - len(params))]
        self.send(mavlink.MAVLink_command_long_message(1, 1, number, 0, *padded))

    def arm(self) -> None:
        self.command(mavlink.MAV_CMD_COMPONENT_ARM_DISARM, 1)

    def disarm(self, *, is_forced: bool = False) -> None:
        self.command(mavlink.MAV_CMD_COMPONENT_ARM_DISARM, 0, 21_196 if is_forced else 0)

    def sticks(self, x: int = 0, r: int = 0, buttons: int = 0, y: int = 0, z: int = 0) -> None:
        self.send(mavlink.MAVLink_manual_control_message(1, x, y, z, r, buttons))

    def all_of(self, name: str) -> list[Any]:
        return [it for it in self.got if it.get_type() == name]

    def acks(self, number: int) -> list[int]:
        return [it.result for it in self.all_of("COMMAND_ACK") if it.command == number]

    def texts(self) -> str:
        """All sentences that it got, pieces put together."""
        return "".join(
            f"{'' if it.chunk_seq else chr(10)}{_words(it.text)}"
            for it in self.all_of("STATUSTEXT")
        )


class Rover:
    """The car and its gateway. ``is_virtual`` False: as the gateway treats a real one.

    With ``has_guest`` somebody who may drive is invited, by the passphrase whose key is ``KEY``.
    """

    def __init__(
        self,
        *,
        has_guest: bool = False,
        is_virtual: bool = True,
        deadman: int | None = None,
        is_watch_only: bool = False,
        of: Vehicle | None = None,
        **settings: Any,
    ) -> None:
        of = of or vehicle()
        self.rig = Rig("rover", of=of)
        self.car = self.rig.car
        self.now_us = START_US
        self.ends: dict[tuple[str, int], StationEnd] = {}
        self.told: list[str] = []
        self.written: list[float] = []
        self.is_host_alive = True
        folder = tempfile.TemporaryDirectory()
        self._folder = weakref.finalize(self, folder.cleanup)
        # What commands write, and what the gateway reads: two programs
        self.commands = GuestBook(b"\1" * 8, Path(folder.name), self._unix_s, MAVLINK)
        self.book = GuestBook(b"\1" * 8, Path(folder.name), self._unix_s, MAVLINK)
        if has_guest:
            self.invite("Ada", PASSPHRASE)
        self.fleet = Fleet([self.car], EPOCH, is_seat=False)
        context = DriveContext(DriveOptions(("rover",)), [of], lambda: self.now_us)
        driver = Driver(
            self.car,
            self.fleet,
            context.source("remote"),
            context.limits("remote"),
            deadman,
            program_seat(of, context),
            is_virtual=is_virtual,
        )
        self.gateway = Gateway(
            self.car,
            GatewaySettings(1, is_virtual, **settings),
            Outside(
                lambda: self.now_us,
                self.unix_ns,
                self._deliver,
                self.told.append,
                lambda address, what: None,
                lambda value, station: self.written.append(value),
            ),
            None if is_watch_only else driver,
            StationKeys(self.book, lambda: self.now_us),
        )
        self.car.opened(self.now_us)
        self.until(lambda: self.car.connection.clock.is_good() and self.state is not State.STARTING)

    def invite(
        self,
        label: str,
        passphrase: str,
        role: Role = Role.DRIVE,
        for_s: float = 3600.0,
        cap: int = 0,
    ) -> str:
        """Invite a station as ``tandem invite --mavlink`` does; return the id. ``cap`` in mm/s."""
        guest = new_guest(role, label, for_s, MAVLINK, cap_mm_s=cap)
        made_s = self._unix_s()
        self.commands.keep(replace(guest, psk=passphrase, made_s=made_s, until_s=made_s + for_s))
        return guest.token_id

    def _unix_s(self) -> float:
        return self.unix_ns() * 1e-9

    def unix_ns(self) -> int:
        return UNIX_NS + (self.now_us - START_US) * 1000

    def _deliver(self, frame: bytes, address: tuple[str, int]) -> None:
        if address in self.ends:
            self.ends[address].take(frame)

    @property
    def state(self) -> State:
        return self.car.status.state if self.car.status else State.STARTING

    @property
    def speed_mps(self) -> float:
        """Of the plant, which nobody can misreport."""
        return float(self.rig.world.plant.wheel_speed_mps)

    def advance(self, seconds: float) -> None:
        for _ in range(round(seconds * 1e6 / STEP_US)):
            self.now_us += STEP_US
            if self.is_host_alive and self.now_us % TICK_US == 0:
                self.gateway.step()
                self.rig.flush()
            heard = len(self.rig.heard)
            self.rig.advance(self.now_us)
            for end in self.ends.values():
                end.answer_times()
            self.gateway.speaker.hear_car([it for _, it in self.rig.heard[heard:]])

    def until(self, is_so: Any, limit_s: float = 5.0) -> float:
        for step in range(round(limit_s * 1e6 / STEP_US)):
            if is_so():
                return step * STEP_US * 1e-6
            self.advance(STEP_US * 1e-6)
        raise AssertionError(f"not within {limit_s} s")


def _words(text: str | bytes) -> str:
    return text.decode() if isinstance(text, bytes) else text
