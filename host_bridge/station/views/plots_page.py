"""Plots, the map and a log's slider, as a separate program: NiceGUI, beside the station's page.

It is one more observer of the station: it sees what every page sees and sends nothing to a car. If
it hangs or is killed, neither a stop nor a hold is affected. It ends when the station does.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import tempfile
import time
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

os.environ.setdefault("NICEGUI_STORAGE_PATH", tempfile.gettempdir())

from nicegui import app, ui
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.websockets import WebSocket, WebSocketDisconnect

from host_bridge.station.log_views.folder import LogFolder
from host_bridge.station.log_views.page import add_logs_page
from host_bridge.station.views import charts
from host_bridge.station.views.feed import Point, StationFeed, TimeSeries
from host_bridge.station.views.page_style import dress
from host_bridge.station.views.signals import SIGNALS
from host_bridge.station.views.slider import Slider

_DRAW_S = 0.4  # between two drawings: a browser on a laptop keeps up
_MEASURE_S = 2.0
_MAP_HEIGHT, _PLOT_HEIGHT, _CELL_HEIGHT = 384, 240, 148  # pixels
_SCANS_S = 0.1  # a LIDAR turns ten times a second or more
# Esc stops from this frame, too: it asks the station itself, and then tells the page around it
_ESC = """<script>document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  fetch("http://%s/stop", { mode: "no-cors", keepalive: true }).catch(() => {});
  parent.postMessage({ isPressed: true }, "*");
}, true);</script>"""

_PAGES = ("127.0.0.1", "localhost")


class Shown(NamedTuple):
    """A car or a pair, and how it is drawn."""

    name: str
    series: TimeSeries
    colour: str
    is_twin: bool = False


class Plots:
    """One page's map and charts, redrawn several times a second."""

    def __init__(self, feed: StationFeed, theme: charts.Theme, *, is_cell: bool) -> None:
        """``is_cell``: in the cell of the station's page, which has its own map."""
        self._feed = feed
        self._theme = theme
        height = _CELL_HEIGHT if is_cell else _PLOT_HEIGHT
        self._map = None if is_cell else _map(theme)
        self._tools = PlotTools(self)
        self._height = height
        self._chosen: dict[str, ui.echart] = {}  # by the key of its signal
        self._box = ui.element("div").classes("w-full")
        with self._box.style(
            "display: grid; gap: 12px; grid-template-columns: " + _columns(is_cell)
        ):
            self._charts = [
                (_chart(title, unit, theme, height), keys) for title, unit, keys in charts.PLOTS
            ]
            self._of_pairs = [
                (_chart(title, unit, theme, height), keys)
                for title, unit, keys in charts.PAIR_PLOTS
            ]
        if is_cell:  # speed and place are what a driver looks at, and the cell shows two
            self._of_pairs[0][0].move(target_index=1)
        self._wide = 2.0
        ui.timer(_DRAW_S, self.draw)
        if self._map:
            ui.timer(_MEASURE_S, self._measure)

    async def _measure(self) -> None:
        """Measure the map's ratio of width to height on this screen, for equal scales."""
        with suppress(TimeoutError):
            assert self._map is not None, "it is measured only where it is"
            found = await ui.run_javascript(f"getElement({self._map.id}).$el.offsetWidth")
            width = float(found or 0) - charts.LEFT - charts.RIGHT
            self._wide = max(width, 100.0) / (_MAP_HEIGHT - charts.TOP - charts.BOTTOM)

    def choose(self, keys: Collection[str]) -> None:
        """Have plots of exactly these signals, by their keys, besides the standing ones."""
        for key in [it for it in self._chosen if it not in keys]:
            self._chosen.pop(key).delete()
        with self._box:
            for it in SIGNALS:
                if it.key in keys and it.key not in self._chosen:
                    self._chosen[it.key] = _chart(it.words, it.unit, self._theme, self._height)

    def csv(self) -> str:
        """Return all that is drawn, as CSV."""
        shown = [it for it, _ in (*self._charts, *self._of_pairs)] + [*self._chosen.values()]
        return charts.csv(it.options for it in shown)

    def draw(self) -> None:
        """Redraw everything for the time that is shown, unless that stands still."""
        if not self._tools.may_draw():
            return
        cars, pairs = _shown(self._feed, self._theme)
        for chart, keys in self._charts:
            self._draw_lines(chart, keys, cars)
        for key, chart in self._chosen.items():
            self._draw_lines(chart, ((key, "solid"),), cars)
        for chart, keys in self._of_pairs:
            chart.set_visibility(bool(pairs))
            self._draw_lines(chart, keys, pairs)
        if self._map:
            self._draw_map(cars, self._map)

    def _draw_lines(self, chart: ui.echart, keys: Any, shown: list[Shown]) -> None:
        feed = self._feed
        end_s = 0.0 if feed.is_log else feed.now_s
        lines = [
            charts.line(
                _called(it.name, key, keys),
                it.series.line(key, end_s),
                it.colour,
                "dashed" if it.is_twin and style == "solid" else style,
            )
            for it in shown
            for key, style in keys
        ]
        if feed.is_log and lines:
            lines[0]["markLine"] = charts.marker(feed.now_s, self._theme)
        chart.options["series"] = lines
        chart.update()

    def _draw_map(self, shown: list[Shown], chart: ui.echart) -> None:
        feed = self._feed
        drawn: list[dict[str, Any]] = []
        points: list[Point] = []
        for name, series, colour, _ in shown:
            path, scan = series.path(feed.now_s), feed.scan(name)
            width = 2 if drawn else 5  # the first is wider: seen below a twin's path, too
            drawn.append(charts.line(name, path, colour, "solid", width))
            if scan:
                drawn.append(charts.dots(f"{name} lidar", scan, colour))
            if pose := series.pose(feed.now_s):
                drawn.append(charts.car(pose, colour))
            points += [*path, *scan]
        chart.options["series"] = drawn
        charts.frame(chart.options, points, self._wide)
        chart.update()


