"""The guest's end of a session, without a socket or a clock: HELLO, START, then sealed frames."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from enum import Enum
from typing import NamedTuple

from host_bridge.link.protocol import wire
from host_bridge.sharing.network.guest_filter import purpose_of
from host_bridge.sharing.network.guest_session import (
    DOWN,
    END,
    HEARD_BITS,
    NO_CHALLENGE,
    PROBE,
    UP,
)
from host_bridge.sharing.network.sealed import handshake, sealing
from host_bridge.sharing.network.sealed.handshake import Grant, GrantStatus, Request
from host_bridge.sharing.network.sealed.noise import ClientHandshake, HandshakeRefused
from host_bridge.sharing.network.sealed.sealing import Rejected
from host_bridge.sharing.network.tokens import Token

_ASK_US = 200_000  # between two HELLOs, or two STARTs of the same bytes
_PROBE_US = 100_000  # ten a second: the round trip as the page shows it
_FIRST_PROBE_US = 50_000  # until the session is confirmed
_LOST_US = 2_000_000  # of silence, after which it is begun anew


class Echo(NamedTuple):
    """The host's answer to a probe. ``heard``: bit n, the number n + 1 before it had arrived."""

    number: int
    sent_us: int  # of our clock
    received_us: int  # of the host's
    heard: int


class GuestState(Enum):
    """The state of a guest's session."""

    ASKING = "no host has answered"
    STARTING = "a host is there, and does not know the token, or not this car"
    CONFIRMING = "the host let us in, and nothing came after that"
    LIVE = "in"
    REFUSED = "refused"
    ENDED = "the host ended it"
    LOST = "nothing comes any more"


class GuestLink:
    """One session with a car's host. ``grant`` is what the host allows, once it has said so.

    ``rejected`` counts datagrams that were not believed. ``challenge`` is what the host wants to
    hear from this address.
    """

    def __init__(self, token: Token, now_us: int) -> None:
        self.state = GuestState.ASKING
        self.grant: Grant | None = None
        self.rejected = 0
        self.heard_us = now_us
        self._token = token
        self._nonce = secrets.token_bytes(handshake.NONCE_BYTES)
        prologue = handshake.prologue(token.board_id, token.token_id, self._nonce)
        self._noise = ClientHandshake(prologue, token.server_public, token.psk)
        self._datagram = handshake.hello(token.token_id, self._nonce)
        self._again_us = now_us
        self._sealers: dict[str, sealing.Sealer] = {}
        self._openers: dict[int, sealing.Opener] = {}
        self._probes = 0
        self._challenge = NO_CHALLENGE
        self.on_echo: Callable[[Echo, int], None] = lambda echo, now_us: None

    def step(self, now_us: int) -> list[bytes]:
        """Return the datagrams that are due."""
        if self.state is GuestState.LIVE and now_us - self.heard_us > _LOST_US:
            self.state = GuestState.LOST
        if now_us < self._again_us and self._challenge == NO_CHALLENGE:
            return []
        if self.state in (GuestState.ASKING, GuestState.STARTING):
            self._again_us = now_us + _ASK_US
            return [self._datagram]
        if self.state in (GuestState.CONFIRMING, GuestState.LIVE):
            is_live = self.state is GuestState.LIVE
            self._again_us = now_us + (_PROBE_US if is_live else _FIRST_PROBE_US)
            return [self._probe(now_us)]
        return []

    def seal(self, frame: bytes) -> bytes | None:
        """Return the datagram of one frame; None while there is no session, or for no message."""
        heard = wire.MessageDecoder().feed(frame + b"\0")
        if self.state is not GuestState.LIVE or len(heard) != 1:
            return None
        if isinstance(heard[0], wire.RejectedFrame):
            return None
        return self._sealers[purpose_of(heard[0]).name].seal(frame)

    def hear(self, datagram: bytes, now_us: int) -> bytes:
        """Return the car's frames in a datagram, which may be none."""
        kind = datagram[0] if datagram else -1
        if self.state is GuestState.ASKING and kind == handshake.COOKIE:
            cookie = handshake.parse_cookie(datagram, self._nonce)
            if cookie:
                self._start(cookie, now_us)
        elif self.state is GuestState.STARTING and kind == handshake.GRANT:
            message = handshake.parse_grant(datagram, self._nonce)
            if message:
                self._take_grant(message, now_us)
        elif kind in self._openers:
            return self._open(datagram, now_us)
        return b""

    def bye(self, now_us: int) -> list[bytes]:
        """Return what ends the session at the host."""
        if not self._sealers:
            return []
        return [self._sealed_probe(END, now_us, NO_CHALLENGE)]

    def probe(self, now_us: int) -> tuple[int, bytes]:
        """Return another probe, for who measures the way there, and its number."""
        return (self._probes + 1) % END, self._probe(now_us)

    def _start(self, cookie: bytes, now_us: int) -> None:
        # Bytes: a start of this program, among all others
        role = handshake.Role.CONFIGURE  # all that the host's record has
        request = Request(wire.own_protocol_hash(), secrets.token_bytes(8), role)
        message = self._noise.start(request.pack())
        self._datagram = handshake.start(self._token.token_id, self._nonce, cookie, message)
        self.state = GuestState.STARTING
        self._again_us = now_us

    def _take_grant(self, message: bytes, now_us: int) -> None:
        try:
            grant = Grant.parse(self._noise.finish(message))
        except HandshakeRefused:
            grant = None
        if grant is None:  # forged; and the transcript cannot be used again
            self.rejected += 1
            self.state = GuestState.LOST
            return
        self.grant = grant
        if grant.status is not GrantStatus.GRANTED:
            self.state = GuestState.REFUSED
            return
        keys, name = self._noise.keys, self._noise.hash
        self._sealers = sealing.sealers(UP, keys, name, grant.session)
        self._openers = sealing.openers(DOWN, keys, name, grant.session)
        self.state = GuestState.CONFIRMING
        self.heard_us = self._again_us = now_us

    def _open(self, datagram: bytes, now_us: int) -> bytes:
        try:
            plain, _ = self._openers[datagram[0]].open(datagram)
        except Rejected:
            self.rejected += 1
            return b""
        self.heard_us = now_us
        if self.state is GuestState.CONFIRMING:
            self.state = GuestState.LIVE
        if datagram[0] != sealing.PROBE_DOWN.kind:
            return plain
        if len(plain) == PROBE.size:
            number, sent_us, challenge, received_us, heard = PROBE.unpack(plain)
            if number == END:
                self.state = GuestState.ENDED
            elif received_us:
                bits = int.from_bytes(heard, "little")
                self.on_echo(Echo(number, sent_us, received_us, bits), now_us)
            self._challenge = challenge
        return b""

    def _probe(self, now_us: int) -> bytes:
        self._probes = (self._probes + 1) % END
        challenge, self._challenge = self._challenge, NO_CHALLENGE
        return self._sealed_probe(self._probes, now_us, challenge)

    def _sealed_probe(self, number: int, now_us: int, challenge: bytes) -> bytes:
        plain = PROBE.pack(number, now_us, challenge, 0, bytes(HEARD_BITS // 8))
        return self._sealers["probe"].seal(plain)
