"""A car's telemetry as a frame of the AutoDRIVE Simulator, with every key that a script may read.

A script's handler ends on a missing key, so data that the car does not have is present and empty: a
black picture, no ranges, no laps. A missing LIDAR has no ranges, not far ones: a script that steers
by a LIDAR must not take a car without one for a free road.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from math import cos, sin, tau

from host_bridge.core import CarMotion, CarStatus, SeenCar, Vehicle
from host_bridge.core.laps import Laps
from host_bridge.logs.sensor_lines import TruePose
from sim_mock.autodrive.cars import SimulatedCar
from sim_mock.autodrive.command import ScriptCommand
from sim_mock.autodrive.telemetry import TelemetryValues, write_telemetry

_UNSET_S = (1_000_000.0,)  # the simulator's time of a lap that was never driven
_SCAN_RATE_HZ = (40.0,)  # RoboRacer's; not 0, by which a script would divide
_PICTURE_PIXELS = (192, 108)  # RoboRacer's camera
_PICTURES = ("Front", "Rear", "Left", "Right")
_EMPTY = {"V1 LIDAR Intensity Array": "", "V1 LIDAR Pointcloud": ""}
_SIGNALS = {f"TL{i} State": "0" for i in range(1, 5)}
_STANDING = TelemetryValues(
    throttle=(0.0,),
    steer_rad=(0.0,),
    speed_mps=(0.0,),
    velocity_mps=(0.0, 0.0, 0.0),
    brake=(0.0,),
    handbrake=(0.0,),
    ticks=(0.0, 0.0),
    wheels_rad=(0.0, 0.0),
    position_m=(0.0, 0.0, 0.0),
    quaternion=(0.0, 0.0, 0.0, 1.0),
    euler_rad=(0.0, 0.0, 0.0),
    turning_radps=(0.0, 0.0, 0.0),
    accel_mps2=(0.0, 0.0, 0.0),
    collisions=(0.0,),
    scan_rate_hz=_SCAN_RATE_HZ,
    lap_count=(0.0,),
    lap_time_s=(0.0,),
    last_lap_time_s=_UNSET_S,
    best_lap_time_s=_UNSET_S,
    scan="",
)


@dataclass(frozen=True, slots=True)
class ExtraTelemetry:
    """Telemetry that is not in a car's own reports.

    For a virtual car: ``scan`` as the simulator packs it; ``truth``, since the simulator reports
    the true pose and no odometry; ``laps`` and ``hits``; ``zero``, the counts at its reset.
    ``command`` is the script's command that is obeyed.
    """

    scan: str = ""
    truth: TruePose | None = None
    laps: Laps | None = None
    hits: int = 0
    zero: tuple[int, int] = (0, 0)
    command: ScriptCommand = field(default_factory=ScriptCommand)


_NOTHING = ExtraTelemetry()


def make_frame(
    car: SeenCar, like: SimulatedCar, extra: ExtraTelemetry = _NOTHING
) -> dict[str, str]:
    """Return the frame of this moment, as if the car were the simulator's car ``like``."""
    telemetry = replace(_STANDING, throttle=(extra.command.throttle,), brake=(extra.command.brake,),
                        handbrake=(extra.command.handbrake,))  # fmt: skip
    if car.status:
        telemetry = _with_status(telemetry, car.status)
    if car.motion and car.vehicle:
        m_per_count = car.vehicle.parameters["nm_per_count"][0] * 1e-9
        telemetry = _with_motion(telemetry, car.motion, like, m_per_count, extra.zero)
    if extra.truth:
        telemetry = _with_truth(telemetry, extra.truth)
    if extra.laps:
        telemetry = _with_laps(telemetry, extra.laps)
    telemetry = replace(
        telemetry,
        scan=extra.scan,
        scan_rate_hz=_scan_rate_hz(car.vehicle),
        collisions=(float(extra.hits),),
    )
    frame = {**write_telemetry(telemetry), **_pictures(), **_EMPTY}
    return {**frame, **_SIGNALS, **extra.command.signals}


def _with_status(telemetry: TelemetryValues, status: CarStatus) -> TelemetryValues:
    return replace(
        telemetry,
        steer_rad=(status.steer_rad,),
        speed_mps=(abs(status.speed_mps),),
        velocity_mps=(status.speed_mps, 0.0, 0.0),
    )


def _with_laps(telemetry: TelemetryValues, laps: Laps) -> TelemetryValues:
    return replace(
        telemetry,
        lap_count=(float(laps.count),),
        lap_time_s=(laps.time_s,),
        last_lap_time_s=(laps.last_s,) if laps.count else _UNSET_S,
        best_lap_time_s=(laps.best_s,) if laps.count else _UNSET_S,
    )


def _with_motion(
    telemetry: TelemetryValues,
    motion: CarMotion,
    like: SimulatedCar,
    m_per_count: float,
    zero: tuple[int, int],
) -> TelemetryValues:
    rolled_m = (
        (motion.count_left - zero[0]) * m_per_count,
        (motion.count_right - zero[1]) * m_per_count,
    )
    turns = [way / (tau * like.wheel_radius_m) for way in rolled_m]
    half_rad = 0.5 * motion.yaw_rad
    return replace(
        telemetry,
        ticks=tuple(float(int(turn * like.ticks_per_turn)) for turn in turns),
        wheels_rad=tuple(turn * tau for turn in turns),
        position_m=(motion.x_m, motion.y_m, 0.0),
        quaternion=(0.0, 0.0, sin(half_rad), cos(half_rad)),
        euler_rad=(0.0, 0.0, motion.yaw_rad % tau),
        turning_radps=(0.0, 0.0, motion.yaw_rate_radps),
        accel_mps2=(motion.accel_x_mps2, motion.accel_y_mps2, 0.0),
    )


def _with_truth(telemetry: TelemetryValues, truth: TruePose) -> TelemetryValues:
    half_rad = 0.5 * truth.yaw_rad
    return replace(
        telemetry,
        position_m=(truth.x_m, truth.y_m, 0.0),
        quaternion=(0.0, 0.0, sin(half_rad), cos(half_rad)),
        euler_rad=(0.0, 0.0, truth.yaw_rad % tau),
    )


def _scan_rate_hz(vehicle: Vehicle | None) -> tuple[float]:
    lidar = vehicle.plant.get("lidar") if vehicle else None
    return (float(lidar["rate_hz"]),) if isinstance(lidar, Mapping) else _SCAN_RATE_HZ


@cache
def _pictures() -> dict[str, str]:
    from PIL import Image  # takes 50 ms to import, and only a frame needs it

    data = io.BytesIO()
    Image.new("RGB", _PICTURE_PIXELS).save(data, "JPEG")
    text = base64.b64encode(data.getvalue()).decode()
    return {f"V1 {side} Camera Image": text for side in _PICTURES}
