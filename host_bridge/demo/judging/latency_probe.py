"""A latency probe: a bare process beside the work that notes how late and slow the machine runs it.

It does no useful work. It sleeps for a moment and notes how late it woke, and once a second it
computes for a moment and notes how long that took in real time. A program's real-time results are
judged beside that: only what exceeds the probe's lateness is the program's own fault.

    with LatencyProbe() as probe:
        begun_s = time.monotonic()
        ...
        probe.late_s(begun_s)      # what a bare process would have lost since then
"""

from __future__ import annotations

import signal
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

_ROW = struct.Struct("<dddd")
_SLEEPS_S = 0.004  # an interval of a program with a deadline, and less than a step of a car
_ROW_EVERY_S = 0.1  # rows by the tenth of a second: see ProbeRow
# Long enough to be interrupted several times on a busy machine: a scheduler hands the processor
# out in slices of some 3 ms, and a process that has slept gets the first slice at once.
_COMPUTES_S = 0.025
_COMPUTES_EVERY_S = 1.0  # 2.5 % of one core
# The largest slowdown that counts: a slower machine shows nothing, and a time limit has to end.
SLOWEST = 25.0
_READY_WITHIN_S = 60.0


class ProbeRow(NamedTuple):
    """A tenth of a second of the probe, in monotonic seconds.

    ``late_s`` is its worst wake-up delay, ``slow`` the ratio of a computation's real time to its
    processor time.
    """

    begun_s: float
    ended_s: float
    late_s: float
    slow: float


class LatencyProbe:
    """The probe's process and its notes.

    A context manager; it ends with the process that started it.
    """

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="tandem-witness-")
        self._path = Path(self._folder.name, "rows")
        self._rows: list[ProbeRow] = []
        self._read_bytes = 0
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> LatencyProbe:
        self._path.touch()
        # Run by its path and isolated: it imports nothing of the current folder, and starts fast.
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", __file__, str(self._path)],
            stdin=subprocess.PIPE,
        )
        give_up_s = time.monotonic() + _READY_WITHIN_S
        while not self.rows():
            if self._process.poll() is not None or time.monotonic() > give_up_s:
                raise RuntimeError("the latency probe of this machine did not start")
            time.sleep(0.01)  # the probe's own interval, and more
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._process
        self._process.kill()
        self._process.communicate()
        self.rows()
        self._process = None
        self._folder.cleanup()

    def rows(self) -> list[ProbeRow]:
        """Return all rows so far, oldest first; after the end all there are."""
        if self._process is None:
            return self._rows
        with self._path.open("rb") as file:
            file.seek(self._read_bytes)
            new = file.read()
        whole = len(new) - len(new) % _ROW.size
        self._read_bytes += whole
        self._rows += [ProbeRow(*values) for values in _ROW.iter_unpack(new[:whole])]
        return self._rows

    def _between(self, begun_s: float, ended_s: float) -> list[ProbeRow]:
        """Return the rows that overlap this time; the newest stands for time without a row yet."""
        rows = self.rows()
        found = []
        for row in reversed(rows):
            if row.ended_s < begun_s:
                break
            if row.begun_s <= ended_s:
                found.append(row)
        found.reverse()
        last = rows[-1]
        if last.ended_s < ended_s:  # it has been silent since then, so it is at least that late
            silent_s = ended_s - max(last.ended_s, begun_s)
            overdue_s = max(ended_s - last.ended_s - _ROW_EVERY_S, 0.0)
            found.append(ProbeRow(ended_s - silent_s, ended_s, overdue_s, last.slow))
        return found

    def worst_wake_s(self, begun_s: float, ended_s: float | None = None) -> float:
        """Return by how much it woke too late at worst in this time, in s."""
        ended_s = time.monotonic() if ended_s is None else ended_s
        return max((row.late_s for row in self._between(begun_s, ended_s)), default=0.0)

    def granted_s(self, begun_s: float, ended_s: float | None = None) -> float:
        """Return the seconds of this time that a computing process was given; never 0.

        It is less than all of it where other processes computed.
        """
        ended_s = time.monotonic() if ended_s is None else ended_s
        granted = 0.0
        for row in self._between(begun_s, ended_s):
            shared = min(row.ended_s, ended_s) - max(row.begun_s, begun_s)
            granted += max(shared, 0.0) / row.slow
        return granted

    def late_s(self, begun_s: float, ended_s: float | None = None) -> float:
        """Return how much of this time a bare process would have lost, in s.

        That is its wait for the processor, and its worst wake-up delay.
        """
        ended_s = time.monotonic() if ended_s is None else ended_s
        waited_s = ended_s - begun_s - self.granted_s(begun_s, ended_s)
        return max(waited_s, 0.0) + self.worst_wake_s(begun_s, ended_s)


def _computed() -> float:
    """Compute for a moment of processor time; return the ratio of real time to it."""
    begun_s, own_s = time.monotonic(), time.thread_time()
    while time.thread_time() - own_s < _COMPUTES_S:
        pass
    took_s = time.monotonic() - begun_s
    return min(max(took_s / _COMPUTES_S, 1.0), SLOWEST)


def _note(path: str) -> None:
    """Write rows until killed, or until the starting process has gone.

    It stays in the session of the processes beside it, for Linux shares the processor by session
    first; Ctrl-C is for those.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with open(path, "ab", buffering=0) as file:
        slow = _computed()
        computed_s = begun_s = time.monotonic()
        while _is_wanted():
            late_s = 0.0
            while (now_s := time.monotonic()) - begun_s < _ROW_EVERY_S:
                time.sleep(_SLEEPS_S)
                late_s = max(late_s, time.monotonic() - now_s - _SLEEPS_S)
            file.write(_ROW.pack(begun_s, now_s, late_s, slow))
            begun_s = now_s
            if now_s - computed_s >= _COMPUTES_EVERY_S:
                slow, computed_s = _computed(), now_s


def _is_wanted() -> bool:
    """Return whether the other end of standard input is still open."""
    import select  # does not take pipes everywhere; there it lives until it is killed

    try:
        return not select.select([0], [], [], 0)[0]
    except OSError:
        return True


if __name__ == "__main__":
    _note(sys.argv[1])
