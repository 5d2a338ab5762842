"""What the tests of both kinds of cars drive with."""

from typing import Any

from sim_mock.models.autodrive.car import Sprung
from sim_mock.models.autodrive.parameters import ChassisParameters


def rolling(p: ChassisParameters, speed_mps: float, **more: Any) -> Sprung:
    """Straight ahead at that speed, wheels rolling with it."""
    spins = dict.fromkeys(Sprung._fields[6:10], speed_mps / p.wheel_radius_m)
    return Sprung(**{"vx_mps": speed_mps, **spins, **more})


def energy_j(p: ChassisParameters, x: Sprung) -> float:
    """Kinetic energy of the plane and of the wheels."""
    plane = p.mass_kg * (x.vx_mps**2 + x.vy_mps**2) + p.inertia.yaw_kgm2 * x.yaw_rate_radps**2
    return 0.5 * (plane + p.spin_kgm2 * sum(spin**2 for spin in x[6:10]))


def assert_mirrored(left: Sprung, right: Sprung) -> None:
    """Each is the other's picture in a mirror along the car."""
    even = ("x_m", "vx_mps", "heave_m", "pitch_rad", "heave_mps", "pitch_radps")
    twin = {"lf": "rf", "rf": "lf", "lr": "rr", "rr": "lr"}
    for field in Sprung._fields:
        other = "_".join(twin.get(part, part) for part in field.split("_"))
        sign = 1.0 if field in even or field.startswith("spin") else -1.0
        expected = sign * getattr(left, field)
        assert abs(getattr(right, other) - expected) <= 1e-9 + 1e-6 * abs(expected), field
