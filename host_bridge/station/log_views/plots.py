"""One or two logs as plots and a map, over one another, for the moment that is shown."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from nicegui import events, ui

from host_bridge.station.log_views.series import (
    EXACT_S,
    FIELDS,
    FIRST_MOTION,
    CarRun,
    LogRun,
    NumberSeries,
    behind,
    path_from,
    seen_from,
    thinned,
)
from host_bridge.station.views import charts
from host_bridge.station.views.signals import SIGNALS

_STANDING = ("speed_mps", "steer_deg")
_HEIGHT, _MAP_HEIGHT = 150, 300  # pixels
_SETTLED_S = 0.25  # a person turns the wheel faster than a plot need be drawn anew
_WIDE = 1.2  # the map's ratio of width to height, about
_STYLES = {"A": "solid", "B": "dashed"}
_CURSOR = "cursor"
_BEHIND = "B behind A at the same distance"

Span = tuple[float, float]


@dataclass
class LogView:
    """The logs that are shown, by "A" and "B", the moment that they share, and the time shown."""

    runs: dict[str, LogRun] = field(default_factory=dict)
    align: str = FIRST_MOTION
    at_s: float = 0.0
    theme: charts.Theme = charts.NIGHT
    chosen: tuple[str, ...] = ()

    @staticmethod
    def knows(key: str) -> bool:
        """Return whether a log has this signal: some are only known where the cars are live."""
        return key in FIELDS and key not in _STANDING

    def keys(self) -> tuple[str, ...]:
        return (*_STANDING, *self.chosen)

    def time_in(self, letter: str, at_s: float) -> float:
        """Return the time in this log itself that lies at a time of the page."""
        run = self.runs.get(letter)
        return at_s + (run.moment_s(self.align) if run else 0.0)

    def extent(self) -> Span:
        """Return from when to when the logs are, in s from their common moment."""
        starts = [(run.moment_s(self.align), run.length_s) for run in self.runs.values()]
        if not starts:
            return 0.0, 0.0
        return (round(min(-at_s for at_s, _ in starts), 2),
                round(max(length_s - at_s for at_s, length_s in starts), 2))  # fmt: skip

    def common_marks(self) -> list[str]:
        """Return the marks that every shown log has, in order."""
        runs = [[words for _, words in run.marks] for run in self.runs.values()]
        return list(dict.fromkeys(it for it in (runs[0] if runs else []) if _in_all(it, runs)))

    def cars(self) -> Iterator[tuple[str, str, CarRun, str]]:
        """Yield each car with its log's letter, its name in words, and its colour."""
        taken = 0
        for letter, run in sorted(self.runs.items()):
            for name, car in sorted(run.cars.items()):
                colour = self.theme.cars[taken % len(self.theme.cars)]
                yield letter, f"{letter} {name}", car, colour
                taken += 1

    def marks(self) -> Iterator[tuple[float, str]]:
        """Yield each mark's time and words, with its log's letter where two are shown."""
        for letter, run in self.runs.items():
            for at_s, words in run.marks:
                text = f"{letter}: {words}" if len(self.runs) > 1 else words
                yield at_s - run.moment_s(self.align), text

    def later(self) -> NumberSeries:
        """Return by how many s B's first car is behind A's; empty without both."""
        if len(self.runs) < 2 or not all(run.cars for run in self.runs.values()):
            return NumberSeries()
        first, second = (self.runs[letter] for letter in ("A", "B"))
        one, other = (run.cars[min(run.cars)] for run in (first, second))
        return behind(one, first.moment_s(self.align), other, second.moment_s(self.align))

    def csv_rows(self, span: Span) -> Iterator[tuple[object, ...]]:
        """Yield every report within a span as a row: nothing is thinned here."""
        yield "line", "signal", "unit", "t_s", "value"
        for letter, called, car, _ in self.cars():
            from_s = self.time_in(letter, 0.0)
            for it in (it for it in SIGNALS if it.key in self.keys()):
                series = car.series(it.key)
                for at_s, value in zip(series.times_s, series.values, strict=True):
                    if span[0] <= at_s - from_s <= span[1]:
                        yield called, it.words, it.unit, round(at_s - from_s, 4), round(value, 6)


def _in_all(words: str, runs: list[list[str]]) -> bool:
    return all(words in marks for marks in runs)


