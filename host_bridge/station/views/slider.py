"""The time slider of a log that the station replays."""

from __future__ import annotations

from nicegui import events, ui

from host_bridge.station.views.feed import StationFeed

_SEEN_S = 0.06  # the slider's step, and the rounding of the station's answer


class Slider:
    """A log's time slider; its time is shared by all pages."""

    def __init__(self, feed: StationFeed) -> None:
        self._feed = feed
        self._asked_s: float | None = None  # a chosen time, until the station shows it
        with ui.row().classes("w-full items-center no-wrap"):
            self._button = ui.button("Play", on_click=self._toggle)
            # s: a step of the slider
            self._slider = ui.slider(min=0.0, max=1.0, step=0.05, value=0.0)
            self._slider.props('aria-label="time in the log, seconds"').style("flex: 1")
            # s: no more questions than the station answers
            self._slider.on("update:modelValue", self._moved, throttle=0.05)
            self._words = ui.label()
        ui.timer(0.2, self._show)  # between two looks at the answer

    def _show(self) -> None:
        replayed = self._feed.replayed or {}
        self._slider.props(f"max={replayed.get('of_s', 1.0)}")
        at_s = replayed.get("at_s", 0.0)
        if self._asked_s is not None and abs(at_s - self._asked_s) < _SEEN_S:
            self._asked_s = None
        if self._asked_s is None:
            self._slider.value = at_s
        self._button.text = "Pause" if replayed.get("plays") else "Play"
        self._words.text = f"{replayed.get('at_s', 0.0):.2f} of {replayed.get('of_s', 0.0):.1f} s"

    async def _moved(self, event: events.GenericEventArguments) -> None:
        self._asked_s = float(event.args)
        await self._feed.seek(self._asked_s, plays=False)

    async def _toggle(self) -> None:
        replayed = self._feed.replayed or {"at_s": 0.0, "of_s": 0.0, "plays": False}
        at_s = 0.0 if replayed["at_s"] >= replayed["of_s"] else replayed["at_s"]
        self._asked_s = None
        await self._feed.seek(at_s, plays=not replayed["plays"])
