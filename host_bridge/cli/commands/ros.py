"""Let ROS 2 drive a car, and tell ROS 2 what it does, in topics that users' nodes have already.

A virtual car drives as soon as commands come. A real one drives while somebody holds SPACE at this
terminal, and is armed only here, by R. Anybody may stop it: the service ~/stop, the topic runstop.

If the source that drives falls silent, the car stops, and no other source takes over. The first
command of a source does not count: it may be an old one that was kept. In a terminal that does not
report the release of keys a real car is not driven by ROS 2.

rclpy comes with ROS 2's distribution (Humble, Jazzy, ...): run this in a shell in which "source
/opt/ros/DISTRIBUTION/setup.bash" was run, by a Python of the same version; tandem doctor tells
whether it is there. Topics stay on this machine unless the environment sets another range
(ROS_AUTOMATIC_DISCOVERY_RANGE, ROS_LOCALHOST_ONLY).

examples:
  tandem ros --car 'sim://f1tenth?track=corridor'
  tandem ros --car 'sim://f1tenth?track=corridor' --as f1tenth_gym
  tandem ros --car 'sim://f1tenth?track=corridor' --as f1tenth_gym --opponent 'sim://f1tenth?start=3,0,0'
  tandem ros --car sim://nigel --as autodrive_nigel
  tandem ros --car sim://f1tenth --as autoware       nothing moves until Autoware asks for control
  tandem ros --car sim://f1tenth --as cmd_vel
  tandem ros --car sim://autorally --as autorally --priorities chassisCommandPriorities.yaml
  tandem ros --car serial:///dev/ttyACM0 --mux mux.yaml --vesc vesc.yaml
  tandem ros --car sim://f1tenth --remap drive:=/planner/drive --remap odom:=/vesc/odom
  tandem ros --car sim://f1tenth --ns /car1 --seconds 60 --record drive.mcap
  tandem ros --car sim://f1tenth --forgiving         a node that pauses does not end the run
  tandem ros --car sim://f1tenth --unarmed           until ~/arm is called, nothing moves
  tandem ros --car sim://f1tenth --clock
  ros2 service call /tandem/pause std_srvs/srv/SetBool '{data: true}'   and then /tandem/step
  ros2 service call /tandem/stop std_srvs/srv/Trigger
  ros2 service call /tandem/arm std_srvs/srv/SetBool '{data: true}'     a virtual car's, again

exit codes: 0 driven; 2 no deadman for a real car, topics that leave this machine, or one that the
node, or another one of this car, would both publish and hear; 3 no ROS 2, or a car was lost; 6 a
car refused to arm; 7 a file could not be read; 130 ended by Ctrl-C or a signal.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

from host_bridge import drive as driving
from host_bridge.cli.arguments.remap_option import add_remap
from host_bridge.cli.arguments.virtual_pipes import (
    VIRTUAL,
    add_pipes,
    add_virtual_pipes,
    with_option,
)
from host_bridge.cli.commands.drive import add_driving, drive, plan_of, view_of
from host_bridge.core import Input
from host_bridge.core.errors import UsageFault
from host_bridge.core.system.running import run_async
from host_bridge.core.system.virtual_time import SteppedTimeLoop
from host_bridge.ros2 import make, vocabulary_names
from host_bridge.ros2.vocabularies.f1tenth.gym import GYM, GYM_EGO, GYM_OPPONENT
from host_bridge.sharing.services import Host, make_host


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.add_argument(
        "--as",
        dest="vocabulary",
        choices=vocabulary_names(),
        default="f1tenth",
        help="the vocabulary of topics: %(choices)s (default %(default)s)",
    )
    parser.add_argument("--ns", default="", metavar="/NAME", help="the namespace of all its topics")
    add_remap(parser)
    parser.add_argument("--mux", metavar="FILE", help="mux.yaml: topics, priorities, timeouts")
    parser.add_argument(
        "--priorities", metavar="FILE", help="AutoRally's chassisCommandPriorities.yaml"
    )
    parser.add_argument("--vesc", metavar="FILE", help="vesc.yaml: scale of motor and servo")
    add_pipes(parser)
    parser.add_argument(
        "--opponent",
        metavar="CAR",
        help="with --as f1tenth_gym: a second virtual car in the same place, driven by /opp_drive",
    )
    parser.add_argument(
        "--clock",
        action="store_true",
        help="publish a virtual car's time on /clock; ~/pause holds it, ~/step steps it",
    )
    parser.add_argument(
        "--forgiving",
        action="store_true",
        help="virtual cars alone: a silent source yields, and what silence stopped is armed again",
    )
    parser.add_argument(
        "--unarmed",
        action="store_true",
        help="arm no car at the start, not even a virtual one: ~/arm does that, or R here",
    )
    add_driving(parser)


def run(args: argparse.Namespace, host: Host) -> int:
    """Run the command; return the exit code.

    Raises errors.TandemError.
    """
    if args.opponent:
        _share_place(args)
    with tempfile.TemporaryDirectory(prefix="tandem-ros-") as folder:
        args.car, options = add_virtual_pipes(args.car, _options(args), Path(folder))
        loop = _held(args) if args.clock else None
        host = make_host(loop) if loop else host
        made = make(args.vocabulary, options, host.cars.clock.now_us)
        if loop:
            made.use_time(loop)
        for note in made.notes:
            print(f"tandem: {note}", file=sys.stderr)
        if args.opponent:
            return _drive_both(args, host, made, Path(folder))
        return drive(args, host, made, loop=loop)


def _options(args: argparse.Namespace) -> dict[str, str]:
    names = ("ns", "mux", "vesc", "priorities", "sensors", "poses")
    given = {name: getattr(args, name) for name in names if getattr(args, name)}
    if args.forgiving:
        given["forgiving"] = "yes"
    return {**given, "remap": " ".join(args.remap)} if args.remap else given


def _share_place(args: argparse.Namespace) -> None:
    """Put both cars into one place, where they see each other.

    Raises errors.UsageFault.
    """
    car = args.car or ""
    is_here = car.startswith(VIRTUAL[0]) and args.opponent.startswith(VIRTUAL[0])
    if args.vocabulary != GYM.name or not is_here or args.clock or args.twin:
        raise UsageFault(
            "an opponent is the second virtual car of the gym's topics",
            where=args.opponent,
            expected="--as f1tenth_gym --car sim://... --opponent sim://..., no --clock, no --twin",
            remedy="tandem ros --as f1tenth_gym --car 'sim://f1tenth?track=corridor' "
            "--opponent 'sim://f1tenth?start=3,0,0'",
        )
    args.vocabulary = GYM_EGO.name
    place = dict(parse_qsl(urlsplit(car).query))
    opponent = with_option(args.opponent, "name", "opponent")
    for name in ("track", "map"):
        if name in place:
            opponent = with_option(opponent, name, place[name])
    scene = place.get("scene", "gym")
    args.car, args.opponent = (
        with_option(car, "scene", scene),
        with_option(opponent, "scene", scene),
    )


def _drive_both(args: argparse.Namespace, host: Host, made: Input, folder: Path) -> int:
    namespace = {"ns": args.ns} if args.ns else {}
    car, options = add_virtual_pipes(args.opponent, namespace, folder, "opponent")
    second = make(GYM_OPPONENT.name, options, host.cars.clock.now_us)
    plan = plan_of(args, made)
    theirs = replace(plan, cars=(car,), input=second, record=None, is_watched=False)
    return run_async(
        driving.drive_both(
            driving.drive(plan, view_of(args), host),
            driving.drive(theirs, view_of(args), host),
        )
    )


def _held(args: argparse.Namespace) -> SteppedTimeLoop:
    """Return a time that can be paused and stepped.

    Raises errors.UsageFault for a car that runs in real time.
    """
    for car in (args.car or "", *args.twin):
        if not car.removeprefix("lossy+").startswith("sim://"):
            raise UsageFault(
                "--clock holds the time of virtual cars in this program, and of no other",
                where=car or "the car that is served",
                expected="sim://VEHICLE, with its options",
                remedy="leave --clock out: ROS time is then the machine's",
            )
    return SteppedTimeLoop()
