"""One guest's session at the server: its keys, its address, and what goes down to it."""

from __future__ import annotations

import secrets
from collections import OrderedDict
from struct import Struct

from firmware.protocol.messages import (
    ActReply,
    Bound,
    Claim,
    ClockReport,
    Motion,
    Status,
    StopSeen,
)
from host_bridge.link.protocol import wire
from host_bridge.sharing.network.guests import Guest
from host_bridge.sharing.network.sealed import sealing
from host_bridge.sharing.network.sealed.handshake import Address, Grant
from host_bridge.sharing.network.sealed.noise import TAG_BYTES
from host_bridge.sharing.owner.chunks import split
from host_bridge.sharing.stop.stop_filter import id_of

# A probe: its number, the time at which it was sent in us, and the challenge that shows that a new
# address is the guest's. Two more fields are filled in by the answer: the time at which the probe
# arrived at the host, in us, and a mask of 40 bits, in which bit n says whether the probe with the
# number that is smaller by n + 1 had arrived, too
PROBE = Struct("<IQ8sQ5s4x")
HEARD_BITS = 40
_NOT_HEARD = bytes(HEARD_BITS // 8)
END = 0xFFFF_FFFF  # the number of the probe that ends a session
NO_CHALLENGE = bytes(8)
_STATE = frozenset((Status.ID, Motion.ID, Claim.ID))
_OF_AN_EPOCH = frozenset((Bound.ID, ActReply.ID, ClockReport.ID))
_EPOCH = Struct("<I")
_TOKENS = 32  # of Stops, whose acknowledgements go down
# A board's step and a half: of the states that a car says at 100 Hz two go together to whoever only
# watches, which takes half of the datagrams, and what comes at 50 Hz or less goes at once
_TOGETHER_US = 15_000
_CHALLENGE_US = 100_000  # between two challenges: ten changes of address a second at most
UP = (sealing.DRIVE, sealing.STOP, sealing.LINK_UP, sealing.PROBE_UP)
DOWN = (sealing.STATE, sealing.SEEN, sealing.LINK_DOWN, sealing.PROBE_DOWN)


class GuestSession:
    """A session that a GRANT began. It counts once a sealed datagram has confirmed it."""

    def __init__(
        self,
        guest: Guest,
        grant: Grant,
        keys: tuple[bytes, bytes],
        transcript_hash: bytes,
        address: Address,
        now_us: int,
    ) -> None:
        self.guest = guest
        self.grant = grant
        self.address = address  # to which everything goes down
        self.made_us = self.heard_us = now_us
        self.is_confirmed = False
        self.epochs: set[int] = set()
        self._waiting_state = b""
        self._state_us = now_us - _TOGETHER_US  # when a state went down last
        self._stops: OrderedDict[int, None] = OrderedDict()
        self._openers = sealing.openers(UP, keys, transcript_hash, grant.session)
        self._sealers = sealing.sealers(DOWN, keys, transcript_hash, grant.session)
        self._newest_probe = -1
        self._heard_probes = 0  # bit n: the number n + 1 before the newest
        self._new_address: Address | None = None
        self._challenge = NO_CHALLENGE
        self._challenged_us = now_us - _CHALLENGE_US

    def open(self, datagram: bytes, address: Address, now_us: int) -> tuple[bytes, bool]:
        """Return what a datagram holds, and whether it is the newest of its key.

        Raises sealing.Rejected.
        """
        opener = self._openers.get(datagram[0])
        if opener is None:
            raise sealing.Rejected("wrong header")
        plain, is_newest = opener.open(datagram)
        self.heard_us = now_us
        self.is_confirmed = True
        return plain, is_newest

    def follow(self, address: Address, now_us: int) -> list[tuple[bytes, Address]]:
        """Return the challenge to an address from which a new datagram came, if one is due.

        The session moves there once the challenge has come back from it.
        """
        if address == self.address or now_us - self._challenged_us < _CHALLENGE_US:
            return []
        self._new_address, self._challenged_us = address, now_us
        # Bytes, which nobody else can guess within a second
        self._challenge = secrets.token_bytes(8)
        return [(self.probe(0, now_us, self._challenge), address)]

    def answer_probe(self, plain: bytes, address: Address, now_us: int) -> bytes | None:
        """Return the answer to a probe; None if it ends the session. Raises sealing.Rejected."""
        if len(plain) != PROBE.size:
            raise sealing.Rejected("wrong length")
        number, sent_us, challenge, _, _ = PROBE.unpack(plain)
        if number == END:
            return None
        heard = self._note_probe(number)
        if challenge != NO_CHALLENGE and challenge == self._challenge:
            if address == self._new_address:
                self.address = address
            self._challenge = NO_CHALLENGE
        answer = PROBE.pack(number, sent_us, NO_CHALLENGE, now_us, heard)
        return self._sealers["probe"].seal(answer)

    def _note_probe(self, number: int) -> bytes:
        """Note that a probe has arrived; return which of those before it have."""
        ahead = number - self._newest_probe
        if ahead > 0:
            # A guest may say any number, and nobody shifts by that
            is_near = self._newest_probe >= 0 and ahead <= HEARD_BITS
            seen = self._heard_probes << ahead | 1 << ahead - 1 if is_near else 0
            self._heard_probes = seen & ((1 << HEARD_BITS) - 1)
            self._newest_probe = number
            return self._heard_probes.to_bytes(HEARD_BITS // 8, "little")
        if -ahead <= HEARD_BITS and ahead:
            self._heard_probes |= 1 << -ahead - 1
        return _NOT_HEARD  # late: what was before it is told by the next one

    def probe(self, number: int, sent_us: int, challenge: bytes) -> bytes:
        """Return a sealed probe that answers none."""
        plain = PROBE.pack(number, sent_us, challenge, 0, _NOT_HEARD)
        return self._sealers["probe"].seal(plain)

    def note_stop(self, token: int) -> None:
        """Remember that this guest sent this Stop: its acknowledgement is the guest's."""
        self._stops[token] = None
        if len(self._stops) > _TOKENS:
            self._stops.popitem(last=False)

    def sealed(self, frames: bytes, now_us: int) -> list[bytes]:
        """Return the datagrams that carry what of the car's frames is this guest's."""
        by_purpose: dict[str, bytes] = {}
        for frame in split(frames):
            name = self._purpose(frame)
            if name:
                by_purpose[name] = by_purpose.get(name, b"") + frame
        state = by_purpose.get(sealing.STATE.name)
        if state:
            by_purpose[sealing.STATE.name] = self._gathered(state, now_us)
        return [
            self._sealers[name].seal(part)
            for name, whole in by_purpose.items()
            if whole
            for part in _pieces(whole)
        ]

    def _gathered(self, state: bytes, now_us: int) -> bytes:
        """Return the state that goes down now: nothing, where it may wait for the next one."""
        is_second = not self._waiting_state and now_us - self._state_us < _TOGETHER_US
        gathered = self._waiting_state + state
        if is_second and not self.epochs:
            self._waiting_state = gathered
            return b""
        self._waiting_state, self._state_us = b"", now_us
        return gathered

    def _purpose(self, frame: bytes) -> str:
        """Return the purpose under which a frame goes down; "" if it does not."""
        kind = id_of(frame.strip(b"\0"))
        if kind in _STATE:
            return sealing.STATE.name
        if kind != StopSeen.ID and kind not in _OF_AN_EPOCH:
            return sealing.LINK_DOWN.name
        for message in wire.MessageDecoder().feed(frame + b"\0"):
            if isinstance(message, StopSeen):
                return sealing.SEEN.name if message.token in self._stops else ""
            if isinstance(message, Bound | ActReply | ClockReport):
                return sealing.LINK_DOWN.name if message.epoch in self.epochs else ""
        return ""


def _pieces(frames: bytes) -> list[bytes]:
    """Cut frames into pieces that fit a datagram."""
    room = sealing.LONGEST_BYTES - sealing.HEADER.size - TAG_BYTES
    found = [b""]
    for frame in split(frames):
        if len(found[-1]) + len(frame) > room:
            found.append(b"")
        found[-1] += frame
    return found
