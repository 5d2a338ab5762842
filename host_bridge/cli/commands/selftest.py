"""``tandem selftest``: test a car on blocks, before it drives today."""

from __future__ import annotations

import argparse

from host_bridge.cli.arguments.car_option import add_car, add_vehicle_option, car_of
from host_bridge.core.system.attestation import WHEELS_OFF_GROUND
from host_bridge.deploy.selftest import CHECKS, SelfTestOptions, run_self_test
from host_bridge.sharing.services import Host

EPILOG = """\
examples:
  tandem selftest serial:///dev/ttyACM0
  tandem selftest nigel --only sensors              nothing moves
  tandem selftest nigel --without runstop           leave a part out

WHEELS OFF THE GROUND: it steers and turns the wheels, slowly, in the profile stand. It asks first,
and asks you to open and to close the runstop loop: the daily proof that it stops the car. Ctrl-C
stops the car. A VESC's wheel turns while you open it: its kill switch, timeout and brake current
are looked at. Exit code 0 if all is well, 1 if something is not.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.description = "Test a car on blocks."
    parser.epilog = EPILOG
    add_car(parser)
    add_vehicle_option(parser)
    names = [name for name, _, _ in CHECKS]
    parser.add_argument("--only", choices=names, help="run this part alone")
    parser.add_argument(
        "--without", choices=names, action="append", default=[], help="leave this part out"
    )
    parser.add_argument(
        "--attest", choices=[WHEELS_OFF_GROUND], help="attest it without being asked"
    )
    parser.add_argument("--json", action="store_true", help="print the rows as JSON")


def run(args: argparse.Namespace, host: Host) -> int:
    """Return 0 if every row is good. Raises errors.TandemError."""
    options = SelfTestOptions(
        car_of(args), args.only, args.without, args.attest, args.json, args.vehicle
    )
    return run_self_test(options, host)
