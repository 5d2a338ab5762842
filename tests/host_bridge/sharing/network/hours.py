"""Hours of driving through bad air in virtual time: both ends of the session, the car's program.

    python -m tests.host_bridge.sharing.network.hours --hours 10
    python -m tests.host_bridge.sharing.network.hours --trace hall1.csv hall2.csv

Everything is the product's but the sockets: the guest's link and the host's server seal and judge
each datagram, the board's program judges each claim. The air is that of the namespaces
(``air/hub.py``), reseeded for each drive, so nothing repeats; or one that was recorded there
(``recording.py``), each trace once from its first probe to its last. Claims go twice, as guests
send them. It fails if a car stopped by itself, or drove less than 99 % of the time.
"""

from __future__ import annotations

import argparse
import heapq
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from host_bridge.core.files.link_traces import read_trace
from host_bridge.drive.controls import make_input
from host_bridge.drive.drive import Phase
from host_bridge.drive.lockstep.car import open_in_lockstep
from host_bridge.drive.lockstep.loop import LockstepDrive
from host_bridge.drive.options import DriveOptions
from host_bridge.link.transports.lossy import traces_of
from host_bridge.link.transports.lossy_line import LineTrace
from host_bridge.sharing.network.guest_link import GuestLink, GuestState
from host_bridge.sharing.network.guests import GuestBook, new_guest
from host_bridge.sharing.network.network_server import NetworkServer, Output
from host_bridge.sharing.network.sealed.handshake import Role
from host_bridge.sharing.network.sealed.sealing import DRIVE
from host_bridge.sharing.owner.chunks import split
from host_bridge.sharing.services import make_host
from host_bridge.sharing.stop.stop_filter import is_stop
from tests.ros.reaction.impairment import Counts, Impairment, LineSettings

REMOTE = "remote"
COPY_S = 0.005  # as the guest's transport sends it (host_bridge/sharing/network/network_car.py)
_GUEST = ("192.0.2.1", 50_000)
_MONTH_S = 30 * 86_400.0
_PACKETS_MAX = 10_000_000  # of one way, ten hours of 200 a second
_DRIVES = 0.99  # of the time, at least
_AROUND_S = 5.0  # of a trace: the car is armed before the drive, and parked after it
_OVER = (GuestState.LOST, GuestState.ENDED, GuestState.REFUSED)
VEHICLE = """
base = "nigel"
[stop]
clock_bound_s = {bound_s}
may_arm = ["owner", "seat", "fleet", "command", "guest"]
may_clear = ["owner", "seat", "fleet", "command", "guest"]
"""


class TracedWay:
    """One way of an air that was recorded, in the shape of an impairment; beyond its end it fails.

    A datagram fares as the probe did that was sent last at that moment. Every second probe was a
    copy, 5 ms after its claim, and so is every second datagram.
    """

    def __init__(self, trace: LineTrace, seconds: float, now_us: int) -> None:
        self.counts = Counts()
        self._trace = trace
        self._trace.took_us(now_us)  # it begins now
        self._ends_us = now_us + _us(seconds)
        self._waiting: list[tuple[int, int, bytes]] = []

    def take(self, packet: bytes, now_s: float) -> None:
        now_us = _us(now_s)
        assert now_us < self._ends_us, "no trace begins anew"
        number = self.counts.taken
        self.counts.taken += 1
        took_us = self._trace.took_us(now_us)
        if took_us is None:
            self.counts.lost += 1
        else:
            heapq.heappush(self._waiting, (now_us + took_us, number, packet))

    def due(self, now_s: float) -> list[bytes]:
        packets = []
        while self._waiting and self._waiting[0][0] <= _us(now_s):
            packets.append(heapq.heappop(self._waiting)[2])
            self.counts.delivered += 1
        return packets


def _us(seconds: float) -> int:
    return round(seconds * 1e6)


