"""Run in place of Autoware's simple_planning_simulator: its node, files, topics, services and tf.

It replaces that node: start Autoware's planning simulation without it, and this command beside it.
It moves no car of Tandem; to drive a car by Autoware there is "tandem ros --as autoware".

Unlike in Autoware's node a command expires: after 0.5 s of ROS time without another one the car
brakes at 2.4 m/s² with its last steering angle, until commands come again (parameter
command_lease_s).
Topics stay on this machine unless the environment says how far they go.

examples:
  tandem planning-simulator --params vehicle_info.param.yaml --params simulator_model.param.yaml
  tandem planning-simulator --params model.param.yaml -p wheel_base:=2.79 --publish pose_only
  tandem planning-simulator --params model.param.yaml -p wheel_base:=2.79 -p use_sim_time:=true
  tandem planning-simulator --params model.param.yaml -p wheel_base:=2.79 \\
    --ns /car1 --remap /control/command/control_cmd:=/car1/control_cmd

exit codes: 0 its time is over; 2 a parameter that cannot be meant so; 3 no ROS 2; 7 a file or a
vehicle model that is not here; 130 ended by Ctrl-C.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

from host_bridge.cli.arguments.arg_types import number, whole
from host_bridge.cli.arguments.remap_option import add_remap
from host_bridge.ros2 import MOTION_TOPICS, parameter, simulate
from host_bridge.sharing.services import Host


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.add_argument(
        "--params",
        action="append",
        default=[],
        type=Path,
        metavar="FILE",
        help="a parameter file; repeatable",
    )
    parser.add_argument(
        "-p",
        dest="given",
        action="append",
        default=[],
        metavar="NAME:=VALUE",
        help="a parameter, which takes precedence over files",
    )
    parser.add_argument(
        "--ns",
        default="/simulation",
        metavar="/NAME",
        help="the namespace of its relative topics (default %(default)s, as their launch file's)",
    )
    add_remap(parser)
    parser.add_argument(
        "--engaged",
        choices=("true", "false"),
        default="true",
        help="initial_engage_state: whether it moves before /vehicle/engage (default %(default)s)",
    )
    parser.add_argument(
        "--publish",
        choices=tuple(MOTION_TOPICS),
        default="full_motion",
        help="motion_publish_mode: what localisation gets of its motion (default %(default)s)",
    )
    parser.add_argument(
        "--seed", type=whole, default=1, help="the seed of its noise (default %(default)s)"
    )
    parser.add_argument(
        "--seconds", type=number, help="end after this time in s (default: at Ctrl-C)"
    )


def run(args: argparse.Namespace, host: Host) -> int:
    """Run the node until Ctrl-C or for --seconds; return 0.

    Raises errors.TandemError.
    """
    given: dict[str, object] = {"initial_engage_state": args.engaged == "true"}
    given.update(parameter(text) for text in args.given)
    until_s = time.monotonic() + args.seconds if args.seconds else float("inf")
    simulate(
        args.params,
        given,
        args.publish,
        args.seed,
        environment=os.environ,
        namespace=args.ns,
        remaps=args.remap,
        is_over=lambda: time.monotonic() >= until_s,
        tell=lambda words: print(f"tandem: {words}", file=sys.stderr, flush=True),
    )
    return 0