class PlotTools:
    """The row above the plots: which signals, whether they stand still, and what they show."""

    def __init__(self, plots: Plots) -> None:
        self._plots = plots
        self._paused_s: float | None = None
        names = {it.key: f"{it.words}, {it.unit}" for it in SIGNALS}
        with ui.row().classes("w-full items-center gap-2"):
            select = ui.select(
                names,
                label="+ any signal",
                multiple=True,
                with_input=True,
                value=[],
                on_change=lambda event: plots.choose(event.value),
            )
            select.props("dense options-dense use-chips").style("flex: 1; min-width: 140px")
            self._button = ui.button("Pause", on_click=self._toggle).props("dense no-caps")
            ui.button("CSV", on_click=self._save).props("dense no-caps")

    def may_draw(self) -> bool:
        """Return False while the plots stand still; say for how long."""
        if self._paused_s is None:
            return True
        self._button.text = f"Paused {time.monotonic() - self._paused_s:.0f} s ago: go on"
        return False

    def _toggle(self) -> None:
        self._paused_s = time.monotonic() if self._paused_s is None else None
        self._button.text = "Pause"
        self._button.classes(**{"remove" if self._paused_s is None else "add": "is-on"})

    def _save(self) -> None:
        ui.download.content(self._plots.csv(), "plots.csv", "text/csv")


def _chart(title: str, unit: str, theme: charts.Theme, height: int = _PLOT_HEIGHT) -> ui.echart:
    it = ui.echart(charts.options(title, unit, theme)).classes("w-full")
    return it.style(f"height: {height}px")


def _map(theme: charts.Theme) -> ui.echart:
    options = charts.options("map by each car's own odometry", "m", theme, is_map=True)
    return ui.echart(options).classes("w-full").style(f"height: {_MAP_HEIGHT}px")


