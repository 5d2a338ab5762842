"""What the plant asks of another model that takes the place of its own body and driveline."""

from __future__ import annotations

from math import atan, tan
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from sim_mock.plant.body import BodyState


class Acts(NamedTuple):
    """What the plant's actuators do during a step.

    The motors' ``duty`` from -1 to 1 (0: they coast or brake), and what they push at the rim: a
    force less a damping times the rim's speed. ``brake_n`` is what the front brake would take.
    """

    duty: float
    push_n: float
    damping_n_per_mps: float
    brake_n: float
    front_rad: float
    rear_rad: float

    @property
    def steer_rad(self) -> float:
        """The angle at which a front axle alone turns as tightly as both axles do."""
        if self.rear_rad == 0.0:
            return self.front_rad
        return atan(tan(self.front_rad) - tan(self.rear_rad))

    def pushes_n(self, rim_mps: float) -> float:
        """Of the motors, at that speed of the rim."""
        return self.push_n - self.damping_n_per_mps * rim_mps


class Model(Protocol):
    """A model of the car below its actuators.

    ``move`` begins where ``truth`` is, wherever that was put since, and leaves it where the car is
    after ``dt_s``; what else belongs to the state is the model's own. ``rim_mps`` is what encoders
    see then, ``is_sliding`` whether wheels spin or are locked.
    """

    rim_mps: float
    is_sliding: bool

    def move(self, dt_s: float, acts: Acts, truth: BodyState) -> None: ...
