"""The car and the track as MPPI has them: numbers of a vehicle file, points of a path."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from host_bridge.core import Vehicle
from host_bridge.core.errors import VehicleFileFault
from host_bridge.core.files import misread_text
from host_bridge.inputs.paths.path import Floats, Path
from host_bridge.inputs.paths.speed_profile import SpeedProfile

_SPACING_M = 0.05  # of the track's points: a car at 4 m/s passes two in a step
_MOST_POINTS = 50_000  # 2.5 km at that spacing; a longer path has them wider apart


class ModelParameters(NamedTuple):
    """A car's numbers: lengths in m, kg, kg m², stiffness in 1/rad per N of load, angles in rad.

    All are floats, so that numba takes them. ``rear_ratio``: the rear wheels' angle over that of
    the front wheels. ``front_share``: the front axle's part of the drive; below 0, by its load.
    """

    lf_m: float
    lr_m: float
    mass_kg: float
    inertia_z_kgm2: float
    h_cg_m: float
    stiffness_front: float
    stiffness_rear: float
    mu: float
    rear_ratio: float
    front_share: float
    steer_max_rad: float
    steer_rate_radps: float
    accel_mps2: float
    decel_mps2: float
    top_mps: float


class Track(NamedTuple):
    """A path in a table, (m, 7): x, y, direction x and y, curvature, wanted speed, span."""

    points: Floats
    is_loop: bool
    spacing_m: float


_FRONT_SHARES = {"all": -1.0, "front": 1.0, "rear": 0.0}


def parameters_of(
    vehicle: Vehicle, steer_max_rad: float, decel_mps2: float, top_mps: float
) -> ModelParameters:
    """Return the model of a vehicle.

    Raises errors.VehicleFileFault for a file without the numbers of a body and its tyres.
    """
    body, tyre, drive = (vehicle.plant.get(name, {}) for name in ("body", "tyre", "drive"))
    of = vehicle.parameters
    try:
        assert isinstance(body, Mapping)
        assert isinstance(tyre, Mapping)
        assert isinstance(drive, Mapping)
        numbers = [
            float(body[name]) for name in ("lf_m", "lr_m", "mass_kg", "inertia_z_kgm2", "h_cg_m")
        ]
        grip = [
            float(tyre[name])
            for name in ("stiffness_front_per_rad", "stiffness_rear_per_rad", "mu")
        ]
    except (KeyError, AssertionError) as missing:
        raise VehicleFileFault(
            "law=mppi needs the numbers of the car's body and tyres",
            where=vehicle.path,
            expected="the tables [plant.body] and [plant.tyre]",
            got=misread_text(missing),
            remedy="write them, or follow the path by law=lqr",
        ) from None
    others = [
        -1.0 if vehicle.turns_ahead_m else 0.0,  # both axles are steered, against each other
        _FRONT_SHARES[str(drive.get("driven", "all"))],
        steer_max_rad,
        of["steer_rate_urad_s"][0] * 1e-6,
        of["accel_mm_s2"][0] * 1e-3,
        decel_mps2,
        top_mps,
    ]
    return ModelParameters(*numbers, *grip, *others)


def track_of(path: Path, profile: SpeedProfile, half_m: float) -> Track:
    """Return the table of a path; bends are measured over ``half_m`` to either side."""
    spacing_m = max(_SPACING_M, path.length_m / _MOST_POINTS)
    count = max(round(path.length_m / spacing_m), 3)
    along = np.linspace(0.0, path.length_m, count + 1)
    x, y = (np.interp(along, path.along_m, axis) for axis in path.points_m.T)
    dx, dy = np.diff(x), np.diff(y)
    spans = np.hypot(dx, dy)
    bends = path.curvatures(along[:-1], half_m)
    speeds = [profile.speed_at(float(it)) for it in along[:-1]]
    columns = (x[:-1], y[:-1], dx / spans, dy / spans, bends, np.array(speeds), spans)
    return Track(np.stack(columns, axis=1), path.is_loop, path.length_m / count)
