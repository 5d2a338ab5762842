"""A virtual car with the parameters that logs determined; the others stay as in its file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from calibration.files.calibration import Calibration
from calibration.regression.steering_map import SteeringMap, wheel_rad
from calibration.simulation.plant_numbers import emf_vs_per_m, friction_n, plant_parameters
from sim_mock.plant.body import GRAVITY_MPS2
from sim_mock.plant.parameters import PlantParameters

_LEAST_KG = 1e-3  # a gram turns as fast as one likes, and is no division by 0
_BAND_MAX = 0.9  # of the wheels' whole way: a wider dead band is no car


class CalibratableVehicle(Protocol):
    """The properties of a vehicle that a calibration reads; implemented by ``Vehicle``."""

    @property
    def name(self) -> str: ...
    @property
    def plant(self) -> Mapping[str, Any]: ...
    @property
    def channels(self) -> Sequence[Mapping[str, Any]]: ...
    @property
    def parameters(self) -> Mapping[str, Sequence[int]]: ...


def plant_and_channels(
    vehicle: CalibratableVehicle, calibration: Calibration
) -> tuple[dict[str, Any], list[Mapping[str, Any]]]:
    """Return the vehicle's ``plant`` and ``channels`` with the calibration applied."""
    changes = plant_changes(vehicle, calibration.values)
    plant = {**vehicle.plant, **{k: {**vehicle.plant[k], **v} for k, v in changes.items()}}
    bent = calibration.steering_map
    return plant, [_remapped(one, bent) if bent else one for one in vehicle.channels]


def plant_changes(
    vehicle: CalibratableVehicle, values: Mapping[str, float]
) -> dict[str, dict[str, float]]:
    """Return the keys of the vehicle file's ``[plant]``, by table, that the values change."""
    changes = _drive(vehicle, values)
    if "counts_per_m" in values:
        changes["encoder"] = {"counts_per_rev": counts_per_rev(vehicle, values["counts_per_m"])}
    names = {"dead_time_s": "steer_delay_s", "lag_s": "steer_lag_s"}
    servo = {key: values[name] for key, name in names.items() if name in values}
    if servo:
        changes["servo"] = servo
    front = values.get("tyre_stiffness_front_per_rad")
    if front is not None:
        changes["tyre"] = {"stiffness_front_per_rad": front}
    return scaled_to_battery(vehicle.plant, changes)


def scaled_to_battery(
    plant: Mapping[str, Any], changes: Mapping[str, Mapping[str, float]]
) -> dict[str, dict[str, float]]:
    """Return the changes rescaled so that the car keeps the battery of its file.

    A top speed is identified as a battery voltage; but the car's program monitors that voltage, and
    would stop a slow car as one with an empty battery. Scaling voltages by a ratio, currents by its
    inverse and resistances by its square leaves all forces unchanged. Current limits stay, as they
    are settings.
    """
    found = {table: dict(keys) for table, keys in changes.items()}
    emf_v = found.pop("battery", {}).get("emf_v")
    if emf_v is None:
        return found
    up = plant["battery"]["emf_v"] / emf_v
    powers = {"emf_vs_per_rad": 1, "resistance_ohm": 2, "idle_a": -1}
    for table in ("motor", "battery"):
        scaled = {k: v * up ** powers[k] for k, v in plant[table].items() if k in powers}
        found[table] = {**found.get(table, {}), **scaled}
    return found


def counts_per_rev(vehicle: CalibratableVehicle, counts_per_m: float) -> float:
    """Return the counts per turn of a wheel with the vehicle file's radius."""
    return float(counts_per_m * 2.0 * np.pi * vehicle.plant["drive"]["wheel_radius_m"])


def vehicle_file_values(vehicle: CalibratableVehicle) -> dict[str, float]:
    """Return the vehicle file's values of the parameters that logs may determine."""
    p, plant = plant_parameters(vehicle), vehicle.plant
    lost_mps = _lost_mps(p)
    full = _mps_per_duty(p) - lost_mps
    share = lost_mps / (full + lost_mps)
    dead = share
    if "esc" in plant:
        esc = plant["esc"]
        band = esc["dead_band_ns"] / (esc["forward_ns"] - esc["neutral_ns"])
        dead = share + band * (1.0 - share)
    elif "vesc" in plant:
        duty = plant["vesc"]["duty_max"]
        full, dead = (full + lost_mps) * duty - lost_mps, share / duty
    tyre = plant["tyre"]
    front, rear = tyre["stiffness_front_per_rad"], tyre["stiffness_rear_per_rad"]
    length_m = plant["body"]["lf_m"] + plant["body"]["lr_m"]
    return {
        "counts_per_m": 1e9 / vehicle.parameters["nm_per_count"][0],
        "steer_trim_rad": 0.0,
        "steer_gain_left": 1.0,
        "steer_gain_right": 1.0,
        "steer_delay_s": p.servo.dead_time_s,
        "steer_lag_s": p.servo.lag_s,
        "steer_play_rad": 0.0,
        "full_effort_mps": full,
        "dead_effort": dead,
        "speed_lag_s": (p.body.mass_kg + p.drive.rotating_mass_kg) / _walking_damping_n_per_mps(p),
        "imu_yaw_rad": 0.0,
        "understeer_s2_per_m2": (1.0 / front - 1.0 / rear) / (GRAVITY_MPS2 * length_m),
        "tyre_stiffness_front_per_rad": front,
    }


