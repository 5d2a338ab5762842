"""The data of the plots' program: the station's status of the last 30 s, or a whole log.

It also reads the scans of LIDARs itself.
"""

from __future__ import annotations

import asyncio
import json
import urllib.request
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from math import cos, sin
from pathlib import Path
from typing import Any, NamedTuple

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, WebSocketException

from host_bridge.logs import reading
from host_bridge.logs.sensor_lines import SensorPipe

_KEPT_S = 30.0  # of the trails and the plots: as much as a page can be read
_SAMPLE_S = 0.1  # more points than pixels show nothing
_GONE_S = 5.0  # without the station for that long, this program ends
_OLD_S = 1.0  # an older scan is not shown
_POINTS = 360  # at most for one scan: more cannot be seen
POSE = "pose"

Point = list[float]


class ShownScan(NamedTuple):
    """One turn of a LIDAR; -1 or None is a ray without an echo."""

    time_s: float
    first_rad: float
    step_rad: float
    ranges_m: list[float | None]

    def points(self, pose: tuple[float, float, float], ahead_m: float) -> list[Point]:
        """Return the points on the map, for a car whose rear axle is at the pose."""
        x_m, y_m, yaw_rad = pose
        x_m, y_m = x_m + ahead_m * cos(yaw_rad), y_m + ahead_m * sin(yaw_rad)
        found = []
        every = max(len(self.ranges_m) // _POINTS, 1)
        for i in range(0, len(self.ranges_m), every):
            range_m = self.ranges_m[i]
            if range_m is not None and range_m > 0:
                angle_rad = yaw_rad + self.first_rad + i * self.step_rad
                found.append(
                    [
                        round(x_m + range_m * cos(angle_rad), 3),
                        round(y_m + range_m * sin(angle_rad), 3),
                    ]
                )
        return found


class TimeSeries:
    """Rows over time; a number is None where it was not known."""

    def __init__(self) -> None:
        self.rows: deque[tuple[float, dict[str, Any]]] = deque()

    def add(self, time_s: float, row: dict[str, Any]) -> None:
        self.rows.append((time_s, row))
        while self.rows and self.rows[0][0] < time_s - _KEPT_S:
            self.rows.popleft()

    def line(self, key: str, end_s: float) -> list[Point]:
        """Return a number's points: seconds relative to ``end_s``, and the value."""
        return [
            [round(time_s - end_s, 2), row[key]]
            for time_s, row in self.rows
            if row.get(key) is not None
        ]

    def path(self, until_s: float) -> list[Point]:
        return [row[POSE][:2] for at_s, row in self.rows if row.get(POSE) and at_s <= until_s]

    def pose(self, at_s: float) -> tuple[float, float, float] | None:
        """Return the car's last pose up to that time, or None."""
        for time_s, row in reversed(self.rows):
            if time_s <= at_s and row.get(POSE):
                x_m, y_m, yaw_rad = row[POSE]
                return x_m, y_m, yaw_rad
        return None

    def newest(self, key: str) -> Any:
        """Return the value of the newest row that has it."""
        return next((row[key] for _, row in reversed(self.rows) if row.get(key) is not None), None)


class StationFeed:
    """The client of the station.

    ``lidars`` are scan files by car, ``log`` is the log that is replayed, or None.
    """

    def __init__(
        self, station: str, lidars: Mapping[str, str], log: Path | None, end: Callable[[], None]
    ) -> None:
        self.cars: dict[str, TimeSeries] = {}
        self.pairs: dict[str, TimeSeries] = {}  # cars that one session drives: skew_ms, path
        self.replayed: dict[str, Any] | None = None
        self.now_s = 0.0
        self.is_log = False
        self._station = station
        self._end = end
        self._log = log
        self._lidars = dict(lidars)
        self._pipes: dict[str, SensorPipe] = {}
        self._scans: dict[str, list[ShownScan]] = {}  # live only the newest, from a log all
        self._socket: ClientConnection | None = None

    async def run(self) -> None:
        """Receive the status until the station is gone."""
        loop = asyncio.get_running_loop()
        heard_s = loop.time()
        while loop.time() - heard_s < _GONE_S:
            try:
                async with connect(f"ws://{self._station}/status", proxy=None) as self._socket:
                    await asyncio.to_thread(self._read_log)
                    async for message in self._socket:
                        heard_s = loop.time()
                        self._take(json.loads(message), heard_s)
            except (OSError, WebSocketException):
                await asyncio.sleep(0.5)
        self._end()

    async def seek(self, time_s: float, plays: bool) -> None:
        """Set the time of the log that all pages show."""
        if self._socket:
            with suppress(ConnectionClosed):
                await self._socket.send(json.dumps({"seek_s": time_s, "plays": plays}))

    def scan(self, car: str) -> list[Point]:
        """Return the points of the LIDAR's scan at the shown time, on the map.

        [] if there is none.
        """
        series, scans = self.cars.get(car), self._scans.get(car, [])
        index = bisect_right([it.time_s for it in scans], self.now_s) - 1
        if series is None or index < 0 or self.now_s - scans[index].time_s > _OLD_S:
            return []
        pose = series.pose(scans[index].time_s)
        ahead_m = series.newest("lidar_ahead_m")
        return scans[index].points(pose, float(ahead_m or 0.0)) if pose else []

    def _take(self, report: dict[str, Any], now_s: float) -> None:
        self.replayed = report.get("replayed")
        if self.is_log:
            self.now_s = float((self.replayed or {}).get("at_s", 0.0))
            return
        if now_s - self.now_s < _SAMPLE_S:
            return
        self.now_s = now_s
        for car in report["cars"]:
            row = {**car, **car.get("signals", {})}
            self.cars.setdefault(car["name"], TimeSeries()).add(now_s, row)
        for name, row in _pair_rows(report.get("together", [])):
            self.pairs.setdefault(name, TimeSeries()).add(now_s, row)
        self._take_scans(now_s)

    def _take_scans(self, now_s: float) -> None:
        for car, path in self._lidars.items():
            with suppress(OSError):  # it is not there yet
                pipe = self._pipes.get(car) or self._pipes.setdefault(car, SensorPipe(path))
                pipe.step(int(now_s * 1e6))
                if it := pipe.take_scan():
                    self._scans[car] = [ShownScan(now_s, it.first_rad, it.step_rad, it.ranges_m)]

    def _read_log(self) -> None:
        """Read the whole log at once: a plot shows all of it, with the slider's time marked."""
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(f"http://{self._station}/timeline", timeout=10) as reply:
            timeline = json.loads(reply.read())
        self.is_log = timeline is not None
        if timeline is None:
            return
        for name, row in timeline["cars"].items():
            series = self.cars[name] = TimeSeries()
            values = zip(*row.values(), strict=True)
            series.rows.extend(
                (time_s, dict(zip(row, one, strict=True)))
                for time_s, one in zip(timeline["t_s"], values, strict=True)
            )
        self.pairs = {}
        for time_s, pairs in zip(timeline["t_s"], timeline["together"], strict=True):
            for name, row in _pair_rows(pairs):
                self.pairs.setdefault(name, TimeSeries()).rows.append((time_s, row))
        if self._log:
            self._scans = scans_of(self._log)


def scans_of(log: Path) -> dict[str, list[ShownScan]]:
    """Return every scan of a log by car; times are in s since the first byte from a car.

    Raises errors.DataFileFault.
    """
    found: dict[str, list[ShownScan]] = {}
    first_us: int | None = None
    for record in reading.read(log):
        if first_us is None and record.topic == "down":
            first_us = record.time_us
        if record.topic == "lidar" and isinstance(record.value, dict) and first_us is not None:
            row = record.value
            time_s = (record.time_us - first_us) * 1e-6
            scan = ShownScan(time_s, row["first_rad"], row["step_rad"], row["ranges_m"])
            found.setdefault(record.car, []).append(scan)
    return found


def _pair_rows(pairs: list[dict[str, Any]]) -> list[tuple[str, dict[str, Any]]]:
    return [
        (
            f"{it['car']} and {it['twin']}",
            {
                "car": it["car"],
                "twin": it["twin"],
                "skew_ms": it["skew_ms"],
                **{one["what"]: one["amount"] for one in it["differences"]},
            },
        )
        for it in pairs
    ]
