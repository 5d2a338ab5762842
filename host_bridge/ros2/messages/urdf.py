"""The URDF of a car, made from its vehicle file, and the positions of its joints.

``base_link`` is the middle of the rear axle (REP 105 as F1TENTH has it), or of the car if it steers
both axles; x is forward and y left (REP 103). It is at axle height: the wheel centres have z = 0,
and the floor is one wheel radius below.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import atan, pi, tan
from xml.sax.saxutils import escape

from host_bridge.core import CarMotion, CarStatus, Vehicle
from host_bridge.logs.sensor_lines import LASER_HEIGHT_M

SIDES = {"left": 1.0, "right": -1.0}
_TIRE_SHARE = 0.7  # wheel width / radius: only drawn, nothing is computed from it
_HEIGHT_SHARE = 0.35  # body height / wheelbase: likewise
# a turn about the inner wheel itself is an angle of nearly 90 degrees, no division by 0
_LEAST_M = 1e-3


@dataclass(frozen=True)
class CarDimensions:
    """The dimensions that a drawing of a car needs, in m."""

    wheelbase_m: float
    track_m: float
    wheel_radius_m: float
    length_m: float
    width_m: float
    behind_m: float  # from base_link to the rear end
    rear_m: float  # from base_link to the rear axle, backward
    mass_kg: float
    steered: tuple[str, ...]  # names of the steered axles
    steer_max_rad: float

    @staticmethod
    def of(vehicle: Vehicle) -> CarDimensions:
        """Read the dimensions from the vehicle file.

        A missing length is the wheelbase plus a wheel radius at each end, a missing width is the
        track.
        """
        outline, drive = _table(vehicle, "outline"), _table(vehicle, "drive")
        axles = (str(c.get("axle")) for c in vehicle.channels if c["kind"] == "servo_steering")
        # a fifth of the wheelbase, as most of these cars have
        radius_m = float(drive.get("wheel_radius_m", 0.2 * vehicle.wheelbase_m))
        return CarDimensions(
            vehicle.wheelbase_m,
            vehicle.track_m,
            radius_m,
            float(outline.get("length_m", vehicle.wheelbase_m + 2 * radius_m)),
            float(outline.get("width_m", vehicle.track_m)),
            float(outline.get("rear_overhang_m", radius_m)) + vehicle.turns_ahead_m,
            vehicle.turns_ahead_m,
            float(_table(vehicle, "body").get("mass_kg", 1.0)),
            tuple(dict.fromkeys(axles)),
            vehicle.steer_max_rad,
        )


def _table(vehicle: Vehicle, name: str) -> Mapping[str, float]:
    found = vehicle.plant.get(name)
    return found if isinstance(found, Mapping) else {}


# --- the description


def urdf(vehicle: Vehicle, base_frame: str, scan_frame: str) -> str:
    """Return the URDF of the car, as robot_state_publisher reads it."""
    dimensions = CarDimensions.of(vehicle)
    prefix = base_frame.rpartition("/")[0]
    named = f"{prefix}/" if prefix else ""
    lines = [
        '<?xml version="1.0"?>',
        f'<robot name="{escape(vehicle.name)}">',
        *_body(dimensions, base_frame),
        *(
            line
            for axle in ("front", "rear")
            for side in SIDES
            for line in _wheel(dimensions, base_frame, named, axle, side)
        ),
        *_laser(vehicle, base_frame, scan_frame),
        "</robot>",
    ]
    return "\n".join(lines) + "\n"


def _body(dimensions: CarDimensions, base_frame: str) -> Iterator[str]:
    middle_m = dimensions.length_m / 2 - dimensions.behind_m
    height_m = _HEIGHT_SHARE * dimensions.wheelbase_m
    size = f"{dimensions.length_m:.4f} {dimensions.width_m:.4f} {height_m:.4f}"
    yield f'  <link name="{base_frame}">'
    for kind in ("visual", "collision"):
        yield f'    <{kind}><origin xyz="{middle_m:.4f} 0 {height_m / 2:.4f}" rpy="0 0 0"/>'
        yield f'      <geometry><box size="{size}"/></geometry></{kind}>'
    yield "  </link>"


def _wheel(
    dimensions: CarDimensions, base_frame: str, named: str, axle: str, side: str
) -> Iterator[str]:
    wheel = f"{axle}_{side}_wheel"
    x_m = (dimensions.wheelbase_m if axle == "front" else 0.0) - dimensions.rear_m
    place = f'<origin xyz="{x_m:.4f} {SIDES[side] * dimensions.track_m / 2:.4f} 0" rpy="0 0 0"/>'
    parent, at = base_frame, place
    if axle in dimensions.steered:
        knuckle = f"{named}{axle}_{side}_knuckle"
        yield f'  <link name="{knuckle}"/>'
        yield f'  <joint name="{axle}_{side}_steering" type="revolute">{place}'
        yield f'    <parent link="{base_frame}"/><child link="{knuckle}"/><axis xyz="0 0 1"/>'
        most = 2.0 * dimensions.steer_max_rad  # covers the inner wheel in the tightest bend
        yield f'    <limit lower="-{most:.4f}" upper="{most:.4f}" effort="0" velocity="0"/></joint>'
        parent, at = knuckle, '<origin xyz="0 0 0" rpy="0 0 0"/>'
    yield f'  <joint name="{wheel}" type="continuous">{at}'
    yield f'    <parent link="{parent}"/><child link="{named}{wheel}"/><axis xyz="0 1 0"/></joint>'
    radius_m = dimensions.wheel_radius_m
    drum = f'<cylinder radius="{radius_m:.4f}" length="{_TIRE_SHARE * radius_m:.4f}"/>'
    turned = f'<origin xyz="0 0 0" rpy="{pi / 2:.6f} 0 0"/>'
    yield f'  <link name="{named}{wheel}"><visual>{turned}'
    yield f"    <geometry>{drum}</geometry></visual></link>"


def _laser(vehicle: Vehicle, base_frame: str, scan_frame: str) -> Iterator[str]:
    lidar = _table(vehicle, "lidar")
    if not (lidar and scan_frame):
        return
    turned_rad = lidar["yaw_deg"] * pi / 180
    place = f"{lidar['ahead_m'] - vehicle.turns_ahead_m:.4f} 0 {LASER_HEIGHT_M:.4f}"
    yield f'  <link name="{scan_frame}"/>'
    yield f'  <joint name="{scan_frame.rpartition("/")[2]}_mount" type="fixed">'
    yield f'    <origin xyz="{place}" rpy="0 0 {turned_rad:.6f}"/>'
    yield f'    <parent link="{base_frame}"/><child link="{scan_frame}"/></joint>'


# --- the joints


def joint_positions(
    dimensions: CarDimensions, status: CarStatus, motion: CarMotion, m_per_count: float
) -> dict[str, float]:
    """Return joint angles in rad by name: wheel rotations, and the angle of each steered wheel."""
    counts = {"left": motion.count_left, "right": motion.count_right}
    found = {
        f"{axle}_{side}_wheel": counts[side] * m_per_count / dimensions.wheel_radius_m
        for axle in ("front", "rear")
        for side in SIDES
    }
    for axle in dimensions.steered:
        turned_rad = status.steer_rad if axle == "front" else -status.steer_rad
        for side, sign in SIDES.items():
            found[f"{axle}_{side}_steering"] = _of_a_side(dimensions, turned_rad, sign)
    return found


def _of_a_side(dimensions: CarDimensions, steer_rad: float, sign: float) -> float:
    """Return the steering angle in rad of one wheel of an axle (Ackermann geometry).

    Both wheels roll around one point, so the inner one is turned in farther.
    """
    reach_m = dimensions.wheelbase_m / (2.0 if len(dimensions.steered) > 1 else 1.0)
    slope = tan(steer_rad)
    aside_m = max(reach_m - sign * slope * dimensions.track_m / 2.0, _LEAST_M)
    return atan(reach_m * slope / aside_m)
