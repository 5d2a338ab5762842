"""Sealed datagrams: whole frames under a session's keys, each accepted once.

Every purpose has its own key, so that a status never passes for an acknowledgement. What is worth
something only while it is new is accepted strictly newest; the rest by a window of 64 counters.
"""

from __future__ import annotations

import hmac
from dataclasses import dataclass
from struct import Struct

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from host_bridge.sharing.network.sealed.noise import TAG_BYTES, nonce_of

HEADER = Struct("<BBI6s")  # type, 0, session, counter
LONGEST_BYTES = 1200  # of a datagram: passes any path without fragments
_WINDOW = 64  # more than come within the time by which a datagram can be late
_COUNTERS = 1 << 32  # under one key; then the session ends
COPY = "copy of a claim"  # which a guest sends of each, in case the first is lost
_LABEL = b"tandem/distance/1 "


@dataclass(frozen=True)
class Purpose:
    """The purpose of a datagram: its type byte, direction, and whether only the newest counts."""

    name: str
    kind: int
    is_up: bool
    is_newest: bool = False


DRIVE = Purpose("drive", 0x20, is_up=True, is_newest=True)  # claims
STATE = Purpose("state", 0x21, is_up=False, is_newest=True)  # what the car says each step
STOP = Purpose("stop", 0x22, is_up=True)
SEEN = Purpose("seen", 0x23, is_up=False)  # acknowledgements of stops
LINK_UP = Purpose("link", 0x24, is_up=True)
LINK_DOWN = Purpose("link", 0x25, is_up=False)
PROBE_UP = Purpose("probe", 0x26, is_up=True)
PROBE_DOWN = Purpose("probe", 0x27, is_up=False)
PURPOSES = (DRIVE, STATE, STOP, SEEN, LINK_UP, LINK_DOWN, PROBE_UP, PROBE_DOWN)
UP_BY_KIND = {purpose.kind: purpose for purpose in PURPOSES if purpose.is_up}


class Rejected(ValueError):
    """A datagram that was refused; the text is the cause under which it is counted."""


def key_of(direction_key: bytes, purpose: Purpose, transcript_hash: bytes) -> bytes:
    """Return the key of a purpose: one block of HKDF-Expand-SHA256."""
    label = _LABEL + purpose.name.encode() + transcript_hash
    return hmac.digest(direction_key, label + b"\x01", "sha256")


def session_of(datagram: bytes) -> int | None:
    """Return the session that a datagram names; None if it is too short to be one."""
    if not HEADER.size + TAG_BYTES <= len(datagram) <= LONGEST_BYTES:
        return None
    session: int = HEADER.unpack_from(datagram)[2]
    return session


class Sealer:
    """The one sender under one key."""

    def __init__(self, purpose: Purpose, key: bytes, session: int) -> None:
        self._purpose = purpose
        self._cipher = ChaCha20Poly1305(key)
        self._session = session
        self._counter = 0

    def seal(self, plain: bytes) -> bytes:
        """Return a datagram. Raises Rejected if the key is used up."""
        if self._counter >= _COUNTERS:
            raise Rejected("worn out")
        counter = self._counter.to_bytes(6, "little")  # bytes: 48 bits, more than a session sends
        header = HEADER.pack(self._purpose.kind, 0, self._session, counter)
        sealed = self._cipher.encrypt(nonce_of(self._counter), plain, header)
        self._counter += 1
        return header + sealed


class Opener:
    """The receiver under one key: forged, repeated and late datagrams raise ``Rejected``."""

    def __init__(self, purpose: Purpose, key: bytes, session: int) -> None:
        self._purpose = purpose
        self._cipher = ChaCha20Poly1305(key)
        self._session = session
        self._newest = -1
        self._heard = 0  # bit n: the counter n before the newest one

    def open(self, datagram: bytes) -> tuple[bytes, bool]:
        """Return the plain bytes, and whether no newer datagram of this key came before.

        Raises Rejected.
        """
        if not HEADER.size + TAG_BYTES <= len(datagram) <= LONGEST_BYTES:
            raise Rejected("wrong length")
        kind, zero, session, packed = HEADER.unpack_from(datagram)
        if (kind, zero, session) != (self._purpose.kind, 0, self._session):
            raise Rejected("wrong header")
        counter = int.from_bytes(packed, "little")
        self._refuse_known(counter)  # before the cipher: a copy of a claim costs nothing
        try:
            plain = self._cipher.decrypt(
                nonce_of(counter), datagram[HEADER.size :], datagram[: HEADER.size]
            )
        except InvalidTag:
            raise Rejected("forged") from None
        return plain, self._take(counter)

    def _refuse_known(self, counter: int) -> None:
        behind = self._newest - counter
        if counter >= _COUNTERS:
            raise Rejected("wrong header")
        if behind < 0:
            return
        if self._purpose.is_newest and not behind:
            raise Rejected(COPY)
        if self._purpose.is_newest or behind >= _WINDOW:
            raise Rejected("late")
        if self._heard >> behind & 1:
            raise Rejected("repeated")

    def _take(self, counter: int) -> bool:
        ahead = counter - self._newest
        if ahead > 0:
            self._heard = (self._heard << min(ahead, _WINDOW) | 1) & ((1 << _WINDOW) - 1)
            self._newest = counter
            return True
        self._heard |= 1 << -ahead
        return False


def sealers(
    purposes: tuple[Purpose, ...], keys: tuple[bytes, bytes], transcript_hash: bytes, session: int
) -> dict[str, Sealer]:
    """Return the sealer of each purpose by name; ``keys`` are those of up and down."""
    return {
        it.name: Sealer(it, key_of(keys[not it.is_up], it, transcript_hash), session)
        for it in purposes
    }


def openers(
    purposes: tuple[Purpose, ...], keys: tuple[bytes, bytes], transcript_hash: bytes, session: int
) -> dict[int, Opener]:
    """Return the opener of each purpose by its type byte."""
    return {
        it.kind: Opener(it, key_of(keys[not it.is_up], it, transcript_hash), session)
        for it in purposes
    }
