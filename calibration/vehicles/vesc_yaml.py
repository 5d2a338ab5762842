"""``vesc.yaml`` of F1TENTH's stack from a calibration; values not determined are marked."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from calibration.files.calibration import Calibration
from calibration.logs.ros_bag import BAG, ERPM_COUNTS
from calibration.regression.steering_map import SteeringMap, wheel_rad
from calibration.vehicles.identified_car import vehicle_file_values
from host_bridge.core import Vehicle
from host_bridge.core.errors import UsageFault

_LOW_US, _SPAN_US = 1000.0, 1000.0  # pulse at a VESC's servo output of 0, and from there to 1


def vesc_yaml(vehicle: Vehicle, calibration: Calibration) -> str:
    """Return the file in f1tenth_system's names. Raises errors.UsageFault without a VESC.

    It is raised, too, for a steering map out of a bag: the angles in it became pulses by the
    vesc.yaml that drove the car, which the bag does not hold.
    """
    if "vesc" not in vehicle.plant:
        raise UsageFault(
            f"{vehicle.name} has no VESC",
            expected="a vehicle whose file has [plant.vesc], such as f1tenth_vesc",
            got=vehicle.name,
            remedy="--vehicle f1tenth_vesc, if it has one",
        )
    bags = [source.file for source in calibration.data if source.kind == BAG]
    if calibration.steering_map and bags:
        raise UsageFault(
            "the pulses that steered this car are not known: its bag does not hold the vesc.yaml"
            " that it was driven with",
            where=", ".join(bags),
            expected="logs of Tandem, whose pulses are those of the vehicle file",
            got=BAG,
            remedy="leave --vesc-yaml out, or drive the car by Tandem with --record",
        )
    return "\n".join(_lines(vehicle, calibration)) + "\n"


def _lines(vehicle: Vehicle, calibration: Calibration) -> Iterator[str]:
    values = calibration.values
    not_estimated = f"  # not told by the logs: as {vehicle.name} has it"
    has_metre, has_map = "counts_per_m" in values, calibration.steering_map is not None
    per_m = values.get("counts_per_m", vehicle_file_values(vehicle)["counts_per_m"])
    gain, offset, miss_rad = servo_gain_and_offset(vehicle, calibration.steering_map)
    yield f"# {vehicle.title}: {calibration.command} ({calibration.date})"
    yield "/**:"
    yield "  ros__parameters:"
    yield f"    speed_to_erpm_gain: {ERPM_COUNTS * per_m:.1f}{'' if has_metre else not_estimated}"
    yield "    speed_to_erpm_offset: 0.0"
    if has_map:
        yield f"    # a straight line through the map; {miss_rad:.4f} rad off at the worst"
    yield f"    steering_angle_to_servo_gain: {gain:.4f}{'' if has_map else not_estimated}"
    yield f"    steering_angle_to_servo_offset: {offset:.4f}{'' if has_map else not_estimated}"


def servo_gain_and_offset(
    vehicle: Vehicle, steering_map: SteeringMap | None
) -> tuple[float, float, float]:
    """Return gain and offset of servo = gain * angle + offset, and the largest error in rad.

    The servo value goes from 0 to 1.
    """
    channel = next(one for one in vehicle.channels if one["kind"] == "servo_steering")
    commanded_rad, pulses_ns = np.array(channel["curve"], float).T
    commands = commanded_rad if steering_map is None else steering_map.commanded_rad
    angles = commands if steering_map is None else wheel_rad(steering_map, commands)
    servo = (np.interp(commands, commanded_rad, pulses_ns) / 1000.0 - _LOW_US) / _SPAN_US
    gain, offset = np.polyfit(angles, servo, 1)
    miss = float(np.max(np.abs((servo - gain * angles - offset) / gain)))
    return float(gain), float(offset), miss
