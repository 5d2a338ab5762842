"""The whole demo: both stages in order, and the summary."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from pathlib import Path

from host_bridge.core.errors import DataFileFault, NotHeldFault, NotShownFault
from host_bridge.demo.judging.part_one_checks import LOG
from host_bridge.demo.judging.results import Results
from host_bridge.demo.output import Check, DemoOutput
from host_bridge.demo.stages.computed import in_virtual_time
from host_bridge.demo.stages.measured import in_real_time
from host_bridge.sharing.services import Host


def run_whole(args: argparse.Namespace, host: Host) -> int:
    """Show both parts; return the exit code of ``command``."""
    try:
        args.out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataFileFault.unwritable("the demo's folder", args.out, error) from None
    output, results = DemoOutput(), Results()
    code = 0 if args.board else in_virtual_time(args, output, results)
    if not code and (args.board or args.only != "together"):
        code = in_real_time(args, host, output, results)
    if code:
        return code
    results.publish(output, args.out)
    return verdict(output, args.out)


def verdict(output: DemoOutput, out: Path) -> int:
    """Print what held, what failed, and what was not shown; return the exit code."""
    failed, not_shown = output.failed(), output.not_shown()
    counts = ((failed, "did NOT hold"), (not_shown, "not shown"))
    parts = [f"{len(checks)} {words}" for checks, words in counts if checks]
    held = ", ".join(parts) or "every number held"
    output.say(f"\n{len(output.checks)} checks: {held}. Results in {out}/")
    for check in failed:
        output.note(f"FAIL  {check}. Look at {check.evidence}.")
    _point_at_log(output, out)
    if not_shown:
        output.say(f"{len(not_shown)} not shown: {'; '.join(map(_why, not_shown))}.")
    if failed:
        return NotHeldFault.exit_code
    return NotShownFault.exit_code if not_shown else 0


def _why(check: Check) -> str:
    return f"{check.what} ({check.ruling.reason})"


def _point_at_log(output: DemoOutput, out: Path) -> None:
    if (out / LOG).exists():
        output.say("See what was just driven in a browser (map of both cars, skew, a time slider):")
        beside = os.path.relpath(Path(sys.executable).with_name("tandem"))
        command = "tandem" if shutil.which("tandem") else beside
        output.say(f"    {command} station --log {out / LOG}")
