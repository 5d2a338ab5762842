"""Hosts in network namespaces of their own, and the air between them, which is this process.

Each host has a tap device, and ``Hub`` passes every frame on, so what it loses is lost. IPv4 and
IPv6 datagrams are impaired, each way of each host by a seed of its own; what hosts find each other
by (ARP, neighbour discovery) passes untouched, since its loss would be a second of silence that no
car has caused. It needs the right to make namespaces, which root has: ``line.why_not`` says what is
missing. Namespaces end with this process, however that ends.
"""

from __future__ import annotations

import os
import select
import threading
import time
from contextlib import ExitStack
from types import TracebackType

from tests.ros.reaction.impairment import CLEAR, Counts, Impairment, LineSettings
from tests.ros.reaction.line import Namespace

_IFF_TAP = 0x0002
_FRAME_MAX = 65_536
_WAIT_S = 0.05  # without a frame: how soon the end is noticed
_ETHERNET_BYTES = 14
_IPV4, _IPV6 = 0x0800, 0x86DD
_ICMPV6 = 58
_PACKETS_MAX = 2_000_000  # of one way: hours of a driven car


class Host(Namespace):
    """One namespace with its device: 10.99.0.N and fd99::N, N from 1 on."""

    def __init__(self, number: int) -> None:
        self.ipv4, self.ipv6 = f"10.99.0.{number}", f"fd99::{number:x}"
        name = f"air{os.getpid()}.{number}"[:15]
        super().__init__(name, _IFF_TAP, (
            "sysctl -qw net.ipv6.conf.all.accept_dad=0 net.ipv6.conf.default.accept_dad=0",
            "ip link set lo up",
            f"ip link set {name} name air",
            f"ip addr add {self.ipv4}/24 brd 10.99.0.255 dev air",
            "ip link set air up",
            f"ip addr add {self.ipv6}/64 dev air nodad",
            "ip route add 224.0.0.0/4 dev air",
            "ip route add default dev air",
        ))  # fmt: skip


class Hub(threading.Thread):
    """Hosts, and the thread that carries frames between them, until it is closed."""

    def __init__(self, seed: int, count: int, seconds_max: float) -> None:
        super().__init__(name="air", daemon=True)
        self._ends_s = time.monotonic() + seconds_max
        self._is_open = True
        self._places: dict[bytes, int] = {}  # by hardware address: the place of its host
        self.hosts: list[Host] = []
        # A datagram goes out of its sender's air, and into its taker's
        self.out_of = [Impairment(f"{seed} out {it}", _PACKETS_MAX) for it in range(count)]
        self.into = [Impairment(f"{seed} in {it}", _PACKETS_MAX) for it in range(count)]
        with ExitStack() as made:
            for number in range(1, count + 1):
                self.hosts.append(Host(number))
                made.callback(self.hosts[-1].close)
            made.pop_all()
        self.start()

    def impair(self, place: int, out: LineSettings, into: LineSettings) -> float:
        """From now on the air at this host is so; return the moment of that."""
        self.out_of[place].settings, self.into[place].settings = out, into
        return time.monotonic()

    def counts(self) -> list[Counts]:
        return [it.counts for it in (*self.out_of, *self.into)]

    def run(self) -> None:
        places = {host.file: place for place, host in enumerate(self.hosts)}
        while self._is_open and (now_s := time.monotonic()) < self._ends_s:
            self._pass_on(now_s)
            ready, _, _ = select.select(list(places), [], [], self._wait_s())
            for file in ready:
                self._read(file, places[file])

    def _read(self, file: int, place: int) -> None:
        while True:
            try:
                frame = os.read(file, _FRAME_MAX)
            except BlockingIOError:
                return
            self._places[frame[6:12]] = place
            if is_impaired(frame):
                self.out_of[place].take(frame, time.monotonic())
            else:
                for to in self._goals(frame, place):
                    _put(self.hosts[to].file, frame)

    def _pass_on(self, now_s: float) -> None:
        for place, way in enumerate(self.out_of):
            for frame in way.due(now_s):
                for to in self._goals(frame, place):
                    self.into[to].take(frame, now_s)
        for host, way in zip(self.hosts, self.into, strict=True):
            for frame in way.due(now_s):
                _put(host.file, frame)

    def _goals(self, frame: bytes, place: int) -> list[int]:
        others = [it for it in range(len(self.hosts)) if it != place]
        if frame[0] & 1:  # broadcast or multicast
            return others
        known = self._places.get(frame[:6])
        return others if known is None else [known]

    def _wait_s(self) -> float:
        due_s = [way.next_s for way in (*self.out_of, *self.into) if way.next_s is not None]
        if not due_s:
            return _WAIT_S
        return min(max(min(due_s) - time.monotonic(), 0.0), _WAIT_S)

    def __enter__(self) -> Hub:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._is_open = False
        self.join()
        for host in self.hosts:
            host.close()


def is_impaired(frame: bytes) -> bool:
    """Whether a frame holds a datagram, not what hosts find each other by."""
    kind = int.from_bytes(frame[12:_ETHERNET_BYTES], "big")
    return kind == _IPV4 or (kind == _IPV6 and frame[_ETHERNET_BYTES + 6] != _ICMPV6)


def both_ways(hub: Hub, place: int, settings: LineSettings = CLEAR) -> float:
    """The air at one host is so, out and in; return the moment from which it is."""
    return hub.impair(place, settings, settings)


def _put(file: int, frame: bytes) -> None:
    try:
        os.write(file, frame)
    except OSError:
        return  # nobody at that end takes it: as in any air
