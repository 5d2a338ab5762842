"""What the demo prints: headings, a live line, and the checks with their verdicts."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Check:
    """One number or promise: what it was, what it had to be, whether it held."""

    what: str
    got: str
    limit: str
    holds: bool


@dataclass
class Show:
    """Prints as it goes; ``checks`` is what the exit code is made of."""

    checks: list[Check] = field(default_factory=list)
    is_terminal: bool = field(default_factory=sys.stdout.isatty)

    def heading(self, text: str) -> None:
        self._end_line()
        print(f"\n{text}\n{'-' * len(text)}", flush=True)

    def say(self, text: str) -> None:
        self._end_line()
        print(text, flush=True)

    def live(self, text: str) -> None:
        """A line that replaces itself; where there is no terminal it is left out."""
        if self.is_terminal:
            print(f"\r\x1b[K{text}", end="", flush=True)

    def check(self, what: str, got: str, limit: str, holds: bool) -> None:
        self.checks.append(Check(what, got, limit, holds))
        self.say(f"  {'ok  ' if holds else 'FAIL'}  {what}: {got} ({limit})")

    def _end_line(self) -> None:
        if self.is_terminal:
            print("\r\x1b[K", end="")

    def held(self) -> bool:
        return all(check.holds for check in self.checks)
