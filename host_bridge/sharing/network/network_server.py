"""The decisions of a served car's network side, without a socket or a clock.

Datagrams and times go in; frames for the car and datagrams for guests come out. It judges who
speaks, never motion: what passes goes to the car byte for byte, and nothing is said twice.
"""

from __future__ import annotations

import secrets
from collections import Counter, OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from firmware.protocol.messages import Bind, Claim, Leave, Status, Stop
from host_bridge.core import Sender
from host_bridge.core.texts.table import GUEST_REFUSAL_TEXTS, clause
from host_bridge.link.protocol import requests, wire
from host_bridge.sharing.network.guest_filter import checked
from host_bridge.sharing.network.guest_session import END, NO_CHALLENGE, GuestSession
from host_bridge.sharing.network.guests import Guest, GuestBook
from host_bridge.sharing.network.hosting.attestation import AttestationFile
from host_bridge.sharing.network.hosting.stand_window import StandWindow
from host_bridge.sharing.network.sealed import handshake, sealing
from host_bridge.sharing.network.sealed.handshake import Address, Grant, GrantStatus, Request
from host_bridge.sharing.network.sealed.noise import HandshakeRefused, ServerHandshake
from host_bridge.sharing.network.sealed.rate_limits import StartLimits
from host_bridge.sharing.network.sealed.sealing import Rejected
from host_bridge.sharing.network.stops.fleet_messages import FLEET_STOP
from host_bridge.sharing.network.stops.open_stops import OpenStops
from host_bridge.sharing.owner.chunks import split
from host_bridge.sharing.stop.stop_filter import id_of

_UNCONFIRMED_US = 5_000_000  # a grant that was lost on its way keeps no place for longer
_SILENT_US = 3_000_000  # then the seat and the epochs of a guest are free; the board does likewise
_FORGOTTEN_US = 30_000_000  # a WiFi that roams is back before
_REMEMBERED_US = 120_000_000  # a nonce: longer than its cookie counts
SESSIONS = 32  # a class with its phones, each twice
_SESSIONS_A_TOKEN = 4  # a laptop, a phone, and both once more after a crash
_EPOCHS = 2  # of the four sessions of a board, which guests may have together
_NONCES = 6000  # as many as all STARTs of two minutes, at 50 a second


@dataclass
class Output:
    """The outcome of datagrams: frames for the car, in order, and datagrams for guests."""

    frames: list[bytes] = field(default_factory=list)
    datagrams: list[tuple[bytes, Address]] = field(default_factory=list)


