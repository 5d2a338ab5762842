"""How long a test waits for a real process, and what it may say of how long one took.

A machine that does much else is slow, and a test of real processes would measure the machine. So a
bare process runs beside each test that starts programs (``demo.judging.latency_probe``), and
here seconds are those that such a process was given: all of them where nothing else runs. A wait
for what never comes ends at any load, and fails. A limit is held against the wall less what the
machine withheld; where that is more than the limit itself, the test says that it was not measured.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

from host_bridge.demo.judging.latency_probe import LatencyProbe

Result = TypeVar("Result")
_LOOKS_EVERY_S = 0.01
_LOOKS_AGAIN_S = 1.0  # at a process that ends by itself: the system tells of its end at once
_beside: dict[int, LatencyProbe] = {}


class Hang(AssertionError):
    """Something was waited for as long as an idle machine would never need: red at any load."""


class TooLate(AssertionError):
    """Something took longer than it may, by more than the machine withheld: red at any load."""


class NotMeasured(Exception):
    """The machine gave too little to tell. Such a test is run again alone, and is listed."""


def witness() -> LatencyProbe:
    """The bare process beside this program's tests, started when it is first asked. A fork, as the
    mutants' driver makes them, has one of its own."""
    pid = os.getpid()
    if pid not in _beside:
        _beside[pid] = LatencyProbe().__enter__()
    return _beside[pid]


def end() -> None:
    """End the bare process of this program, if there is one."""
    mine = _beside.pop(os.getpid(), None)
    if mine:
        mine.__exit__(None, None, None)


class Deadline:
    """A point in time that a slow machine puts off; ``seconds`` are those of an idle one."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._witness = witness()
        self._begun_s = time.monotonic()

    def left_s(self) -> float:
        """So much at least is left on the wall."""
        by_the_wall_s = self.seconds - (time.monotonic() - self._begun_s)
        if by_the_wall_s > 0.0:  # nobody was given more than that: no need to look
            return by_the_wall_s
        return self.seconds - self._witness.granted_s(self._begun_s)

    def is_over(self) -> bool:
        return self.left_s() <= 0.0

    def check(self, what: object) -> None:
        """Raises Hang naming what was waited for, if it is over; a function is called for that."""
        if self.is_over():
            what = what() if callable(what) else what
            raise Hang(f"waited in vain: {what}, {self.told()}")

    def told(self) -> str:
        took_s = time.monotonic() - self._begun_s
        return f"not within {self.seconds:g} s ({took_s:.1f} s on the wall of a busy machine)"


def until(is_so: Callable[[], object], what: str, within_s: float) -> None:
    """Wait until it is so. Raises Hang naming what did not come."""
    deadline = Deadline(within_s)
    while not is_so():
        deadline.check(what)
        time.sleep(_LOOKS_EVERY_S)


async def within(work: Awaitable[Result], seconds: float) -> Result:
    """As ``asyncio.wait_for``, in granted seconds. Raises Hang."""
    deadline = Deadline(seconds)
    task = asyncio.ensure_future(work)
    try:
        while not task.done():
            deadline.check(work)
            await asyncio.wait([task], timeout=max(deadline.left_s(), _LOOKS_EVERY_S))
        return task.result()
    finally:
        task.cancel()


def communicate(process: subprocess.Popen[Any], within_s: float, data: Any = None) -> Any:
    """As ``Popen.communicate``: what it said, at its end. Raises Hang, and leaves it running."""
    deadline = Deadline(within_s)
    while True:
        try:
            return process.communicate(data, timeout=_LOOKS_AGAIN_S)
        except subprocess.TimeoutExpired:
            data = None  # what is left of it is sent on by the next call
            deadline.check(f"the end of {process.args}")


def wait(process: subprocess.Popen[Any], within_s: float) -> int:
    """As ``Popen.wait``: its exit code. Raises Hang, and leaves it running."""
    deadline = Deadline(within_s)
    while True:
        try:
            return process.wait(timeout=_LOOKS_AGAIN_S)
        except subprocess.TimeoutExpired:
            deadline.check(f"the end of {process.args}")


def run(
    words: Sequence[Any], within_s: float, data: Any = None, check: bool = False, **how: Any
) -> subprocess.CompletedProcess[Any]:
    """As ``subprocess.run`` with its output captured; ``data`` is its standard input.

    Raises Hang, and kills it; subprocess.CalledProcessError where ``check`` is asked for.
    """
    how = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **how}
    if data is not None:
        how["stdin"] = subprocess.PIPE
    with subprocess.Popen(words, **how) as process:
        try:
            out, errors = communicate(process, within_s, data)
        except BaseException:
            process.kill()
            raise
    done = subprocess.CompletedProcess(process.args, process.returncode, out, errors)
    if check:
        done.check_returncode()
    return done


def withheld_s(begun_s: float, ended_s: float, cpu_s: float) -> float:
    """What the machine withheld in this time from programs that need so much of a processor: what a
    bare process would have waited for as much, and one wake at its worst."""
    rows = [row for row in witness().rows() if begun_s - 1.0 <= row.ended_s <= ended_s + 1.0]
    slow = max((row.slow for row in rows), default=witness().rows()[-1].slow)
    return cpu_s * (slow - 1.0) + witness().worst_wake_s(begun_s, ended_s)


def took(
    begun_s: float, at_most_s: float, what: str, cpu_s: float, ended_s: float | None = None
) -> float:
    """Judge that it took so long at most, less what the machine withheld; seconds on the wall.

    ``cpu_s`` is how much of a processor lies on its way. Raises TooLate where it is the program's
    fault, NotMeasured where the machine withheld more than the limit is.
    """
    ended_s = time.monotonic() if ended_s is None else ended_s
    seconds = ended_s - begun_s
    if seconds <= at_most_s:
        return seconds
    late_s = withheld_s(begun_s, ended_s, cpu_s)
    told = f"{what}: {seconds:.3f} s, at most {at_most_s:g}; the machine was {late_s:.3f} s late"
    if seconds - late_s > at_most_s:
        raise TooLate(told)
    if late_s > at_most_s:
        raise NotMeasured(told)
    return seconds