class SealedAir:
    """A guest's session with a car's host, and the air between them; ``copies`` of each claim."""

    def __init__(self, board_id, folder, ways: Sequence[Way], now_us: int, copies=2):
        folder.mkdir(mode=0o700, exist_ok=True)
        limits = {"sources": 1 << 7, "stop_sources": 1 << 3 | 1 << 5, "cap_mm_s": 0}
        book = GuestBook(board_id, folder)
        self._token = book.invite(new_guest(Role.DRIVE, "guest", _MONTH_S, **limits), "red", ())
        self.server = NetworkServer(book, lambda: True, now_us)
        self.link = GuestLink(self._token, now_us)
        self.up, self.down = ways
        self.sessions = 1
        self._copies = copies
        self._heard = b""

    def say(self, frames: bytes, now_us: int) -> None:
        """Send what the guest's program says, a datagram for each frame."""
        now_s = now_us * 1e-6
        for frame in split(frames):
            if is_stop(frame):
                self.up.take(frame, now_s)
            sealed = self.link.seal(frame)
            if sealed is None:
                continue
            self.up.take(sealed, now_s)
            if sealed[0] == DRIVE.kind and self._copies > 1:
                self.up.take(sealed, now_s + COPY_S)

    def report(self, frames: bytes, now_us: int) -> None:
        """Send what the car says to the guest."""
        self._send_down(self.server.deliver(frames, now_us), now_us)

    def for_car(self, now_us: int) -> list[bytes]:
        """Return the frames that reach the car by now."""
        if self.link.state in _OVER:  # as the transport does: a session anew
            self.link = GuestLink(self._token, now_us)
            self.sessions += 1
        for datagram in self.link.step(now_us):
            self.up.take(datagram, now_us * 1e-6)
        batch = [(it, _GUEST) for it in self.up.due(now_us * 1e-6)]
        found = self.server.hear(batch, now_us)
        stepped = self.server.step(now_us)
        for out in (found, stepped):
            self._send_down(out, now_us)
        return [*found.frames, *stepped.frames]

    def for_guest(self, now_us: int) -> list[bytes]:
        """Return the frames that reach the guest by now."""
        return [self.link.hear(it, now_us) for it in self.down.due(now_us * 1e-6)]

    def _send_down(self, out: Output, now_us: int) -> None:
        for datagram, _ in out.datagrams:
            self.down.take(datagram, now_us * 1e-6)


class Line:
    """One way of the session, in the shape in which a car in lockstep has its bad lines."""

    def __init__(self, take, due):
        self.pass_, self.due = take, due


Way = Impairment | TracedWay


@dataclass
class Driven:
    """What came of some hours."""

    seconds: float = 0.0
    driving_s: float = 0.0
    stops: int = 0
    causes: tuple[str, ...] = ()
    sessions: int = 0
    up: int = 0
    lost_up: int = 0

    def add(self, one: Driven) -> None:
        """Count another drive in, and say how many hours that makes."""
        self.seconds += max(one.seconds, 1.0)
        self.driving_s += one.driving_s
        self.stops += one.stops
        self.causes += one.causes
        self.sessions += one.sessions
        self.up += one.up
        self.lost_up += one.lost_up
        print(f"{self.seconds / 3600:.2f} h, {self.stops} stops", file=sys.stderr, flush=True)

    @property
    def is_held(self) -> bool:
        """Whether no car stopped by itself, and it drove all but a hundredth of the time."""
        return not self.stops and self.driving_s >= _DRIVES * self.seconds > 0.0


def drive(seconds: float, line: LineSettings, seed: str, bound_s=0.03, copies=2) -> Driven:
    """Drive for so long at most; the first stop ends it."""

    def ways(_now_us: int) -> list[Impairment]:
        made = [Impairment(f"{seed} {way}", _PACKETS_MAX) for way in ("up", "down")]
        for way in made:
            way.settings = line
        return made

    return _drive(seconds, ways, bound_s, copies)


def drive_recorded(path: Path, bound_s=0.03, copies=2) -> Driven:
    """Drive through an air that was recorded, once and to its end; the first stop ends it."""
    probes = read_trace(path)
    seconds = probes[-1].sent_s - probes[0].sent_s

    def ways(now_us: int) -> list[TracedWay]:
        return [TracedWay(it, seconds, now_us) for it in traces_of(probes).values()]

    return _drive(seconds - _AROUND_S, ways, bound_s, copies)


