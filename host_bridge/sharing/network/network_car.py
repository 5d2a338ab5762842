"""``tandem://HOST/NAME``: a car that another machine serves, over UDP.

Each frame is a datagram of its own. A claim is sent twice, byte for byte, 5 ms apart: the far end
takes whichever comes first, so that single losses cost nothing. Nothing else is sent again here;
what has to arrive is asked again by the link itself.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Callable, Sequence

from firmware.protocol.messages import Identify, Identity
from host_bridge.core.errors import DataFileFault, DeviceFault, TandemError, UsageFault
from host_bridge.core.texts.table import GUEST_REFUSAL_TEXTS, clause
from host_bridge.link.protocol import wire
from host_bridge.link.transports.base import OnBytes, OnClosed, TransportContext
from host_bridge.link.transports.descriptor import already_open
from host_bridge.link.transports.uri import Uri
from host_bridge.sharing.endpoints.naming import parts_of
from host_bridge.sharing.network.guest_link import GuestLink, GuestState
from host_bridge.sharing.network.invitations import invitations_to, note_reached
from host_bridge.sharing.network.sealed.handshake import GrantStatus, Role
from host_bridge.sharing.network.sealed.sealing import DRIVE
from host_bridge.sharing.network.tokens import Token
from host_bridge.sharing.owner.chunks import split
from host_bridge.sharing.stop.stop_filter import is_stop

_OPEN_S = 3.0  # for the three round trips, at 200 ms between two tries
_EACH_S = 1.5  # of several addresses of a name, until the next one is tried
_STEP_S = 0.005  # twice for each step of the car
_COPY_S = 0.005  # bursts of loss are often shorter; a claim is valid for 120 ms
_READ_BYTES = 2048  # bytes: more than one Ethernet frame, the longest datagram
_BATCH = 64  # datagrams before other work is done
_SILENT_US = 500_000  # then another socket: ours may be bound to an address that is gone
_ASKED_TIMES, _ASKED_EACH_S = 10, 0.1  # chosen: a car is told which it is within a second
# The open question which car it is; padded, so that its answer is no longer
_WHICH_CAR = wire.encode(wire.new(Identify, token=0, challenge=bytes(8))).ljust(64, b"\0")
_OVER = (GuestState.REFUSED, GuestState.ENDED, GuestState.LOST)


class NetworkCar:
    """The guest's transport. ``link`` is the session, once it is open."""

    is_virtual = False  # there is a car to stop; its Identity says whether it is a virtual one
    vehicle: str | None = None

    def __init__(self, uri: Uri, tokens: Sequence[Token], now_us: Callable[[], int]) -> None:
        """Take the URI, of which ``copies`` says how often a claim is sent (1 or 2).

        ``tokens`` are those for cars of its name, the newest first: there may be several.
        """
        self.label = uri.text
        self.link: GuestLink | None = None
        self._tokens = tokens
        self._token = tokens[0]
        self._board_id = b""  # of the car that is there, as it says itself
        self._now_us = now_us
        self._host, self._port, _ = parts_of(uri.text)
        self._copies = uri.integer("copies", 2, 1, 2)
        self._socket: socket.socket | None = None
        self._renewed_us = 0
        self._callbacks: tuple[OnBytes, OnClosed] | None = None
        self._timer: asyncio.TimerHandle | None = None

    @property
    def cap_mps(self) -> float | None:
        """The cap beyond which the car's host takes no claim; None without one."""
        grant = self.link.grant if self.link else None
        return grant.cap_mm_s * 1e-3 if grant and grant.cap_mm_s else None

    @property
    def onlooking_role(self) -> str:
        """The role of its token, if that only watches or stops; "" for one that does more."""
        role = Role(self.link.grant.role) if self.link and self.link.grant else None
        return role.word if role in (Role.WATCH, Role.STOP) else ""

    async def open(self, on_bytes: OnBytes, on_closed: OnClosed) -> None:
        """Open a session. Raises errors.DeviceFault if the host does not let us in."""
        if self._socket:
            raise already_open(self.label)
        found = await _addresses_of(self._host, self._port, self.label)
        self._callbacks = (on_bytes, on_closed)
        try:
            await self._reach(found)
        except BaseException:
            self._shut()
            raise
        self._timer = asyncio.get_running_loop().call_later(_STEP_S, self._step)
        self._note_place()

    async def _reach(self, found: Sequence[tuple[int, object]]) -> None:
        """Begin a session with the first of these addresses at which there is one."""
        why = ""
        for place, (family, address) in enumerate(found, 1):
            try:
                self._take(_socket_to(family, address))
            except OSError as error:  # such as on a machine without IPv6
                why = error.strerror or str(error)
                continue
            if await self._begin(_OPEN_S if place == len(found) else _EACH_S):
                return
        raise self._fault() if self.link else _unreachable(self.label, why)

    async def _begin(self, seconds: float) -> bool:
        """Begin a session by the socket that was taken; return whether there is one in time.

        Raises errors.DeviceFault if the host refuses.
        """
        await self._choose_token()
        self.link = GuestLink(self._token, self._now_us())
        loop = asyncio.get_running_loop()
        give_up_s = loop.time() + seconds
        while self.link.state is not GuestState.LIVE:
            if self.link.state in _OVER:
                raise self._fault()
            if loop.time() > give_up_s:
                return False
            self._send_all(self.link.step(self._now_us()))
            await asyncio.sleep(_STEP_S)
        return True

    async def _choose_token(self) -> None:
        """Take the token of the car that is there, of those for several cars of one name.

        Its word proves nothing, and need not: by another car's token there is no session.
        """
        if len({it.board_id for it in self._tokens}) == 1:
            return
        self.link, self._board_id = None, b""
        for _ in range(_ASKED_TIMES):
            self._send_all([_WHICH_CAR])
            await asyncio.sleep(_ASKED_EACH_S)
            if self._board_id:
                break
        its = (it for it in self._tokens if it.board_id == self._board_id)
        self._token = next(its, self._tokens[0])

    def _hear_identity(self, data: bytes) -> None:
        for message in wire.MessageDecoder().feed(data):
            if isinstance(message, Identity):
                self._board_id = bytes(message.board_id)

    def _take(self, end: socket.socket) -> None:
        """Talk by this socket from now on."""
        loop = asyncio.get_running_loop()
        if self._socket:
            loop.remove_reader(self._socket)
            self._socket.close()
        self._socket = end
        loop.add_reader(end, self._read)

    def _note_place(self) -> None:
        """Keep where the car is, for the stop of a fleet. Without a place to keep it: as it is."""
        if self._socket and self.link and self.link.grant:
            place = self._socket.getpeername()[:2]
            with contextlib.suppress(DataFileFault):
                note_reached(self._token, place, self.link.grant.fleet_tag)

    def send(self, data: bytes) -> int:
        """Send each frame in a datagram. A Stop goes besides without a key: anyone may stop."""
        if not self.link or not self._socket:
            return 0
        for frame in split(data):
            if is_stop(frame):
                self._send_all([frame])
            sealed = self.link.seal(frame)
            if sealed is None:
                continue
            self._send_all([sealed])
            if sealed[0] == DRIVE.kind and self._copies > 1:
                asyncio.get_running_loop().call_later(_COPY_S, self._send_copy, sealed, self.link)
        return len(data)

    def send_probe(self, now_us: int) -> int | None:
        """Send a probe; return its number, by which ``link.on_echo`` tells of its answer.

        None once the session is over.
        """
        if not self.link or self.link.state is not GuestState.LIVE:
            return None
        number, datagram = self.link.probe(now_us)
        self._send_all([datagram])
        return number

    def close(self) -> None:
        if self._socket and self.link:
            self._send_all(self.link.bye(self._now_us()))
            self._end(None)

    def _send_copy(self, sealed: bytes, link: GuestLink) -> None:
        if self.link is link:
            self._send_all([sealed])

    def _send_all(self, datagrams: list[bytes]) -> None:
        for datagram in datagrams:
            with contextlib.suppress(OSError):  # no way there at this moment: lost, as in the air
                if self._socket:
                    self._socket.send(datagram)

    def _read(self) -> None:
        for _ in range(_BATCH):
            try:
                data = self._socket.recv(_READ_BYTES) if self._socket else b""
            except BlockingIOError:
                return
            except OSError:  # nobody listens there; silence says so, too
                continue
            if not self.link:
                self._hear_identity(data)
                continue
            frames = self.link.hear(data, self._now_us())
            if frames and self._callbacks:
                self._callbacks[0](frames)

    def _renew(self, now_us: int) -> None:
        """Take another socket while nothing comes: the session is in its keys, not its address."""
        if not self._socket or not self.link or now_us - self._renewed_us < _SILENT_US:
            return
        if now_us - self.link.heard_us < _SILENT_US:
            return
        self._renewed_us = now_us
        try:
            end = _socket_to(self._socket.family, self._socket.getpeername())
        except OSError:  # no way there at this moment
            return
        self._take(end)

    def _step(self) -> None:
        if not self.link:
            return
        self._renew(self._now_us())
        self._send_all(self.link.step(self._now_us()))
        if self.link.state in _OVER:
            self._end(self._fault())
        else:
            self._timer = asyncio.get_running_loop().call_later(_STEP_S, self._step)

    def _end(self, fault: TandemError | None) -> None:
        callbacks = self._callbacks
        self._shut()
        if callbacks:
            callbacks[1](fault)

    def _shut(self) -> None:
        if self._timer:
            self._timer.cancel()
        if self._socket:
            asyncio.get_running_loop().remove_reader(self._socket)
            self._socket.close()
        self._socket = self._callbacks = self._timer = self.link = None

    def _fault(self) -> DeviceFault:
        assert self.link, "it was begun"
        status = self.link.grant.status if self.link.grant else GrantStatus.GRANTED
        if status is not GrantStatus.GRANTED:
            _, _, why, remedy = GUEST_REFUSAL_TEXTS[status.name]
            return DeviceFault(
                "the car's host refuses",
                where=self.label,
                got=clause(why),
                remedy=clause(remedy),
            )
        return DeviceFault(
            "no session with the car's host",
            where=self.label,
            got=self.link.state.value,
            remedy="does tandem serve --listen run there? is it the address that it printed? was "
            "the token revoked, or the host's key rotated? a firewall may keep UDP away",
        )


