"""The stations that were invited to a car: the key, the role and the cap of each.

MAVLink's key is the SHA-256 of the passphrase, as QGroundControl and MAVProxy compute it; so what
``tandem invite --mavlink`` prints is what a person types into the station. Each station has one of
its own: whoever signs is thereby named, and is revoked alone.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field

from host_bridge.sharing.network.guests import Guest, GuestBook
from host_bridge.sharing.network.sealed.handshake import Role

_LOOKS_EVERY_US = 1_000_000  # for those whose time is over; a changed file is noticed at each look


@dataclass(frozen=True)
class StationKey:
    """The key of an invited station, and what its invitation lets it do."""

    guest_id: str
    label: str
    may_drive: bool
    cap_mps: float | None
    secret: bytes = field(repr=False)

    @classmethod
    def of(cls, guest: Guest) -> StationKey:
        return cls(
            guest.token_id,
            guest.label,
            bool(guest.role & Role.DRIVE),
            guest.cap_mm_s * 1e-3 if guest.cap_mm_s else None,
            hashlib.sha256(guest.psk.encode()).digest(),
        )


class StationKeys:
    """The keys that count at this moment. ``refresh`` takes over what invite and guests changed."""

    def __init__(self, book: GuestBook, now_us: Callable[[], int]) -> None:
        self._book = book
        self._now_us = now_us
        self._counted_us = self._due_us = now_us()
        self._keys: list[StationKey] = []
        self.refresh()

    def all(self) -> list[StationKey]:
        return self._keys

    def refresh(self) -> bool:
        """Look who is invited; return whether that changed. Raises errors.DataFileFault."""
        now_us = self._now_us()
        if not self._book.reload() and now_us < self._due_us:
            return False
        self._due_us = now_us + _LOOKS_EVERY_US
        before, self._keys = self._keys, [StationKey.of(it) for it in self._book.live()]
        return self._keys != before

    def note_visit(self, key: StationKey, host: str) -> None:
        """Remember for ``tandem guests`` that this station was here."""
        guest = self._book.guests.get(key.guest_id)
        if guest is not None:
            self._book.note_visit(guest, (host, 0))

    def count_time(self) -> None:
        """Count the time served since the last call, and write it, if anybody is invited.

        Raises errors.DataFileFault.
        """
        now_us = self._now_us()
        if self._keys:
            self._book.pass_time((now_us - self._counted_us) * 1e-6)
        self._counted_us = now_us
