"""Plots, the map and a log's slider, as a program of its own: NiceGUI, beside the station's page.

It is one more observer of the station: it sees what every page sees and sends nothing to a car. If
it hangs or is killed, neither a stop nor a hold knows of it. It ends when the station does.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import math
import os
import tempfile
import urllib.request
from collections import deque
from typing import Any

os.environ.setdefault("NICEGUI_STORAGE_PATH", tempfile.gettempdir())

from nicegui import app, events, ui
from starlette.middleware.trustedhost import TrustedHostMiddleware
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException

_KEPT_S = 30.0
_SAMPLE_S = 0.1
_DRAW_S = 0.4
_GONE_S = 5.0  # without the station this program has nothing to show
_COLOURS = ("#7ddf8a", "#6cb6ff", "#ffd166", "#ff9a8f", "#c8a2ff", "#8fe3e0")
_POSE = "pose"
_AXIS = {
    "splitLine": {"lineStyle": {"color": "#343b41"}},
    "axisLabel": {"color": "#b6bec5", "showMinLabel": False, "showMaxLabel": False},
}
_PLOTS = (
    ("speed", "m/s", (("speed_mps", "solid"), ("target_mps", "dotted"))),
    ("steering, to the left", "degrees", (("steer_deg", "solid"),)),
    ("battery", "V", (("battery_v", "solid"),)),
)


class Series:
    """One car's numbers over time, each None where nothing was known."""

    def __init__(self) -> None:
        self.rows: deque[tuple[float, dict[str, Any]]] = deque()

    def add(self, time_s: float, row: dict[str, Any]) -> None:
        self.rows.append((time_s, row))
        while self.rows and self.rows[0][0] < time_s - _KEPT_S:
            self.rows.popleft()

    def line(self, key: str, end_s: float) -> list[list[float]]:
        """Pairs of seconds before the end, and a number."""
        return [
            [round(time_s - end_s, 2), row[key]]
            for time_s, row in self.rows
            if row.get(key) is not None
        ]

    def path(self, until_s: float) -> list[list[float]]:
        return [row[_POSE][:2] for at_s, row in self.rows if row.get(_POSE) and at_s <= until_s]


class Feed:
    """What the station says, kept for half a minute; of a log all of it."""

    def __init__(self, station: str) -> None:
        self.cars: dict[str, Series] = {}
        self.replayed: dict[str, Any] | None = None
        self.now_s = 0.0
        self.is_log = False
        self._station = station
        self._socket: ClientConnection | None = None

    async def run(self) -> None:
        """Until the station is gone."""
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
        app.shutdown()

    async def seek(self, time_s: float, plays: bool) -> None:
        """Of a log: what all pages show."""
        if self._socket:
            await self._socket.send(json.dumps({"seek_s": time_s, "plays": plays}))

    def _take(self, said: dict[str, Any], now_s: float) -> None:
        self.replayed = said.get("replayed")
        if self.is_log:
            self.now_s = float((self.replayed or {}).get("at_s", 0.0))
            return
        if now_s - self.now_s < _SAMPLE_S:
            return
        self.now_s = now_s
        for car in said["cars"]:
            self.cars.setdefault(car["name"], Series()).add(now_s, car)

    def _read_log(self) -> None:
        """All of it at once: a plot shows where in it the slider is."""
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(f"http://{self._station}/timeline", timeout=10) as reply:
            timeline = json.loads(reply.read())
        self.is_log = timeline is not None
        for name, row in (timeline or {"cars": {}})["cars"].items():
            series = self.cars[name] = Series()
            values = zip(*row.values(), strict=True)
            series.rows.extend(
                (time_s, dict(zip(row, one, strict=True)))
                for time_s, one in zip(timeline["t_s"], values, strict=True)
            )


class Plots:
    """One page's charts, drawn anew some times a second."""

    def __init__(self, feed: Feed) -> None:
        self._feed = feed
        self._charts = [
            (ui.echart(_options(title, unit)).classes("w-full").style("height: 15rem"), keys)
            for title, unit, keys in _PLOTS
        ]
        self._map = ui.echart(_map_options()).classes("w-full").style("height: 24rem")
        self._apart = ui.label().props('role="status"')
        ui.timer(_DRAW_S, self.draw)

    def draw(self) -> None:
        feed = self._feed
        end_s = 0.0 if feed.is_log else feed.now_s
        coloured = list(zip(sorted(feed.cars), _COLOURS * 9, strict=False))
        for chart, keys in self._charts:
            lines = [
                _line(f"{name} {key.rpartition('_')[0]}", feed.cars[name].line(key, end_s), colour,
                      style)
                for name, colour in coloured
                for key, style in keys
            ]  # fmt: skip
            if feed.is_log and lines:
                lines[0]["markLine"] = _marker(feed.now_s)
            chart.options["series"] = lines
            chart.update()
        self._draw_map(coloured)

    def _draw_map(self, coloured: list[tuple[str, str]]) -> None:
        now_s = self._feed.now_s
        paths = {name: self._feed.cars[name].path(now_s) for name, _ in coloured}
        self._map.options["series"] = [
            _line(name, paths[name], colour, "solid") for name, colour in coloured
        ]
        _frame(self._map.options, [point for path in paths.values() for point in path])
        self._map.update()
        self._apart.text = _apart(paths)


