"""``tandem why``: says what stopped the car of a log, and what each cause cost in metres."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from host_bridge.cli.arguments.arg_types import number
from host_bridge.cli.arguments.calibration_work import calibration_work
from host_bridge.sharing.services import Host

EPILOG = """\
The log's last seconds are run again on the twin: the car's own program and the vehicle's plant,
with the claims as they came in. Then they are run again with one cause removed at a time. The
metres are how much shorter the way from the first reason to stop would have been without it.

  release  the driver lets go a quarter of a second after --seen
  grip     the floor has the friction of the vehicle file; how slippery it was is fitted to the log
  cap      the speed cap is that of the profile track
  delay    each claim is obeyed when it is sent
  loss     no claim is lost
  lease    a driver's silence is noticed after two claims that did not come

A cause with a star cost a tenth of a metre and 8 % of the way at least. There is no answer where
the twin misses the log by more than 5 cm: then the vehicle file is not this car's (tandem
calibrate), or something else moved it. Nor is there one for a stop that the twin does not bring
about, such as a runstop button or an empty battery. Causes are removed one at a time: their metres
do not add up.

exit codes: 0 answered, 1 not answered

examples:
  tandem why drive.mcap
  tandem why drive.mcap --seen 12.4          the reason to stop was there at 12.4 s of the log
  tandem why drive.mcap --at 30 --car left   the first stop after 30 s, of one of several cars
  tandem why drive.mcap --json
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.description = "Say what stopped a car, and which cause cost how many metres."
    parser.epilog = EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    add = parser.add_argument
    add("log", type=Path, metavar="LOG", help="a log that Tandem recorded where it drove")
    add("--car", default="", metavar="NAME", help="the car of a LOG that holds several")
    add("--at", type=number, metavar="S", help="the first stop after S seconds (default: the last)")
    add("--seen", type=number, metavar="S", help="when there was a reason to stop, in s of the log")
    add("--json", action="store_true", help="print the outcome as JSON")


def run(args: argparse.Namespace, host: Host) -> int:
    """Run the command; return 0 for an answer, else 1.

    Raises errors.DataFileFault, VehicleFileFault, NotHeldFault.
    """
    explained = calibration_work("why")
    report = explained(args.log, args.car, host.vehicles.load, args.seen, args.at)
    row = report.row()
    print(json.dumps(row) if args.json else "\n".join(report.lines()))
    return 0 if row["answered"] else 1
