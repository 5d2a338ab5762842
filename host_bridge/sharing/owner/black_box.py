"""The last stops of a car: what went over its line before each of them, and a moment after."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from host_bridge.core import CarStatus, State
from host_bridge.logs.recorder import NOTES, Recorder
from host_bridge.sharing.owner.board_verification import RelayedFrames
from host_bridge.sharing.owner.recording import tap_into

BEFORE_US = 10_000_000  # of a drive: what led to a stop is seldom older
AFTER_US = 2_000_000  # a car at 6 m/s that brakes with 3 m/s2 stands by then
STOPS_MAX = 3  # kept at a time; the oldest goes
_BYTES_MAX = 4 << 20  # a car at 100 Hz with four sources needs an eighth of it
_MOVES = (State.ACTIVE, State.HOLD)
_LOCKED = (State.STOPPING, State.STOPPED, State.FAULT)
# While a log is written, others of this process run: after so many frames, about 2 ms of work
_BREATHES_EVERY = 16
_BREATH_S = 0.001


@dataclass
class KeptStop:
    """A stop: its moment on the host's clock, its cause in words, and the frames around it."""

    at_us: int
    words: str
    frames: tuple[RelayedFrames, ...]
    file: Path | None = None  # where it was written to

    @property
    def before_s(self) -> float:
        """The time before the stop from which there are frames, in s."""
        return max(self.at_us - self.frames[0].time_us, 0) * 1e-6 if self.frames else 0.0

    def write(self, log: Recorder, car: str) -> None:
        """Write the frames to a log and close it; in a thread, for decoding takes a while.

        Raises errors.DataFileFault.
        """
        tap = tap_into(log, car)
        is_noted = False
        for n, relayed in enumerate(self.frames):
            if relayed.time_us > self.at_us and not is_noted:
                log.message("", NOTES, {"text": f"stopped: {self.words}"}, self.at_us)
                is_noted = True
            tap(relayed)
            if n % _BREATHES_EVERY == 0:
                time.sleep(_BREATH_S)
        log.close()
        if log.fault:
            raise log.fault


class BlackBox:
    """The frames of the last seconds, and around the last stops of a car that was armed.

    Give it every frame (``hear``) and every status (``watch``). ``why`` says in words why the car
    is stopped. ``ask_for_all`` is called at a stop: the answer, with the car's identity and the
    events that it holds, is then among its frames.
    """

    def __init__(self, why: Callable[[], str], ask_for_all: Callable[[], None]) -> None:
        self.stops: deque[KeptStop] = deque(maxlen=STOPS_MAX)
        self._why = why
        self._ask_for_all = ask_for_all
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
            self.end()

    def watch(self, status: CarStatus, now_us: int) -> None:
        """Take a status that came at ``now_us``."""
        if status.state in _MOVES:
            self._was_armed = True
        elif self._was_armed:
            self._was_armed = False
            if status.state in _LOCKED or status.causes or status.faults:
                self.end()
                self._open = now_us, self._why()
                self._ask_for_all()

    def end(self) -> None:
        """Keep the stop whose end is awaited, with what was heard; nothing more comes."""
        if self._open is None:
            return
        (at_us, words), self._open = self._open, None
        kept = tuple(it for it in self._frames if it.time_us >= at_us - BEFORE_US)
        # The cause may come after the status; of a stop that is cleared by now, nothing is told
        self.stops.append(KeptStop(at_us, self._why() or words, kept))

    def stop_at(self, at_us: object) -> KeptStop | None:
        """Return the stop of this moment; None if it is kept no longer."""
        return next((it for it in self.stops if it.at_us == at_us), None)