def _columns(is_cell: bool) -> str:
    return "repeat(auto-fit, minmax(min(250px, 100%), 1fr))" if is_cell else "1fr"


def _shown(feed: StationFeed, theme: charts.Theme) -> tuple[list[Shown], list[Shown]]:
    """Return cars and pairs, each in the colour of its car's number, as the page has it.

    A twin has its car's colour, and is dashed.
    """
    twins = {it.newest("twin"): it.newest("car") for it in feed.pairs.values()}
    colours = {}
    for position, (name, series) in enumerate(sorted(feed.cars.items()), 1):
        number = series.newest("number") or position
        colours[name] = theme.cars[(number - 1) % len(theme.cars)]
    cars = [
        Shown(name, it, colours.get(twins.get(name, name), colours[name]), name in twins)
        for name, it in sorted(feed.cars.items())
    ]
    pairs = [
        Shown(name, it, colours.get(it.newest("car"), theme.ink))
        for name, it in sorted(feed.pairs.items())
    ]
    return cars, pairs


def _called(name: str, key: str, keys: Any) -> str:
    return f"{name} {key.rpartition('_')[0]}" if len(keys) > 1 else name


def is_worth_logging(record: logging.LogRecord) -> bool:
    """Return False for the log record of a browser that left while it was being answered.

    Starlette reports that by this exception, with a traceback, under every middleware of its kind.
    """
    error = record.exc_info[1] if record.exc_info else None
    return not (isinstance(error, RuntimeError) and str(error) == "No response returned.")


async def send_scans(socket: WebSocket, feed: StationFeed, port: str) -> None:
    """Send the newest scans to a page of the station on this port, until it is gone.

    A message has the points of each car in m, where the car's odometry has them.
    """
    if socket.headers.get("origin") not in [f"http://{it}:{port}" for it in _PAGES]:
        await socket.close()
        return
    await socket.accept()
    with suppress(WebSocketDisconnect, RuntimeError):
        while True:
            found = {name: feed.scan(name) for name in list(feed.cars)}
            await socket.send_json({name: points for name, points in found.items() if points})
            await asyncio.sleep(_SCANS_S)


def main() -> None:
    """Serve until the station is gone."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("station", help="its host and port")
    parser.add_argument("port", type=int)
    parser.add_argument("--log", type=Path, help="what the station replays")
    parser.add_argument("--logs", type=Path, default=Path(), help="the folder whose logs it lists")
    parser.add_argument("--lidar", action="append", default=[], help="CAR=FILE")
    arguments = parser.parse_args()
    lidars = dict(word.split("=", 1) for word in arguments.lidar)
    feed = StationFeed(arguments.station, lidars, arguments.log, app.shutdown)

    @ui.page("/")
    def page(cell: bool = False, theme: str = "") -> None:
        ui.add_head_html(_ESC % arguments.station)
        dress(charts.theme_of(theme))
        if feed.is_log:
            Slider(feed)
        Plots(feed, charts.theme_of(theme), is_cell=cell)

    add_logs_page(LogFolder(arguments.logs), _ESC % arguments.station)

    @app.get("/alive")
    async def alive() -> str:
        return "yes"  # its event loop turns: the station asks

    @app.websocket("/scans")
    async def scans(socket: WebSocket) -> None:
        await send_scans(socket, feed, arguments.station.rpartition(":")[2])

    logging.getLogger("uvicorn.error").addFilter(is_worth_logging)
    feeds: list[asyncio.Task[None]] = []
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=["localhost", "127.0.0.1"])
    app.on_startup(lambda: feeds.append(asyncio.create_task(feed.run())))
    ui.run(
        host="127.0.0.1", port=arguments.port, title="Tandem: plots", dark=True, show=False,
        reload=False, show_welcome_message=False, reconnect_timeout=10.0,
    )  # fmt: skip


if __name__ == "__main__":
    main()
