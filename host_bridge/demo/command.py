"""Two cars driven by the very same bytes, then stopped in all ways, with numbers.

Part 1: car A is the real firmware as a process of its own, car B its twin inside the host, heavier
and on a slippery patch. Every frame goes to both.
Part 2: at 3 m/s one thing after the other goes wrong; the plant outlives the host.
What is about bytes, agreement and metres runs in virtual time, in which nothing is late: it gives
the same figures on every run and every machine. What has to be real, kill -9, SIGSTOP, a cable and
a second terminal, runs on the wall beside a witness of how late this machine is.

exit code: 0 if every number held, 1 if one did not, 8 if nothing failed but something could not be
judged, because the machine was too late or the evidence is missing.
Writes demo.png, demo.mcap and demo.json to --out.

examples:
  tandem demo
  tandem demo --out /tmp/demo --runtime cpython
  make demo ARGS="--only together"
  make demo BOARD=/dev/ttyACM0    car A is a bare board on the desk, with a plant: nothing turns
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from pathlib import Path

from host_bridge.demo.computed import in_virtual_time
from host_bridge.demo.judging import LOG
from host_bridge.demo.measured import on_the_wall
from host_bridge.demo.own_session import in_own_session
from host_bridge.demo.results import Results
from host_bridge.demo.show import Check, Show
from host_bridge.errors import NotHeldFault, NotShownFault
from host_bridge.services import Host
from sim_mock.process import RUNTIMES


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """``--only`` is for whoever works on one part."""
    parser.add_argument("--out", type=Path, default=Path("demo-out"), help="folder for the results")
    parser.add_argument(
        "--runtime", choices=RUNTIMES, default=RUNTIMES[0], help="what runs car A's program"
    )
    parser.add_argument("--only", choices=("together", "stops"), help="one part alone")
    parser.add_argument(  # for whoever doubts that the demo can fail
        "--alter", action="store_true", help=argparse.SUPPRESS
    )
    parser.add_argument("--board", metavar="PORT", help="car A is a bare board on this port")


def run(args: argparse.Namespace, host: Host) -> int:
    """Show both parts. 0 if every number held; else see above."""
    return in_own_session(lambda: _run(args, host))


def _run(args: argparse.Namespace, host: Host) -> int:
    args.out.mkdir(parents=True, exist_ok=True)
    show, results = Show(), Results()
    code = 0 if args.board else in_virtual_time(args, show, results)
    if not code and (args.board or args.only != "together"):
        code = on_the_wall(args, host, show, results)
    if code:
        return code
    results.publish(show, args.out)
    return _verdict(show, args.out)


def _verdict(show: Show, out: Path) -> int:
    failed, not_shown = show.failed(), show.not_shown()
    counts = ((failed, "did NOT hold"), (not_shown, "not shown"))
    said = [f"{len(checks)} {words}" for checks, words in counts if checks]
    held = ", ".join(said) or "every number held"
    show.say(f"\n{len(show.checks)} checks: {held}. Results in {out}/")
    for check in failed:
        show.note(f"FAIL  {check}. Look at {check.evidence}.")
    _point_at_log(show, out)
    if not_shown:
        show.say(f"{len(not_shown)} not shown: {'; '.join(map(_why, not_shown))}.")
    if failed:
        return NotHeldFault.exit_code
    return NotShownFault.exit_code if not_shown else 0


def _why(check: Check) -> str:
    return f"{check.what} ({check.ruling.reason})"


def _point_at_log(show: Show, out: Path) -> None:
    if (out / LOG).exists():
        show.say("See what was just driven in a browser (map of both cars, skew, a time slider):")
        beside = os.path.relpath(Path(sys.executable).with_name("tandem"))
        command = "tandem" if shutil.which("tandem") else beside
        show.say(f"    {command} station --log {out / LOG}")
