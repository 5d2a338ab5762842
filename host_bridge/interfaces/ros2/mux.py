"""Who of several publishers drives: by priority, while it is heard, and not after it fell silent.

The rules of a mux (the live source of the highest priority wins) with the three that it lacks. The
first message of a source counts for nothing, for it may be an old one that was kept. A source that
drives and falls silent is not replaced by another one: nobody drives then, until somebody armed the
cars again. And no time is longer than the lease of the cars' source.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from host_bridge.interfaces.ros2.vocabulary import MuxRow

FUTURE_US = 50_000  # a stamp may be ahead by that: clocks of one machine, read in turn


@dataclass(frozen=True, slots=True)
class Command:
    """What one publisher wants, and when it decided so, in the session's time."""

    speed_mps: float
    steer_rad: float
    heard_us: int
    brake: float = 0.0


class Source:
    """One row of the mux: its newest command, and whether it is live."""

    def __init__(self, row: MuxRow, timeout_us: int) -> None:
        self.row = row
        self.timeout_us = timeout_us
        self.latest: Command | None = None
        self.is_confirmed = False  # by a second command, soon after the one before
        self.refused = 0
        self.why_refused = ""

    def take(self, command: Command, now_us: int) -> None:
        """Hear a command; one that is too old already, or of the future, is refused."""
        age_us = now_us - command.heard_us
        if age_us > self.timeout_us:
            self.refuse(f"it was {age_us * 1e-6:.2f} s old when it came")
        elif age_us < -FUTURE_US:
            self.refuse(f"its stamp is {-age_us * 1e-6:.2f} s in the future")
        else:
            before = self.latest
            # Reordered on its way: the newer one is known already, and this one makes it no younger
            if before is not None and command.heard_us < before.heard_us:
                self.refuse("a newer one was here before it")
                return
            self.is_confirmed = before is not None and (
                command.heard_us - before.heard_us <= self.timeout_us
            )
            self.latest = command

    def refuse(self, why: str) -> None:
        """Count a command that is not obeyed."""
        self.refused += 1
        self.why_refused = why

    def live(self, now_us: int) -> Command | None:
        """Its command, while that counts."""
        latest = self.latest
        if latest is None or not self.is_confirmed:
            return None
        return latest if now_us - latest.heard_us <= self.timeout_us else None


class Mux:
    """All sources of one car. ``winner`` is who drives, ``fallen`` who did and fell silent."""

    def __init__(self, rows: Sequence[MuxRow], lease_s: float) -> None:
        self.sources = {
            row.name: Source(row, round(min(row.timeout_s, lease_s) * 1e6))
            for row in sorted(rows, key=lambda row: -row.priority)
        }
        self.winner: str | None = None
        self.fallen: str | None = None

    def begin(self) -> None:
        """Somebody armed the cars: what was kept from before counts no more, and nobody has fallen.

        A command that came before that has to be said again.
        """
        self.winner = self.fallen = None
        for source in self.sources.values():
            source.latest = None
            source.is_confirmed = False

    def decide(self, now_us: int) -> Command | None:
        """The command that counts at this moment. Who drove and is silent is remembered."""
        if self.fallen is not None:
            return None
        for name, source in self.sources.items():
            command = source.live(now_us)
            if command is not None:
                self.winner = name
                return command
            if name == self.winner:
                self.fallen, self.winner = name, None
                return None
        return None

    def cede(self, name: str) -> None:
        """A source lets go by its own word: that is no silence, and the next one may drive."""
        self.sources[name].latest = None
        self.sources[name].is_confirmed = False
        if self.winner == name:
            self.winner = None

    def rest(self) -> None:
        """Nobody drives now, and whoever falls silent meanwhile is not missed."""
        self.winner = None

    def words(self, now_us: int) -> str:
        """Who drives, or why nobody does, in a sentence."""
        if self.fallen is not None:
            row = self.sources[self.fallen].row
            return f"{row.topic} fell silent: nobody drives until the cars are armed again."
        if self.winner is not None:
            return f"{self.sources[self.winner].row.topic} drives."
        heard = [source for source in self.sources.values() if source.latest is not None]
        for source in self.sources.values():
            if source.refused and source.live(now_us) is None:
                return f"A command on {source.row.topic} was refused: {source.why_refused}."
        if heard:
            return f"One command came on {heard[0].row.topic}; the second one counts."
        topics = " or ".join(source.row.topic for source in self.sources.values())
        return f"Nothing comes on {topics}."
