"""Helpers for models as bodies: the drive's acceleration, and the rear axle's position."""

from __future__ import annotations

from collections.abc import Sequence
from math import cos, inf, sin
from typing import TYPE_CHECKING

from sim_mock.models.integration import Given, Input, RightHandSide, State, rk4
from sim_mock.plant.drive import Driveline

if TYPE_CHECKING:
    from sim_mock.plant.body import BodyState
    from sim_mock.plant.model import Actuation
    from sim_mock.plant.parameters import PlantParameters

_PLANE = 6  # the first numbers of a model's state, which are also the plant's truth
_SLIDES = 0.2  # chosen: a slip past the peak of the tyres of all models
_SLOW_MPS = 0.5  # chosen: below this speed slip is computed over it


class LongitudinalDrive:
    """The acceleration by motors, brake and friction, for models without longitudinal slip.

    Motors, gears and wheels turn with the car (plant/drive.py, with infinite grip), so that dry
    friction ends at standstill exactly.
    """

    def __init__(self, parameters: PlantParameters) -> None:
        p = parameters
        self._drive = Driveline(p.drive, p.body.mass_kg)
        self._mass_kg = p.body.mass_kg
        self._drag_n_per_mps2 = p.drive.drag_n_per_mps2

    @property
    def is_held(self) -> bool:
        """True if friction has held the car since the last step."""
        return self._drive.is_held

    def accel_mps2(self, dt_s: float, acts: Actuation, speed_mps: float) -> float:
        """Return the acceleration during the step that begins at this speed."""
        drive = self._drive
        drive.rim_mps = speed_mps
        air_n = self._drag_n_per_mps2 * speed_mps * abs(speed_mps)
        line = acts.push_n - air_n, acts.damping_n_per_mps
        force_n = drive.force_n(dt_s, line, speed_mps, inf, acts.brake_n)
        return (force_n + drive.braked_n) / self._mass_kg


def integrated(
    rates: RightHandSide[Input, Given],
    state: State,
    u: Input,
    given: Given,
    dt_s: float,
    truth: BodyState,
) -> State:
    """Return the state ``dt_s`` later; its planar part starts at ``truth``, which is updated."""
    new = rk4(rates, (*truth.values(), *state[_PLANE:]), u, given, dt_s)
    truth.assign((new[0], new[1], new[2], new[3], new[4], new[5]))
    return new


def is_sliding_at(rim_mps: float, rolled_mps: float) -> bool:
    """Return whether wheels that would roll at ``rolled_mps`` spin or are locked."""
    return abs(rim_mps - rolled_mps) > _SLIDES * max(abs(rolled_mps), _SLOW_MPS)


def rear_axle_position(truth: BodyState, lr_m: float) -> tuple[float, float]:
    """Return the position in m of the rear axle's middle, ``lr_m`` behind the centre of gravity."""
    return truth.x_m - lr_m * cos(truth.yaw_rad), truth.y_m - lr_m * sin(truth.yaw_rad)


def set_from_rear_axle(truth: BodyState, axle: Sequence[float], speed_mps: float, turn_per_m: float,
         lr_m: float) -> None:  # fmt: skip
    """Set the car's state from its rear axle (x and y in m, yaw in rad), without side slip."""
    x_m, y_m, yaw_rad = axle
    rate_radps = speed_mps * turn_per_m
    truth.assign(
        (
            x_m + lr_m * cos(yaw_rad),
            y_m + lr_m * sin(yaw_rad),
            yaw_rad,
            speed_mps,
            lr_m * rate_radps,
            rate_radps,
        )
    )