class NetworkServer:
    """The guests of one car, and the strangers who may stop it.

    ``counts`` has what was refused, by cause. ``has_car`` says whether the car's own board is at
    the line.
    """

    def __init__(self, book: GuestBook, has_car: Callable[[], bool], now_us: int) -> None:
        self.book = book
        self.counts: Counter[str] = Counter()
        self.sessions: dict[int, GuestSession] = {}
        self.driver: GuestSession | None = None  # whose claim passed last
        self.open_stops = OpenStops(book.board_id)
        self.notes: list[str] = []  # for the log: who came, who went
        file = AttestationFile(book.board_id, book.folder)
        self.stand = StandWindow(file, book.wall_s, self.notes.append)
        self._has_car = has_car
        self._cookie_key = secrets.token_bytes(32)  # bytes, as long as the digest
        self._begun_us = now_us
        self._limits = StartLimits()
        self._grants: OrderedDict[bytes, tuple[int, bytes, bytes]] = OrderedDict()
        self._local_epochs: OrderedDict[int, None] = OrderedDict()
        self._claimed_us = now_us - _SILENT_US

    # --- what comes by the network

    def hear(self, batch: Sequence[tuple[bytes, Address]], now_us: int) -> Output:
        """Take what came since the last turn. Of each guest only the newest claim goes on."""
        out = Output()
        claims: dict[int, list[bytes]] = {}
        for datagram, address in batch:
            kind = datagram[0] if datagram else -1
            try:
                if kind in (0, FLEET_STOP):
                    out.frames += self.open_stops.hear(datagram, address, now_us)
                elif kind == handshake.HELLO:
                    self._hear_hello(datagram, address, now_us, out)
                elif kind == handshake.START:
                    self._hear_start(datagram, address, now_us, out)
                elif kind in sealing.UP_BY_KIND:
                    self._hear_sealed(datagram, address, now_us, out, claims)
                else:
                    self.counts["unknown type"] += 1
            except Rejected as why:
                self.counts[str(why)] += 1
        for frames in claims.values():
            out.frames += frames
        return out

    def hear_local(self, frames: bytes) -> None:
        """Note what local programs say to the car.

        Their epochs are not to be had by guests, and whoever arms the car ends its stand.
        """
        for message in wire.MessageDecoder().feed(frames):
            self.stand.hear(message)
            if isinstance(message, Bind) and message.epoch not in self._local_epochs:
                self._local_epochs[message.epoch] = None
                for session in self.sessions.values():
                    session.epochs.discard(message.epoch)
                if len(self._local_epochs) > 64:  # more than there are programs; the oldest goes
                    self._local_epochs.popitem(last=False)

    def deliver(self, frames: bytes, now_us: int) -> Output:
        """Return the datagrams that carry the car's frames to guests, and answers to strangers."""
        out = Output()
        for frame in split(frames):
            if id_of(frame.strip(b"\0")) == Status.ID:
                for message in wire.MessageDecoder().feed(frame + b"\0"):
                    self.stand.hear(message)
        out.datagrams += self.open_stops.answers(frames, now_us)
        for session in self.sessions.values():
            if session.is_confirmed:
                out.datagrams += [(it, session.address) for it in session.sealed(frames, now_us)]
        return out

    def step(self, now_us: int) -> Output:
        """Advance: Stops that waited, sessions that are over. Raises errors.DataFileFault."""
        out = Output(frames=self.open_stops.step(now_us))
        self.book.reload()
        if not self._has_car():
            self.stand.end("its cable was out, or another board was there")
        self.stand.step(now_us)
        for session in list(self.sessions.values()):
            record = self.book.find(bytes.fromhex(session.guest.token_id))
            quiet_us = now_us - session.heard_us
            if record is None or self.book.left_s(record) <= 0:
                self._end(session, now_us, out)
            elif quiet_us > (_FORGOTTEN_US if session.is_confirmed else _UNCONFIRMED_US):
                self._forget(session, "silent")
            elif quiet_us > _SILENT_US:
                session.epochs.clear()
        return out

    def close(self, now_us: int) -> Output:
        """Say to every guest that it is over."""
        out = Output()
        self.stand.end("the car is not served any more")
        for session in self.sessions.values():
            out.datagrams += [(session.probe(END, now_us, NO_CHALLENGE), session.address)]
        self.sessions.clear()
        return out

    # --- handshakes

    def _hear_hello(self, datagram: bytes, address: Address, now_us: int, out: Output) -> None:
        asked = handshake.parse_hello(datagram)
        if asked is None:
            raise Rejected("wrong handshake")
        answer = handshake.cookie_message(self._cookie_key, address, *asked, self._age(now_us))
        out.datagrams.append((answer, address))

    def _hear_start(self, datagram: bytes, address: Address, now_us: int, out: Output) -> None:
        parts = handshake.parse_start(datagram)
        if parts is None:
            raise Rejected("wrong handshake")
        token_id, nonce, cookie, message = parts
        if not handshake.is_cookie(
            cookie, self._cookie_key, address, token_id, nonce, self._age(now_us)
        ):
            raise Rejected("wrong cookie")
        known = self._grants.get(nonce)
        if known:
            self._repeat_grant(known, datagram, address, now_us, out)
            return
        if not self._limits.may_start(address, token_id, now_us):
            raise Rejected("too many handshakes")
        guest = self.book.find(token_id)
        if guest is None:
            raise Rejected("unknown token")
        self._grant(guest, nonce, message, datagram, address, now_us, out)

    def _repeat_grant(
        self,
        known: tuple[int, bytes, bytes],
        datagram: bytes,
        address: Address,
        now_us: int,
        out: Output,
    ) -> None:
        granted_us, asked, answer = known
        if asked != datagram or now_us - granted_us > _UNCONFIRMED_US:
            raise Rejected("repeated handshake")
        out.datagrams.append((answer, address))

    def _grant(
        self,
        guest: Guest,
        nonce: bytes,
        message: bytes,
        datagram: bytes,
        address: Address,
        now_us: int,
        out: Output,
    ) -> None:
        token_id = bytes.fromhex(guest.token_id)
        prologue = handshake.prologue(self.book.board_id, token_id, nonce)
        noise = ServerHandshake(prologue, self.book.static_key, bytes.fromhex(guest.psk))
        try:
            request = Request.parse(noise.hear(message))
        except HandshakeRefused:
            raise Rejected("wrong key") from None
        if request is None:
            raise Rejected("wrong handshake")
        grant = self._decide(guest, request)
        answer = handshake.head(handshake.GRANT) + nonce + noise.answer(grant.pack())
        self._remember(nonce, (now_us, datagram, answer), now_us)
        out.datagrams.append((answer, address))
        if grant.status is not GrantStatus.GRANTED:
            self.counts[grant.status.name.lower()] += 1
            _, _, why, _ = GUEST_REFUSAL_TEXTS[grant.status.name]
            self.notes.append(f"{guest.label}: refused, for {clause(why)}; {address[0]}")
            return
        self._make_room(guest)
        session = GuestSession(guest, grant, noise.keys, noise.hash, address, now_us)
        self.sessions[grant.session] = session
        self.book.note_visit(guest, address)
        role = handshake.Role(grant.role).word
        self.notes.append(f"{guest.label}: came to {role}, {address[0]}")

    def _decide(self, guest: Guest, request: Request) -> Grant:
        left_s = self.book.left_s(guest)
        status = GrantStatus.GRANTED
        if guest.revoked_s is not None:
            status = GrantStatus.REVOKED
        elif left_s <= 0:
            status = GrantStatus.EXPIRED
        elif not self._has_car():
            status = GrantStatus.NO_CAR
        elif request.protocol_hash != wire.own_protocol_hash():
            status = GrantStatus.PROTOCOL_DIFFERS
        elif len(self.sessions) >= SESSIONS and not self._unconfirmed():
            status = GrantStatus.FULL
        return Grant(
            status,
            guest.role if guest.role <= request.role else handshake.Role.WATCH,
            self._new_session(),
            wire.own_protocol_hash(),
            self.book.board_id,
            guest.sources,
            guest.stop_sources,
            guest.cap_mm_s,
            max(0, int(left_s)),
            self.open_stops.fleet_tag,
        )

    def _new_session(self) -> int:
        while True:
            session = secrets.randbits(32)  # bits, as the header has room for
            if session not in self.sessions:
                return session

    def _unconfirmed(self) -> list[GuestSession]:
        return [it for it in self.sessions.values() if not it.is_confirmed]

    def _make_room(self, guest: Guest) -> None:
        """Forget the oldest session of a token that has too many, or an unconfirmed one."""
        own = [it for it in self.sessions.values() if it.guest.token_id == guest.token_id]
        if len(own) >= _SESSIONS_A_TOKEN:
            self._forget(min(own, key=lambda it: it.heard_us), "displaced")
        elif len(self.sessions) >= SESSIONS:
            self._forget(min(self._unconfirmed(), key=lambda it: it.made_us), "displaced")

    def _remember(self, nonce: bytes, grant: tuple[int, bytes, bytes], now_us: int) -> None:
        self._grants[nonce] = grant
        while self._grants:
            oldest = next(iter(self._grants))
            if len(self._grants) <= _NONCES and now_us - self._grants[oldest][0] < _REMEMBERED_US:
                break
            del self._grants[oldest]

    # --- sealed datagrams

    def _hear_sealed(
        self,
        datagram: bytes,
        address: Address,
        now_us: int,
        out: Output,
        claims: dict[int, list[bytes]],
    ) -> None:
        number = sealing.session_of(datagram)
        session = None if number is None else self.sessions.get(number)
        if session is None:
            raise Rejected("unknown session")
        plain, is_newest = session.open(datagram, address, now_us)
        purpose = sealing.UP_BY_KIND[datagram[0]]
        if is_newest and purpose in (sealing.DRIVE, sealing.PROBE_UP):
            out.datagrams += session.follow(address, now_us)
        if purpose is sealing.PROBE_UP:
            answer = session.answer_probe(plain, address, now_us)
            if answer is None:
                self._forget(session, "left")
            else:
                out.datagrams.append((answer, session.address))
            return
        messages = checked(
            plain, purpose, session.grant, session.epochs.__contains__, self.stand.refusal
        )
        for message in messages:
            self._take(message, session, now_us)
        if purpose is sealing.DRIVE:
            claims[session.grant.session] = [plain]
        else:
            out.frames.append(plain)

    def _take(self, message: object, session: GuestSession, now_us: int) -> None:
        """Note what a message begins or ends. Raises Rejected if it may not."""
        if isinstance(message, Stop):
            session.note_stop(message.token)
        elif isinstance(message, Bind):
            self._bind(session, message.epoch)
        elif isinstance(message, Leave):
            session.epochs.discard(message.epoch)
        elif isinstance(message, Claim):
            is_free = now_us - self._claimed_us > _SILENT_US
            if self.driver not in (None, session) and not is_free:
                raise Rejected("another drives")
            self.driver, self._claimed_us = session, now_us

    def _bind(self, session: GuestSession, epoch: int) -> None:
        if epoch in session.epochs:
            return
        taken = set(self._local_epochs).union(*(it.epochs for it in self.sessions.values()))
        if epoch in taken:
            raise Rejected("another's epoch")
        if sum(len(it.epochs) for it in self.sessions.values()) >= _EPOCHS:
            raise Rejected("too many sessions of the board")
        session.epochs.add(epoch)

    # --- the end of a session

    def _end(self, session: GuestSession, now_us: int, out: Output) -> None:
        """End a session whose guest is none any more. If it drives, the car is stopped."""
        if self.driver is session and now_us - self._claimed_us < _SILENT_US:
            token = secrets.randbits(16)  # bits, as a Stop has room for
            out.frames.append(wire.encode(requests.stop(token, Sender.OWNER, "guest is over")))
        out.datagrams.append((session.probe(END, now_us, NO_CHALLENGE), session.address))
        self._forget(session, "no guest any more")

    def _forget(self, session: GuestSession, why: str) -> None:
        del self.sessions[session.grant.session]
        if self.driver is session:
            self.driver = None
        if session.is_confirmed:
            self.notes.append(f"{session.guest.label}: went, {why}")

    def _age(self, now_us: int) -> int:
        return now_us - self._begun_us
