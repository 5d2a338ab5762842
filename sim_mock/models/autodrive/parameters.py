"""What AutoDRIVE's models of cars take: what all have, and what small and mid-scale ones have."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import NamedTuple

from sim_mock.models.autodrive.curve import Curve

GRAVITY_MPS2 = 9.81


@dataclass(frozen=True, kw_only=True)
class Chassis(ABC):
    """A car on four wheels alike; lengths run from the centre of gravity to the axles.

    ``force_offset_m`` is how far above the ground the tyres' forces act on the body.
    Below ``slow_mps`` slips are taken over this speed in place of the car's: it is chosen so that
    the fastest rate of the tyres stays below 2000/s, which Runge-Kutta follows in steps of 1 ms.
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
        """Stiffness in N/m and damping in N s/m of the wheel that carries so much."""

    @property
    def driven(self) -> tuple[bool, ...]:
        """Which wheels are, left before right and front before rear."""
        return (self.is_front_driven,) * 2 + (self.is_rear_driven,) * 2

    @property
    def wheelbase_m(self) -> float:
        """From axle to axle."""
        return self.lf_m + self.lr_m

    @property
    def mass_kg(self) -> float:
        """With its wheels."""
        return self.sprung_kg + 4.0 * self.wheel_kg

    @property
    def spin_kgm2(self) -> float:
        """Of one wheel: m r^2 / 2, the report's Powertrain Dynamics."""
        return 0.5 * self.wheel_kg * self.wheel_radius_m**2


@dataclass(frozen=True, kw_only=True)
class Car(Chassis):
    """A small or mid-scale car: springs, dampers, motor and hold are of one wheel.

    ``profile`` is the motor's torque as share of ``motor_nm`` by speed as share of
    ``wheel_speed_radps``, straight in between: its segments.
    """

    motor_nm: float
    wheel_speed_radps: float
    hold_nm: float
    profile: tuple[tuple[float, float], ...]
    spring_n_per_m: float
    damper_ns_per_m: float
    drag_ns_per_m: float

    def spring_under(self, sprung_kg: float) -> tuple[float, float]:
        """The same under all."""
        return self.spring_n_per_m, self.damper_ns_per_m


class Input(NamedTuple):
    """AutoDRIVE's commands, each from -1 to 1: throttle ahead, steering to the left."""

    throttle: float = 0.0
    steering: float = 0.0


class Corner(NamedTuple):
    """Where a wheel stands, from the centre of gravity, the sprung mass above it, its spring."""

    ahead_m: float
    left_m: float
    sprung_kg: float
    spring_n_per_m: float
    damper_ns_per_m: float


def corners_of(p: Chassis) -> tuple[Corner, ...]:
    """Left front, right front, left rear, right rear.

    The sprung masses have the car's centre of gravity: sum(M X) / sum(M) = 0.
    """
    front_kg = 0.5 * p.sprung_kg * p.lr_m / p.wheelbase_m
    rear_kg = 0.5 * p.sprung_kg * p.lf_m / p.wheelbase_m
    return tuple(
        Corner(ahead_m, side * 0.5 * p.track_m, kg, *p.spring_under(kg))
        for ahead_m, kg in ((p.lf_m, front_kg), (-p.lr_m, rear_kg))
        for side in (1.0, -1.0)
    )


class Inertia(NamedTuple):
    """About the centre of gravity: I = sum(M X^2) of the sprung masses, in yaw with the wheels."""

    roll_kgm2: float
    pitch_kgm2: float
    yaw_kgm2: float


def inertia_of(p: Chassis) -> Inertia:
    """The link between the sprung masses and the rigid body; the report's Vehicle Models."""
    corners = corners_of(p)
    roll = sum(at.sprung_kg * at.left_m**2 for at in corners)
    pitch = sum(at.sprung_kg * at.ahead_m**2 for at in corners)
    wheels = sum(p.wheel_kg * (at.ahead_m**2 + at.left_m**2) for at in corners)
    return Inertia(roll, pitch, roll + pitch + wheels)
