"""The text about a car that did not acknowledge a stop: what is known of it, and no more.

Imports as little as ``tandem stop`` needs.
"""

from __future__ import annotations

import errno
import os

_SUSPENDED = "Tt"  # process states of /proc/PID/stat
_ENDED = "ZX"


def why_unheard(pid: int, fault: int) -> str:
    """Return why there is no answer, and whether the car stops by itself.

    ``pid`` is the process that serves it, 0 if it accepted nobody; ``fault`` is the errno for
    which this program was not accepted, or 0.
    """
    if fault and fault != errno.EAGAIN:
        return (
            f"This program could not ask ({os.strerror(fault)}), and does not know how the car is."
        )
    if pid == os.getpid():
        return "Nothing came back through its port. Whether the car stops by itself is not known."
    if pid == 0:
        return (
            "Its stop socket let nobody in: whoever serves it hangs, or others fill the queue.\n"
            "  Whether the car stops by itself is not known."
        )
    state = _state_of(pid)
    if state and state in _SUSPENDED + _ENDED:
        is_so = "is suspended" if state in _SUSPENDED else "has ended"
        return (
            f"The program that serves it (process {pid}) {is_so}: the car gets no claims from it\n"
            "  and stops by itself."
        )
    return (
        f"The program that serves it (process {pid}) passed no answer on. If it hangs or its\n"
        "  cable is out, the car gets no claims from it and stops by itself; else it may go on."
    )


def _state_of(pid: int) -> str:
    """Return Linux' state letter of a process; "X" if it has ended, "" if that is not known."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            return file.read().rpartition(") ")[2][:1]
    except FileNotFoundError:
        return "X" if os.path.isdir("/proc/self") else ""
    except OSError:
        return ""
