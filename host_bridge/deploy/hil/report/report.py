"""The report: measurements and their limits as rows, a table for people, one file to send."""

from __future__ import annotations

import json
import platform
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

PASS, FAIL, NOT_MEASURED = "pass", "FAIL", "not measured"


@dataclass(frozen=True)
class Measurement:
    """One measurement, or why there is none; ``clock`` says by whose clock it was timed."""

    what: str
    must: str = ""
    aim: str = ""
    got: str = ""
    how: str = ""
    clock: str = ""
    holds: bool | None = None  # None: not measured, ``how`` says why
    detail: dict[str, Any] = field(default_factory=dict)

    @property
    def verdict(self) -> str:
        return NOT_MEASURED if self.holds is None else PASS if self.holds else FAIL


@dataclass
class HilReport:
    """All measurements of one board on one day."""

    board: dict[str, Any] = field(default_factory=dict)
    rows: list[Measurement] = field(default_factory=list)
    pages: Mapping[str, str] = field(default_factory=dict)  # the page that waits, by ``what``

    def plain(self) -> dict[str, Any]:
        return {
            "made": time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime()),
            "host": {"system": platform.platform(), "python": platform.python_version()},
            "board": self.board,
            "rows": [
                {**asdict(row), "verdict": row.verdict, "page": self.pages.get(row.what, "")}
                for row in self.rows
            ],
        }

    def write(self, path: Path) -> None:
        path.write_text(json.dumps(self.plain(), indent=1, ensure_ascii=False) + "\n")

    @property
    def failed(self) -> Sequence[Measurement]:
        return [row for row in self.rows if row.holds is False]

    def show(self) -> None:
        console = Console(width=None if Console().is_terminal else 140)  # columns: for a file
        for name, value in self.board.items():
            console.print(f"{name}: {value}", highlight=False)
        table = Table(title="measured through the port", title_justify="left")
        for column in ("what", "must", "aim", "got", "", "how, whose clock"):
            table.add_column(column, overflow="fold")
        for row in self.rows:
            how = f"{row.how}; {row.clock}" if row.clock else row.how
            table.add_row(row.what, row.must, row.aim, row.got, row.verdict, how)
        console.print(table)
