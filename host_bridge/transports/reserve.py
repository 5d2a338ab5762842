"""Files that a program keeps free for Stop, whatever connects to it by another way.

A system gives the lowest free number to each file that is opened. So a connection whose number is
among the last of those that a program may have is one too many, whoever holds the others.
"""

from __future__ import annotations

import resource

KEPT_FOR_STOP = 64  # connections that stop, and what each needs; of few files a quarter


def is_in_reserve(fd: int) -> bool:
    """Say whether an open file is one of those kept for Stop: whoever opened it closes it."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return most != resource.RLIM_INFINITY and fd >= most - min(KEPT_FOR_STOP, most // 4)
