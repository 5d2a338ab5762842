"""The text about a car that did not acknowledge a stop: what is known of it, and no more.

Imports as little as ``tandem stop`` needs.
"""

from __future__ import annotations

import errno
import os

from host_bridge.core.texts.table import UNHEARD_TEXTS

_SUSPENDED = "Tt"  # process states of /proc/PID/stat
_ENDED = "ZX"


def why_unheard(pid: int, fault: int) -> str:
    """Return why there is no answer, and in a second line whether the car stops by itself.

    ``pid`` is the process that serves it, 0 if it accepted nobody; ``fault`` is the errno for
    which this program was not accepted, or 0.
    """
    _, _, why, known = UNHEARD_TEXTS[_unheard(pid, fault)]
    return f"{why.format(pid=pid, reason=os.strerror(fault))}\n  {known}"


def _unheard(pid: int, fault: int) -> str:
    if fault and fault != errno.EAGAIN:
        return "NOT_ASKED"
    if pid == os.getpid():
        return "NOTHING_BACK"
    if pid == 0:
        return "NOT_LET_IN"
    state = _state_of(pid)
    if state and state in _SUSPENDED:
        return "SUSPENDED"
    return "ENDED" if state and state in _ENDED else "SILENT"


def _state_of(pid: int) -> str:
    """Return Linux' state letter of a process; "X" if it has ended, "" if that is not known."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            return file.read().rpartition(") ")[2][:1]
    except FileNotFoundError:
        return "X" if os.path.isdir("/proc/self") else ""
    except OSError:
        return ""
