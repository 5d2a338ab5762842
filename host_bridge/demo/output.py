"""The demo's output: headings, a live line, and the checks with their verdicts."""

from __future__ import annotations

import shutil
import sys
import textwrap
from dataclasses import dataclass, field

from host_bridge.core.system.printable import can_draw, one_line, styled
from host_bridge.demo.judging.verdict import Ruling, Verdict

_COLUMNS = 80  # columns: a terminal's width that nobody has narrower
_MARKS = {Verdict.OK: "ok", Verdict.FAIL: "FAIL", Verdict.NOT_SHOWN: "??"}


@dataclass(frozen=True)
class Check:
    """One number or promise: the result, its limit, and the verdict.

    ``evidence`` is where to look for more.
    """

    what: str
    got: str
    limit: str
    ruling: Ruling
    evidence: str

    @property
    def verdict(self) -> Verdict:
        return self.ruling.verdict

    @property
    def holds(self) -> bool:
        return self.verdict is Verdict.OK

    def row(self) -> dict[str, object]:
        """Return the row for ``demo.json``."""
        return {
            "what": self.what,
            "got": self.got,
            "limit": self.limit,
            "verdict": self.verdict.value,
            "holds": self.holds,
            "reason": self.ruling.reason,
            "evidence": self.evidence,
        }

    def __str__(self) -> str:
        return f"{self.what}: {self.got} ({self.limit})"


@dataclass
class DemoOutput:
    """The printer of the demo; its ``checks`` decide the exit code."""

    checks: list[Check] = field(default_factory=list)
    is_terminal: bool = field(default_factory=lambda: can_draw(sys.stdout))

    def heading(self, text: str) -> None:
        self._end_line()
        print(f"\n{text}\n{'-' * len(text)}", flush=True)

    def say(self, text: str) -> None:
        self._end_line()
        print(text, flush=True)

    def note(self, text: str) -> None:
        """Print a remark on the check above it."""
        self.say(_wrapped(text, "        ", "        "))

    def live(self, text: str) -> None:
        """Print a line that replaces itself; without a terminal it is left out."""
        if self.is_terminal:
            room = shutil.get_terminal_size().columns - 1  # a line that wraps is not replaced
            print(f"\r\x1b[K{one_line(text)[:room]}", end="", file=styled(sys.stdout), flush=True)

    def check(self, what: str, got: str, limit: str, ruling: Ruling, evidence: str) -> None:
        check = Check(what, got, limit, ruling, evidence)
        self.checks.append(check)
        self.say(_wrapped(str(check), f"  {_MARKS[check.verdict]:4}  ", "        "))
        if check.verdict is Verdict.NOT_SHOWN:
            self.note(f"not shown: {ruling.reason}")
        elif ruling.reason:
            self.note(ruling.reason)

    def _end_line(self) -> None:
        if self.is_terminal:
            print("\r\x1b[K", end="", file=styled(sys.stdout))

    def having(self, verdict: Verdict) -> list[Check]:
        """Return the checks with this verdict."""
        return [check for check in self.checks if check.verdict is verdict]

    def failed(self) -> list[Check]:
        return self.having(Verdict.FAIL)

    def not_shown(self) -> list[Check]:
        return self.having(Verdict.NOT_SHOWN)


def _wrapped(text: str, first: str, then: str) -> str:
    return textwrap.fill(text, _COLUMNS, initial_indent=first, subsequent_indent=then)
