"""Files that a person said may bring code of their own into a virtual car: ``--trust-code FILE``.

A parameter file can name a Python module, which is imported and runs with all that this login may
do; and a vehicle file can name such a file. So none is followed that was not named by a person on
the command line.
"""

import os
from pathlib import Path

_trusted: set[str] = set()


def trust(path: str | Path) -> None:
    """From now on, in this process."""
    _trusted.add(os.path.realpath(path))


def is_trusted(path: str | Path) -> bool:
    """Whether a person said so."""
    return os.path.realpath(path) in _trusted


def options() -> list[str]:
    """What tells a car's own program the same."""
    return [word for path in sorted(_trusted) for word in ("--trust-code", path)]
