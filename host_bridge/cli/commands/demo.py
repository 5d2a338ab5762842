"""Drive two cars by the very same bytes, then stop them in all ways, with numbers.

Part 1: car A is the real firmware in a process of its own, car B its twin inside the host, heavier
and on slippery patches. Every frame goes to both.
Part 2: at 3 m/s one fault after the other is tried; the plant outlives the host.
Checks of bytes, agreement and metres run in virtual time, in which nothing is late: they give the
same figures on every run and every machine. Cases that have to be real, kill -9, SIGSTOP, a cable
and a second terminal, run in real time, beside a probe that measures how late this machine is.

exit code: 0 if every number held, 1 if one did not, 8 if nothing failed but something could not be
judged, because the machine was too late or the evidence is missing.
Writes demo.png, demo.mcap and demo.json to --out.

examples:
  tandem demo
  tandem demo --out /tmp/demo --runtime cpython
  tandem demo --only together
  tandem demo --board /dev/ttyACM0    car A is a bare board on the desk, with a plant: nothing turns
"""

from __future__ import annotations

import argparse
from pathlib import Path

from host_bridge.demo.stages.own_session import in_own_session
from host_bridge.sharing.services import Host
from sim_mock.programs.process import RUNTIMES


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line; ``--only`` is for work on one part."""
    parser.add_argument(
        "--out", type=Path, default=Path("demo-out"), help="the folder for the results"
    )
    parser.add_argument(
        "--runtime", choices=RUNTIMES, default=RUNTIMES[0], help="the runtime of car A's program"
    )
    parser.add_argument("--only", choices=("together", "stops"), help="run one part alone")
    parser.add_argument(  # alters a byte on purpose, to show that the demo can fail
        "--alter", action="store_true", help=argparse.SUPPRESS
    )
    parser.add_argument("--board", metavar="PORT", help="use a bare board on this port as car A")


def run(args: argparse.Namespace, host: Host) -> int:
    """Show both parts. Return 0 if every number held; else see above."""
    return in_own_session(lambda: _run(args, host))


def _run(args: argparse.Namespace, host: Host) -> int:
    from host_bridge.demo.whole import run_whole  # slow to import, so only in that session

    return run_whole(args, host)
