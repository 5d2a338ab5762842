"""CommonRoad's kinematic and linear single track as bodies of a virtual car.

Mass, axles, stiffness and friction are the vehicle file's. Their speed follows an acceleration:
that of ``LongitudinalDrive``, limited by friction. The steering angle is the servo's.
"""

from __future__ import annotations

from math import atan2, copysign, cos, hypot, inf, sin, tan
from typing import TYPE_CHECKING

from sim_mock.bodies.rolling import LongitudinalDrive, rear_axle_position, set_from_rear_axle
from sim_mock.models.integration import rk4
from sim_mock.models.single_track.kinematic import Kinematic, kinematic_rates
from sim_mock.models.single_track.linear import KINEMATIC_BELOW_MPS, Linear, linear_rates
from sim_mock.models.single_track.parameters import (
    ControlLimits,
    DriverInput,
    SingleTrackParameters,
)
from sim_mock.plant.body import GRAVITY_MPS2

if TYPE_CHECKING:
    from sim_mock.plant.body import BodyState
    from sim_mock.plant.model import Actuation
    from sim_mock.plant.parameters import PlantParameters


def single_track_of(p: PlantParameters) -> SingleTrackParameters:
    """Return the vehicle file's numbers under CommonRoad's names; only friction is limited here."""
    body, most_mps2 = p.body, p.mu * GRAVITY_MPS2
    return SingleTrackParameters(
        mass_kg=body.mass_kg,
        inertia_z_kgm2=body.inertia_z_kgm2,
        lf_m=body.lf_m,
        lr_m=body.lr_m,
        h_cg_m=body.h_cg_m,
        mu=p.mu,
        stiffness_front_per_rad=body.stiffness_front_per_rad / p.mu,
        stiffness_rear_per_rad=body.stiffness_rear_per_rad / p.mu,
        limits=ControlLimits(-inf, inf, -inf, inf, -inf, inf, inf, most_mps2),
    )


class KinematicBody:
    """The kinematic single track: no wheel slips, at any speed."""

    is_sliding = False

    def __init__(self, parameters: PlantParameters) -> None:
        self._p = single_track_of(parameters)
        self._longitudinal = LongitudinalDrive(parameters)
        self._steer_rad = 0.0
        self.rim_mps = 0.0

    def move(self, dt_s: float, acts: Actuation, truth: BodyState) -> None:
        self._step(dt_s, self._input(dt_s, acts, truth), acts.steer_rad, truth)
        self._steer_rad = acts.steer_rad
        if self._longitudinal.is_held:
            truth.vx_mps = truth.vy_mps = truth.yaw_rate_radps = 0.0
        self.rim_mps = truth.vx_mps

    def _input(self, dt_s: float, acts: Actuation, truth: BodyState) -> DriverInput:
        rate_radps = (acts.steer_rad - self._steer_rad) / dt_s
        return DriverInput(rate_radps, self._longitudinal.accel_mps2(dt_s, acts, truth.vx_mps))

    def _step(self, dt_s: float, u: DriverInput, to_rad: float, truth: BodyState) -> None:
        p = self._p
        x_m, y_m = rear_axle_position(truth, p.lr_m)
        begun = Kinematic(x_m, y_m, self._steer_rad, truth.vx_mps, truth.yaw_rad)
        new = Kinematic(*rk4(kinematic_rates, begun, u, p, dt_s))
        place = new.x_m, new.y_m, new.yaw_rad
        set_from_rear_axle(truth, place, new.speed_mps, tan(to_rad) / p.wheelbase_m, p.lr_m)


class SingleTrackBody(KinematicBody):
    """The single track with linear tyres and load transfer, for driving forward.

    Its equations do not hold backwards, where the kinematic one is used.
    """

    def _step(self, dt_s: float, u: DriverInput, to_rad: float, truth: BodyState) -> None:
        if truth.vx_mps < KINEMATIC_BELOW_MPS:
            super()._step(dt_s, u, to_rad, truth)
            return
        speed_mps = copysign(hypot(truth.vx_mps, truth.vy_mps), truth.vx_mps)
        slip_rad = atan2(truth.vy_mps, truth.vx_mps)
        begun = Linear(
            truth.x_m, truth.y_m, self._steer_rad, speed_mps, truth.yaw_rad,
            truth.yaw_rate_radps, slip_rad,
        )  # fmt: skip
        new = Linear(*rk4(linear_rates, begun, u, self._p, dt_s))
        truth.assign(
            (
                new.x_m,
                new.y_m,
                new.yaw_rad,
                new.speed_mps * cos(new.slip_rad),
                new.speed_mps * sin(new.slip_rad),
                new.yaw_rate_radps,
            )
        )
