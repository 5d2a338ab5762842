"""Measures what guests cost the car's computer and its air, one more at a time.

``python -m tests.host_bridge.sharing.network.load``: a virtual Nigel is served on one host, and
from another one a guest drives it, and others watch.
Bytes are those of whole frames at the host's device, in each direction; the processor time is that
of ``tandem serve``, which holds the virtual car, too: what a guest adds is what its row has more.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from tests.bench.support.sheet import Sheet, show
from tests.host_bridge.sharing.network.air.field import Login, Program, invite
from tests.host_bridge.sharing.network.air.hub import Hub
from tests.ros.reaction.line import why_not

SECONDS, SEED, LONGEST_S = 20.0, 35, 1200.0
WATCHERS = (0, 1, 3)  # beside the driver
SETTLED_S = 2.0  # after the last guest came
COLUMNS = ("guests", "of a core", "to the car", "datagrams", "from the car", "datagrams")


@dataclass(frozen=True)
class Reading:
    """What a process and its host's device had counted at a moment."""

    at_s: float
    cpu_s: float
    received: tuple[int, int]  # bytes, frames
    sent: tuple[int, int]

    @classmethod
    def of(cls, pid: int) -> Reading:
        fields = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()
        ticks = int(fields[11]) + int(fields[12])
        lines = Path(f"/proc/{pid}/net/dev").read_text("ascii").splitlines()
        (row,) = (
            line.partition(":")[2].split() for line in lines if line.strip().startswith("air:")
        )
        counts = [int(it) for it in row]
        return cls(
            time.monotonic(), ticks / os.sysconf("SC_CLK_TCK"),
            (counts[0], counts[1]), (counts[8], counts[9]),
        )  # fmt: skip


def rates(before: Reading, after: Reading) -> list[float]:
    """Return the share of a core, and bytes and frames a second to the car and from it."""
    seconds = after.at_s - before.at_s
    counts = zip(
        (before.cpu_s, *before.received, *before.sent),
        (after.cpu_s, *after.received, *after.sent),
        strict=True,
    )
    return [(now - was) / seconds for was, now in counts]


def row_of(guests: str, found: list[float]) -> list[str]:
    cpu, to_bytes, to_frames, from_bytes, from_frames = found
    return [
        guests, f"{100 * cpu:.1f} %", f"{to_bytes / 1000:.1f} kB/s", f"{to_frames:.0f} a second",
        f"{from_bytes / 1000:.1f} kB/s", f"{from_frames:.0f} a second",
    ]  # fmt: skip


def drive(owner: Login, guest: Login, uri: str) -> Program:
    """Drive the car from its guest's host until it is ended."""
    program = guest.start(
        "drive", "--car", uri, "--input", "script:slalom", "--seconds", str(LONGEST_S), "--json"
    )
    program.line_with("Nothing is armed yet")
    owner.said("arm", "red")
    program.line_with('"ACTIVE"')
    return program


def watch(owner: Login, guest: Login, uri: str) -> Program:
    """Look on, with a token and a session of its own."""
    invite(owner, guest, "red", "watch")
    program = guest.start("monitor", uri, "--json")
    program.line_with('"status"')
    return program


def measured(pid: int, seconds: float) -> list[float]:
    time.sleep(SETTLED_S)
    before = Reading.of(pid)
    time.sleep(seconds)
    return rates(before, Reading.of(pid))


def rows(hub: Hub, folder: Path, seconds: float) -> list[tuple[str, list[float]]]:
    """Return the rates of each number of guests."""
    owner, guest = (Login(host, folder / str(n)) for n, host in enumerate(hub.hosts))
    with ExitStack() as over:
        car = owner.start("serve", "--car", "sim://nigel", "--name", "red",
                          "--listen", hub.hosts[0].ipv4)  # fmt: skip
        over.callback(car.end)
        uri = car.line_with("reached by the network as ").split()[-1]
        pid = car.process.pid
        found = [("nobody", measured(pid, seconds))]
        invite(owner, guest, "red")
        guests = [drive(owner, guest, uri)]
        over.callback(guests[0].end)
        for count in WATCHERS:
            while len(guests) <= count:
                watcher = Login(hub.hosts[1], folder / f"watcher{len(guests)}")
                guests.append(watch(owner, watcher, uri))
                over.callback(guests[-1].end)
            row = (f"a driver, {count} watching", measured(pid, seconds))
            assert not any(it.process.poll() is not None for it in guests), guests[0].told()
            found.append(row)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description="What guests cost the car's computer and the air.")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of each row (default 20)")
    asked = parser.parse_args()
    missing = why_not()
    if missing:
        raise SystemExit(f"not measured: {missing}")
    with tempfile.TemporaryDirectory(prefix="air-") as folder, Hub(SEED, 2, LONGEST_S) as hub:
        found = rows(hub, Path(folder), asked.seconds)
    title = "Guests of one car: what tandem serve takes, and whole frames at its device"
    show(Sheet(title, COLUMNS, [row_of(*it) for it in found]), Console(width=100))


if __name__ == "__main__":
    main()
