"""Stability of a car's own speed loop with the dead time and lag of a chosen model.

Autoware's controllers know the delays of its models. A scaled car's board closes its speed loop a
hundred times a second, tuned to motors that react at once. Two conditions have to hold, or the car
oscillates, or its board stops it as disobedient: the gain margin of that loop is above 1 (Nyquist),
and the car begins to slow down within the board's timeout (``too_fast_ms``).
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

_HEARS_S = 0.03  # delay of core/motion/odometry's mean over 40 ms, half a beat, and a pulse
# angular frequencies that are searched, and the ratio of each to the one before
_FROM_RADPS, _TO_RADPS, _FINER = 0.5, 500.0, 1.01
_STEP_S = 0.001  # of the plant, as in a virtual car


@dataclass(frozen=True, slots=True)
class SpeedLoop:
    """The numbers of a car's speed loop.

    ``gain`` in shares of effort per m/s, ``gain_i`` per m; ``top_mps`` is the speed at full effort,
    ``motor_s`` the motors' time constant, ``timeout_s`` the board's timeout.
    """

    gain: float
    gain_i: float
    top_mps: float
    motor_s: float
    timeout_s: float

    def open_loop(self, is_velocity: bool, delay_s: float, lag_s: float, radps: float) -> complex:
        """Return the open loop's transfer function at this frequency.

        An acceleration model takes that of the motors, which their own speed reduces; a velocity
        model takes the speed itself.
        """
        s = 1j * radps
        control = (self.gain + self.gain_i / s) * self.top_mps * exp(-s * _HEARS_S)
        model = exp(-s * delay_s) / (1.0 + lag_s * s)
        return model * control if is_velocity else model * (1.0 + control) / (s * self.motor_s)

    def margin(self, is_velocity: bool, delay_s: float, lag_s: float) -> float:
        """Return the gain margin: the factor by which the gain may grow before it oscillates."""
        radps = _FROM_RADPS
        before = self.open_loop(is_velocity, delay_s, lag_s, radps)
        while radps < _TO_RADPS:
            radps *= _FINER
            now = self.open_loop(is_velocity, delay_s, lag_s, radps)
            if before.imag < 0.0 <= now.imag and now.real < 0.0:
                return 1.0 / abs(now)
            before = now
        return inf

    def is_stable(self, is_velocity: bool, delay_s: float, lag_s: float) -> bool:
        """Return whether the board can drive a car with this dead time and lag."""
        is_in_time = delay_s + lag_s < self.timeout_s
        return is_in_time and self.margin(is_velocity, delay_s, lag_s) > 1.0

    def longest_delay_s(self, is_velocity: bool, lag_s: float) -> float | None:
        """Return the longest dead time, in whole ms, that works with this lag, or None."""
        if not self.is_stable(is_velocity, 0.0, lag_s):
            return None
        steps = 0
        while self.is_stable(is_velocity, (steps + 1) * _STEP_S, lag_s):
            steps += 1
        return steps * _STEP_S


def speed_loop_of(
    p: PlantParameters, board: Mapping[str, Sequence[int]], motor_s: float
) -> SpeedLoop:
    """Return the speed loop of a car with these motors and this board configuration."""
    return SpeedLoop(
        board["gain_per_m_s"][0] * 1e-4,
        board["gain_per_m"][0] * 1e-4,
        top_mps(p),
        motor_s,
        board["too_fast_ms"][0] * 1e-3,
    )


def refuse_unstable_loop(
    model: str, given: Mapping[str, Any], loop: SpeedLoop, vehicle: str, motor_s: float
) -> None:
    """Raise ValueError naming the parameters of a file that this car cannot be driven with.

    The error also says which values would work. A file without these parameters leaves the car's
    own in place.
    """
    is_velocity = model.endswith("VEL")
    kind = "vel" if is_velocity else "acc"
    delay, constant = f"{kind}_time_delay", f"{kind}_time_constant"
    if not model.startswith("DELAY_") or not (delay in given or constant in given):
        return
    own_s = motor_s if is_velocity else 0.0
    delay_s, lag_s = float(given.get(delay, 0.0)), float(given.get(constant, own_s))
    lag_s = max(lag_s, SHORTEST_TIME_CONSTANT_S)
    if loop.is_stable(is_velocity, delay_s, lag_s):
        return
    longest_s = loop.longest_delay_s(is_velocity, lag_s)
    most = "none at all" if longest_s is None else f"{delay} up to {longest_s:g} s"
    raise ValueError(
        f"{delay} {delay_s:g} s with {constant} {lag_s:g} s cannot suit {vehicle}: the speed loop "
        f"on its board would swing, or stop it because it does not obey in time; with that "
        f"{constant} it bears {most}. Leave both out of the file, and they are this car's own"
    )
