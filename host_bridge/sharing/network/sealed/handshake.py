"""The four messages that begin a session, as bytes: HELLO, COOKIE, START and GRANT.

HELLO is answered without a look at any table, by fewer bytes than it has. START counts only with
the cookie that went to its address, so nobody makes the server compute with addresses of others.
All numbers are little endian.
"""

from __future__ import annotations

import hmac
import ipaddress
from dataclasses import dataclass
from enum import IntEnum, IntFlag
from struct import Struct

from host_bridge.sharing.network.sealed.noise import TAG_BYTES

HELLO, COOKIE, START, GRANT = (
    0x10,
    0x11,
    0x12,
    0x13,
)  # kinds of datagrams; from 0x10 on they are the handshake
_SUITE = 1  # the only one; another would be another type of message
ID_BYTES, NONCE_BYTES, COOKIE_BYTES = 8, 16, 16  # bytes
# Bytes; START is the longest question
HELLO_BYTES, COOKIE_MESSAGE_BYTES, START_BYTES, GRANT_BYTES = 64, 36, 108, 100
_MINUTE_US = 60_000_000  # us
_LABEL = b"tandem/distance/1"
_ASKED = Struct("<4s8sB3s")  # protocol hash, instance, role, zeros
_GRANTED = Struct("<BBI4s8sHHHII")
_REST_OF_HELLO = HELLO_BYTES - 4 - ID_BYTES - NONCE_BYTES  # 4: the head

Address = tuple[str, int]  # of an IPv4 or IPv6 host, and the port


class Role(IntFlag):
    """The role of a guest. Whoever may drive may stop, and whoever may anything may watch.

    Configuring is no more than driving, but something else: it stops, and claims nothing.
    """

    WATCH = 1
    STOP = 2
    DRIVE = 4  # a bit each
    CONFIGURE = 8  # a bit each

    @property
    def word(self) -> str:
        """The verb of ``tandem invite --role``, by which texts call the role."""
        return (self.name or "").lower()


class GrantStatus(IntEnum):
    """The server's answer to whoever holds a token."""

    GRANTED = 0
    PROTOCOL_DIFFERS = 1  # watch and stop, by the messages that never change
    OTHER_BOARD = 2
    REVOKED = 3  # on the wire: numbers are not used again
    EXPIRED = 4  # on the wire, as above
    FULL = 6  # on the wire, as above
    NO_CAR = 7  # on the wire, as above


@dataclass(frozen=True)
class Request:
    """The payload of START."""

    protocol_hash: bytes
    instance: bytes  # random at each start of the client's program
    role: int

    def pack(self) -> bytes:
        return _ASKED.pack(self.protocol_hash, self.instance, self.role, b"")

    @classmethod
    def parse(cls, payload: bytes) -> Request | None:
        """Return the request; None for anything else."""
        if len(payload) != _ASKED.size:
            return None
        protocol_hash, instance, role, zeros = _ASKED.unpack(payload)
        return None if any(zeros) else cls(protocol_hash, instance, role)


@dataclass(frozen=True)
class Grant:
    """The payload of GRANT. ``sources`` and ``stop_sources`` are bits by id."""

    status: GrantStatus
    role: int
    session: int
    protocol_hash: bytes
    board_id: bytes  # of the board that is there now
    sources: int
    stop_sources: int
    cap_mm_s: int  # 0: none
    left_s: int
    fleet_tag: int = 0  # of the fleet that the car is stopped with; 0: none

    def pack(self) -> bytes:
        return _GRANTED.pack(
            self.status,
            self.role,
            self.session,
            self.protocol_hash,
            self.board_id,
            self.sources,
            self.stop_sources,
            self.cap_mm_s,
            self.left_s,
            self.fleet_tag,
        )

    @classmethod
    def parse(cls, payload: bytes) -> Grant | None:
        """Return the grant; None for anything else."""
        if len(payload) != _GRANTED.size:
            return None
        status, *values = _GRANTED.unpack(payload)
        if status not in set(GrantStatus):
            return None
        return cls(GrantStatus(status), *values)


