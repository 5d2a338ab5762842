"""The stop of a fleet over the networks of this machine, until each known car has answered.

It goes to broadcast addresses, to groups and to each host at which a car was reached before: ten
times within 100 ms, then on to whoever is silent, ten seconds at most. The open stops come first;
what proves an answer, a session with the car's host, takes an import and two round trips.
"""

from __future__ import annotations

import os
import select
import socket
import time

from host_bridge.core.errors import TandemError
from host_bridge.core.texts.table import locked_state_word
from host_bridge.sharing.network.stops.fleet_messages import (
    GROUP_IPV4,
    GROUP_IPV6,
    PORT,
    parse_answer,
    stop_question,
)
from host_bridge.sharing.network.stops.fleet_sockets import Interface, interfaces
from host_bridge.sharing.stop.frozen_stop import SENDER_FLEET, StopAckReader, stop_frame

TYPE_CHECKING = False  # typing takes 3 ms to import
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from host_bridge.sharing.network.guest_link import GuestLink
    from host_bridge.sharing.network.invitations import Reached

BURST_S, BURST_EACH_S = 0.1, 0.01  # ten times: of 10 % loss, one car in 10^10 misses all
_SECOND_S = 1.0
_SOON_S, _LATER_S = 0.02, 0.1  # between two, to whoever is silent: in the first second, and then
_LISTEN_S = 1.0  # for cars that are not known: a radio that saves power holds a broadcast 0.3 s
GIVE_UP_S = 10.0  # chosen: then a person has long gone for the runstop
_TELL_S = 1.0  # between two lines about who is silent
_READ_BYTES = 2048  # bytes: more than one Ethernet frame
PROVEN, UNPROVEN, SILENT = "proven", "said", "silent"
Place = tuple[str, int]  # address and port


class FleetCar:
    """One car of the fleet: what is known of it, and what it has answered."""

    def __init__(
        self, name: str, board_id: bytes, place: Place | None, reached: Reached | None
    ) -> None:
        self.name = name
        self.board_id = board_id
        self.place = place
        self.heard_from: Place | None = None  # which may be somebody who forges its answer
        self.reached = reached  # with a token of ours
        self.state = ""
        self.answered_ms: float | None = None
        self.proven_ms: float | None = None
        self.link: GuestLink | None = None
        self.sealed_answer: StopAckReader | None = None

    @property
    def answer(self) -> str:
        if self.proven_ms is not None:
            return PROVEN
        return SILENT if self.answered_ms is None else UNPROVEN

    @property
    def can_prove(self) -> bool:
        """True if there is a token by which it can prove an answer."""
        return self.reached is not None and not (self.link and self.link.state.name == "REFUSED")

    @property
    def is_seen(self) -> bool:
        return self.answer == PROVEN or (self.answer == UNPROVEN and not self.can_prove)

    @property
    def is_known(self) -> bool:
        """True if it is of this fleet: it has answered, or its host had said so before."""
        return self.answer != SILENT or (self._was_reached)

    @property
    def _was_reached(self) -> bool:
        return self.reached is not None and self.reached.fleet_tag is not None

    @property
    def called(self) -> str:
        """Its name and where it is: two hosts may each have a car of one name."""
        return f"{self.name} ({self.place[0]})" if self.place else self.name

    def row(self) -> dict[str, object]:
        took_ms = self.answered_ms if self.proven_ms is None else self.proven_ms
        return {
            "name": self.name,
            "board_id": self.board_id.hex(),
            "address": self.place[0] if self.place else None,
            "answer": self.answer,
            "is_seen": self.is_seen,
            "state": self.state or None,
            "took_ms": None if took_ms is None else round(took_ms, 1),
        }

    def __str__(self) -> str:
        if self.answer == SILENT:
            return (
                f"{self.called}: SILENT for {GIVE_UP_S:g} s. Use its runstop, or cut its power. It "
                "may also be switched off, or elsewhere."
            )
        state = locked_state_word(self.state)
        if self.answer == PROVEN:
            return f"{self.called}: {state}, proven after {self.proven_ms:.0f} ms"
        why = "its host did not prove it" if self.can_prove else "no token here proves it: look"
        return f"{self.called}: {state}, says so after {self.answered_ms:.0f} ms; {why}"


