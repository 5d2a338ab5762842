"""Records traces in air between namespaces: ``python -m ... recording --into FOLDER``.

``tandem linktest`` of as many guests as traces are asked for, each on its own host with its own
seed, to one car's host. It tells how late the machine itself was: that is in the traces, too, and
is no air. ``python -m tests.host_bridge.sharing.network.hours --trace`` drives them.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from host_bridge.demo.judging.latency_probe import LatencyProbe
from tests.host_bridge.sharing.network.air.field import Login, Program, invite, served
from tests.host_bridge.sharing.network.air.hub import Hub, both_ways
from tests.ros.reaction.impairment import LineSettings
from tests.ros.reaction.line import why_not

AIR = LineSettings(loss=0.1, delay_s=0.010)
SEED = 35
LATE_S = 0.02  # a fifth of what stops a car of the default lease on this path
ENDS_S = 120.0  # after the last probe: the findings are computed, the trace is written


def record(hub: Hub, folder: Path, seconds: float, into: Path) -> list[tuple[Path, dict[str, Any]]]:
    """Record one trace from each host but the first; return each file with its findings.

    The first host's own air stays clear, so that each guest's is the only one of its trace.
    """
    owner, *guests = (Login(host, folder / str(n)) for n, host in enumerate(hub.hosts))
    with served(owner, "sim://nigel", "red", hub.hosts[0].ipv4) as uri, ExitStack() as over:
        running: list[tuple[Path, Program]] = []
        for place, guest in enumerate(guests, 1):
            invite(owner, guest, "red", "watch")
            both_ways(hub, place, AIR)
            path = into / f"air{place}.csv"
            words = ("linktest", uri, "--for", str(seconds), "--out", str(path), "--json")
            running.append((path, guest.start(*words)))
            over.callback(running[-1][1].end)
        return [
            (path, json.loads(program.line_with("{", seconds + ENDS_S)))
            for path, program in running
        ]


def main() -> None:
    parser = argparse.ArgumentParser(description="Record traces in air between namespaces.")
    parser.add_argument("--seconds", type=float, default=1800.0, help="of each (default 1800)")
    parser.add_argument("--traces", type=int, default=2, help="at the same time (default 2)")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--into", type=Path, default=Path.cwd(), help="the folder for them")
    asked = parser.parse_args()
    missing = why_not()
    if missing:
        raise SystemExit(f"not recorded: {missing}")
    with (
        LatencyProbe() as machine,
        tempfile.TemporaryDirectory(prefix="air-") as folder,
        Hub(asked.seed, asked.traces + 1, asked.seconds + 10 * ENDS_S) as hub,
    ):
        found = record(hub, Path(folder), asked.seconds, asked.into)
    rows = machine.rows()
    late = [
        f"{row.late_s:.3f} s after {row.ended_s - rows[0].begun_s:.0f}"
        for row in rows
        if row.late_s > LATE_S
    ]
    print(f"a bare process of the same priority woke late: {', '.join(late) or 'never'}")
    for path, it in found:
        shortest = it["doubled"][0]
        print(
            f"{path.name}: {it['probes']} probes in {it['seconds']:.0f} s, {it['lost_up']:.2%} "
            f"lost there, {it['lost_down']:.2%} back; round trip {1e3 * it['trip_p50_s']:.1f} ms "
            f"(p50), {1e3 * it['trip_p99_s']:.1f} (p99); with claims doubled a "
            f"lease of {shortest['lease_s']:g} s would have stopped {shortest['stops']} times"
        )


if __name__ == "__main__":
    main()
