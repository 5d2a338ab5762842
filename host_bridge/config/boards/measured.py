"""What a step of the car's program took on a chip: the table of what was measured, and how.

``tests/bench/chip_steps.py`` writes it. What is not in it was not measured: nothing is guessed.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass, fields
from pathlib import Path

TABLE = Path(__file__).resolve().parents[3] / "hardware" / "boards" / "step_times.csv"
Situation = tuple[str, str, str, int, bool, str, int]


@dataclass(frozen=True)
class Measured:
    """One situation. ``model`` is of an emulated chip's flash cache, empty for metal; ``heard`` is
    how many messages each of these steps heard; interrupts, the guard's among them, are in it."""

    chip: str
    wiring: str
    is_configured: bool
    link: str
    model: str
    mhz: int
    state: str
    heard: int
    steps: int
    mean_us: int
    p99_us: int
    longest_us: int
    program: str
    date: str
    how: str

    @property
    def situation(self) -> Situation:
        return (
            self.chip, self.wiring, self.link, self.mhz, self.is_configured,
            self.state + (f"/{self.model}" if self.model else ""), self.heard,
        )  # fmt: skip

    @property
    def provenance(self) -> str:
        model = f", flash cache {self.model}" if self.model else ""
        return f"{self.how}{model}, {self.date}, program {self.program}"


COLUMNS = tuple(field.name for field in fields(Measured))
_WHOLE = ("mhz", "heard", "steps", "mean_us", "p99_us", "longest_us")


def read_measured(path: Path = TABLE) -> list[Measured]:
    """None if there is no such file."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return [_row(row) for row in csv.DictReader(file)]


def _row(row: dict[str, str]) -> Measured:
    whole = {name: int(row[name]) for name in _WHOLE}
    texts = {n: row[n] for n in COLUMNS if n not in _WHOLE and n != "is_configured"}
    return Measured(**texts, **whole, is_configured=row["is_configured"] == "1")  # type: ignore[arg-type]
