"""Search for a MicroPython on this machine: the unix port, 64 or 32 bit, 1.22 or newer.

First the environment's variables (``$MICROPYTHON``, ``$MICROPYTHON32``), then the path, then the
build that ``sim_mock.runtime.fetch_micropython`` put into the project's ``.micropython/`` folder.
"""

import functools
import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

OLDEST = (1, 22)  # from then on its unix port has all that the car's program uses
FOLDER = Path(__file__).resolve().parents[2] / ".micropython"

# bits -> the variable that names it, its name on the path, the path of the private one
PLACES = {
    64: ("MICROPYTHON", "micropython", FOLDER / "bin" / "micropython"),
    32: ("MICROPYTHON32", "micropython32", FOLDER / "bin" / "micropython32"),
}

_QUESTION = (
    "import sys; print(sys.implementation.name, sys.implementation.version[0], "
    "sys.implementation.version[1], 64 if sys.maxsize > 1 << 31 else 32)"
)
_ANSWER_WITHIN_S = 10.0  # a busy machine takes some seconds to start it


@dataclass(frozen=True)
class Candidate:
    """A command that may be a MicroPython, and why it is not one (empty: it is)."""

    command: str
    fault: str


def find(bits: int = 64) -> list[str] | None:  # as this machine has
    """Return the command that starts a MicroPython of ``bits`` (64 or 32), or None without one."""
    for candidate in candidates(bits):
        if not candidate.fault:
            return [candidate.command]
    return None


def candidates(bits: int) -> Iterator[Candidate]:
    """Yield every place looked at, in order; if a variable names one, no other is looked at."""
    variable, name, private = PLACES[bits]
    named = os.environ.get(variable)
    if named:
        yield Candidate(named, fault(named, bits))
        return
    found = shutil.which(name)
    if found:
        yield Candidate(found, fault(found, bits))
    if private.exists():
        yield Candidate(str(private), fault(str(private), bits))


@functools.cache
def fault(command: str, bits: int) -> str:
    """Return why ``command`` is no MicroPython of ``bits``, 1.22 or newer; empty if it is one."""
    answer = _ask(command)
    if len(answer) != 4 or answer[0] != "micropython":
        return f"{command} does not answer as a MicroPython; it is expected to run `-c CODE`"
    major, minor, has_bits = (int(word) for word in answer[1:])
    if (major, minor) < OLDEST:
        return f"{command} is {major}.{minor}; {OLDEST[0]}.{OLDEST[1]} or newer is needed"
    if has_bits != bits:
        return f"{command} is a {has_bits}-bit MicroPython; a {bits}-bit one is expected here"
    return ""


def _ask(command: str) -> list[str]:
    try:
        done = subprocess.run(
            [command, "-c", _QUESTION],
            capture_output=True,
            stdin=subprocess.DEVNULL,
            text=True,
            timeout=_ANSWER_WITHIN_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return []
    return done.stdout.split()
