"""A vehicle file based on the calibrated vehicle's, with the differences and their sources.

What the logs did not determine is left out, and so stays as in the base. It is read as any other
vehicle file: ``sim://my_car.toml``, ``tandem config write CAR --vehicle my_car.toml``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from math import floor
from typing import Any

import numpy as np

from calibration.arrays import Floats
from calibration.files.calibration import Calibration
from calibration.regression.steering_map import SteeringMap, wheel_rad
from calibration.vehicles.identified_car import counts_per_rev, plant_changes
from host_bridge.core import Vehicle

_SPEEDS = ("speed_max_mps", "reverse_max_mps", "speed_cap_mps")


def vehicle_file_text(
    vehicle: Vehicle, calibration: Calibration, base: str, steer_max_rad: float | None = None
) -> str:
    """Return the vehicle file as TOML.

    ``base`` is the vehicle's name or path; ``steer_max_rad`` a lower lock, if the servos cannot
    turn the wheels as far as the file promises.
    """
    return "\n".join(_lines(vehicle, calibration, base, steer_max_rad)) + "\n"


def _lines(
    vehicle: Vehicle, calibration: Calibration, base: str, steer_max_rad: float | None
) -> Iterator[str]:
    values = calibration.values
    logs = ", ".join(source.file for source in calibration.data)
    yield f"# {vehicle.title}, as its logs told ({calibration.date}: {logs})."
    yield f"# {calibration.command}"
    yield f"base = {json.dumps(base)}"
    if vehicle.calibration:  # it describes the base, no longer the calibrated car
        yield 'without = ["calibration"]'
    yield f"title = {json.dumps(vehicle.title + ', calibrated')}"
    yield f"wired_as = {json.dumps(_value(vehicle, 'wired_as') or vehicle.name)}"
    full, dead = values.get("full_effort_mps"), values.get("dead_effort")
    if full is not None and dead is not None:
        full = speed_per_effort(vehicle, full, dead)
    limits = _slower(vehicle, full)
    if steer_max_rad is not None:
        lower = f"{steer_max_rad:.4f}  # as far as its servos may turn its wheels"
        limits.setdefault("limits", []).append(f"steer_max_rad = {lower}")
    for table, lines in limits.items():
        yield from ("", f"[{table}]", *lines)
    if full is not None and dead is not None:
        line = f"full_effort_mps = {full:.4g}  # speed by effort at its cap"
        yield from ("", "[drive]", line)
    if "counts_per_m" in values:
        counts = counts_per_rev(vehicle, values["counts_per_m"])
        yield from ("", "[encoder]", f"counts_per_rev = {counts:.6g}")
    if calibration.steering_map:
        yield from _channels(vehicle, calibration.steering_map)
    for table, keys in sorted(plant_changes(vehicle, values).items()):
        yield from ("", f"[plant.{table}]")
        yield from (f"{key} = {value:.6g}" for key, value in keys.items())


def speed_per_effort(vehicle: Vehicle, full_mps: float, dead: float) -> float:
    """Return the speed per effort by which the program divides a target; it has no dead share.

    It is exact at the fastest speed that the vehicle may drive. At lower speeds the program's
    effort is too low, which its loop corrects; it is never too high.
    """
    cap_mps = min(vehicle.profile_caps_mps[vehicle.profile], full_mps)
    return cap_mps / (dead + (1.0 - dead) * cap_mps / full_mps)


def _slower(vehicle: Vehicle, full_mps: float | None) -> dict[str, list[str]]:
    """Return lines, by table, that lower the speed limits the car cannot reach."""
    found: dict[str, list[str]] = {}
    if full_mps is None:
        return found
    for it in vehicle.values:
        table, _, key = it.key.rpartition(".")
        if key in _SPEEDS and isinstance(it.value, float | int) and it.value > full_mps:
            lower = floor(full_mps * 1000.0) / 1000.0
            found.setdefault(table, []).append(f"{key} = {lower:g}  # all that its drive gives")
    return found


def _value(vehicle: Vehicle, key: str) -> Any:
    return next((it.value for it in vehicle.values if it.key == key), None)


def _channels(vehicle: Vehicle, steering_map: SteeringMap) -> Iterator[str]:
    """Yield all channels, as a file's list of channels replaces its base's as a whole."""
    low, high = steering_map.commanded_rad[[0, -1]]
    yield ""
    yield f"# Steering was driven from {low:.3f} to {high:.3f} rad of command; points beyond go on"
    yield "# as straight as the map ends, and were not measured."
    for at in range(len(vehicle.channels)):
        keys = _keys_of(vehicle, f"channels.{at}.")
        if keys.get("kind") == "servo_steering":
            keys["points"] = _points(keys, vehicle.channels[at], steering_map)
            keys.pop("trim_us", None)
        yield from ("", "[[channels]]")
        yield from (f"{key} = {_toml(value)}" for key, value in keys.items())


def _keys_of(vehicle: Vehicle, place: str) -> dict[str, Any]:
    return {
        it.key.removeprefix(place): it.value for it in vehicle.values if it.key.startswith(place)
    }


def _toml(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _points(
    keys: Mapping[str, Any], channel: Mapping[str, Any], steering_map: SteeringMap
) -> list[list[float]]:
    """Return this wheel's curve with measured angles over the same pulses, its trim included.

    The map describes the car as a whole, while each wheel has its own angle in a bend. A wheel's
    angle for a command is the one the file gave it for the command that the car really follows.
    """
    given_us, given_rad = np.array(sorted((float(it[1]), float(it[0])) for it in keys["points"])).T
    commands, pulses_ns = np.array(channel["curve"], float).T
    pulses_us = pulses_ns * 1e-3
    own_rad = np.interp(pulses_us - float(keys.get("trim_us", 0.0)), given_us, given_rad)
    fine = np.union1d(np.round(commands, 4), np.round(steering_map.commanded_rad, 4))
    fine = fine[(fine >= commands[0]) & (fine <= commands[-1])]
    wheels = _along(wheel_rad(steering_map, fine), commands, own_rad)
    at_us = np.interp(fine, commands, pulses_us)
    order = np.argsort(at_us)
    at_us, wheels = at_us[order], wheels[order]
    ends_us = np.array([min(given_us[0], at_us[0] - 1.0), max(given_us[-1], at_us[-1] + 1.0)])
    ends = _along(ends_us, at_us, wheels)
    at_us, wheels = (
        np.insert(at_us, [0, len(at_us)], ends_us),
        np.insert(wheels, [0, len(wheels)], ends),
    )
    order = np.argsort(wheels)
    return [[round(float(wheels[i]), 5), round(float(at_us[i]), 2)] for i in order]


def _along(x: Floats, at: Floats, values: Floats) -> Floats:
    """Interpolate linearly, and extrapolate beyond the ends."""
    first, last = ((values[i + 1] - values[i]) / (at[i + 1] - at[i]) for i in (0, -2))
    below, above = np.minimum(x - at[0], 0.0), np.maximum(x - at[-1], 0.0)
    return np.asarray(np.interp(x, at, values) + first * below + last * above)
