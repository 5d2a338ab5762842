"""Drive a car, and its twins, from this terminal: by keys, by a file, or by a manoeuvre.

SPACE held down is the deadman: released, the cars brake and hold; held again, they drive on from
neutral. W and S change the speed, A (left) and D (right) the steering, Q centres it. E or X stops
at once, R or Enter clears a stop and arms again, Esc or Ctrl-C ends.

A terminal that reports the release of keys (kitty's protocol: kitty, foot, Ghostty, WezTerm) gives
the vehicle's full speed. In any other, SPACE has to be pressed again at least once a second (held
down it repeats, which cannot be told from pressing), a release takes effect within that second, and
the limit is 0.3 m/s. With a real car a file plays only while SPACE is held.

A gamepad (--input gamepad): LB held is the deadman, gripped with the triggers at rest; the right
trigger drives, the left one drives backward, the left stick steers. START arms again, BACK ends,
every other button stops. With --hand gamepad a file or a program drives while RB is held, and LB
takes over. tandem pads lists, tests and maps pads; wheels are mapped likewise.

A file for --input csv: has the columns t_s,channel,value_norm: a rising time in seconds, throttle
or steering, and a part of the top speed or of full lock from -1 to 1, left positive; a value holds
until that channel's next row. Separators may be commas, semicolons, tabs or spaces. Where the
columns have other names: --columns t_s=time,channel=what,value_norm=value. tandem log --samples
FOLDER has one; tandem log FILE --csv FOLDER makes one of a log.

With --lockstep virtual cars (sim://) are driven by a file or a script as fast as they can be
computed, in virtual time: a busy machine makes nothing late, and two drives with the same command
line are the same. In any other terminal tandem stop stops them as it does all others.

The screen counts reports of a car that did not arrive as "lost". It counts control periods that a
virtual car left out because this machine was busy as "skipped": its line loses nothing.

examples:
  tandem drive --car sim://f1tenth
  tandem drive --car serial:///dev/ttyACM0 --twin sim://nigel --record drive.mcap
  tandem drive --car 'serial:///dev/ttyACM0?hitl=nigel'   a bare board; its wheels are a plant's
  tandem drive --car sim://nigel --twin 'sim://nigel?name=twin&payload_kg=2' --input script:slalom
  tandem drive --car sim://nigel --input csv:straight_commands.csv --json
  tandem drive --car sim://nigel --input script:slalom --seconds 60 --lockstep --record drive.mcap
  tandem drive 'sim://f1tenth?track=corridor' --input path:corridor.csv     see tandem path --help
  tandem drive --car sim://f1tenth --input gamepad
  tandem drive --car f1tenth --input script:slalom --hand gamepad:xbox
  tandem drive --car f1tenth --profile race --cap 1.5
  tandem drive --car f1tenth --profile stand     asks whether the wheels are off the ground

While it runs it is the stop source "seat" of the cars (and "fleet", of several): a car whose
profile requires that stops when this program hangs, is killed or is cut off.

exit codes: 0 driven; 1 the cars took different claims, a file was not played to its end, or a car
exit codes: 0 driven; 1 the cars took different claims, a file was not played to its end, or a car
or a signal.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path

from host_bridge import drive as driving
from host_bridge.cli.arguments.arg_types import add_columns, add_seconds, positive, speed_cap
from host_bridge.cli.arguments.car_option import OneCar
from host_bridge.cli.arguments.profile_option import add_profile, profile_of
from host_bridge.cli.car_actions.period_prompt import prompt_longer_period
from host_bridge.core import Input
from host_bridge.core.errors import OverrunFault, UsageFault
from host_bridge.core.files import format_columns
from host_bridge.core.system.running import run_async, run_in_virtual_time
from host_bridge.core.system.virtual_time import VirtualTimeLoop
from host_bridge.drive import DriveOptions
from host_bridge.drive.display.lines import JsonView, PlainView
from host_bridge.sharing.services import Host

_OF_FILES = ("csv:", "path:")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.add_argument(
        "--input",
        default="keyboard",
        metavar="INPUT",
        help="the input: keyboard, gamepad[:NAME], csv:FILE, script:NAME, path:FILE, policy:FILE, "
        "python:FILE.py:FUNCTION or a package's (entry point tandem.inputs)",
    )
    parser.add_argument(
        "--hand",
        metavar="INPUT",
        help="the deadman for a program: gamepad[:NAME] (RB; LB drives by hand) or keyboard",
    )
    parser.add_argument(
        "--lockstep",
        action="store_true",
        help="drive virtual cars as fast as they can be computed, however busy the machine is",
    )
    add_columns(parser, "the file of csv: or path:")
    add_driving(parser)


def add_driving(parser: argparse.ArgumentParser) -> None:
    """Declare the options that every command that drives has."""
    car = parser.add_mutually_exclusive_group()
    car.add_argument(
        "car",
        nargs="?",
        default=argparse.SUPPRESS,
        metavar="CAR",
        help="the car: a served name, a URI or a serial port",
    )
    car.add_argument(
        "--car",
        action=OneCar,
        metavar="CAR",
        help="the same as an option (default: the only car that is served)",
    )
    parser.add_argument(
        "--twin",
        metavar="CAR",
        action="append",
        default=[],
        help="a car that gets the same commands; repeatable",
    )
    parser.add_argument(
        "--record", type=Path, metavar="FILE.mcap", help="log every byte to this file"
    )
    parser.add_argument(
        "--vehicle", metavar="NAME", help="the vehicle type of cars that do not report one"
    )
    add_seconds(parser)
    parser.add_argument("--speed", type=positive, metavar="M_PER_S", help="the top speed")
    parser.add_argument(
        "--cap",
        type=speed_cap,
        metavar="M_PER_S",
        help="set the cap of the cars themselves, as tandem cap does",
    )
    add_profile(parser)
    parser.add_argument(
        "--json", action="store_true", help="print lines of JSON instead of a screen"
    )


def run(args: argparse.Namespace, host: Host) -> int:
    """Run the command; return the exit code.

    Raises errors.TandemError.
    """
    if args.columns and not args.input.startswith(_OF_FILES):
        raise UsageFault(
            f"--columns is of a file, and --input {args.input} reads none",
            expected="--input csv:FILE or path:FILE",
        )
    options = {"columns": format_columns(args.columns)} if args.columns else {}
    if args.lockstep:
        plan = plan_of(args, args.input, options, is_lockstep=True)
        return run_async(driving.drive_in_lockstep(plan, view_of(args), host.vehicles))
    return drive(args, host, args.input, options)


def drive(
    args: argparse.Namespace,
    host: Host,
    of_input: str | Input,
    options: Mapping[str, str] | None = None,
    loop: VirtualTimeLoop | None = None,
) -> int:
    """Drive as the options of ``add_driving`` say, in the time of ``loop`` if one is given.

    Return the exit code. Raises errors.TandemError.
    """
    try:
        plan = plan_of(args, of_input, options, is_lockstep=loop is not None)
        main = driving.drive(plan, view_of(args), host)
        return run_in_virtual_time(main, loop) if loop else run_async(main)
    except OverrunFault as fault:
        return prompt_longer_period(fault, host, is_json=args.json)


def view_of(args: argparse.Namespace) -> JsonView | PlainView:
    """Return the view that prints the drive: JSON, or lines and a screen."""
    return JsonView() if args.json else PlainView()


def plan_of(
    args: argparse.Namespace,
    of_input: str | Input,
    options: Mapping[str, str] | None = None,
    *,
    is_lockstep: bool = False,
) -> DriveOptions:
    """Return the drive plan that the options of ``add_driving`` describe.

    Raises errors.UsageFault.
    """
    return DriveOptions(
        cars=(args.car, *args.twin),
        input=of_input,
        input_options=options or {},
        hand=getattr(args, "hand", None),
        vehicle=args.vehicle,
        record=args.record,
        seconds=args.seconds,
        speed_mps=args.speed,
        profile=profile_of(args, 1 + len(args.twin)),
        cap_mps=args.cap,
        is_unarmed=getattr(args, "unarmed", False),
        is_json=args.json,
        waits_for_reader=getattr(args, "lockstep", False),
        is_lockstep=is_lockstep,
    )
