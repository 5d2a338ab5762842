"""``ros2 run tandem_ros tandem ...``: the command itself, by the Python that ROS 2 runs."""

from __future__ import annotations

import sys

MISSING = (
    "tandem_ros: this Python has no Tandem\n"
    "  expected: host_bridge, in the environment of ROS 2\n"
    "  got: {error}\n"
    "  what to do: {python} -m pip install tandem-cars, or -e PATH of a clone"
)


def missing(error: ImportError) -> str:
    """What is wrong and what to do where the pip package is not there."""
    return MISSING.format(error=error, python=sys.executable)


def main() -> int:
    """Run a command of Tandem."""
    try:
        from host_bridge import cli
    except ImportError as error:
        print(missing(error), file=sys.stderr)
        return 3
    return cli.main()
