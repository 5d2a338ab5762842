"""A person at the bench, who is told what to do and says when it is done."""

from __future__ import annotations

import sys
from typing import Protocol

HANDS_S = 60.0  # for one act: a button pressed, a plug pulled


class NobodyActs(RuntimeError):
    """The person who was asked did nothing, or is not there any more."""


class Person(Protocol):
    """Whoever has the board in their hands."""

    def tell(self, text: str) -> None:
        """Say what to do now; it is seen from the car whether it is done."""

    def ready(self, text: str) -> None:
        """Say what will happen, and wait for Enter. Raises NobodyActs."""


class AtTerminal:
    """The person at this terminal. What is printed as the outcome is left alone."""

    def tell(self, text: str) -> None:
        print(f"\n>>> {text}", file=sys.stderr, flush=True)

    def ready(self, text: str) -> None:
        self.tell(f"{text}\n    Press Enter when you are ready. ")
        if not sys.stdin.readline():
            raise NobodyActs("nobody is at this terminal any more")


def person_here(without: bool) -> Person | None:
    """Find whoever is at this terminal; None where it is none, or was said to be without."""
    return None if without or not sys.stdin.isatty() else AtTerminal()
