"""A file of commands as a manoeuvre: rows of t_s, channel, value_norm.

``channel`` is throttle or steering, ``value_norm`` the part of the vehicle's top speed or of its
full lock (positive to the left), from -1 to 1. A value holds until the channel's next row. Times
are in seconds, rising; the first row is time 0.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from pathlib import Path

from host_bridge.core import Vehicle
from host_bridge.core.errors import DataFileFault

HEADER = ["t_s", "channel", "value_norm"]
_EXAMPLE = "a file like: t_s,channel,value_norm / 0.00,steering,0.2 / 0.01,throttle,1.0"


class HeldSignal:
    """One channel's values over time, each held until the next; 0 before the first."""

    def __init__(self) -> None:
        self._times_s: list[float] = []
        self._values: list[float] = [0.0]

    def add(self, time_s: float, value: float) -> None:
        self._times_s.append(time_s)
        self._values.append(value)

    def at(self, time_s: float) -> float:
        return self._values[bisect_right(self._times_s, time_s)]


class CsvManoeuvre:
    """A manoeuvre from a file of commands, scaled to a vehicle."""

    def __init__(self, path: Path, vehicle: Vehicle) -> None:
        """Read the file.

        Raises errors.DataFileFault, with the line, for a file that is not one of commands.
        """
        self.rows = 0
        self.duration_s = 0.0
        self._channels = {"throttle": HeldSignal(), "steering": HeldSignal()}
        self._speed_max_mps = vehicle.speed_max_mps
        self._steer_max_rad = vehicle.steer_max_rad
        start_s: float | None = None
        for time_s, channel, value in _rows(path, tuple(self._channels)):
            start_s = time_s if start_s is None else start_s
            self._channels[channel].add(time_s - start_s, value)
            self.duration_s = time_s - start_s
            self.rows += 1
        if not self.rows:
            raise _fault(path, 1, "no commands in it", "at least one row", "none")

    def at(self, time_s: float) -> tuple[float, float]:
        """Return (steer_rad, speed_mps)."""
        steering = self._channels["steering"].at(time_s)
        throttle = self._channels["throttle"].at(time_s)
        return steering * self._steer_max_rad, throttle * self._speed_max_mps


def _fault(path: Path, line: int, what: str, expected: str, got: str) -> DataFileFault:
    where = f"{path}:{line}"
    return DataFileFault(what, where=where, expected=expected, got=got, remedy=f"give {_EXAMPLE}")


def _rows(path: Path, channels: tuple[str, ...]) -> Iterator[tuple[float, str, float]]:
    try:
        text = path.read_text("utf-8")
    except OSError as error:
        raise DataFileFault.unreadable(path, error) from error
    except UnicodeDecodeError as error:
        raise _fault(path, 1, "is not text", "comma separated values", "binary data") from error
    header, *lines = text.splitlines() or [""]
    if _cells(header) != HEADER:
        raise _fault(path, 1, "is no file of commands", ",".join(HEADER), repr(header[:60]))
    yield from _checked(path, lines, channels)


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.split(",")]


def _checked(
    path: Path, lines: Iterable[str], channels: tuple[str, ...]
) -> Iterator[tuple[float, str, float]]:
    last_s = float("-inf")
    for line, text in enumerate(lines, 2):
        if not text.strip():
            continue
        cells = _cells(text)
        if len(cells) != len(HEADER):
            raise _fault(path, line, "wrong number of values", "3", str(len(cells)))
        time_s = _number(path, line, "t_s", cells[0], last_s, float("inf"))
        value = _number(path, line, "value_norm", cells[2], -1.0, 1.0)
        channel = cells[1]
        if channel not in channels:
            raise _fault(path, line, "unknown channel", " or ".join(channels), channel)
        last_s = time_s
        yield time_s, channel, value


def _number(path: Path, line: int, name: str, cell: str, low: float, high: float) -> float:
    try:
        value = float(cell)
    except ValueError:
        raise _fault(path, line, f"{name} is not a number", "a number", repr(cell)) from None
    if not low <= value <= high or value in (float("inf"), float("-inf")):
        raise _fault(path, line, f"{name} is out of range", f"{low:g} to {high:g}", cell)
    return value
