"""The files that a calibration was made from: logs, or the commands and the odometry of runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from calibration.logs.run import Run
from calibration.logs.trace import DriveTrace

COMMANDS, ODOMETRY = "commands", "odometry"  # the kinds of the two files of a run, in this order


@dataclass(frozen=True)
class CalibrationSource:
    """A file that a calibration was made from, by its name and hash; ``kind`` is what it is."""

    file: str
    sha256: str
    kind: str
    seconds: float
    tape_m: float = 0.0

    @classmethod
    def of_trace(cls, trace: DriveTrace) -> CalibrationSource:
        return cls(trace.file, trace.sha256, trace.kind, round(trace.seconds, 2), trace.tape_m or 0)

    @classmethod
    def of_run(cls, run: Run) -> tuple[CalibrationSource, CalibrationSource]:
        return (
            cls(run.commands.file, run.commands.sha256, COMMANDS, _span_s(run.commands.t_s)),
            cls(run.odometry.file, run.odometry.sha256, ODOMETRY, _span_s(run.odometry.t_s)),
        )

    def is_same_file(self, other: CalibrationSource) -> bool:
        return (self.file, self.sha256) == (other.file, other.sha256)


def _span_s(times_s: Any) -> float:
    return round(float(times_s[-1] - times_s[0]), 2)


def sources_of(row: Mapping[str, Any]) -> Iterator[CalibrationSource]:
    """Yield the sources of a row of a file's ``[[data]]``. Raises TypeError for a strange row.

    Files of fits had a row for each run until 0.2.0: its two files, and their hashes.
    """
    if "file" in row:
        yield CalibrationSource(**row)
        return
    for kind in (COMMANDS, ODOMETRY):
        yield CalibrationSource(row[kind], row[f"{kind}_sha256"], kind, 0.0)
