"""Let an AutoDRIVE Devkit script drive a car, as if the car were in the simulator.

The script is started first and left as it is; this connects to it as the simulator would, sends it
the car's telemetry as "V1 ..." keys, and makes claims of what it answers. On a real car they count
only while somebody holds SPACE; the script of a virtual car needs nobody.

Throttle 1 and steering 1 are what they are in the simulator's car; the car goes no faster than its
source [sources.devkit] may, which is little, for a script may think for 0.75 s. --quick is for one
that answers ten times a second or more: it drives as [sources.script], as fast as a file may (a
Nigel at all throttles as in the simulator). --scale 0.2 makes less of the throttle, --scale fit as
much as the car may. A script that thinks for up to 1 s needs a vehicle file of its own (base =
"f1tenth") in which [sources.devkit] has lease_s = 1.0; a slower one drives no car.

A script that does not answer for longer than its source's lease, or that is gone, stops the car; R
clears that and arms again, as in tandem drive. Reset and CoSim are not obeyed: no car can be put
elsewhere. A camera shows a black picture. --lidar gives the script the scans of a virtual car, and
where that is in its map; without it there are no ranges.

examples:
  python example_nigel.py                             the script, in a terminal of its own
  tandem devkit --car sim://nigel                     and the car; HOST:PORT is 127.0.0.1:4567
  tandem devkit --car serial:///dev/ttyACM0 --connect 192.168.1.7:4567
  tandem devkit --car f1tenth --like roboracer --twin 'sim://f1tenth?name=twin' --cap 0.2
  tandem devkit 'sim://f1tenth?track=corridor&sensors=run.jsonl' --like roboracer --quick \
    --lidar run.jsonl

exit codes: 0 driven; 1 the car ended stopped, or before the end, or the cars took different
claims; 2 no deadman for a real car; 3 a car was lost; 6 a car refused to arm; 130 ended by Ctrl-C
or a signal.
"""

from __future__ import annotations

import argparse

from host_bridge.interfaces.autodrive.script import FIT
from host_bridge.interfaces.cli.drive import add_driving, drive
from host_bridge.interfaces.cli.typed import positive
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
    parser.add_argument(
        "--quick", action="store_true", help="it answers ten times a second: as [sources.script]"
    )
    parser.add_argument(
        "--scale", type=_scale, default="1", metavar="SHARE", help="of its throttle; or fit"
    )
    parser.add_argument(
        "--lidar", metavar="FILE.jsonl", help="what a virtual car's sensors=FILE.jsonl writes"
    )
    add_driving(parser)


def run(args: argparse.Namespace, host: Host) -> int:
    """Raises errors.TandemError."""
    given = {
        "like": args.like,
        "scale": args.scale,
        "quick": "1" if args.quick else "",
        "lidar": args.lidar,
    }
    options = {name: value for name, value in given.items() if value}
    return drive(args, host, f"devkit:{args.connect}", options)


def _scale(text: str) -> str:
    """Checked here, handed on as text."""
    if text == FIT:
        return text
    if positive(text) > 1.0:
        raise argparse.ArgumentTypeError(f"expected a share up to 1, or {FIT}, got {text}")
    return text


def _place(text: str) -> str:
    host, _, port = text.rpartition(":")
    if not host or not port.isdecimal() or not 0 < int(port) < 65536:
        raise argparse.ArgumentTypeError(f"expected HOST:PORT, as {_PLACE}, got {text!r}")
    return text
