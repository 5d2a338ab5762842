"""``ros2 run tandem_ros tandem ...``: the tandem command, run by ROS 2's Python."""

from __future__ import annotations

import sys

MISSING = (
    "tandem_ros: this Python has no Tandem\n"
    "  expected: host_bridge, in the environment of ROS 2\n"
    "  got: {error}\n"
    "  what to do: {python} -m pip install tandem-cars, or -e PATH of a clone"
)


def missing(error: ImportError) -> str:
    """Return the error text, with its remedy, for a Python without the pip package."""
    return MISSING.format(error=error, python=sys.executable)


def main() -> int:
    """Run a tandem command; return its exit status, 3 without the pip package."""
    try:
        from host_bridge.cli import main as cli
    except ImportError as error:
        print(missing(error), file=sys.stderr)
        return 3
    return cli.main()
