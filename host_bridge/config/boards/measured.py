"""Measured step times of the car's program on a chip, with the provenance of each row.

``tests/studies/chip_steps.py`` writes the table. What is not in it was not measured; nothing is
estimated.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path

from host_bridge.config.boards.tables import FOLDER, rows_in
from host_bridge.core.files import Key, TableSchema, choice, flag, integer, text

TABLE = FOLDER / "step_times.csv"
Situation = tuple[str, str, bool, bool, str, str, int, int, str, int]


@dataclass(frozen=True)
class MeasuredSteps:
    """The step times of one situation, interrupts (the guard's among them) included.

    ``is_paired``: the car has a box's key, and its box sends fifty times a second. ``model`` is
    that of an emulated chip's flash cache, empty for a real chip. ``heard`` is how many messages
    each of these steps received, the box's not counted; ``beat_us`` the control period that the
    car had. ``median_us``, and ``missed``, the control periods missed in that drive, are None where
    they were not counted.
    """

    chip: str
    wiring: str
    is_configured: bool
    is_paired: bool
    micropython: str
    link: str
    model: str
    mhz: int
    beat_us: int
    state: str
    heard: int
    steps: int
    mean_us: int
    median_us: int | None
    p99_us: int
    longest_us: int
    missed: int | None
    program: str
    date: str
    how: str

    @property
    def situation(self) -> Situation:
        return (
            self.chip, self.wiring, self.is_configured, self.is_paired, self.micropython,
            self.link, self.mhz, self.beat_us,
            self.state + (f"/{self.model}" if self.model else ""), self.heard,
        )  # fmt: skip

    @property
    def provenance(self) -> str:
        model = f", flash cache {self.model}" if self.model else ""
        by = f"program {self.program}, MicroPython {self.micropython}"
        return f"{self.how}{model}, {self.date}, {by}"


COLUMNS = tuple(field.name for field in fields(MeasuredSteps))
_MOST = 10**9  # above each count and time of a measurement
_WHOLE = ("mhz", "beat_us", "heard", "steps", "mean_us", "p99_us", "longest_us")
_WHOLE_OR_NONE = ("median_us", "missed")
_TRUTHS = ("is_configured", "is_paired")


def _key(name: str) -> Key:
    if name in _TRUTHS:
        return flag(name)
    if name == "link":
        return choice(name, ("usb", "uart"))
    if name in _WHOLE:
        return integer(name, 0, _MOST)
    return integer(name, 0, _MOST, None) if name in _WHOLE_OR_NONE else text(name)


SCHEMA = TableSchema("table of step times", tuple(map(_key, COLUMNS)), has_gaps=True)


def read_measured(path: Path = TABLE) -> list[MeasuredSteps]:
    """Read the table; an empty list if there is no such file. Raises errors.DataFileFault."""
    return [MeasuredSteps(**row) for row in rows_in(path, SCHEMA)]
