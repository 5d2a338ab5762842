"""The page of logs: a list with download, and one or two logs over one another at one time.

A page of the plots' program (``plots_page.py``), beside the station's own. It reads files of one
folder, and sends nothing to a car.
"""

from __future__ import annotations

import csv
import datetime
import io
from collections.abc import Collection
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import quote

from nicegui import app, events, run, ui
from starlette.responses import PlainTextResponse, Response, StreamingResponse

from host_bridge.core.errors import DataFileFault
from host_bridge.station.log_views.cards import RunCard
from host_bridge.station.log_views.folder import LogFolder, LogRow, parts_of
from host_bridge.station.log_views.plots import LogPlots, LogView
from host_bridge.station.log_views.series import BEGINNING, FIRST_MOTION, LogRun, read_run
from host_bridge.station.log_views.state_strip import StateStrip
from host_bridge.station.views import charts
from host_bridge.station.views.page_style import dress
from host_bridge.station.views.signals import SIGNALS

_LOOK_S = 3.0  # between two looks at the folder
_PLAY_S = 0.1  # between two moments while it plays
_STEP_S, _FAR_STEP_S = 0.02, 1.0  # an arrow's step: about a report of a car's motion; with Shift
_SPEEDS = {0.25: "¼×", 1.0: "1×", 4.0: "4×"}
_FILES = "/logs/file/"


def add_logs_page(folder: LogFolder, head: str) -> None:
    """Serve the page at ``/logs``, and each log of the folder for download; ``head`` is its HTML's.

    ``/logs?a=NAME`` opens a log at once.
    """

    @ui.page("/logs")
    async def page(a: str = "", theme: str = "") -> None:
        ui.add_head_html(head + _STYLE)
        colours = charts.theme_of(theme)
        dress(colours)
        it = LogsPage(folder, colours)
        if a:
            await it.put_over("A", a)

    @app.get(_FILES + "{name}")
    def file(name: str) -> Response:
        return _download(folder, name)


def _download(folder: LogFolder, name: str) -> Response:
    try:
        size, parts = parts_of(folder.path_of(name))
    except DataFileFault as fault:
        return PlainTextResponse(f"{fault}\n", HTTPStatus.NOT_FOUND)
    headers = {
        "Content-Length": str(size),
        "Content-Disposition": f"attachment; filename*=UTF-8''{quote(name)}",
        "X-Content-Type-Options": "nosniff",
    }
    return StreamingResponse(parts, media_type="application/octet-stream", headers=headers)


