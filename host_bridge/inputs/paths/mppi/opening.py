"""Makes the planner of a drive from its vehicle, its path and its options."""

from __future__ import annotations

import asyncio
from importlib.util import find_spec
from typing import NamedTuple

from host_bridge.core import Vehicle
from host_bridge.core.errors import UsageFault
from host_bridge.inputs.paths.mppi.model import parameters_of, track_of
from host_bridge.inputs.paths.mppi.plan_driving import PlanDriving
from host_bridge.inputs.paths.mppi.planner import PlannerTask, PlanRequest
from host_bridge.inputs.paths.mppi.sources import InlinePlanner, PlannerProcess
from host_bridge.inputs.paths.path import Path
from host_bridge.inputs.paths.path_options import PathOptions
from host_bridge.inputs.paths.speed_profile import SpeedProfile


class PlannedCar(NamedTuple):
    """The car that is to be planned for: its limits here, and how far beside its path it may be."""

    vehicle: Vehicle
    top_mps: float
    steer_max_rad: float
    far_m: float


async def plan_driving(
    car: PlannedCar, path: Path, profile: SpeedProfile, options: PathOptions, *, is_lockstep: bool
) -> PlanDriving:
    """Return the planner, ready: in this process for virtual time, else in one of its own.

    Raises errors.UsageFault where numba is not installed or the room is wider than ``far``,
    errors.VehicleFileFault for a file without a body, errors.DeviceFault if it does not come up.
    """
    if find_spec("numba") is None:
        raise UsageFault(
            "law=mppi needs numba, which is not installed",
            remedy="pip install 'tandem-cars[mppi]', or follow the path by law=lqr",
        )
    wide_m = options.wide_m or car.far_m / 2.0
    if wide_m >= car.far_m:
        raise UsageFault(
            "law=mppi would leave the path farther than the car may be from it",
            expected=f"wide below far, which is {car.far_m:g} m",
            got=f"wide={wide_m:g}",
            remedy=f"far={2 * wide_m:g}, if there is so much room",
        )
    vehicle = car.vehicle
    model = parameters_of(vehicle, car.steer_max_rad, options.decel_mps2, car.top_mps)
    half_m = vehicle.wheelbase_m - vehicle.turns_ahead_m
    task = PlannerTask(
        track_of(path, profile, half_m), model, options.cost, wide_m, options.lateral_mps2,
        vehicle.turns_behind_centre_m, options.seed,
    )  # fmt: skip
    if is_lockstep:
        return PlanDriving(InlinePlanner(task))
    first = PlanRequest(0, *path.at(0.0), path.yaw_at(0.0), 0.0, 0.0, 0.0, 0.0)
    return PlanDriving(await asyncio.to_thread(PlannerProcess, task, first))
