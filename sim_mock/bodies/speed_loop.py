"""Whether a car's own speed loop bears the dead time and the lag of a model that it is to have.

Autoware's controllers know of its models' delays; a scaled car's board closes its speed loop a
hundred times a second, tuned to motors that answer at once. Two things have to hold, or the car
swings, or its board stops it as one that does not obey: the gain margin of that loop stays above 1
(Nyquist), and the car begins to slow down before the board waits no longer (``too_fast_ms``).
"""

from __future__ import annotations

from cmath import exp
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any

from sim_mock.autodrive.actuators import top_mps
from sim_mock.models.planning.lag import SHORTEST_TIME_CONSTANT_S

if TYPE_CHECKING:
    from sim_mock.plant.parameters import PlantParameters

_HEARS_S = 0.03  # firmware/core/odometry: speed is a mean over 40 ms; and half of a beat, a pulse
_FROM_RADPS, _TO_RADPS, _FINER = 0.5, 500.0, 1.01
_STEP_S = 0.001


@dataclass(frozen=True, slots=True)
class SpeedLoop:
    """What of a car decides: ``gain`` in shares of effort per m/s, ``gain_i`` per m; ``top_mps``
    that all of the effort leads to, ``motor_s`` how fast the motors get there."""

    gain: float
    gain_i: float
    top_mps: float
    motor_s: float
    patience_s: float

    def opened(self, is_velocity: bool, delay_s: float, lag_s: float, radps: float) -> complex:
        """The open loop's transfer function there. An acceleration comes of the motors, which
        their own speed slows down; a velocity model is told the speed itself."""
        s = 1j * radps
        control = (self.gain + self.gain_i / s) * self.top_mps * exp(-s * _HEARS_S)
        model = exp(-s * delay_s) / (1.0 + lag_s * s)
        return model * control if is_velocity else model * (1.0 + control) / (s * self.motor_s)

    def margin(self, is_velocity: bool, delay_s: float, lag_s: float) -> float:
        """By how much the loop's gain could still grow before it swings."""
        radps = _FROM_RADPS
        before = self.opened(is_velocity, delay_s, lag_s, radps)
        while radps < _TO_RADPS:
            radps *= _FINER
            now = self.opened(is_velocity, delay_s, lag_s, radps)
            if before.imag < 0.0 <= now.imag and now.real < 0.0:
                return 1.0 / abs(now)
            before = now
        return inf

    def bears(self, is_velocity: bool, delay_s: float, lag_s: float) -> bool:
        """Whether a car with these would be driven by its board."""
        is_in_time = delay_s + lag_s < self.patience_s
        return is_in_time and self.margin(is_velocity, delay_s, lag_s) > 1.0

    def longest_delay_s(self, is_velocity: bool, lag_s: float) -> float | None:
        """The longest dead time, in whole ms, that it bears with this lag; None: not even 0."""
        if not self.bears(is_velocity, 0.0, lag_s):
            return None
        steps = 0
        while self.bears(is_velocity, (steps + 1) * _STEP_S, lag_s):
            steps += 1
        return steps * _STEP_S


def speed_loop_of(
    p: PlantParameters, board: Mapping[str, Sequence[int]], motor_s: float
) -> SpeedLoop:
    """Of the car with these motors and that configuration of its board."""
    return SpeedLoop(
        board["gain_per_m_s"][0] * 1e-4,
        board["gain_per_m"][0] * 1e-4,
        top_mps(p),
        motor_s,
        board["too_fast_ms"][0] * 1e-3,
    )


def refuse_unbearable(
    model: str, given: Mapping[str, Any], loop: SpeedLoop, vehicle: str, motor_s: float
) -> None:
    """Raises ValueError naming the parameters of a file that this car cannot be driven with, and
    what it can. A file that says neither leaves the car as its board knows it."""
    is_velocity = model.endswith("VEL")
    kind = "vel" if is_velocity else "acc"
    delay, constant = f"{kind}_time_delay", f"{kind}_time_constant"
    if not model.startswith("DELAY_") or not (delay in given or constant in given):
        return
    own_s = motor_s if is_velocity else 0.0
    delay_s, lag_s = float(given.get(delay, 0.0)), float(given.get(constant, own_s))
    lag_s = max(lag_s, SHORTEST_TIME_CONSTANT_S)
    if loop.bears(is_velocity, delay_s, lag_s):
        return
    longest_s = loop.longest_delay_s(is_velocity, lag_s)
    most = "none at all" if longest_s is None else f"{delay} up to {longest_s:g} s"
    raise ValueError(
        f"{delay} {delay_s:g} s with {constant} {lag_s:g} s cannot suit {vehicle}: the speed loop "
        f"on its board would swing, or stop it because it does not obey in time; with that "
        f"{constant} it bears {most}. Leave both out of the file, and they are this car's own"
    )