class Slider:
    """A log's time: what is chosen here all pages show."""

    def __init__(self, feed: Feed) -> None:
        self._feed = feed
        with ui.row().classes("w-full items-center no-wrap"):
            self._button = ui.button("Play", on_click=self._toggle)
            self._slider = ui.slider(min=0.0, max=1.0, step=0.05, value=0.0)
            self._slider.props('aria-label="time in the log, seconds"').style("flex: 1")
            self._slider.on("update:modelValue", self._moved, throttle=0.05)
            self._words = ui.label()
        ui.timer(0.2, self._show)

    def _show(self) -> None:
        said = self._feed.replayed or {}
        self._slider.props(f"max={said.get('of_s', 1.0)}")
        if said.get("plays"):
            self._slider.value = said["at_s"]
        self._button.text = "Pause" if said.get("plays") else "Play"
        self._words.text = f"{said.get('at_s', 0.0):.2f} of {said.get('of_s', 0.0):.1f} s"

    async def _moved(self, event: events.GenericEventArguments) -> None:
        await self._feed.seek(float(event.args), plays=False)

    async def _toggle(self) -> None:
        said = self._feed.replayed or {"at_s": 0.0, "of_s": 0.0, "plays": False}
        at_s = 0.0 if said["at_s"] >= said["of_s"] else said["at_s"]
        await self._feed.seek(at_s, plays=not said["plays"])


def _options(title: str, unit: str) -> dict[str, Any]:
    return {
        "animation": False,
        "aria": {"enabled": True},
        "title": {
            "text": f"{title}, {unit}",
            "left": 0,
            "padding": 0,
            "textStyle": {"fontSize": 13, "color": "#f2f4f5"},
        },
        "legend": {"top": 24, "left": 0, "type": "scroll", "textStyle": {"color": "#b6bec5"}},
        "grid": {"left": 45, "right": 12, "top": 54, "bottom": 24},
        "xAxis": {"type": "value", "min": "dataMin", "max": "dataMax", **_AXIS},
        "yAxis": {"type": "value", "scale": True, **_AXIS},
        "series": [],
    }


def _map_options() -> dict[str, Any]:
    return _options("map by each car's own odometry", "m")


def _line(name: str, data: list[list[float]], colour: str, style: str) -> dict[str, Any]:
    return {
        "name": name,
        "type": "line",
        "showSymbol": False,
        "data": data,
        "color": colour,
        "lineStyle": {"type": style, "width": 2},
    }


def _marker(at_s: float) -> dict[str, Any]:
    white = {"color": "#fff", "type": "solid"}
    return {"silent": True, "symbol": "none", "lineStyle": white, "data": [{"xAxis": at_s}],
            "label": {"show": False}}  # fmt: skip


def _frame(options: dict[str, Any], points: list[list[float]]) -> None:
    """The same scale for both axes: twice as wide as high, as the chart is on most screens."""
    xs, ys = [x for x, _ in points] or [0.0], [y for _, y in points] or [0.0]
    half = max((max(xs) - min(xs)) / 4, (max(ys) - min(ys)) / 2, 0.5) * 1.1
    middle_x, middle_y = (max(xs) + min(xs)) / 2, (max(ys) + min(ys)) / 2
    options["xAxis"] |= {"min": middle_x - 2 * half, "max": middle_x + 2 * half}
    options["yAxis"] |= {"min": middle_y - half, "max": middle_y + half}


def _apart(paths: dict[str, list[list[float]]]) -> str:
    """How far the second car is from the first, each by its own odometry from where it began."""
    ends = [(name, path[-1]) for name, path in paths.items() if path]
    if len(ends) < 2:
        return ""
    (first, here), *others = ends
    return "; ".join(f"{first} and {it}: {math.dist(here, at):.2f} m apart" for it, at in others)


def is_of_ours(record: logging.LogRecord) -> bool:
    """Whether it tells of more than a browser that left while it was being answered.

    Starlette says so by this exception, with a traceback, under every middleware of its kind.
    """
    error = record.exc_info[1] if record.exc_info else None
    return not (isinstance(error, RuntimeError) and str(error) == "No response returned.")


def main() -> None:
    """Serve until the station is gone."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("station", help="its host and port")
    parser.add_argument("port", type=int)
    arguments = parser.parse_args()
    feed = Feed(arguments.station)

    @ui.page("/")
    def page() -> None:
        if feed.is_log:
            Slider(feed)
        Plots(feed)

    logging.getLogger("uvicorn.error").addFilter(is_of_ours)
    feeds: list[asyncio.Task[None]] = []
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=["localhost", "127.0.0.1"])
    app.on_startup(lambda: feeds.append(asyncio.create_task(feed.run())))
    ui.run(
        host="127.0.0.1", port=arguments.port, title="Tandem: plots", dark=True, show=False,
        reload=False, show_welcome_message=False, reconnect_timeout=10.0,
    )  # fmt: skip


if __name__ == "__main__":
    main()
