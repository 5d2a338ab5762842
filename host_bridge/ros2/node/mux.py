"""Arbitration between several publishers: by priority among the live ones, until one falls silent.

The rule of a mux (the live source of the highest priority wins) with three additions. The first
message of a source does not count, because it may be an old one that was kept. A source that drives
and falls silent is not replaced by another one, unless its row says that its silence yields: nobody
drives until the cars are armed again. And no timeout is longer than the lease of the cars' source.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from host_bridge.ros2.vocabularies.topics import MuxRow

FUTURE_US = 50_000  # a stamp may be ahead by that much: clocks of one machine, read one by one


@dataclass(frozen=True, slots=True)
class StampedCommand:
    """One publisher's command, and when it was decided, in the session's time in us."""

    speed_mps: float
    steer_rad: float
    heard_us: int
    brake: float = 0.0


class MuxSource:
    """One row of the mux: its newest command, and whether it is live."""

    def __init__(self, row: MuxRow, timeout_us: int) -> None:
        self.row = row
        self.timeout_us = timeout_us
        self.latest: StampedCommand | None = None
        self.is_confirmed = False  # a second command came within the timeout after the first
        self.refused = 0
        self.why_refused = ""

    def take(self, command: StampedCommand, now_us: int) -> None:
        """Store a command; refuse one that is too old, out of order, or stamped in the future."""
        age_us = now_us - command.heard_us
        if age_us > self.timeout_us:
            self.refuse(f"it was {age_us * 1e-6:.2f} s old when it came")
        elif age_us < -FUTURE_US:
            self.refuse(f"its stamp is {-age_us * 1e-6:.2f} s in the future")
        else:
            before = self.latest
            # Reordered on its way: a newer command is stored already
            if before is not None and command.heard_us < before.heard_us:
                self.refuse("a newer one was here before it")
                return
            self.is_confirmed = before is not None and (
                command.heard_us - before.heard_us <= self.timeout_us
            )
            self.latest = command

    def refuse(self, why: str) -> None:
        """Count a command that is not obeyed, and keep the reason."""
        self.refused += 1
        self.why_refused = why

    def live_command(self, now_us: int) -> StampedCommand | None:
        """Return the newest command if it is confirmed and within the timeout, else None."""
        latest = self.latest
        if latest is None or not self.is_confirmed:
            return None
        return latest if now_us - latest.heard_us <= self.timeout_us else None


class Mux:
    """The sources of one car: ``winner`` is the one that drives, ``timed_out`` one gone silent."""

    def __init__(self, rows: Sequence[MuxRow], lease_s: float) -> None:
        self.sources = {
            row.name: MuxSource(row, round(min(row.timeout_s, lease_s) * 1e6))
            for row in sorted(rows, key=lambda row: -row.priority)
        }
        self.winner: str | None = None
        self.timed_out: str | None = None
        self._yields_all = False

    def forgive(self) -> None:
        """Let every source yield when it falls silent, as forgiving virtual cars have it."""
        self._yields_all = True

    def begin(self) -> None:
        """Start anew when the cars were armed: forget all commands, and which source fell silent.

        A command received before the arming has to be repeated.
        """
        self.winner = self.timed_out = None
        for source in self.sources.values():
            source.latest = None
            source.is_confirmed = False

    def decide(self, now_us: int) -> StampedCommand | None:
        """Return the winning command at this moment, or None.

        A source that was driving and is silent now is kept as ``timed_out``, and nobody drives.
        """
        if self.timed_out is not None:
            return None
        silent = ""  # the source that was driving, where another one may follow it
        for name, source in self.sources.items():
            command = source.live_command(now_us)
            if command is not None:
                self.winner = name
                return command
            if name == self.winner:
                silent = name
                if not (self._yields_all or source.row.yields):
                    break
        self.winner = None
        if silent and not self._yields_all:
            self.timed_out = silent
        return None

    def release(self, name: str) -> None:
        """Release a source that gave up control by its own message: the next one may drive."""
        self.sources[name].latest = None
        self.sources[name].is_confirmed = False
        if self.winner == name:
            self.winner = None

    def suspend(self) -> None:
        """Let nobody drive; a source that falls silent meanwhile has not timed out."""
        self.winner = None

    def words(self, now_us: int) -> str:
        """Return who drives, or why nobody does, as a sentence."""
        if self.timed_out is not None:
            row = self.sources[self.timed_out].row
            return f"{row.topic} fell silent: nobody drives until the cars are armed again."
        if self.winner is not None:
            return f"{self.sources[self.winner].row.topic} drives."
        heard = [source for source in self.sources.values() if source.latest is not None]
        for source in self.sources.values():
            if source.refused and source.live_command(now_us) is None:
                return f"A command on {source.row.topic} was refused: {source.why_refused}."
        if heard:
            return f"One command came on {heard[0].row.topic}; the second one counts."
        topics = " or ".join(source.row.topic for source in self.sources.values())
        return f"Nothing comes on {topics}."
