"""Stops beside floods: ``python -m tests.host_bridge.sharing.network.air.floods``.

The floods come from the car's own host, past the air, which would not carry so many. The last line
is how soon a guest is out who was revoked.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from host_bridge.sharing.endpoints.naming import parts_of
from tests.bench.support.sheet import Sheet, show
from tests.host_bridge.sharing.network.air.field import Login, Program, invite
from tests.host_bridge.sharing.network.air.flood import kinds
from tests.host_bridge.sharing.network.air.hub import Hub, both_ways
from tests.host_bridge.sharing.network.air.measured import quantile
from tests.ros.reaction.impairment import LineSettings
from tests.ros.reaction.line import why_not

HERE = Path(__file__).parent
RATES = (1_000, 10_000, 30_000)
CALLS, SEED, LONGEST_S = 20, 35, 3600.0
FLOOD_S = 30.0  # it is ended before
AIR = LineSettings(delay_s=0.003)
REVOCATIONS = 10


@dataclass
class Beside:
    """The stops beside one flood, and the share of a core that the car's host then took."""

    kind: str
    per_s: int
    took_ms: list[float | None]
    sent_per_s: float
    cpu: float

    @property
    def lost(self) -> int:
        return self.took_ms.count(None)

    @property
    def seen_ms(self) -> list[float]:
        return [it for it in self.took_ms if it is not None]


def beside(owner: Login, marshal: Login, uri: str, pid: int, kind: str, per_s: int) -> Beside:
    """Stop the car so often while a flood comes to its host; 0 a second is none."""
    host, port, _ = parts_of(uri)
    with ExitStack() as over:
        flood: Program | None = None
        if per_s:
            words = [sys.executable, str(HERE / "flood.py"), kind, host, str(port)]
            flood = Program(owner.host.words(*words, str(per_s), str(FLOOD_S)), owner.environment)
            over.callback(flood.process.kill)
            flood.line_with("ready")
            time.sleep(0.5)
        before_s, began_s = _cpu_s(pid), time.monotonic()
        calls = Program(
            marshal.host.words(sys.executable, str(HERE / "stop_calls.py"), uri, str(CALLS)),
            marshal.environment,
        )
        took = json.loads(calls.line_with("[", within_s=120.0))
        assert calls.wait() == 0
        cpu = (_cpu_s(pid) - before_s) / (time.monotonic() - began_s)
    return Beside(kind, per_s, took, float(per_s), cpu)


def _cpu_s(pid: int) -> float:
    """The seconds of processor that a program has taken."""
    import os

    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def revocation_ms(owner: Login, guest: Login, uri: str) -> float:
    """How long after its record was written a guest's session is over, at the guest."""
    invite(owner, guest, "red", "drive")
    watch = Program(
        guest.host.words(sys.executable, str(HERE / "session.py"), uri), guest.environment
    )
    watch.line_with("in")
    owner.said("guests", "revoke", "all", "--car", "red")
    over_s = float(watch.line_with("over").split()[1])
    watch.wait()
    (book,) = [
        it for it in (owner.folder / "data").rglob("guests/*.json") if "served" not in it.name
    ]
    return (over_s - book.stat().st_mtime) * 1e3


def main() -> None:
    parser = argparse.ArgumentParser(description="Stops beside floods.")
    parser.add_argument("--only", default="", help="a part of a flood's name")
    asked = parser.parse_args()
    missing = why_not()
    if missing:
        raise SystemExit(f"not measured: {missing}")
    with (
        tempfile.TemporaryDirectory(prefix="air-") as folder,
        Hub(SEED, 2, LONGEST_S) as hub,
    ):
        owner, guest = (Login(it, Path(folder, str(n))) for n, it in enumerate(hub.hosts))
        program = owner.start("serve", "--car", "sim://nigel", "--name", "red",
                              "--listen", hub.hosts[0].ipv4)  # fmt: skip
        try:
            uri = program.line_with("reached by the network as ").split()[-1]
            both_ways(hub, 0, AIR)
            pid = program.process.pid
            found = [beside(owner, guest, uri, pid, "none", 0)]
            for kind in kinds():
                if asked.only in kind:
                    found += [beside(owner, guest, uri, pid, kind, it) for it in RATES]
            gone = [revocation_ms(owner, guest, uri) for _ in range(REVOCATIONS)]
        finally:
            program.end()
    rows = [
        [it.kind, it.per_s, quantile(it.seen_ms, 0.5), quantile(it.seen_ms, 1.0),
         it.lost, f"{100 * it.cpu:.0f} %"]
        for it in found
    ]  # fmt: skip
    columns = ("flood", "a second", "p50", "worst", "never", "of a core")
    title = f"{CALLS} open stops beside floods, 3 ms one way: ms until acknowledged"
    show(Sheet(title, columns, rows), Console(width=100))
    print(
        f"a revoked guest is out after p50 {quantile(gone, 0.5):.0f} ms, worst {max(gone):.0f} ms "
        f"of {len(gone)}, 3 ms one way"
    )


if __name__ == "__main__":
    main()