class LogsPage:
    """One visitor's page: the chosen logs, the moment that is shown, and the list."""

    def __init__(self, folder: LogFolder, theme: charts.Theme) -> None:
        self._folder = folder
        self._view = LogView(theme=theme)
        self._rows: list[LogRow] = []
        self._names: dict[str, str] = {}  # of the logs that are shown, by "A" and "B"
        self._speed = 1.0
        self._plays = False
        self._lay_tools()
        self._words = ui.label().props('role="status"')
        self._shown = ui.element("div").classes("logs-grid")
        with self._shown:
            with ui.element("div").style("display: grid; gap: 12px; align-content: start"):
                self._cards = {letter: RunCard(letter, theme) for letter in ("A", "B")}
            self._plots = LogPlots(self._view)
        self._lay_time()
        self._list = ui.element("div").classes("logs-list").props('tabindex="0"')
        self._shown.set_visibility(False)
        ui.keyboard(on_key=self._press)
        ui.timer(_LOOK_S, self._look)
        ui.timer(_PLAY_S, self._go_on)

    def _lay_tools(self) -> None:
        with ui.row().classes("w-full items-center"):
            self._align = ui.select(
                [BEGINNING, FIRST_MOTION], value=FIRST_MOTION, label="laid together at",
                on_change=lambda event: self._lay_together(str(event.value)),
            ).props("dense").style("min-width: 150px")  # fmt: skip
            names = {it.key: f"{it.words}, {it.unit}" for it in SIGNALS if self._view.knows(it.key)}
            ui.select(
                names, label="+ any signal", multiple=True, with_input=True, value=[],
                on_change=lambda event: self._choose(event.value),
            ).props("dense options-dense use-chips").style("flex: 1; min-width: 150px")  # fmt: skip
            ui.button("All of it", on_click=self._show_all).props("dense no-caps")
            ui.button("CSV", on_click=self._save_csv).props("dense no-caps")
            ui.button("PNG", on_click=lambda: ui.run_javascript(_PNG)).props("dense no-caps")

    def _lay_time(self) -> None:
        self._states = StateStrip(self._view)
        with ui.row().classes("w-full items-center"):
            self._button = ui.button("Play", on_click=self._toggle).props("dense no-caps")
            # s: a report of a car's motion
            self._slider = ui.slider(min=0.0, max=1.0, step=0.02, value=0.0)
            self._slider.props('aria-label="time, seconds"')
            self._slider.style("flex: 1; min-width: 150px")
            self._slider.on_value_change(lambda event: self._show_at(float(event.value)))
            self._at = ui.label().style("min-width: 150px")
            speeds = ui.toggle(_SPEEDS, value=self._speed, on_change=self._set_speed)
            speeds.props('dense no-caps aria-label="how fast it plays"')

    # --- the list

    async def _look(self) -> None:
        """Look at the folder, in a thread; show the list anew if it has changed."""
        rows = await run.io_bound(self._folder.rows)
        if rows == self._rows and self._list.default_slot.children:
            return
        self._rows = rows or []
        self._show_list()

    def _show_list(self) -> None:
        self._list.clear()
        with self._list:
            if not self._rows:
                ui.label("No logs in the folder to which this station records: record a drive.")
                return
            with ui.element("table"):
                with ui.element("tr"):
                    for words in ("", "log", "written", "cars", "length", "size", ""):
                        with ui.element("th"):
                            ui.label(words)
                for row in self._rows:
                    self._show_row(row)

    def _show_row(self, row: LogRow) -> None:
        written = datetime.datetime.fromtimestamp(row.written_s).astimezone()
        whole = "" if row.is_complete else ", cut short or still recorded"
        with ui.element("tr"):
            with ui.element("td"), ui.row().classes("no-wrap").style("gap: 6px"):
                for letter in ("A", "B"):
                    self._offer(letter, row.name)
            cells = (row.name, f"{written:%d %b %Y %H:%M:%S}", ", ".join(row.cars),
                     f"{row.length_s:.1f} s{whole}", _size(row.size_bytes))  # fmt: skip
            for words in cells:
                with ui.element("td"):
                    ui.label(words)
            with ui.element("td"):
                link = ui.link("Download", _FILES + quote(row.name))
                link.props(f'download aria-label="Download {row.name}"')

    def _offer(self, letter: str, name: str) -> None:
        is_on = self._names.get(letter) == name

        async def press() -> None:
            await self.put_over(letter, "" if self._names.get(letter) == name else name)

        button = ui.button(letter, on_click=press)
        button.props(f'dense {"" if is_on else "outline"} aria-label="{name} as {letter}"')
        button.props(f"aria-pressed={'true' if is_on else 'false'}")
        button.style("min-width: 44px; min-height: 44px")

    # --- what is shown

    async def put_over(self, letter: str, name: str) -> None:
        """Show a log as A or as B; "" takes it away."""
        self._view.runs.pop(letter, None)
        self._names.pop(letter, None)
        if name and (log := await self._read(name)):
            self._view.runs[letter] = log
            self._names[letter] = name
        self._lay_together(str(self._align.value))
        self._show_list()

    async def _read(self, name: str) -> LogRun | None:
        """Read a log in a thread and say how far that is; None with the reason in words."""
        part = [0.0]
        length_s = next((row.length_s for row in self._rows if row.name == name), 0.0)

        def tell() -> None:
            self._words.text = f"Reading {name}: {100 * part[0]:.0f} %"

        timer = ui.timer(0.2, tell)  # five times a second is as fast as it is read
        try:
            path = self._folder.path_of(name)
            log = await run.io_bound(read_run, path, length_s, lambda it: part.__setitem__(0, it))
        except DataFileFault as fault:
            self._words.text = str(fault)
            return None
        finally:
            timer.cancel()
        self._words.text = ""
        return log

    def _lay_together(self, align: str) -> None:
        """Lay the logs over one another at this moment of each, and show all of them."""
        options = [BEGINNING, FIRST_MOTION, *self._view.common_marks()]
        align = align if align in options else FIRST_MOTION
        if self._align.options != options:
            self._align.set_options(options, value=align)
        self._view.align = align
        begin_s, end_s = self._view.extent()
        self._slider.props(f"min={begin_s} max={end_s}")
        self._shown.set_visibility(bool(self._view.runs))
        self._plots.lay()
        self._states.lay()
        for letter, card in self._cards.items():
            card.show_log(self._view.runs.get(letter), self._names.get(letter, ""))
        self._slider.value = min(max(self._view.at_s, begin_s), end_s)
        self._show_at(float(self._slider.value or 0.0))

    def _choose(self, keys: Collection[str]) -> None:
        self._view.chosen = tuple(keys)
        self._plots.lay()

    def _show_at(self, at_s: float) -> None:
        self._view.at_s = at_s
        self._at.text = f"{at_s:.2f} of {self._view.extent()[1]:.1f} s"
        for letter, card in self._cards.items():
            card.show(self._view.runs.get(letter), self._view.time_in(letter, at_s))
        self._plots.mark()

    # --- time goes on

    def _toggle(self) -> None:
        begin_s, end_s = self._view.extent()
        self._plays = not self._plays and end_s > begin_s
        if self._plays and self._view.at_s >= end_s:
            self._slider.value = begin_s
        self._button.text = "Pause" if self._plays else "Play"

    def _set_speed(self, event: events.ValueChangeEventArguments[Any]) -> None:
        self._speed = float(event.value)

    def _go_on(self) -> None:
        if not self._plays:
            return
        at_s = min(self._view.at_s + _PLAY_S * self._speed, self._view.extent()[1])
        self._slider.value = round(at_s, 2)
        if at_s >= self._view.extent()[1]:
            self._toggle()

    def _press(self, event: events.KeyEventArguments) -> None:
        """SPACE plays, arrows step by a report, with Shift by 1 s."""
        if not event.action.keydown:
            return
        step_s = _FAR_STEP_S if event.modifiers.shift else _STEP_S
        if event.key.space and not event.action.repeat:
            self._toggle()
        elif event.key.arrow_left or event.key.arrow_right:
            begin_s, end_s = self._view.extent()
            at_s = self._view.at_s + (step_s if event.key.arrow_right else -step_s)
            self._slider.value = round(min(max(at_s, begin_s), end_s), 2)

    def _show_all(self) -> None:
        self._plots.zoom(None)

    def _save_csv(self) -> None:
        text = io.StringIO()
        csv.writer(text).writerows(self._view.csv_rows(self._plots.shown_s()))
        names = "-".join(Path(it).stem for it in self._names.values()) or "logs"
        ui.download.content(text.getvalue(), f"{names}.csv", "text/csv")


