"""File descriptors that a process reserves for stops, however many other connections it has.

The system gives the lowest free number to each opened file. So a connection whose number is among
the last of those allowed is one too many, whatever holds the others.
"""

from __future__ import annotations

import resource

KEPT_FOR_STOP = 64  # for connections that stop and their needs; at most a quarter of all


def is_in_reserve(fd: int) -> bool:
    """Return whether this descriptor is reserved for stops, so that its opener has to close it."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return most != resource.RLIM_INFINITY and fd >= most - min(KEPT_FOR_STOP, most // 4)
