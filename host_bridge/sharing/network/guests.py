"""The guests of one car: who was invited, as what, until when; kept by its owner.

There are two files for each board. ``BOARD.json`` has the keys and is written by commands, under a
lock; ``BOARD.served.json`` has the times and is written by the program that serves the car.

A guest's time ends on a date, or when the car was served for as long as the guest was invited for,
whichever comes first. Setting the clock back does not bring a guest back: the newest date that was
ever read is kept and counts. A clock that is far ahead by mistake does not end a guest either: with
each start of the program the kept date may move forward by 36 hours, and by the time that it then
serves the car.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from host_bridge.core.errors import DataFileFault, UsageFault
from host_bridge.sharing.network.private_files import (
    data_folder,
    locked,
    read_private,
    write_private,
)
from host_bridge.sharing.network.sealed.handshake import Address, Role
from host_bridge.sharing.network.sealed.noise import new_private_key, public_key
from host_bridge.sharing.network.tokens import Token

_LEAP_S = 36 * 3600.0  # the most that one start believes of a clock that is ahead
KEPT_S = 30 * 86_400.0  # a key that is over tells its holder so for a month, then it is wiped
GUESTS = 64  # of a car
SEALED, MAVLINK = "sealed", "mavlink"  # the ways by which guests come


@dataclass(frozen=True)
class Guest:
    """The record of one token. ``sources`` and ``stop_sources`` are bits by id."""

    token_id: str
    psk: str = field(repr=False)
    role: int
    label: str
    made_s: float  # of the wall clock
    until_s: float
    sources: int = 0
    stop_sources: int = 0
    cap_mm_s: int = 0
    revoked_s: float | None = None
    way: str = SEALED  # MAVLINK: a ground station, whose passphrase is the text of ``psk``

    @property
    def budget_s(self) -> float:
        """The seconds of service for which it counts at most."""
        return self.until_s - self.made_s


@dataclass
class ServedTimes:
    """The newest date, and by token the seconds of service and the last visit."""

    newest_s: float = 0.0
    served_s: dict[str, float] = field(default_factory=dict)
    seen: dict[str, list[Any]] = field(default_factory=dict)  # date, from where
    refused: dict[str, int] = field(default_factory=dict)  # by cause


class GuestBook:
    """The guests of the car with this board; times are those of who comes by ``way``."""

    def __init__(
        self,
        board_id: bytes,
        folder: Path | None = None,
        wall_s: Callable[[], float] = time.time,
        way: str = SEALED,
    ) -> None:
        """Read the files, if there are any. Raises errors.DataFileFault."""
        self.board_id = board_id
        self.folder = folder = folder or data_folder("guests")
        self.wall_s = wall_s
        self._path = folder / f"{board_id.hex()}.json"
        self._way = way
        served = "served" if way == SEALED else way  # each way has a program that counts its times
        self._served_path = folder / f"{board_id.hex()}.{served}.json"
        self._stamp: tuple[int, int] | None = None
        self.static_key = b""
        self.guests: dict[str, Guest] = {}
        self.times = _times(read_private(self._served_path))
        newest_s = self.times.newest_s
        self._latest_s = newest_s + _LEAP_S if newest_s else None  # the latest date to believe
        self.times.newest_s = max(newest_s, self._trusted_date_s())
        self.reload()

    # --- what commands do

    def invite(self, guest: Guest, car_name: str, addresses: tuple[Address, ...]) -> Token:
        """Keep a guest; return the token to hand over.

        Raises errors.UsageFault, errors.DataFileFault.
        """
        self.keep(guest)
        return Token(
            Role(guest.role),
            bytes.fromhex(guest.token_id),
            self.board_id,
            public_key(self.static_key),
            bytes.fromhex(guest.psk),
            car_name,
            addresses,
        )

    def keep(self, guest: Guest) -> None:
        """Keep a guest. Raises errors.UsageFault, errors.DataFileFault."""
        with locked(self._path):
            self.reload()
            self._forget_old()
            if len(self.guests) >= GUESTS:
                raise UsageFault(
                    "this car has as many guests as it may",
                    expected=f"fewer than {GUESTS}",
                    got=str(len(self.guests)),
                    remedy="revoke some: tandem guests revoke ID",
                )
            self.static_key = self.static_key or new_private_key()
            self.guests[guest.token_id] = guest
            self._write()

    def revoke(self, begin: str) -> list[Guest]:
        """Revoke the guests whose id begins so, or ``all``; return them.

        Raises errors.UsageFault if there is none, or more than one.
        """
        with locked(self._path):
            self.reload()
            live = [it for it in self.guests.values() if it.revoked_s is None]
            meant = live if begin == "all" else [it for it in live if it.token_id.startswith(begin)]
            if not meant or (len(meant) > 1 and begin != "all"):
                raise UsageFault(
                    f"{len(meant) or 'no'} guests have an id that begins with {begin}",
                    expected="the id of one guest, or all",
                    remedy="tandem guests lists them",
                )
            for it in meant:
                self.guests[it.token_id] = replace(it, revoked_s=self.wall_s())
            self._write()
        return meant

    def rotate(self) -> int:
        """Make a new key of the server: every token is void. Return how many there were."""
        with locked(self._path):
            self.reload()
            count = len(self.guests)
            self.static_key, self.guests = new_private_key(), {}
            self._write()
        return count

    # --- what the server does

    def reload(self) -> bool:
        """Read the keys again if the file has changed; return whether it has.

        Raises errors.DataFileFault.
        """
        stamp = _stamp(self._path)
        if stamp == self._stamp:
            return False
        values = read_private(self._path) or {}
        try:
            self.static_key = bytes.fromhex(values.get("static_key", ""))
            rows = [Guest(**row) for row in values.get("guests", [])]
        except (TypeError, ValueError):
            raise DataFileFault(
                "the guests of this car cannot be read",
                where=str(self._path),
                remedy="remove the file and invite them anew",
            ) from None
        self.guests = {it.token_id: it for it in rows}
        self._stamp = stamp
        return True

    def find(self, token_id: bytes) -> Guest | None:
        """Return the guest of this way with this token, also one whose time is over."""
        guest = self.guests.get(token_id.hex())
        return guest if guest is not None and guest.way == self._way else None

    def live(self) -> list[Guest]:
        """Return the guests of this way whose time is not over."""
        return [it for it in self.guests.values() if it.way == self._way and self.left_s(it) > 0]

    def left_s(self, guest: Guest) -> float:
        """Return for how long a guest is one: 0 or less if it is over."""
        if guest.revoked_s is not None:
            return 0.0
        by_date = guest.until_s - max(self._trusted_date_s(), self.times.newest_s)
        return min(by_date, guest.budget_s - self.times.served_s.get(guest.token_id, 0.0))

    def pass_time(self, served_s: float) -> None:
        """Count seconds of service for all guests, and write it. Raises errors.DataFileFault."""
        if self._latest_s is not None:
            self._latest_s += served_s
        self.times.newest_s = max(self.times.newest_s + served_s, self._trusted_date_s())
        for token_id in self.guests:
            self.times.served_s[token_id] = self.times.served_s.get(token_id, 0.0) + served_s
        write_private(self._served_path, asdict(self.times))

    def note_visit(self, guest: Guest, address: Address) -> None:
        self.times.seen[guest.token_id] = [self.wall_s(), address[0]]

    def _trusted_date_s(self) -> float:
        """Return the wall clock's date in s since 1970, or the latest that is trusted."""
        wall_s = self.wall_s()
        return wall_s if self._latest_s is None else min(wall_s, self._latest_s)

    def _forget_old(self) -> None:
        oldest_s = self.wall_s() - KEPT_S
        self.guests = {
            it.token_id: it
            for it in self.guests.values()
            if (it.revoked_s or it.until_s) > oldest_s
        }

    def _write(self) -> None:
        rows = [asdict(it) for it in self.guests.values()]
        write_private(self._path, {"static_key": self.static_key.hex(), "guests": rows})
        self._stamp = _stamp(self._path)


def new_guest(role: Role, label: str, for_s: float, way: str = SEALED, **limits: int) -> Guest:
    """Return a guest with new random keys, from now on."""
    now_s = time.time()
    psk = secrets.token_bytes(32).hex()  # bytes: ChaCha20's key
    token_id = secrets.token_bytes(8).hex()  # bytes: a name, and no secret
    return Guest(token_id, psk, int(role), label, now_s, now_s + for_s, way=way, **limits)


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_ino


def _times(values: dict[str, Any] | None) -> ServedTimes:
    try:
        return ServedTimes(**(values or {}))
    except TypeError:
        return ServedTimes()