class FleetStop:
    """One call to a fleet. ``cars`` has each car that is known or has answered, by board id."""

    def __init__(
        self,
        tag: int,
        known: Callable[[], Iterable[Reached]],
        tell: Callable[[str], object] = lambda line: None,
        own: Iterable[str] = (),
    ) -> None:
        """Take the fleet's tag; ``tell`` gets lines about who is silent.

        ``known`` returns the cars that are known; it is called once the first stop is out, for it
        reads files. ``own`` are addresses of this machine: its cars are stopped by another way.
        """
        self.cars: dict[bytes, FleetCar] = {}
        self.fault: TandemError | None = None  # why not all known cars are known here
        self._known = known
        token = int.from_bytes(os.urandom(2), "little")
        self._token = token
        self._frame = stop_frame(token, socket.gethostname(), SENDER_FLEET)
        self._question = stop_question(tag, self._frame)
        self._tell = tell
        self._own = frozenset(own)
        self._interfaces: list[Interface] = []
        self._ends: dict[int, socket.socket] = {}
        self._begun_s = 0.0

    def run(self) -> list[FleetCar]:
        """Stop them; return the cars, by name."""
        self._interfaces = interfaces()
        self._ends = {family: end for family in (socket.AF_INET, socket.AF_INET6)
                      if (end := _socket(family))}  # fmt: skip
        try:
            self._talk()
        finally:
            for end in self._ends.values():
                end.close()
        return sorted(self.cars.values(), key=lambda it: it.name)

    def _talk(self) -> None:
        self._begun_s = now_s = time.monotonic()
        self._send_around()
        self._take_known()
        again_s, around_s = now_s, now_s + BURST_EACH_S
        tell_s = now_s + _TELL_S
        while not self._is_over(now_s - self._begun_s):
            since_s = now_s - self._begun_s
            if now_s >= again_s:
                again_s = now_s + _apart_s(since_s)
                if now_s >= around_s:
                    around_s = now_s + (BURST_EACH_S if since_s < BURST_S else _LATER_S)
                    self._send_around()
                self._send_to_known()
            if since_s >= BURST_S:  # after the open ones: it takes an import
                self._prove(now_s)
            if now_s >= tell_s:
                tell_s += _TELL_S
                self._tell(self._progress(since_s))
            self._wait(again_s)
            now_s = time.monotonic()

    def _take_known(self) -> None:
        try:
            for it in self._known():
                self.cars[it.board_id] = FleetCar(it.name, it.board_id, it.place, it)
        except TandemError as fault:  # a damaged file keeps no car from being stopped
            self.fault = fault

    def _is_over(self, since_s: float) -> bool:
        if not self._interfaces and not self.cars:
            return True  # this machine has no network, and nobody was asked
        is_answered = all(it.is_seen for it in self.cars.values() if it.is_known)
        return since_s > GIVE_UP_S or (since_s > _LISTEN_S and is_answered)

    def _progress(self, since_s: float) -> str:
        known = [it for it in self.cars.values() if it.is_known]
        silent = [it.name for it in known if it.answer == SILENT]
        unproven = [it.name for it in known if it.answer == UNPROVEN and it.can_prove]
        parts = [f"{len(known) - len(silent)} of {len(known)} cars have answered"]
        if silent:
            parts.append(f"{', '.join(silent)} not for {since_s:.0f} s")
        if unproven:
            parts.append(f"{', '.join(unproven)} without a proof")
        return "; ".join(parts)

    # --- what goes out

    def _send_around(self) -> None:
        """Send to everybody who is near: by broadcast, and by both groups."""
        ipv4, ipv6 = self._ends.get(socket.AF_INET), self._ends.get(socket.AF_INET6)
        for it in self._interfaces:
            if ipv4 and it.broadcast:
                _send(ipv4, self._question, (it.broadcast, PORT))
            if ipv4 and it.ipv4:
                _set(ipv4, socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton(it.ipv4))
                _send(ipv4, self._question, (GROUP_IPV4, PORT))
            if ipv6:
                _set(ipv6, socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_IF, it.index)
                _send(ipv6, self._question, (GROUP_IPV6, PORT, 0, it.index))

    def _send_to_known(self) -> None:
        """Send to each car whose place is known and which has not stopped as far as we can tell."""
        for it in self.cars.values():
            if not it.is_seen:
                for place in filter(None, {it.place, it.heard_from}):
                    self._send_to(place, self._question)

    def _send_to(self, place: Place, datagram: bytes) -> None:
        end = self._ends.get(socket.AF_INET6 if ":" in place[0] else socket.AF_INET)
        if end:
            _send(end, datagram, place)

    def _prove(self, now_s: float) -> None:
        """Advance the sessions with hosts of cars that we have tokens for."""
        from host_bridge.sharing.network.guest_link import GuestLink, GuestState

        now_us = int(now_s * 1e6)
        for it in self.cars.values():
            if it.reached is None or it.proven_ms is not None:
                continue
            is_mute = it.link is None or it.link.state is GuestState.ASKING
            if is_mute and it.heard_from and now_s - self._begun_s > _SECOND_S:
                it.place = it.heard_from  # nobody is where it was; this proves itself, or does not
            if it.place is None:
                continue
            over = (GuestState.LOST, GuestState.ENDED)
            if it.link is None or it.link.state in over:
                it.link = GuestLink(it.reached.token, now_us)
                it.sealed_answer = StopAckReader(self._token)
            was_due = it.link.step(now_us)
            for datagram in was_due:
                self._send_to(it.place, datagram)
            if it.link.state is GuestState.LIVE:
                sealed = it.link.seal(self._frame)
                if sealed:
                    self._send_to(it.place, sealed)

    # --- what comes in

    def _wait(self, until_s: float) -> None:
        left_s = min(max(until_s - time.monotonic(), 0.0), _SOON_S)
        ready, _, _ = select.select(list(self._ends.values()), [], [], left_s)
        for end in ready:
            self._read(end)

    def _read(self, end: socket.socket) -> None:
        while True:
            try:
                data, address = end.recvfrom(_READ_BYTES)
            except BlockingIOError:
                return
            except OSError:  # a host says that nobody listens there
                continue
            self._hear(data, (address[0], address[1]))

    def _hear(self, data: bytes, place: Place) -> None:
        took_ms = (time.monotonic() - self._begun_s) * 1e3
        found = parse_answer(data)
        if found:
            self._hear_answer(*found, place, took_ms)
            return
        for it in self.cars.values():
            if it.link and it.place == place and it.sealed_answer and it.proven_ms is None:
                it.sealed_answer.feed(it.link.hear(data, int(time.monotonic() * 1e6)))
                if it.sealed_answer.is_seen:
                    it.state, it.proven_ms = it.sealed_answer.state, took_ms

    def _hear_answer(
        self, board_id: bytes, name: str, frame: bytes, place: Place, took_ms: float
    ) -> None:
        """Take an open answer. Whoever forges one gets no further than "says so"."""
        answer = StopAckReader(self._token)
        answer.feed(frame)
        if not answer.is_seen or place[0] in self._own:
            return
        it = self.cars.get(board_id)
        if it is None:
            if len(self.cars) >= _CARS:
                return
            it = self.cars[board_id] = FleetCar(name, board_id, place, None)
        if it.answered_ms is None:
            it.answered_ms, it.heard_from = took_ms, place
            it.place = it.place or place
            it.state = it.state or answer.state


_CARS = 256  # of one call: more than a hall holds, and a flood of invented ones ends there


def _apart_s(since_s: float) -> float:
    if since_s < BURST_S:
        return BURST_EACH_S
    return _SOON_S if since_s < _SECOND_S else _LATER_S


def _socket(family: int) -> socket.socket | None:
    """Return a socket that may broadcast; None where this machine has no such family."""
    try:
        end = socket.socket(family, socket.SOCK_DGRAM)
        end.setblocking(False)
        if family == socket.AF_INET:
            end.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
        else:
            end.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    except OSError:
        return None
    return end


def _set(end: socket.socket, level: int, option: int, value: int | bytes) -> None:
    try:  # noqa: SIM105 - contextlib takes 2 ms to import
        end.setsockopt(level, option, value)
    except OSError:  # an interface that has just gone
        pass


def _send(end: socket.socket, datagram: bytes, address: tuple[object, ...]) -> None:
    try:  # noqa: SIM105 - contextlib takes 2 ms to import
        end.sendto(datagram, address)
    except OSError:  # no way there at this moment: the next one may find it
        pass
