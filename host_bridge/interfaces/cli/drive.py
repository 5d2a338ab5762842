"""Drive a car, and its twins, from this terminal: by keys, by a file, or by a manoeuvre.

SPACE held down is the deadman: released, the cars brake and hold; held again, they drive on from
neutral. W and S change the speed, A (left) and D (right) the steering, Q centres it. E or X stops
at once, R or Enter clears a stop and arms again, Esc or Ctrl-C ends.

A terminal that reports the release of keys (kitty's protocol: kitty, foot, Ghostty, WezTerm) gives
the vehicle's full speed. In any other, SPACE has to be pressed again at least once a second (held
down it repeats, which nobody can tell from pressing), letting go takes up to that second, and
0.3 m/s is the limit. With a real car a file plays only while SPACE is held.

A file for --input csv: has the columns t_s,channel,value_norm: a rising time in seconds, throttle
or steering, and a part of the top speed or of full lock from -1 to 1, left positive; a value holds
until that channel's next row. tandem log --samples FOLDER has one; tandem log FILE --csv FOLDER
makes one of a log.

examples:
  tandem drive --car sim://f1tenth
  tandem drive --car serial:///dev/ttyACM0 --twin sim://nigel --record drive.mcap
  tandem drive --car 'serial:///dev/ttyACM0?hitl=nigel'   a bare board; its wheels are a plant's
  tandem drive --car sim://nigel --twin 'sim://nigel?name=twin&payload_kg=2' --input script:slalom
  tandem drive --car sim://nigel --input csv:straight_commands.csv --json
  tandem drive --car f1tenth --profile race --cap 1.5
  tandem drive --car f1tenth --profile stand     asks whether the wheels are off the ground

While it runs it is the stop source "seat" of the cars (and "fleet", of several): a car whose
profile requires that stops when this program hangs, is killed or is cut off.

exit codes: 0 driven; 1 the cars took different claims, or a file was not played to its end; 3 a car
was lost; 6 a car refused to arm; 130 ended by Ctrl-C or a signal.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path

from host_bridge import driving
from host_bridge.driving import Plan
from host_bridge.errors import OffBeatFault
from host_bridge.interfaces.cli.attest import add_profile, profile_of
from host_bridge.interfaces.cli.cap import speed
from host_bridge.interfaces.cli.drive_log import JsonView, PlainView
from host_bridge.interfaces.cli.longer_step import offer_longer_step
from host_bridge.interfaces.cli.typed import add_seconds, positive
from host_bridge.running import run_async
from host_bridge.services import Host


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's own."""
    parser.add_argument(
        "--input",
        default="keyboard",
        metavar="INPUT",
        help="keyboard, csv:FILE, script:NAME, or another package's (entry point tandem.inputs)",
    )
    add_driving(parser)


def add_driving(parser: argparse.ArgumentParser) -> None:
    """What every way of driving from here has."""
    car = parser.add_mutually_exclusive_group()
    car.add_argument(
        "car", nargs="?", default=argparse.SUPPRESS, metavar="CAR", help="a served name, or a URI"
    )
    car.add_argument("--car", metavar="CAR", help="the same, as an option; default: the one served")
    parser.add_argument(
        "--twin",
        metavar="CAR",
        action="append",
        default=[],
        help="gets the same claims; repeatable",
    )
    parser.add_argument("--record", type=Path, metavar="FILE.mcap", help="log every byte")
    parser.add_argument("--vehicle", metavar="NAME", help="what the cars are, if they do not say")
    add_seconds(parser)
    parser.add_argument("--speed", type=positive, metavar="M_PER_S", help="top speed")
    parser.add_argument(
        "--cap", type=speed, metavar="M_PER_S", help="limit the cars themselves, as tandem cap does"
    )
    add_profile(parser)
    parser.add_argument("--json", action="store_true", help="lines of JSON instead of a screen")


def run(args: argparse.Namespace, host: Host) -> int:
    """Raises errors.TandemError."""
    return drive(args, host, args.input)


def drive(
    args: argparse.Namespace,
    host: Host,
    of_input: str,
    options: Mapping[str, str] | None = None,
) -> int:
    """Drive as the options of ``add_driving`` say. Raises errors.TandemError."""
    profile = profile_of(args, 1 + len(args.twin))
    try:
        plan = Plan(
            cars=(args.car, *args.twin),
            input=of_input,
            options=options or {},
            vehicle=args.vehicle,
            record=args.record,
            seconds=args.seconds,
            speed_mps=args.speed,
            profile=profile,
            cap_mps=args.cap,
            is_json=args.json,
        )
        return run_async(driving.drive(plan, JsonView() if args.json else PlainView(), host))
    except OffBeatFault as fault:
        return offer_longer_step(fault, host, is_json=args.json)
