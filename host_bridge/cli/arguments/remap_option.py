"""``--remap``: other names of topics and services, as ROS 2's ``-r`` gives them."""

from __future__ import annotations

import argparse


def add_remap(parser: argparse.ArgumentParser) -> None:
    """Declare ``--remap``; ``args.remap`` is the list of its rules as they were written."""
    parser.add_argument(
        "--remap",
        action="append",
        default=[],
        metavar="FROM:=TO",
        help="another name of a topic or service, as ROS 2's -r; repeatable",
    )
