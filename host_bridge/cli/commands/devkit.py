"""Let an AutoDRIVE Devkit script drive a car, as if the car were in the simulator.

Start the script first, unchanged. This command connects to it as the simulator would, sends it the
car's telemetry as "V1 ..." keys, and drives the car by its answers. A real car drives only while
somebody holds SPACE; a virtual car needs nobody.

Nothing listens on this machine for a script. With --connect the script may run on another one:
whoever answers there drives, for the line authenticates and encrypts nothing. That is said at the
start and on the screen; a name that nobody knows is refused.

Throttle 1 and steering 1 mean what they mean for the simulator's car. The car goes no faster than
the cap of its source [sources.devkit], which is low, because a script may take 0.75 s for an
answer. --quick is for a script that answers at least ten times a second: it drives as
[sources.script], with the cap of a file (a Nigel at all throttles as in the simulator). --every 2
is for a script that answers every two seconds, as perception does: each answer is valid for a
quarter longer than that, 2.5 s, and the speed is limited so that the car goes no farther on an old
answer than its vehicle file allows (stop.blind_m: a Nigel 0.04 m/s, an F1TENTH 0.2). --scale 0.2
reduces the throttle, --scale fit reduces it to what the car may do.

If the script gives no answer for longer than its answers are valid, or ends, the car stops; R
clears that and arms again, as in tandem drive. A virtual car of this command has a true pose, laps,
collisions, and scans where there are walls; V1 Reset puts it back to its start, V1 CoSim wherever
the script says, once it stands. A real car is never put elsewhere. A camera shows a black picture.

examples:
  python example_nigel.py                             the script, in a terminal of its own
  tandem devkit --car sim://nigel                     and the car; HOST:PORT is 127.0.0.1:4567
  tandem devkit --car serial:///dev/ttyACM0 --connect 192.168.1.7:4567
  tandem devkit --car f1tenth --like roboracer --twin 'sim://f1tenth?name=twin' --cap 0.2
  tandem devkit 'sim://f1tenth?track=corridor' --like roboracer --quick
  tandem devkit --car sim://opencav --every 2         a script that looks at pictures

exit codes: 0 driven; 1 the car ended stopped, or before the end, or the cars took different
claims; 2 no deadman for a real car; 3 a car was lost, or no script ever drove; 6 a car refused to
arm; 130 ended by Ctrl-C or a signal.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from host_bridge.cli.arguments.arg_types import positive
from host_bridge.cli.arguments.virtual_pipes import add_pipes, add_virtual_pipes
from host_bridge.cli.commands.drive import add_driving, drive
from host_bridge.core.errors import DeviceFault
from host_bridge.inputs.autodrive import make
from host_bridge.inputs.autodrive.script_address import DEFAULT
from host_bridge.inputs.autodrive.script_input import FIT
from host_bridge.sharing.services import Host

_EVERY_MAX_S = 10.0  # chosen: with rarer answers a car may hardly move (stop.blind_m)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.add_argument(
        "--connect",
        default=DEFAULT,
        metavar="HOST:PORT",
        help=f"the address at which the script listens (default {DEFAULT}, this machine)",
    )
    parser.add_argument(
        "--like",
        metavar="CAR",
        help="the simulator's car that the script was written for (default: the vehicle's)",
    )
    pace = parser.add_mutually_exclusive_group()
    pace.add_argument(
        "--quick",
        action="store_true",
        help="the script answers ten times a second: drive as [sources.script]",
    )
    pace.add_argument(
        "--every",
        type=_seconds,
        metavar="SECONDS",
        help="the script answers this rarely, in s; up to 10",
    )
    parser.add_argument(
        "--scale",
        type=_scale,
        default="1",
        metavar="SHARE",
        help="the share of its throttle to apply, or fit",
    )
    add_pipes(parser)
    add_driving(parser)


def run(args: argparse.Namespace, host: Host) -> int:
    """Run the command; return the exit code.

    Raises errors.TandemError.
    """
    given = {
        "like": args.like,
        "scale": args.scale,
        "quick": "1" if args.quick else "",
        "every": str(args.every or ""),
        "sensors": args.sensors,
        "poses": args.poses,
    }
    options = {name: value for name, value in given.items() if value}
    with tempfile.TemporaryDirectory(prefix="tandem-devkit-") as folder:
        args.car, options = add_virtual_pipes(args.car, options, Path(folder))
        script = make(args.connect, options, host.cars.clock.now_us)
        if script.address.note():
            print(script.address.note(), file=sys.stderr)
        code = drive(args, host, script)
    if code == 0 and not script.has_driven:
        raise DeviceFault(
            "no script drove the car",
            where=args.connect,
            expected="answers with a throttle and a steering",
            got=script.fault or "none",
            remedy="start the script first; --connect HOST:PORT says where it listens",
        )
    return code


def _seconds(text: str) -> float:
    if positive(text) > _EVERY_MAX_S:
        raise argparse.ArgumentTypeError(f"expected up to {_EVERY_MAX_S:g} s, got {text}")
    return float(text)


def _scale(text: str) -> str:
    """Check the share here, and pass it on as text."""
    if text == FIT:
        return text
    if positive(text) > 1.0:
        raise argparse.ArgumentTypeError(f"expected a share up to 1, or {FIT}, got {text}")
    return text
