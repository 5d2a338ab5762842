"""The states and laps of a log's cars over its whole length, for each car, above the slider."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from nicegui import ui

from host_bridge.core import State
from host_bridge.station.log_views.plots import LogView, Span
from host_bridge.station.log_views.series import CarRun

# Outlined, for nothing moves here; the word is the segment's name too
_SEGMENT = (
    "position: absolute; top: 0; bottom: 0; left: %.3f%%; width: %.3f%%; min-width: 4px;"
    " border: 2px solid %s; border-radius: 4px; color: %s; font-size: 12px; font-weight: 700;"
    " text-indent: 4px; overflow: hidden; white-space: nowrap"
)
_LEAST_PERCENT = 6.0  # narrower than that no word is read
_ROW = "display: grid; grid-template-columns: 90px minmax(0, 1fr); gap: 8px; align-items: center"
_NAME = "overflow: hidden; text-overflow: ellipsis; white-space: nowrap"
_STRIP = "position: relative; height: 22px"

_LAPS = "position: relative; height: 16px; overflow: hidden"
_TICK = (
    "position: absolute; top: 0; left: %.3f%%; padding-left: 4px; border-left: 2px solid;"
    " color: %s; font-size: 12px; line-height: 16px; white-space: nowrap"
)


class Segment(NamedTuple):
    """A state from one part of the extent to another, both of 0 to 1, and its word."""

    begin: float
    end: float
    word: str


def segments(car: CarRun, from_s: float, length_s: float, extent: Span) -> Iterator[Segment]:
    """Yield the states of a car whose log begins ``from_s`` before the page's time 0."""
    whole_s = extent[1] - extent[0]
    if whole_s <= 0.0:
        return
    ends = [at_s for at_s, _ in car.states[1:]] + [length_s]
    for (begin_s, state), end_s in zip(car.states, ends, strict=False):
        begin = max((begin_s - from_s - extent[0]) / whole_s, 0.0)
        end = min((end_s - from_s - extent[0]) / whole_s, 1.0)
        if end > begin:
            word = State[state].word if state in State.__members__ else "NO LINK"
            yield Segment(begin, end, word)


def lap_ticks(car: CarRun, from_s: float, extent: Span) -> Iterator[tuple[float, int]]:
    """Yield where each lap of a car begins, as a part of the extent, and its number."""
    whole_s = extent[1] - extent[0]
    for number, at_s in enumerate(car.laps_s, 1):
        if whole_s > 0.0 and 0.0 <= (at := (at_s - from_s - extent[0]) / whole_s) < 1.0:
            yield at, number


class StateStrip:
    """A strip for each car that is shown, and below it where its laps begin."""

    def __init__(self, view: LogView) -> None:
        self._view = view
        self._box = ui.element("div").classes("w-full").style("display: grid; gap: 4px")

    def lay(self) -> None:
        """Draw the strips of the logs that are shown now."""
        self._box.clear()
        theme = self._view.theme
        with self._box:
            for letter, called, car, colour in self._view.cars():
                run = self._view.runs[letter]
                from_s = self._view.time_in(letter, 0.0)
                with ui.element("div").style(_ROW):
                    ui.label(called).style(f"{_NAME}; color: {colour}; font-weight: 700")
                    strip = ui.element("div").style(_STRIP)
                    strip.props(f'role="img" aria-label="States of {called}"')
                    with strip:
                        for it in segments(car, from_s, run.length_s, self._view.extent()):
                            tone = theme.bands.get(it.word, theme.park)
                            wide = 100 * (it.end - it.begin)
                            ui.label(it.word if wide > _LEAST_PERCENT else "").style(
                                _SEGMENT % (100 * it.begin, wide, tone, tone)
                            ).props(f'title="{it.word}"')
                    self._lay_laps(called, car, from_s)

    def _lay_laps(self, called: str, car: CarRun, from_s: float) -> None:
        ticks = list(lap_ticks(car, from_s, self._view.extent()))
        if not ticks:
            return
        ui.element("span")
        line = ui.element("div").style(_LAPS).props(f'role="img" aria-label="Laps of {called}"')
        with line:
            for at, number in ticks:
                ui.label(f"lap {number}").style(_TICK % (100 * at, self._view.theme.dim))
