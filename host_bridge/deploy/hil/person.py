"""The person at the bench: told what to do, and asked when it is done."""

from __future__ import annotations

import sys
from typing import Protocol

PERSON_TIMEOUT_S = 60.0  # the time for one act: a button pressed, a plug pulled


class PersonTimeout(RuntimeError):
    """Raised when the person who was asked did nothing, or is gone."""


class Person(Protocol):
    """The person who handles the board."""

    def tell(self, text: str) -> None:
        """Tell what to do now; the car shows whether it is done."""

    def ready(self, text: str) -> None:
        """Tell what will happen, and wait for Enter. Raises PersonTimeout."""


class AtTerminal:
    """The person at this terminal, told by standard error; standard output has the results."""

    def tell(self, text: str) -> None:
        print(f"\n>>> {text}", file=sys.stderr, flush=True)

    def ready(self, text: str) -> None:
        self.tell(f"{text}\n    Press Enter when you are ready. ")
        if not sys.stdin.readline():
            raise PersonTimeout("nobody is at this terminal any more")


def person_here(without: bool) -> Person | None:
    """Return the person at this terminal; None without a terminal, or if ``without`` is set."""
    return None if without or not sys.stdin.isatty() else AtTerminal()