class LogPlots:
    """A plot for each chosen signal and a map; what is zoomed in one is zoomed in all."""

    def __init__(self, view: LogView) -> None:
        self._view = view
        self._span: Span | None = None
        self._asked: Span | None = None
        self._plots: dict[str, ui.echart] = {}
        options = charts.options("places, each from where it stood", "m", view.theme, is_map=True)
        self._map = ui.echart(options).classes("w-full").style(f"height: {_MAP_HEIGHT}px")
        self._box = ui.element("div").classes("logs-plots")
        ui.timer(_SETTLED_S, self._settle)

    def shown_s(self) -> Span:
        """Return the span that is drawn."""
        return self._span or self._view.extent()

    def zoom(self, span: Span | None) -> None:
        """Show this span in all plots; None shows all of it."""
        self._span = span
        for key in self._plots:
            self._draw(key)

    def lay(self) -> None:
        """Draw everything anew: other logs, another common moment, other signals."""
        self._span = self._asked = None
        wanted = [*self._view.keys()] + ([_BEHIND] if len(self._view.runs) > 1 else [])
        for key in [it for it in self._plots if it not in wanted]:
            self._plots.pop(key).delete()
        with self._box:
            for key in wanted:
                if key not in self._plots:
                    self._plots[key] = self._new(key)
        for key in self._plots:
            self._draw(key)
        self._draw_map()

    def _new(self, key: str) -> ui.echart:
        words, unit = next(((it.words, it.unit) for it in SIGNALS if it.key == key), (_BEHIND, "s"))
        it = ui.echart(charts.options(words, unit, self._view.theme)).classes("w-full")
        it.style(f"height: {_HEIGHT}px")
        it.on("chart:datazoom", self._zoomed, throttle=0.1)  # s: less than a plot takes to settle
        return it

    def _zoomed(self, event: events.GenericEventArguments) -> None:
        batch = (event.args.get("batch") or [event.args])[0]
        begin_s, end_s = self._view.extent()
        if "start" in batch and "end" in batch:  # in per cent of the whole extent
            wide = (end_s - begin_s) / 100.0
            self._asked = begin_s + batch["start"] * wide, begin_s + batch["end"] * wide

    def _settle(self) -> None:
        """Draw the span that a person has come to rest at, with all that it has."""
        if self._asked and self._asked != self._span:
            self.zoom(self._asked)

    def _draw(self, key: str) -> None:
        plot, extent, span = self._plots[key], self._view.extent(), self.shown_s()
        lines = [{"id": _CURSOR, "type": "line", "data": [], "markLine": self._marker()}]
        if key == _BEHIND:
            ink = self._view.theme.ink
            lines.append(_line(_BEHIND, self._view.later(), 0.0, extent, span, ink, "solid"))
        else:
            for letter, called, car, colour in self._view.cars():
                from_s = self._view.time_in(letter, 0.0)
                series, style = car.series(key), _STYLES[letter]
                lines.append(_line(called, series, from_s, extent, span, colour, style))
        plot.options["xAxis"] |= {"min": extent[0], "max": extent[1]}
        plot.options["dataZoom"] = [
            {**plot.options["dataZoom"][0], "startValue": span[0], "endValue": span[1]}
        ]
        plot.options["series"] = lines
        plot.update()

    def _draw_map(self) -> None:
        lines: list[dict[str, Any]] = []
        points: list[list[float]] = []
        for letter, called, car, colour in self._view.cars():
            path = path_from(car, self._view.time_in(letter, 0.0), self._view.extent()[1] + 1e9)
            lines.append(charts.line(called, path, colour, _STYLES[letter]))
            points += path
        self._map.options["series"] = [*lines, *self._poses()]
        charts.frame(self._map.options, points, _WIDE)
        self._map.update()

    def _poses(self) -> list[dict[str, Any]]:
        found = []
        for letter, called, car, colour in self._view.cars():
            origin = car.pose(self._view.time_in(letter, 0.0))
            pose = car.pose(self._view.time_in(letter, self._view.at_s))
            arrow = charts.car((0.0, 0.0, 0.0), colour)
            if origin and pose:
                place = seen_from(origin, pose[0], pose[1])
                arrow = charts.car((place[0], place[1], pose[2] - origin[2]), colour)
            found.append({**arrow, "id": f"pose {called}"})
        return found

    def mark(self) -> None:
        """Show the time of the page in every plot, and where the cars are then on the map."""
        cursor = {"series": [{"id": _CURSOR, "markLine": self._marker()}]}
        for plot in self._plots.values():
            plot.run_chart_method("setOption", cursor)
        if self._view.runs:
            self._map.run_chart_method("setOption", {"series": self._poses()})

    def _marker(self) -> dict[str, Any]:
        ink = self._view.theme.ink
        marks = [
            {
                "xAxis": round(at_s, 3),
                "label": {"formatter": words, "show": True, "color": ink},
                "lineStyle": {"type": "dotted", "color": ink},
            }
            for at_s, words in self._view.marks()
        ]
        marker = charts.marker(self._view.at_s, self._view.theme)
        return {**marker, "data": [*marker["data"], *marks]}


def _line(
    called: str, series: NumberSeries, from_s: float, extent: Span, span: Span, colour: str,
    style: str,
) -> dict[str, Any]:  # fmt: skip
    """Return a line over the whole extent, and in all its detail within the span."""
    pieces = [(extent[0], span[0]), span, (span[1], extent[1])] if span != extent else [extent]
    points: list[list[float]] = []
    for begin_s, end_s in pieces:
        for at_s, value in thinned(series, begin_s + from_s, end_s + from_s):
            if not points or at_s - from_s > points[-1][0]:
                points.append([round(at_s - from_s, 4), round(value, 4)])
    line = charts.line(called, points, colour, style)
    return {**line, "id": called} if span[1] - span[0] > EXACT_S else {
        **line, "id": called, "sampling": None}  # fmt: skip