async def _addresses_of(host: str, port: int, label: str) -> list[tuple[int, object]]:
    """Return the family and the address of each address of a host.

    Raises errors.DeviceFault if there is none.
    """
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_DGRAM)
    except OSError as error:
        raise _unreachable(label, error.strerror or str(error)) from None
    return [(family, address) for family, _, _, _, address in found]


def _unreachable(label: str, why: str) -> DeviceFault:
    return DeviceFault(
        "this host cannot be reached",
        where=label,
        got=why,
        remedy="give its address, as tandem serve --listen printed it",
    )


def _socket_to(family: int, address: object) -> socket.socket:
    """Return a UDP socket towards an address. Raises OSError."""
    end = socket.socket(family, socket.SOCK_DGRAM)
    try:
        end.setblocking(False)
        end.connect(address)  # type: ignore[arg-type]
    except OSError:
        end.close()
        raise
    return end


def make(uri: Uri, context: TransportContext) -> NetworkCar:
    """Return the transport of ``tandem://HOST/NAME``. Raises errors.TandemError."""
    uri.refuse_others("copies")
    name = uri.path.removeprefix("/")
    if not name:
        raise UsageFault(
            "no name of a car", where=uri.text, remedy=f"did you mean tandem:///{uri.authority}?"
        )
    return NetworkCar(uri, invitations_to(name, uri.text), context.now_us)
