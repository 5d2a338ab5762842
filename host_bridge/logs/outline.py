"""What a log is about, without unpacking it: for a list of logs."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from mcap.records import Chunk, Footer, Metadata

from host_bridge.core.errors import DataFileFault
from host_bridge.logs.reading import cars_in, records
from host_bridge.logs.recorder import FACTS


class LogOutline(NamedTuple):
    """The cars of a log by name, how long it is in s, and whether its end was written."""

    cars: tuple[str, ...]
    length_s: float
    is_complete: bool


def outline(path: Path) -> LogOutline | None:
    """Return a log's outline, as far as it is written; None for a file that is no log of Tandem."""
    metadata: dict[str, dict[str, str]] = {}
    times_ns: list[int] = []
    is_complete = False
    try:
        for record in records(path, unpacks=False):
            if isinstance(record, Metadata):
                metadata[record.name] = record.metadata
            elif isinstance(record, Chunk) and record.message_end_time:
                times_ns += [record.message_start_time, record.message_end_time]
            is_complete = is_complete or isinstance(record, Footer)
    except DataFileFault:
        return None
    if FACTS not in metadata:
        return None
    length_s = (max(times_ns) - min(times_ns)) * 1e-9 if times_ns else 0.0
    return LogOutline(tuple(sorted(cars_in(metadata))), length_s, is_complete)
