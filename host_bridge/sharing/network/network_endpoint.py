"""The endpoint of an owner on the network: one UDP socket for guests and for whoever stops."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import logging
import socket
from collections.abc import Callable, Iterator

from host_bridge.core.errors import DataFileFault, DeviceFault, UsageFault
from host_bridge.core.files import parse_whole
from host_bridge.core.system.printable import printable
from host_bridge.sharing.endpoints.naming import FIRST_PORT, uri_of
from host_bridge.sharing.network.guests import GuestBook
from host_bridge.sharing.network.hosting.visits import VisitLog
from host_bridge.sharing.network.network_server import NetworkServer, Output
from host_bridge.sharing.network.sealed.handshake import Address
from host_bridge.sharing.network.sealed.sealing import COPY
from host_bridge.sharing.network.stops.fleet_messages import FLEET_STOP, fleet_tag
from host_bridge.sharing.network.stops.fleet_sockets import fleet_sockets, own_addresses
from host_bridge.sharing.owner.board_verification import UP, RelayedFrames
from host_bridge.sharing.owner.owner import ClientLine, Owner
from host_bridge.sharing.owner.rights import ALL

_FLEETS = bytes((FLEET_STOP,))
PORTS = 8  # from the first one on, of which a car takes a free one
_ALL_OF_IPV4 = "0.0.0.0"  # to listen at, and no place to reach anybody at
_STEP_S = 0.01  # the board's step: a Stop that waits goes after as long
_BATCH = 256  # datagrams that are read before any other work is done
_READ_BYTES = 65_536  # bytes: the longest datagram that UDP has
_BUFFER_BYTES = 262_144  # bytes: what comes in while a step is late, asked of the system
_TIME_S = 60.0  # between two writings of the time served
_LOGGER = logging.getLogger(__name__)


class NetworkEndpoint:
    """An ``OwnerEndpoint`` at an address of this host, from ``open`` to ``close``.

    ``board_id`` returns the id of the car's board: whose guests may come. ``car_name`` returns the
    name as which it is served, ``fleet`` is the fleet with which it is stopped.
    """

    def __init__(
        self,
        address: str,
        port: int | None,
        board_id: Callable[[], str],
        car_name: Callable[[], str],
        fleet: str = "",
    ) -> None:
        self.address: Address = (address, port or 0)
        self.server: NetworkServer | None = None
        self._port = port
        self._board_id = board_id
        self._car_name = car_name
        self._owner: Owner | None = None
        self._line: ClientLine | None = None
        self._socket: socket.socket | None = None
        self._fleet_tag = fleet_tag(fleet)
        self._fleet_sockets: list[socket.socket] = []
        self._timer: asyncio.TimerHandle | None = None
        self._is_ours = False  # what goes to the car at this moment is a guest's
        self._counted_us = 0
        self._untap: Callable[[], None] | None = None

    def open(self, owner: Owner) -> None:
        """Listen. Raises errors.DeviceFault, errors.DataFileFault."""
        board_id = self._board_id()
        if not board_id:
            raise DeviceFault(
                "the car has not said who it is, so nobody can be invited to it by the network",
                where=owner.label,
                remedy="has the board power? serve it without --listen to see what it says",
            )
        now_us = self._counted_us = owner.now_us()
        has_car = self._has_car
        self.server = NetworkServer(GuestBook(bytes.fromhex(board_id)), has_car, now_us)
        self._socket = _bound(self.address[0], self._port)
        self._fleet_sockets = fleet_sockets(self.address[0])
        self.server.open_stops.fleet_tag = self._fleet_tag
        self.server.open_stops.car_name = self._car_name()
        self.address = self._socket.getsockname()[:2]
        self._owner = owner
        self._line = owner.join(self, ALL)  # each frame of a guest was judged before
        self._untap = owner.taps.subscribe(self._tap)
        loop = asyncio.get_running_loop()
        for end in (self._socket, *self._fleet_sockets):
            loop.add_reader(end, self._read, end)
        self._timer = loop.call_later(_STEP_S, self._step)

    def close(self) -> None:
        if self._socket is None or self._owner is None or self.server is None:
            return
        if self._timer:
            self._timer.cancel()
        for end in (self._socket, *self._fleet_sockets):
            asyncio.get_running_loop().remove_reader(end)
        self._put(self.server.close(self._owner.now_us()))
        with contextlib.suppress(DataFileFault):
            self._count_time(self._owner.now_us())
        self._keep_notes()
        if self._untap:
            self._untap()
        if self._line:
            self._line.end()
        for end in (self._socket, *self._fleet_sockets):
            end.close()
        self._socket = None
        self._fleet_sockets = []

    def deliver(self, data: bytes) -> int:
        if self.server and self._owner:
            self._put(self.server.deliver(data, self._owner.now_us()))
        return len(data)

    def end(self) -> None:
        self.close()

    def uris(self, car_name: str) -> list[str]:
        """Return the URIs by which guests name the car: of 0.0.0.0 one for each own address."""
        host, port = self.address
        hosts = own_addresses() if host == _ALL_OF_IPV4 else []
        return [uri_of(it, port, car_name) for it in hosts or [host]]

    def news(self) -> Iterator[str]:
        """Yield what ``tandem serve`` shows of the network: who is there, what was refused."""
        if self.server:
            guests = [it.guest.label for it in self.server.sessions.values() if it.is_confirmed]
            yield f"guests: {printable(', '.join(sorted(guests)) or 'none')}"
            refused = self.server.counts + self.server.open_stops.counts
            del refused[COPY]
            if refused:
                cause, count = refused.most_common(1)[0]
                yield f"{refused.total()} datagrams refused, most for {cause} ({count})"

    def _has_car(self) -> bool:
        return self._owner is not None and self._owner.verification.rights == ALL

    def _read(self, end: socket.socket) -> None:
        """Take what has come; on the port of fleets, what stops a fleet and nothing else."""
        batch: list[tuple[bytes, Address]] = []
        with contextlib.suppress(OSError):  # nothing more has come
            while self._socket and len(batch) < _BATCH:
                data, address = end.recvfrom(_READ_BYTES)
                if address[1] and (end is self._socket or data[:1] == _FLEETS):
                    batch.append((data, (address[0], address[1])))
        if batch and self.server and self._owner:
            self._put(self.server.hear(batch, self._owner.now_us()))

    def _step(self) -> None:
        assert self.server, "it is open"
        assert self._owner, "it is open"
        now_us = self._owner.now_us()
        try:
            self._put(self.server.step(now_us))
            if now_us - self._counted_us > _TIME_S * 1e6 or self.server.notes:
                self._count_time(now_us)
        except DataFileFault as fault:  # guests whose record is gone may not stay
            _LOGGER.error("%s", fault)
            self._put(self.server.close(now_us))
        self._keep_notes()
        self._timer = asyncio.get_running_loop().call_later(_STEP_S, self._step)

    def _keep_notes(self) -> None:
        """Write who came and went; a disk that is full lets guests in all the same."""
        assert self.server, "it is open"
        log = VisitLog(self.server.book.board_id, self.server.book.wall_s, self.server.book.folder)
        for note in self.server.notes:
            _LOGGER.info("%s", note)
            try:
                log.add(note)
            except DataFileFault as fault:
                _LOGGER.error("%s", fault)
        self.server.notes.clear()

    def _count_time(self, now_us: int) -> None:
        assert self.server, "it is open"
        self.server.book.times.refused = dict(self.server.counts)
        self.server.book.pass_time((now_us - self._counted_us) * 1e-6)
        self._counted_us = now_us

    def _put(self, out: Output) -> None:
        if self._line:
            self._is_ours = True
            for frames in out.frames:
                self._line.feed(frames)
            self._is_ours = False
        for datagram, (host, port) in out.datagrams:
            if self._socket:
                is_mapped = self._socket.family == socket.AF_INET6 and ":" not in host
                with contextlib.suppress(OSError):  # no room, or nobody there: it is dropped
                    self._socket.sendto(datagram, (f"::ffff:{host}" if is_mapped else host, port))

    def _tap(self, relayed: RelayedFrames) -> None:
        if relayed.direction == UP and not self._is_ours and self.server:
            self.server.hear_local(relayed.frames)


def endpoint_at(
    text: str, board_id: Callable[[], str], car_name: Callable[[], str], fleet: str = ""
) -> NetworkEndpoint:
    """Return the endpoint, not yet open, of one car at ``ADDRESS`` or ``ADDRESS:PORT``.

    An address is numeric; an IPv6 one with a port stands in brackets. Raises errors.UsageFault.
    """
    is_ipv6 = text.count(":") > 1 and not text.startswith("[")
    host, colon, port = (text, "", "") if is_ipv6 else text.rpartition(":")
    if text.endswith("]") or not colon:
        host, port = text, ""
    try:
        ipaddress.ip_address(host.strip("[]").partition("%")[0])
        number = parse_whole(port) if host != text else None
        is_port = number is None or 0 <= number < 65_536
    except ValueError:
        is_port, number = False, None
    if not is_port:
        raise UsageFault(
            "this is no address to listen at",
            expected="an address of this machine: 192.168.1.7, 192.168.1.7:27410, [fd00::7]:27410",
            got=text,
            remedy=f"ip address lists them; {_ALL_OF_IPV4} is all of IPv4",
        )
    return NetworkEndpoint(host.strip("[]"), number, board_id, car_name, fleet)


def _bound(address: str, port: int | None) -> socket.socket:
    """Return a socket at the port, or at the first free one of those that are looked for.

    Raises errors.DeviceFault.
    """
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    end = socket.socket(family, socket.SOCK_DGRAM)
    end.setblocking(False)
    end.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _BUFFER_BYTES)
    fault: OSError | None = None
    for it in (port,) if port is not None else range(FIRST_PORT, FIRST_PORT + PORTS):
        try:
            end.bind((address, it))
        except OSError as error:
            fault = error
        else:
            return end
    end.close()
    raise DeviceFault(
        "this address cannot be listened at",
        where=address if port is None else f"{address} port {port}",
        expected="an address of this machine, and a free port",
        got=(fault.strerror if fault else None) or str(fault),
        remedy="ip address lists the addresses of this machine",
    )
