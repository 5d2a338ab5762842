"""The last stops of a car: what went over its line before each of them, and a moment after."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from host_bridge.core import CarStatus
from host_bridge.logs.recorder import NOTES, Recorder
from host_bridge.sharing.owner.board_verification import RelayedFrames
from host_bridge.sharing.owner.recording import tap_into

BEFORE_US = 10_000_000  # of a drive: what led to a stop is seldom older
AFTER_US = 2_000_000  # a car at 6 m/s that brakes with 3 m/s2 stands by then
STOPS_MAX = 3  # kept at a time; the oldest goes
LINE_LOST = "The program that served it ended while the car was armed."
_BYTES_MAX = 4 << 20  # a car at 100 Hz with four sources needs an eighth of it
# While a log is written, others of this process run: after so many frames, about 2 ms of work
_BREATHES_EVERY = 16
_BREATH_S = 0.001


@dataclass
class KeptStop:
    """A stop: its moment on the host's clock, its cause in words, and the frames around it.

    ``describe`` writes into a log which car it was, also when that car is there no longer.
    """

    at_us: int
    words: str
    frames: tuple[RelayedFrames, ...]
    describe: Callable[[Recorder], None]
    file: Path | None = None  # where it was written to

    @property
    def before_s(self) -> float:
        """The time before the stop from which there are frames, in s."""
        return max(self.at_us - self.frames[0].time_us, 0) * 1e-6 if self.frames else 0.0

    def write(self, log: Recorder, car: str) -> None:
        """Describe the car in a log, write the frames, and close it.

        Decoding takes a while: call it in a thread. Raises errors.DataFileFault.
        """
        self.describe(log)
        tap = tap_into(log, car)
        before = [it for it in self.frames if it.time_us <= self.at_us]
        for n, relayed in enumerate(self.frames):
            if n == len(before):
                self._note(log)
            tap(relayed)
            if n % _BREATHES_EVERY == 0:
                time.sleep(_BREATH_S)
        if len(before) == len(self.frames):  # the line ended with it
            self._note(log)
        log.close()
        if log.fault:
            raise log.fault

    def _note(self, log: Recorder) -> None:
        log.message("", NOTES, {"text": f"stopped: {self.words}"}, self.at_us)


class BlackBox:
    """The frames of the last seconds, and around the last stops of a car that was armed.

    Give it every frame (``hear``) and every status (``watch``), and the end of its line
    (``lose_line``). ``why`` says in words why the car is stopped. ``ask_for_all`` is called at a
    stop: the answer, with the car's identity and the events that it holds, is then among its
    frames. ``describe`` and ``stops``: see KeptStop and ``new_stops``; the newest is the last.
    """

    def __init__(
        self,
        why: Callable[[], str],
        ask_for_all: Callable[[], None],
        describe: Callable[[Recorder], None],
        stops: deque[KeptStop],
    ) -> None:
        self._why = why
        self._ask_for_all = ask_for_all
        self._describe = describe
        self._stops = stops
        self._frames: deque[RelayedFrames] = deque()
        self._bytes = 0
        self._was_armed = False
        self._open: tuple[int, str] | None = None  # a stop whose end is awaited: moment, words

    def hear(self, relayed: RelayedFrames) -> None:
        """Take frames as they went over the line."""
        self._frames.append(relayed)
        self._bytes += len(relayed.frames)
        oldest_us = relayed.time_us - BEFORE_US - AFTER_US
        while self._frames[0].time_us < oldest_us or self._bytes > _BYTES_MAX:
            self._bytes -= len(self._frames.popleft().frames)
        if self._open and relayed.time_us >= self._open[0] + AFTER_US:
            self._close()

    def watch(self, status: CarStatus, now_us: int) -> None:
        """Take a status that came at ``now_us``."""
        if status.state.is_armed:
            self._was_armed = True
        elif self._was_armed:
            self._was_armed = False
            if status.needs_clear:
                self._close()
                self._open = now_us, self._why()
                self._ask_for_all()

    def lose_line(self, now_us: int) -> None:
        """Keep what was heard of a stop, for nothing more comes; an armed car stops by that."""
        self._close()
        if self._was_armed:
            self._was_armed = False
            self._keep(now_us, LINE_LOST)
        self._frames.clear()
        self._bytes = 0

    def _close(self) -> None:
        """Keep the stop whose end is awaited, if there is one, with what was heard until now."""
        if self._open is None:
            return
        (at_us, words), self._open = self._open, None
        # The cause may come after the status; of a stop that is cleared by now, nothing is told
        self._keep(at_us, self._why() or words)

    def _keep(self, at_us: int, words: str) -> None:
        kept = tuple(it for it in self._frames if it.time_us >= at_us - BEFORE_US)
        self._stops.append(KeptStop(at_us, words, kept, self._describe))


def new_stops() -> deque[KeptStop]:
    """Return where a car's last stops are kept; a car that comes back goes on with its own."""
    return deque(maxlen=STOPS_MAX)
