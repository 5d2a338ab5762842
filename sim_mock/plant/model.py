"""The interface of a model that replaces the plant's own body and driveline."""

from __future__ import annotations

from math import atan, tan
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from sim_mock.plant.body import BodyState


class Actuation(NamedTuple):
    """The output of the plant's actuators during a step.

    The motors' ``duty`` from -1 to 1 (0: they coast or brake), and their force at the rim:
    ``push_n`` less a damping times the rim's speed. ``brake_n`` is the largest force of the front
    brake.
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
        """Return the motors' force at that speed of the rim."""
        return self.push_n - self.damping_n_per_mps * rim_mps


class Model(Protocol):
    """A model of the car below its actuators.

    ``move`` begins at ``truth``, wherever that was put since, and leaves it where the car is after
    ``dt_s``; further state belongs to the model. ``rim_mps`` is the speed that encoders measure
    then, ``is_sliding`` whether wheels spin or are locked.
    """

    rim_mps: float
    is_sliding: bool

    def move(self, dt_s: float, acts: Actuation, truth: BodyState) -> None: ...
