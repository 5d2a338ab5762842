"""Conversions between the reports of cars and the fields of ROS 2 messages.

Empty messages are passed in, whatever made their classes. Units and axes are REP 103's.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from dataclasses import dataclass
from math import atan2, cos, inf, isfinite, pi, radians, sin
from typing import Any

from host_bridge.core import CarMotion, CarStatus, SeenCar, Vehicle
from host_bridge.logs.sensor_lines import LASER_HEIGHT_M, LidarScan, TruePose
from host_bridge.ros2.node.vesc_scale import VescScale
from host_bridge.ros2.vocabularies.topics import SCAN_HZ, Mount

_UNKNOWN = -1.0  # REP 145: the first covariance of a quantity that is not measured
_REST_MPS = 0.05  # f1tenth_system's threshold: a lower speed is reported as 0


@dataclass(frozen=True)
class PoseTwist:
    """The pose and velocity of REP 105's base_link.

    That is the middle of the rear axle, or of the car if both axles steer.
    """

    x_m: float
    y_m: float
    yaw_rad: float
    speed_mps: float
    side_mps: float
    yaw_rate_radps: float


def dead_reckoned_pose(status: CarStatus, motion: CarMotion) -> PoseTwist:
    """Return the car's dead-reckoned pose; a speed below 0.05 m/s is reported as 0."""
    speed_mps = status.speed_mps if abs(status.speed_mps) >= _REST_MPS else 0.0
    return PoseTwist(motion.x_m, motion.y_m, motion.yaw_rad, speed_mps, 0.0, motion.yaw_rate_radps)


def true_pose(truth: TruePose, rear_m: float) -> PoseTwist:
    """Return a virtual car's true pose; base_link is ``rear_m`` behind its centre of gravity."""
    return PoseTwist(
        truth.x_m - rear_m * cos(truth.yaw_rad),
        truth.y_m - rear_m * sin(truth.yaw_rad),
        truth.yaw_rad,
        truth.vx_mps,
        truth.vy_mps - rear_m * truth.yaw_rate_radps,
        truth.yaw_rate_radps,
    )


def origin_of(reckoned: PoseTwist, true: PoseTwist) -> PoseTwist:
    """Return where in the true frame the frame begins in which the same car is at ``reckoned``."""
    yaw_rad = true.yaw_rad - reckoned.yaw_rad
    return PoseTwist(
        true.x_m - cos(yaw_rad) * reckoned.x_m + sin(yaw_rad) * reckoned.y_m,
        true.y_m - sin(yaw_rad) * reckoned.x_m - cos(yaw_rad) * reckoned.y_m,
        yaw_rad,
        0.0,
        0.0,
        0.0,
    )


# --- reports to messages


def fill_odometry(message: Any, stamp: Any, frames: tuple[str, str], pose: PoseTwist) -> None:
    """Fill an Odometry but for its covariances; ``frames`` are the fixed and the child frame."""
    message.header.stamp, message.header.frame_id = stamp, frames[0]
    message.child_frame_id = frames[1]
    _place(message.pose.pose.position, message.pose.pose.orientation, pose)
    message.twist.twist.linear.x = pose.speed_mps
    message.twist.twist.linear.y = pose.side_mps
    message.twist.twist.angular.z = pose.yaw_rate_radps


def fill_transform(message: Any, stamp: Any, frames: tuple[str, str], pose: PoseTwist) -> None:
    """Fill a TransformStamped with the same pose."""
    message.header.stamp, message.header.frame_id = stamp, frames[0]
    message.child_frame_id = frames[1]
    _place(message.transform.translation, message.transform.rotation, pose)


def fill_mount(message: Any, stamp: Any, frames: tuple[str, str], vehicle: Vehicle) -> bool:
    """Fill the transform from base_link to the LIDAR; return False if the car has none."""
    lidar = vehicle.plant.get("lidar")
    if not isinstance(lidar, Mapping):
        return False
    message.header.stamp, message.header.frame_id = stamp, frames[0]
    message.child_frame_id = frames[1]
    message.transform.translation.x = float(lidar["ahead_m"]) - vehicle.turns_ahead_m
    message.transform.translation.z = LASER_HEIGHT_M
    fill_yaw(message.transform.rotation, float(lidar["yaw_deg"]) * pi / 180)
    return True


def fill_offset(message: Any, stamp: Any, frame: str, mount: Mount, vehicle: Vehicle) -> None:
    """Fill the transform from base_link to a sensor that is not turned."""
    message.header.stamp, message.header.frame_id = stamp, frame
    message.child_frame_id = mount.frame
    place = message.transform.translation
    place.x = mount.x_m - vehicle.turns_ahead_m
    place.y, place.z = mount.y_m, mount.z_m


