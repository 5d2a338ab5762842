"""How long a soak drives, and how much memory it may have taken in the end."""

import gc
import os
from pathlib import Path

_A_DAY = 24 / 5  # shared by the five tests
HOURS = float(os.environ.get("TANDEM_SOAK_HOURS", _A_DAY))  # of virtual time, each
MINUTES = max(round(60 * HOURS), 10)
SETTLED_MINUTES = 5  # until all buffers, caches and rings have been full once
# A leak of 6 bytes a beat would show within an hour; allocators keep less than this for themselves.
GROWTH_MAX_KB = 2048
WALL_LIMIT_S = 600 + 3600 * HOURS  # no slower than time itself


def resident_kb(pid: int | str = "self") -> int:
    """What a process holds of the machine's memory; of this one after a collection."""
    if pid == "self":
        gc.collect()
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") // 1024


class Growth:
    """Resident memory of some processes, minute by minute."""

    def __init__(self, *pids: int | str) -> None:
        self._settled_kb: dict[int | str, int] = {}
        self._pids = pids

    def look(self, minute: int) -> None:
        """Asserts that nothing has grown since all had settled."""
        if minute < SETTLED_MINUTES:
            return
        for pid in self._pids:
            kb = resident_kb(pid)
            grown_kb = kb - self._settled_kb.setdefault(pid, kb)
            assert grown_kb <= GROWTH_MAX_KB, (
                f"process {pid}: {grown_kb} kB more in minute {minute}"
            )