def prologue(board_id: bytes, token_id: bytes, client_nonce: bytes) -> bytes:
    """Return what both ends hash first: a handshake for another car or token fails by it."""
    return _LABEL + board_id + token_id + client_nonce


def head(kind: int) -> bytes:
    """Return the first four bytes of a message of a handshake."""
    return bytes((kind, _SUITE, 0, 0))


def hello(token_id: bytes, client_nonce: bytes) -> bytes:
    """Return a HELLO, padded so that no answer is longer."""
    return head(HELLO) + token_id + client_nonce + bytes(_REST_OF_HELLO)


def start(token_id: bytes, client_nonce: bytes, cookie: bytes, message: bytes) -> bytes:
    """Return a START around the first message of Noise."""
    return head(START) + token_id + client_nonce + cookie + message


def parse_hello(data: bytes) -> tuple[bytes, bytes] | None:
    """Return token id and client nonce; None for anything that is not wholly a HELLO."""
    if len(data) != HELLO_BYTES or data[:4] != head(HELLO) or any(data[-_REST_OF_HELLO:]):
        return None
    return data[4:12], data[12:28]


def parse_start(data: bytes) -> tuple[bytes, bytes, bytes, bytes] | None:
    """Return token id, client nonce, cookie and Noise's message; None for anything else."""
    if len(data) != START_BYTES or data[:4] != head(START):
        return None
    return data[4:12], data[12:28], data[28:44], data[44:]


def parse_cookie(data: bytes, client_nonce: bytes) -> bytes | None:
    """Return the cookie that answers this nonce; None for anything else."""
    if len(data) != COOKIE_MESSAGE_BYTES or data[:20] != head(COOKIE) + client_nonce:
        return None
    return data[20:]


def parse_grant(data: bytes, client_nonce: bytes) -> bytes | None:
    """Return Noise's message that answers this nonce; None for anything else."""
    if len(data) != GRANT_BYTES or data[:20] != head(GRANT) + client_nonce:
        return None
    return data[20:]


def cookie_of(
    key: bytes, address: Address, token_id: bytes, client_nonce: bytes, minute: int
) -> bytes:
    """Return the cookie for an address, a token and a nonce, 16 bytes."""
    host = ipaddress.ip_address(address[0].partition("%")[0])
    # Bits of IPv6; an IPv4 address is written as one of them (RFC 4291)
    packed = host.packed if host.version == 6 else bytes(10) + b"\xff\xff" + host.packed
    bound = packed + address[1].to_bytes(2, "little") + token_id + client_nonce
    return hmac.digest(key, bound + minute.to_bytes(8, "little"), "sha256")[:COOKIE_BYTES]  # bytes


def is_cookie(
    cookie: bytes, key: bytes, address: Address, token_id: bytes, client_nonce: bytes, now_us: int
) -> bool:
    """Return whether this is the cookie of this minute or the one before."""
    minute = now_us // _MINUTE_US
    return any(
        hmac.compare_digest(cookie, cookie_of(key, address, token_id, client_nonce, it))
        for it in (minute, minute - 1)
        if it >= 0
    )


def cookie_message(
    key: bytes, address: Address, token_id: bytes, client_nonce: bytes, now_us: int
) -> bytes:
    """Return the COOKIE that answers a HELLO."""
    minute = now_us // _MINUTE_US
    return head(COOKIE) + client_nonce + cookie_of(key, address, token_id, client_nonce, minute)


# START: head, id, nonce, cookie, then an X25519 key; GRANT: head and nonce, then the key
assert 44 + 32 + _ASKED.size + TAG_BYTES == START_BYTES, "the messages are as long as they say"
assert 20 + 32 + _GRANTED.size + TAG_BYTES == GRANT_BYTES, "the messages are as long as they say"