def _drive(
    vehicle: CalibratableVehicle, values: Mapping[str, float]
) -> dict[str, dict[str, float]]:
    """Return the changes for speed map and lag: battery, dead band or friction, rotating mass.

    An effort e leads to the speed full * (e - dead) / (1 - dead), as at a walk.
    """
    p = plant_parameters(vehicle)
    changes: dict[str, dict[str, float]] = {}
    if "full_effort_mps" in values and "dead_effort" in values:
        changes = _speed_map(vehicle, p, values["full_effort_mps"], max(values["dead_effort"], 0.0))
    if "speed_lag_s" in values:
        turning_kg = values["speed_lag_s"] * _walking_damping_n_per_mps(p) - p.body.mass_kg
        changes.setdefault("drive", {})["rotating_mass_kg"] = max(turning_kg, _LEAST_KG)
    return changes


def _speed_map(
    vehicle: CalibratableVehicle, p: PlantParameters, full_mps: float, dead: float
) -> dict[str, dict[str, float]]:
    if "esc" in vehicle.plant:
        # With the dead band b an effort e is a throttle of (e - b) / (1 - b). Friction takes a
        # share of that; the rest of the dead effort is the band.
        lost_mps = _lost_mps(p)
        share = lost_mps / (full_mps + lost_mps)
        band = float(np.clip((dead - share) / (1.0 - share), 0.0, _BAND_MAX))
        esc = vehicle.plant["esc"]
        return {
            "esc": {"dead_band_ns": band * (esc["forward_ns"] - esc["neutral_ns"])},
            "battery": {"emf_v": _emf_v(p, full_mps + lost_mps)},
        }
    duty = vehicle.plant["vesc"]["duty_max"] if "vesc" in vehicle.plant else 1.0
    slope_mps = full_mps / (1.0 - dead)
    lost_n = dead * slope_mps * _walking_damping_n_per_mps(p)
    rolling_n = friction_n(p) - p.drive.friction_n
    return {
        "drive": {"friction_n": max(lost_n - rolling_n, 0.0)},
        "battery": {"emf_v": _emf_v(p, slope_mps / duty)},
    }


def _lost_mps(p: PlantParameters) -> float:
    """Return the speed that friction costs at a walk."""
    return friction_n(p) / _walking_damping_n_per_mps(p)


def _walking_damping_n_per_mps(p: PlantParameters) -> float:
    """Return the motors' damping at a small duty, at the rim: n (k turns)^2 / R.

    At a walk the battery's resistance plays no part (sim_mock.plant.motor).
    """
    return p.motor.count * emf_vs_per_m(p) ** 2 / p.motor.resistance_ohm


def _mps_per_duty(p: PlantParameters) -> float:
    """Return the increase of speed per duty, at a walk."""
    return (p.battery.emf_v - p.battery.resistance_ohm * p.battery.idle_a) / emf_vs_per_m(p)


def _emf_v(p: PlantParameters, mps_per_duty: float) -> float:
    """Return the battery's emf at which a duty of 1 more gives this increase of speed."""
    return mps_per_duty * emf_vs_per_m(p) + p.battery.resistance_ohm * p.battery.idle_a


def _remapped(channel: Mapping[str, Any], steering_map: SteeringMap) -> Mapping[str, Any]:
    if channel["kind"] != "servo_steering":
        return channel
    commanded_rad, pulses_ns = np.array(channel["curve"], float).T
    fine_rad = np.union1d(commanded_rad, steering_map.commanded_rad)
    fine_rad = fine_rad[(fine_rad >= commanded_rad[0]) & (fine_rad <= commanded_rad[-1])]
    pulses = np.interp(fine_rad, commanded_rad, pulses_ns)
    angles = wheel_rad(steering_map, fine_rad)
    return {**channel, "curve": np.column_stack([angles, pulses]).tolist()}
