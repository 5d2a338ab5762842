"""A vehicle's plant with the values of a fit: speed, lag, tyres, servo and steering curves."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from calibration.simulation.plant_numbers import Values, battery_emf_v, damping_n_per_mps
from calibration.simulation.steering_model import remapped_curve
from sim_mock.plant.parameters import PlantParameters, SteeringChannel


def fit_plant_changes(p: PlantParameters, values: Values) -> dict[str, dict[str, Any]]:
    """Return the entries of ``[plant]`` that these values change, except the steering curves."""
    front = values["tyre_stiffness_front_per_rad"]
    rear = front * p.body.stiffness_rear_per_rad / p.body.stiffness_front_per_rad
    turning_kg = values["speed_lag_s"] * damping_n_per_mps(p) - p.body.mass_kg
    return {
        "tyre": {"stiffness_front_per_rad": front, "stiffness_rear_per_rad": rear},
        "servo": {"rate_rad_s": values["steer_rate_radps"]},
        "battery": {"emf_v": battery_emf_v(p, values["full_effort_mps"])},
        # kg: a gram turns as fast as one likes, and is no division by 0
        "drive": {"rotating_mass_kg": max(turning_kg, 1e-3)},
    }


def remapped_steering(
    p: PlantParameters, values: Values, steer_max_rad: float
) -> tuple[SteeringChannel, ...]:
    """Return the steering channels, their curves reshaped by the steering map of these values."""
    curves = [remapped_curve(one.curve, steer_max_rad, values) for one in p.steering]
    return tuple(
        replace(one, curve=tuple((rad, ns) for rad, ns in curve))
        for one, curve in zip(p.steering, curves, strict=True)
    )


def with_values(
    p: PlantParameters, values: Values, steering: tuple[SteeringChannel, ...]
) -> PlantParameters:
    """Return parsed parameters with these values replaced.

    This avoids parsing the tables again, as a fit does it often.
    """
    changes = fit_plant_changes(p, values)
    return replace(
        p,
        body=replace(p.body, **changes["tyre"]),
        servo=replace(p.servo, **changes["servo"]),
        battery=replace(p.battery, **changes["battery"]),
        drive=replace(p.drive, **changes["drive"]),
        steering=steering,
    )
