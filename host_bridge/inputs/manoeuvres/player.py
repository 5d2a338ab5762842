"""An input that plays a manoeuvre: by name, or from a file of commands.

The manoeuvre's time stands still while the deadman is released, and goes on after a moment in
neutral, which the cars require.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import tau
from pathlib import Path

from host_bridge.core import (
    NEUTRAL_US,
    DriveCommand,
    Input,
    InputContext,
    InputLimits,
    Observed,
    OperatorRequest,
)
from host_bridge.core.errors import UsageFault
from host_bridge.core.files import parse_columns
from host_bridge.inputs.manoeuvres.csv_file import CsvManoeuvre
from host_bridge.inputs.manoeuvres.manoeuvre import Constant, Manoeuvre, Slalom

MANOEUVRES = ("straight", "slalom", "skidpad")
_LONGEST_STEP_US = 50_000  # a stall of the host does not skip a part of the manoeuvre
_SECONDS = 10.0  # unless --seconds says another time: some periods of the slalom
_PART = 0.5  # of the top speed and of full lock, unless --speed gives the speed
_SLALOM_M = 4.0  # wheelbases per radian of the slalom's phase: a bend that every car can follow


class ManoeuvrePlayer(Input):
    """The input that plays a manoeuvre once, while cars are armed and the deadman permits it."""

    is_computed = True

    def __init__(
        self,
        make_manoeuvre: Callable[[InputContext, InputLimits], Manoeuvre],
        describe: Callable[[InputContext, InputLimits], str] = lambda context, limits: "",
    ) -> None:
        """Set up the player.

        ``make_manoeuvre`` makes the manoeuvre when the cars are known, ``describe`` a note for the
        person who watches.
        """
        self.manoeuvre: Manoeuvre = Constant(0.0, 0.0)
        self.position_s = 0.0
        self._make_manoeuvre = make_manoeuvre
        self._describe = describe
        self._status_text = ""
        self._steps = 0
        self._stepped_us = 0
        self._drive_us: int | None = None  # when it begins to drive, once the deadman is held
        self._has_ended = False

    async def open(self, context: InputContext) -> None:
        """Make the manoeuvre.

        Raises errors.DataFileFault, errors.UsageFault if that fails.
        """
        limits = context.limits(self.source)
        self.manoeuvre, self._status_text = (
            self._make_manoeuvre(context, limits),
            self._describe(context, limits),
        )

    def step(self, now_us: int, observed: Observed) -> DriveCommand:
        span_us = min(now_us - self._stepped_us, _LONGEST_STEP_US)
        self._stepped_us = now_us
        self._steps += 1
        if not observed.is_driving or self.is_over() or not observed.is_permitted:
            self._drive_us = None
            return DriveCommand(input_count=self._steps)
        if self._drive_us is None:
            self._drive_us = now_us + NEUTRAL_US
        is_moving = now_us >= self._drive_us
        steer_rad, speed_mps = self.manoeuvre.at(self.position_s)
        if is_moving:
            self.position_s += span_us * 1e-6
        return DriveCommand(
            steer_rad, speed_mps if is_moving else 0.0, is_held=True, input_count=self._steps
        )

    def is_over(self) -> bool:
        return self.position_s >= self.manoeuvre.duration_s

    def requests(self) -> Sequence[OperatorRequest]:
        if not self.is_over() or self._has_ended:
            return ()
        self._has_ended = True
        return (OperatorRequest.END,)

    def status_text(self, now_us: int) -> str:
        return self._status_text

    def progress_s(self) -> tuple[float, float]:
        return self.position_s, self.manoeuvre.duration_s


def make_csv(rest: str, options: Mapping[str, str], now_us: Callable[[], int]) -> ManoeuvrePlayer:
    """Make the input of ``--input csv:FILE``.

    Raises errors.UsageFault without a file.
    """
    if not rest:
        raise UsageFault("which file?", expected="--input csv:FILE")
    columns = parse_columns(options.get("columns", ""))

    def make_manoeuvre(context: InputContext, limits: InputLimits) -> Manoeuvre:
        vehicle = context.vehicles[0]
        top_mps = vehicle.speed_max_mps if context.speed_mps is None else limits.speed_mps
        return CsvManoeuvre(Path(rest), replace(vehicle, speed_max_mps=top_mps), columns)

    return ManoeuvrePlayer(make_manoeuvre)


def make_script(
    rest: str, options: Mapping[str, str], now_us: Callable[[], int]
) -> ManoeuvrePlayer:
    """Make the input of ``--input script:NAME``.

    Raises errors.UsageFault for an unknown manoeuvre.
    """
    if rest not in MANOEUVRES:
        raise UsageFault(
            f"unknown manoeuvre {rest!r}",
            expected=f"one of {', '.join(MANOEUVRES)}",
            remedy="--input script:slalom",
        )
    return ManoeuvrePlayer(lambda context, limits: _named(rest, context, limits), _half)


def _half(context: InputContext, limits: InputLimits) -> str:
    if context.speed_mps is not None:
        return ""
    return f"{limits.speed_mps * _PART:.2g} m/s, half of what it may; --speed says another."


def _named(name: str, context: InputContext, limits: InputLimits) -> Manoeuvre:
    """Return the manoeuvre at the speed asked for, or at half of what the cars may drive."""
    speed_mps = limits.speed_mps * (1.0 if context.speed_mps is not None else _PART)
    seconds = context.seconds or _SECONDS
    steer_rad = limits.steer_rad * _PART
    if name == "slalom":
        # a car that hardly moves has no slalom; it only must not divide by 0
        period_s = tau * _SLALOM_M * context.vehicles[0].wheelbase_m / max(speed_mps, 0.01)
        return Slalom(speed_mps, seconds, steer_rad, period_s)
    return Constant(speed_mps, seconds, steer_rad if name == "skidpad" else 0.0)