def _drive(seconds: float, ways: Callable[[int], Sequence[Way]], bound_s, copies) -> Driven:
    with tempfile.TemporaryDirectory(prefix="hours-") as name:
        folder = Path(name)
        file = folder / "far.toml"
        file.write_text(VEHICLE.format(bound_s=bound_s))
        car = open_in_lockstep(make_host().vehicles, f"sim://{file}")
        now_us = car.clock.now_us()
        air = SealedAir(car.world.board_id, folder / "guests", ways(now_us), now_us, copies)
        car._lines = (Line(air.say, air.for_car), Line(air.report, air.for_guest))
        car.car.is_line_lossy = car.car.is_afar = True
        chosen = make_input("script:slalom", {}, car.clock.now_us)
        chosen.source = REMOTE
        options = DriveOptions(cars=(), input=chosen, is_lockstep=True, seconds=seconds)
        stepped = LockstepDrive([car], chosen, options)
        found = Driven()
        try:
            ends_us = stepped.now_us + int((seconds + 20.0) * 1e6)
            while not stepped.drive.is_over() and stepped.now_us < ends_us:
                stepped.tick()
                found.driving_s += 0.01 * (stepped.drive.phase is Phase.DRIVING)
        finally:
            stepped.close()
            car.close()
        found.seconds = stepped.drive.lasted_s(stepped.now_us)
        found.stops = int(not stepped.drive.is_completed)
        if found.stops:
            found.causes = (stepped.drive.notice or stepped.drive.refusal,)
        found.sessions, found.up, found.lost_up = (
            air.sessions, air.up.counts.taken, air.up.counts.lost
        )  # fmt: skip
        return found


def drives(hours: float, line: LineSettings, seed: str, bound_s=0.03, copies=2) -> Driven:
    """Drive on, with new draws after each stop, until so many hours are driven."""
    total, number = Driven(), 0
    while total.seconds < hours * 3600.0:
        left_s = min(hours * 3600.0 - total.seconds, 3600.0)
        total.add(drive(left_s, line, f"{seed}/{number}", bound_s, copies))
        number += 1
    return total


def drives_recorded(paths: Sequence[Path], copies=2) -> Driven:
    """Drive through one trace after the other."""
    total = Driven()
    for path in paths:
        total.add(drive_recorded(path, copies=copies))
    return total


LINES = {
    "10 % lost, 10 ms one way": LineSettings(loss=0.1, delay_s=0.010),
    "10 % lost, 10 to 15 ms": LineSettings(loss=0.1, delay_s=0.010, jitter_s=0.005),
    "20 % lost, 10 ms": LineSettings(loss=0.2, delay_s=0.010),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hours", type=float, default=10.0, help="of each air (default 10)")
    parser.add_argument("--air", choices=tuple(LINES), help="one of them (default: all)")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--copies", type=int, choices=(1, 2), default=2)
    parser.add_argument("--trace", nargs="+", type=Path, help="airs that were recorded, instead")
    args = parser.parse_args()
    print("| air | hours | stops | driving | claims and all else lost up | sessions | took |")
    print("|---|---|---|---|---|---|---|")
    if args.trace:
        return 0 if _told("recorded", lambda: drives_recorded(args.trace, args.copies)) else 1
    names = (args.air,) if args.air else tuple(LINES)
    held = [
        _told(
            name, lambda name=name: drives(args.hours, LINES[name], args.seed, copies=args.copies)
        )
        for name in names
    ]
    return 0 if False not in held else 1


def _told(name: str, driven: Callable[[], Driven]) -> bool:
    """Print a row of the table; return whether it is as it has to be."""
    begun_s = time.monotonic()
    it = driven()
    print(
        f"| {name} | {it.seconds / 3600:.2f} | {it.stops} | {it.driving_s / it.seconds:.2%} | "
        f"{it.lost_up / it.up:.2%} of {it.up} | {it.sessions} | "
        f"{time.monotonic() - begun_s:.0f} s |",
        flush=True,
    )
    for cause in sorted(set(it.causes)):
        print(f"  {cause}", file=sys.stderr)
    return it.is_held


if __name__ == "__main__":
    raise SystemExit(main())