def _size(size_bytes: int) -> str:
    return f"{size_bytes / 1e3:.0f} kB" if size_bytes < 1e6 else f"{size_bytes / 1e6:.1f} MB"


# Cards, map and plots side by side; on a narrow screen below one another
_STYLE = """<style>
.logs-grid { display: grid; gap: 12px; width: 100%;
  grid-template-columns: 200px minmax(0, 1fr) minmax(0, 1.2fr); }
.logs-list { width: 100%; max-height: 260px; overflow: auto; }
.logs-list td, .logs-list th { padding: 2px 12px 2px 0; text-align: left; }
.logs-grid > *, .logs-plots > * { min-width: 0; }
.logs-plots { display: grid; gap: 8px; grid-template-columns: minmax(0, 1fr); }
.logs-list a { color: inherit; }
@media (max-width: 800px) { .logs-grid { grid-template-columns: minmax(0, 1fr); } }
</style>"""
# All plots below one another in one picture, as they are drawn
_PNG = """(() => {
  const drawn = [...document.querySelectorAll('.nicegui-echart canvas')].filter((it) => it.width);
  const all = document.createElement('canvas'), paint = all.getContext('2d');
  all.width = Math.max(...drawn.map((it) => it.width));
  all.height = drawn.reduce((sum, it) => sum + it.height, 0);
  paint.fillStyle = '#161c21'; paint.fillRect(0, 0, all.width, all.height);
  let top = 0;
  for (const it of drawn) { paint.drawImage(it, 0, top); top += it.height; }
  const link = document.createElement('a');
  link.download = 'logs.png'; link.href = all.toDataURL('image/png'); link.click();
})()"""  # on the ground of a panel
