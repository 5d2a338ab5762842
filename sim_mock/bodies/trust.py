"""Files that a person allowed to bring code of their own into a virtual car: ``--trust-code FILE``.

A parameter file can name a Python module, which is imported and runs with all that this login may
do; and a vehicle file can name such a file. So none is followed that was not named by a person on
the command line.
"""

import os
from pathlib import Path

_trusted: set[str] = set()


def trust(path: str | Path) -> None:
    """Trust this file from now on, in this process."""
    _trusted.add(os.path.realpath(path))


def is_trusted(path: str | Path) -> bool:
    """Return whether a person has trusted this file."""
    return os.path.realpath(path) in _trusted


def options() -> list[str]:
    """Return the options that pass the trusted files on to a car's own program."""
    return [word for path in sorted(_trusted) for word in ("--trust-code", path)]
