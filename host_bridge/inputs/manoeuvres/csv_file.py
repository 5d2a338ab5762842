"""A file of commands as a manoeuvre: rows of t_s, channel, value_norm.

``channel`` is throttle or steering, ``value_norm`` the part of the vehicle's top speed or of its
full lock (positive to the left), from -1 to 1. A value holds until the channel's next row. Times
are in seconds, rising; the first row is time 0.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from pathlib import Path

from host_bridge.core import Vehicle
from host_bridge.core.files import raised_as, read_table
from host_bridge.core.files.drive_tables import CHANNELS, COMMANDS

LONGEST_S = 86_400.0  # chosen: a day; times in milliseconds make weeks of a drive


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

    def __init__(
        self, path: Path, vehicle: Vehicle, columns: Mapping[str, str] | None = None
    ) -> None:
        """Read the file; ``columns`` has other names of its columns by ours.

        Raises errors.DataFileFault, with the line, for a file that is not one of commands.
        """
        table = read_table(path, COMMANDS, columns)
        times_s = table.column("t_s")
        self.rows = len(table.rows)
        self.duration_s = times_s[-1] - times_s[0]
        if self.duration_s > LONGEST_S:
            with raised_as():
                raise table.fault(
                    table.rows[-1].line,
                    f"these commands last {self.duration_s / 3600:.1f} h",
                    f"at most {LONGEST_S / 3600:.0f} h",
                    f"{self.duration_s:.0f} s",
                    "are the times in milliseconds?",
                )
        self._channels = {name: HeldSignal() for name in CHANNELS}
        self._speed_max_mps = vehicle.speed_max_mps
        self._steer_max_rad = vehicle.steer_max_rad
        for row, time_s in zip(table.rows, times_s, strict=True):
            signal = self._channels[row.values["channel"]]
            signal.add(time_s - times_s[0], row.values["value_norm"])

    def at(self, time_s: float) -> tuple[float, float]:
        """Return (steer_rad, speed_mps)."""
        steering = self._channels["steering"].at(time_s)
        throttle = self._channels["throttle"].at(time_s)
        return steering * self._steer_max_rad, throttle * self._speed_max_mps