def fill_scan(message: Any, stamp: Any, frame: str, scan: LidarScan, vehicle: Vehicle) -> None:
    """Fill a LaserScan in place from a virtual LIDAR, whose rays are all of one moment.

    ``frame`` is the LIDAR's; angles are in rad in it, ranges in m, and by REP 117 a ray that hits
    nothing in range is inf. Raises KeyError for a vehicle without a LIDAR.
    """
    lidar = vehicle.plant["lidar"]
    assert isinstance(lidar, Mapping), "a car that scans has a LIDAR"
    message.header.stamp, message.header.frame_id = stamp, frame
    # A scan has its bearings in the car; the LIDAR's frame is turned, by the transform to it
    first_rad = scan.first_rad - radians(float(lidar["yaw_deg"]))
    message.angle_min, message.angle_increment = first_rad, scan.step_rad
    message.angle_max = first_rad + (len(scan.ranges_m) - 1) * scan.step_rad
    message.time_increment = 0.0
    message.scan_time = 1 / float(lidar.get("rate_hz", SCAN_HZ))
    message.range_min = float(lidar["range_min_m"])
    message.range_max = float(lidar["range_max_m"])
    # An array of C floats: for a list, rclpy checks the type and range of each element
    message.ranges = array("f", [inf if it is None else it for it in scan.ranges_m])


def fill_imu(message: Any, stamp: Any, motion: CarMotion) -> None:
    """Fill an Imu. The board has no vertical axis: z is that of a level car at rest, 9.81 m/s2."""
    message.header.stamp = stamp
    message.orientation_covariance[0] = _UNKNOWN
    message.angular_velocity.z = motion.yaw_rate_radps
    message.linear_acceleration.x = motion.accel_x_mps2
    message.linear_acceleration.y = motion.accel_y_mps2
    # the car does not measure it: gravity alone, as on a level floor
    message.linear_acceleration.z = 9.81


def fill_vesc_imu(message: Any, stamp: Any, motion: CarMotion) -> None:
    """Fill a VescImuStamped; its field ypr holds roll, pitch, yaw, as f1tenth's driver does it."""
    message.header.stamp = stamp
    imu = message.imu
    imu.ypr.z = motion.yaw_rad
    imu.angular_velocity.z = motion.yaw_rate_radps
    imu.linear_acceleration.x = motion.accel_x_mps2
    imu.linear_acceleration.y = motion.accel_y_mps2
    imu.linear_acceleration.z = 9.81  # as above
    fill_yaw(imu.orientation, motion.yaw_rad)


def fill_vesc_state(message: Any, stamp: Any, car: SeenCar, scale: VescScale) -> None:
    """Fill a VescStateStamped, in which forward is negative.

    Currents, temperatures and charge are not measured here, and stay 0.
    """
    assert car.status is not None, "asked of cars that have said their status"
    message.header.stamp = stamp
    message.state.speed = -scale.erpm(car.status.speed_mps)
    if car.power:
        message.state.voltage_input = car.power.battery_v
    if car.motion:
        message.state.displacement = -car.motion.count_left


def _place(position: Any, orientation: Any, pose: PoseTwist) -> None:
    position.x, position.y = pose.x_m, pose.y_m
    fill_yaw(orientation, pose.yaw_rad)


def fill_yaw(orientation: Any, yaw_rad: float) -> None:
    """Fill a quaternion with a rotation about the vertical axis."""
    orientation.z, orientation.w = sin(yaw_rad / 2), cos(yaw_rad / 2)


def yaw_of(orientation: Any) -> float:
    """Return the rotation of a quaternion about the vertical axis, in rad."""
    x, y, z, w = orientation.x, orientation.y, orientation.z, orientation.w
    return atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))


# --- messages to commands


def stamp_ns(message: Any) -> int:
    """Return the time at which the sender stamped the message, in ns since 1970.

    0 if it did not.
    """
    stamp = getattr(getattr(message, "header", message), "stamp", None)
    if stamp is None:
        return 0
    return int(stamp.sec) * 1_000_000_000 + int(stamp.nanosec)


def read_ackermann(message: Any) -> tuple[float, float] | None:
    """Return speed in m/s and steering angle in rad; None if one of them is not finite."""
    wanted = float(message.drive.speed), float(message.drive.steering_angle)
    return wanted if all(map(isfinite, wanted)) else None
