"""Let an AutoDRIVE Devkit script drive a car, as if the car were in the simulator.

The script is started first and left as it is; this connects to it as the simulator would, sends it
the car's telemetry as "V1 ..." keys, and makes claims of what it answers. On a real car they count
only while somebody holds SPACE; the script of a virtual car needs nobody.

Throttle 1 and steering 1 are what they are in the simulator's car; the car goes no faster than its
source [sources.devkit] may. A script that does not answer for longer than that source's lease, or
that is gone, stops the car; R clears that and arms again, as in tandem drive. Reset and CoSim are
not obeyed: no car can be put elsewhere. A car without a camera or a LIDAR shows a black picture
and no ranges.

examples:
  python example_nigel.py                             the script, in a terminal of its own
  tandem devkit --car sim://nigel                     and the car; HOST:PORT is 127.0.0.1:4567
  tandem devkit --car serial:///dev/ttyACM0 --connect 192.168.1.7:4567
  tandem devkit --car f1tenth --like roboracer --twin 'sim://f1tenth?name=twin' --cap 0.2

exit codes: 0 driven; 1 the car stopped before the end, or the cars took different claims; 2 no
deadman for a real car; 3 a car was lost; 6 a car refused to arm; 130 ended by Ctrl-C or a signal.
"""

from __future__ import annotations

import argparse

from host_bridge.interfaces.cli.drive import add_driving, drive
from host_bridge.services import Host

_PLACE = "127.0.0.1:4567"  # where the Devkit's examples listen


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's own."""
    parser.add_argument(
        "--connect", type=_place, default=_PLACE, metavar="HOST:PORT", help="where the script is"
    )
    parser.add_argument(
        "--like", metavar="CAR", help="the simulator's car that it was written for; the vehicle's"
    )
    add_driving(parser)


def run(args: argparse.Namespace, host: Host) -> int:
    """Raises errors.TandemError."""
    options = {"like": args.like} if args.like else {}
    return drive(args, host, f"devkit:{args.connect}", options)


def _place(text: str) -> str:
    host, _, port = text.rpartition(":")
    if not host or not port.isdecimal() or not 0 < int(port) < 65536:
        raise argparse.ArgumentTypeError(f"expected HOST:PORT, as {_PLACE}, got {text!r}")
    return text
