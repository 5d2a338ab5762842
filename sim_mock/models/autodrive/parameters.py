"""The parameters of AutoDRIVE's car models: common ones, then of small and of full-scale cars."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from math import sqrt
from typing import NamedTuple

from sim_mock.models.autodrive.curve import Curve

GRAVITY_MPS2 = 9.81  # standard gravity


class Corner(NamedTuple):
    """One wheel's position from the centre of gravity, the sprung mass above it, its spring."""

    ahead_m: float
    left_m: float
    sprung_kg: float
    spring_n_per_m: float
    damper_ns_per_m: float


class Inertia(NamedTuple):
    """The moments of inertia about the centre of gravity: I = sum(M X^2) of the sprung masses.

    That in yaw includes the wheels.
    """

    roll_kgm2: float
    pitch_kgm2: float
    yaw_kgm2: float


@dataclass(frozen=True, kw_only=True)
class ChassisParameters(ABC):
    """A car on four equal wheels; lengths run from the centre of gravity to the axles.

    ``force_offset_m`` is how far above the ground the tyres' forces act on the body. Below
    ``slow_mps`` slips are taken over this speed instead of the car's: it is chosen so that the
    fastest rate of the tyres stays below 2000/s, which Runge-Kutta follows in steps of 1 ms.
    """

    sprung_kg: float
    wheel_kg: float
    lf_m: float
    lr_m: float
    h_cg_m: float
    track_m: float
    wheel_radius_m: float
    steer_max_rad: float
    steer_rate_radps: float
    steer_rate_by_speed_radps: float
    speed_max_mps: float
    rear_steer_ratio: float
    is_front_driven: bool
    is_rear_driven: bool
    force_offset_m: float
    tyre_along: Curve
    tyre_aside: Curve
    drag_nms_per_rad: float
    slow_mps: float

    @abstractmethod
    def spring_under(self, sprung_kg: float) -> tuple[float, float]:
        """Return stiffness in N/m and damping in N s/m of a wheel that carries so much."""

    @cached_property
    def driven(self) -> tuple[bool, ...]:
        """Flags of the driven wheels, left before right and front before rear."""
        return (self.is_front_driven,) * 2 + (self.is_rear_driven,) * 2

    @cached_property
    def wheelbase_m(self) -> float:
        """The distance between the axles."""
        return self.lf_m + self.lr_m

    @cached_property
    def mass_kg(self) -> float:
        """The mass with the wheels."""
        return self.sprung_kg + 4.0 * self.wheel_kg

    @cached_property
    def spin_kgm2(self) -> float:
        """The inertia of one wheel: m r^2 / 2, the report's Powertrain Dynamics."""
        return 0.5 * self.wheel_kg * self.wheel_radius_m**2

    @cached_property
    def corners(self) -> tuple[Corner, ...]:
        """The corners: left front, right front, left rear, right rear.

        The sprung masses have the car's centre of gravity: sum(M X) / sum(M) = 0.
        """
        front_kg = 0.5 * self.sprung_kg * self.lr_m / self.wheelbase_m
        rear_kg = 0.5 * self.sprung_kg * self.lf_m / self.wheelbase_m
        return tuple(
            Corner(ahead_m, side * 0.5 * self.track_m, kg, *self.spring_under(kg))
            for ahead_m, kg in ((self.lf_m, front_kg), (-self.lr_m, rear_kg))
            for side in (1.0, -1.0)
        )

    @cached_property
    def inertia(self) -> Inertia:
        """The inertias of the rigid body of the sprung masses; the report's Vehicle Models."""
        roll = sum(at.sprung_kg * at.left_m**2 for at in self.corners)
        pitch = sum(at.sprung_kg * at.ahead_m**2 for at in self.corners)
        wheels = sum(self.wheel_kg * (at.ahead_m**2 + at.left_m**2) for at in self.corners)
        return Inertia(roll, pitch, roll + pitch + wheels)


@dataclass(frozen=True, kw_only=True)
class CarParameters(ChassisParameters):
    """A small or mid-scale car: springs, dampers, motor and hold are of one wheel.

    ``profile`` is the motor's torque as share of ``motor_nm`` by speed as share of
    ``wheel_speed_radps``, straight in between: its segments. ``wheel_damping_nms`` slows down a
    driven wheel in proportion to its spin, as Unity's wheel does.
    """

    motor_nm: float
    wheel_speed_radps: float
    hold_nm: float
    profile: tuple[tuple[float, float], ...]
    spring_n_per_m: float
    damper_ns_per_m: float
    drag_ns_per_m: float
    wheel_damping_nms: float = 0.0

    def spring_under(self, sprung_kg: float) -> tuple[float, float]:
        """Return stiffness and damping; they are the same for all wheels."""
        return self.spring_n_per_m, self.damper_ns_per_m


@dataclass(frozen=True, kw_only=True)
class AutomobileParameters(ChassisParameters):
    """A full-scale car: engine, automatic transmission, differential, brakes, air.

    ``torque_nm`` is the engine's by its rpm, straight in between. ``gear_ratios`` are those of the
    forward gears, the first first; above ``up_rpm`` the next one is taken, below ``down_rpm`` the
    one before. ``drop_per_rad`` is how much of its torque the inner wheel loses by steering.
    ``brake_distance_m`` is from 60 mph; ``brake_lever_m`` turns a wheel's share of the force into
    its torque. Drags are of the three regimes, in proportion to speed, as is the downforce.
    """

    idle_rpm: float
    engine_lag_s: float
    torque_nm: tuple[tuple[float, float], ...]
    gear_ratios: tuple[float, ...]
    reverse_ratio: float
    final_drive_ratio: float
    up_rpm: float
    down_rpm: float
    shift_s: float
    drop_per_rad: float
    brake_distance_m: float
    brake_lever_m: float
    natural_radps: float
    damping_ratio: float
    reverse_max_mps: float
    drag_idle_ns_per_m: float
    drag_max_ns_per_m: float
    drag_reverse_ns_per_m: float
    down_ns_per_m: float

    def spring_under(self, sprung_kg: float) -> tuple[float, float]:
        """Return K = M w^2 and B = 2 zeta sqrt(K M): the report's Suspension Dynamics."""
        spring_n_per_m = sprung_kg * self.natural_radps**2
        return spring_n_per_m, 2.0 * self.damping_ratio * sqrt(spring_n_per_m * sprung_kg)


class NormalisedInput(NamedTuple):
    """AutoDRIVE's commands, each from -1 to 1: throttle ahead, steering to the left."""

    throttle: float = 0.0
    steering: float = 0.0


class Pedals(NamedTuple):
    """AutoDRIVE's commands to a full-scale car: NormalisedInput's, and two brakes of 0 to 1."""

    throttle: float = 0.0
    steering: float = 0.0
    brake: float = 0.0
    handbrake: float = 0.0
