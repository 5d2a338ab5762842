"""The values of a log's cars at the moment that is shown: a card for A and one for B."""

from __future__ import annotations

from nicegui import ui

from host_bridge.core import State
from host_bridge.station.log_views.laps import LapMoment, lap_at
from host_bridge.station.log_views.series import CarRun, LogRun
from host_bridge.station.views import charts

_STYLE = "border-radius: 10px; padding: 10px 14px; background: %s; min-height: 120px"
# A band is outlined, for nothing moves here; pixels of its letters
_BAND = (
    "border: 3px solid; border-radius: 8px; padding: 2px 10px; font-size: 22px; font-weight: 800"
)
_SPEED = "font-size: 48px; font-weight: 700; line-height: 1.1"  # pixels: half of a live tile's
_STRAIGHT_DEG = 0.05  # what is shown as 0.0


class RunCard:
    """One log's cars: state, speed, steering and battery of each."""

    def __init__(self, letter: str, theme: charts.Theme) -> None:
        self._letter = letter
        self._theme = theme
        self._box = ui.element("section").style(_STYLE % theme.raised)
        self._box.props(f'aria-label="{letter}"')
        self._cars: dict[str, _CarValues] = {}
        self.show_log(None, "")

    def show_log(self, run: LogRun | None, name: str) -> None:
        """Lay out the card for this log; None for no log."""
        self._box.clear()
        self._cars = {}
        with self._box:
            ui.label(f"{self._letter}  {name or 'no log: choose one below'}").style(
                "font-weight: 700; overflow-wrap: anywhere"
            )
            for car in sorted(run.cars) if run else ():
                self._cars[car] = _CarValues(car, self._theme)

    def show(self, run: LogRun | None, time_s: float) -> None:
        """Show the values of this time of the log itself."""
        for name, values in self._cars.items():
            if run and name in run.cars:
                values.show(run.cars[name], time_s)


class _CarValues:
    def __init__(self, name: str, theme: charts.Theme) -> None:
        self._theme = theme
        ui.label(name).style(f"margin-top: 8px; color: {theme.dim}")
        self._band = ui.label("").style(_BAND)
        with ui.row().classes("items-end no-wrap").style("gap: 8px"):
            self._speed = ui.label("–").style(_SPEED)
            ui.label("m/s").style(f"color: {theme.dim}; font-weight: 700")
        self._rest = ui.label("")
        self._lap = ui.label("")

    def show(self, car: CarRun, time_s: float) -> None:
        state = car.state(time_s)
        word = State[state].word if state in State.__members__ else "NO LINK"
        self._band.text = word
        self._band.style(f"color: {self._theme.bands.get(word, self._theme.park)}")
        speed_mps = car.series("speed_mps").at(time_s)
        self._speed.text = "–" if speed_mps is None else _signed(speed_mps)
        steer_deg = car.series("steer_deg").at(time_s)
        battery_v = car.series("battery_v").at(time_s)
        words = [] if steer_deg is None else [_steering(steer_deg)]
        words += [] if battery_v is None else [f"{battery_v:.1f} V"]
        self._rest.text = ", ".join(words)
        self._lap.text = lap_words(lap_at(car.laps_s, time_s))


def lap_words(lap: LapMoment | None) -> str:
    """Return a lap's number and times in words; "" for none."""
    if lap is None:
        return ""
    words = f"lap {lap.number}: {lap.time_s:.1f} s"
    if lap.last_s is None or lap.best_s is None:
        return words
    return f"{words}, last {lap.last_s:.1f} s, best {lap.best_s:.1f} s"


def _signed(value: float) -> str:
    return f"{value:.2f}".replace("-", "−")


def _steering(degrees: float) -> str:
    side = "straight" if abs(degrees) < _STRAIGHT_DEG else "left" if degrees > 0 else "right"
    return f"{abs(degrees):.1f}° {side}"
