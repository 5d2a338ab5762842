"""The table of a measured link: for each probe when it was sent, and how long each way took.

``tandem linktest --out`` writes it; ``lossy+...?trace=FILE`` plays it. An empty cell is a loss.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from host_bridge.core.errors import DataFileFault
from host_bridge.core.files import TableSchema, number, read_table

_LONGEST_S = 86_400.0  # of a trace: a day
_LATEST_S = 60.0  # of one way: what comes later is lost, to anybody who drives
TRACE = TableSchema(
    "trace of a link",
    (
        number("sent_s", 0.0, _LONGEST_S),
        number("up_s", 0.0, _LATEST_S, default=None),
        number("down_s", 0.0, _LATEST_S, default=None),
    ),
    rows="probes",
    rising="sent_s",
    has_gaps=True,
    example="sent_s,up_s,down_s / 0.000,0.0031,0.0040 / 0.005,,",
)


@dataclass(frozen=True, slots=True)
class Probe:
    """One probe: when it was sent, and how long it took there and back; None for what was lost.

    What was lost on its way there has no way back.
    """

    sent_s: float
    up_s: float | None
    down_s: float | None


def read_trace(path: Path) -> list[Probe]:
    """Return the probes of a trace, in the order of time. Raises errors.DataFileFault."""
    table = read_table(path, TRACE)
    ups, downs = (
        table.column(name) if name in table.names else [None] * len(table.rows)
        for name in ("up_s", "down_s")
    )
    return [Probe(*row) for row in zip(table.column("sent_s"), ups, downs, strict=True)]


def write_trace(path: Path, probes: Iterable[Probe], comments: Sequence[str]) -> None:
    """Write a trace, with comments above it. Raises errors.DataFileFault."""
    lines = [f"# {comment}" for comment in comments]
    lines.append("sent_s,up_s,down_s")
    lines += [f"{it.sent_s:.6f},{_cell(it.up_s)},{_cell(it.down_s)}" for it in probes]
    try:
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    except OSError as error:
        raise DataFileFault.unwritable("the trace", path, error) from None


def _cell(value: float | None) -> str:
    return "" if value is None else f"{value:.6f}"
