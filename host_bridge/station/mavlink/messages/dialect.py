"""MAVLink 2 as pymavlink has it: messages to frames, frames to messages, and their signatures.

No other file knows how frames are laid out. A signature is checked here and not by the library,
which takes over the time stamp of a frame before it looks at its signature: one forged frame from
the future would then shut out the real station.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

from pymavlink.dialects.v20 import development

from host_bridge.station.mavlink.keys import StationKey

mavlink: Any = development  # common messages, and the standard modes protocol
COMPONENT: int = mavlink.MAV_COMP_ID_AUTOPILOT1
# MAVLink's clock of signatures: units of 10 us since 2015-01-01, UTC
_SIGNING_EPOCH_S = 1_420_070_400
_SIGNING_UNIT_NS = 10_000
_SIGNED = 1  # the bit of incompat_flags
_TAG = 6  # bytes of a signature's hash
_BLOCK = 13  # bytes of a whole signature: link id, time stamp, hash
_NOT_UNDERSTOOD = ("BAD_DATA", "UNKNOWN_")


@dataclass(frozen=True)
class HeardMessage:
    """One message of a datagram: who sent it, and with whose key it carries a good signature."""

    message: Any  # a class of the library, with the fields of its message
    name: str
    system: int
    component: int
    key: StationKey | None  # None: not signed, or not well
    frame: bytes

    @property
    def is_signed(self) -> bool:
        return self.key is not None


def signing_time(unix_ns: int) -> int:
    """Return a time of day as MAVLink's signatures have it."""
    return (unix_ns - _SIGNING_EPOCH_S * 1_000_000_000) // _SIGNING_UNIT_NS


_MOST_STREAMS = 64  # of one guest, who could invent 16 million of them
_MOST_ADDRESSES = 64  # numbered apart: more than there are stations


class Encoder:
    """Makes frames of messages, signed with the key of whom they are for, if there is one.

    They are numbered anew for each address: a station counts numbers that it misses as lost frames.
    """

    def __init__(self, system: int, unix_ns: Callable[[], int]) -> None:
        self._library = mavlink.MAVLink(None, srcSystem=system, srcComponent=COMPONENT)
        self._unix_ns = unix_ns
        self._numbers: dict[Hashable, int] = {}

    def encode(self, message: Any, address: Hashable, key: StationKey | None) -> bytes:
        library = self._library
        library.seq = self._numbers.get(address, 0)
        if len(self._numbers) >= _MOST_ADDRESSES:
            self._numbers.clear()
        self._numbers[address] = (library.seq + 1) % 256
        signing = library.signing
        signing.sign_outgoing = key is not None
        signing.secret_key = key.secret if key else None
        signing.timestamp = max(signing.timestamp, signing_time(self._unix_ns()))
        return bytes(message.pack(library))


class Decoder:
    """Takes datagrams apart. What it does not understand is left out and counted in ``damaged``.

    A signature counts if it is good by one of ``keys()``, newer than the last one of that key's
    stream, and not older than ``begun``, the signing time at which this program began: what was
    recorded before cannot be replayed to it.
    """

    def __init__(self, keys: Callable[[], Sequence[StationKey]], begun: int) -> None:
        self._keys = keys
        self._begun = begun
        self._newest: dict[str, dict[tuple[int, int, int], int]] = {}  # by guest, by stream
        self._last: StationKey | None = None  # what signed last signs again: it is tried first
        self.damaged = 0
        self.badly_signed = 0

    def decode(self, datagram: bytes) -> list[HeardMessage]:
        library = mavlink.MAVLink(None)  # anew: a datagram cut short damages no other
        library.robust_parsing = True
        heard = []
        for message in library.parse_buffer(datagram) or ():
            name = message.get_type()
            if name.startswith(_NOT_UNDERSTOOD):
                self.damaged += 1
                continue
            system, component = message.get_srcSystem(), message.get_srcComponent()
            frame = bytes(message.get_msgbuf())
            key = self._signed_with(frame, system, component)
            heard.append(HeardMessage(message, name, system, component, key, frame))
        return heard

    def _signed_with(self, frame: bytes, system: int, component: int) -> StationKey | None:
        if frame[0] != mavlink.PROTOCOL_MARKER_V2 or not frame[2] & _SIGNED:
            return None
        key = self._maker(frame)
        block = frame[-_BLOCK:]
        stamp = int.from_bytes(block[1:-_TAG], "little")
        stream = (block[0], system, component)
        newest = self._newest.setdefault(key.guest_id, {}) if key else {}
        is_new = stamp > newest.get(stream, self._begun)
        if key is None or not is_new or len(newest.keys() | {stream}) > _MOST_STREAMS:
            self.badly_signed += 1
            return None
        newest[stream] = stamp
        self._last = key
        return key

    def _maker(self, frame: bytes) -> StationKey | None:
        """Return the key that made the tag of a frame."""
        keys = self._keys()
        first = [self._last] if self._last in keys else []
        for key in [*first, *keys]:
            assert key is not None, "only those of keys() are kept"
            tag = hashlib.sha256(key.secret + frame[:-_TAG]).digest()[:_TAG]
            if hmac.compare_digest(tag, frame[-_TAG:]):
                return key
        return None
