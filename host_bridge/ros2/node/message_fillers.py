"""Fills the messages that a car publishes, by their content: one function for each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from host_bridge.core import SeenCar, Vehicle
from host_bridge.logs.sensor_lines import SensorPipe
from host_bridge.ros2.bus.message_types import message_class
from host_bridge.ros2.messages import conversions
from host_bridge.ros2.messages.covariances import (
    OdometryError,
    exact_covariance,
    fill_diagonal,
    fill_imu_covariances,
)
from host_bridge.ros2.node.vesc_scale import VescScale
from host_bridge.ros2.vocabularies.topics import ABSOLUTE_FRAMES, Content, Publication
from host_bridge.ros2.vocabularies.vocabulary import Vocabulary
from sim_mock.autodrive.cars import SimulatedCar


class PublishedCar:
    """The car that messages are about, besides what it reports.

    ``scale`` converts to a VESC's units, ``like`` is the AutoDRIVE Simulator's car that shares
    refer to, ``pipe`` a virtual car's sensors.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        vehicle: Vehicle,
        scale: VescScale,
        like: SimulatedCar,
        pipe: SensorPipe | None,
    ) -> None:
        self.vocabulary = vocabulary
        self.vehicle = vehicle
        self.scale = scale
        self.like = like
        self.pipe = pipe
        self.odometry_error = OdometryError(vehicle)

    def pose(self, frame: str, car: SeenCar) -> conversions.PoseTwist | None:
        """Return the pose in this frame, or None.

        In an absolute frame (map, world) only the true pose is known, and only for virtual cars.
        """
        assert car.status is not None, "asked of cars that have said their status"
        assert car.motion is not None, "and their motion"
        if frame not in ABSOLUTE_FRAMES:
            return conversions.dead_reckoned_pose(car.status, car.motion)
        truth = self.pipe.truth if self.pipe else None
        return conversions.true_pose(truth, self.vehicle.turns_behind_centre_m) if truth else None


# --- one for each part: fills a message; returns False if there is nothing to publish


def _odometry(
    publisher: PublishedCar, publication: Publication, message: Any, stamp: Any, car: SeenCar
) -> bool:
    pose = publisher.pose(publication.frame, car)
    if pose is not None:
        frames = publication.frame, publisher.vocabulary.base_frame
        conversions.fill_odometry(message, stamp, frames, pose)
        is_truth = publication.frame in ABSOLUTE_FRAMES
        assert car.motion is not None, "asked of cars that have said their motion"
        odometry_error = publisher.odometry_error
        fill_diagonal(
            message.pose.covariance,
            exact_covariance() if is_truth else odometry_error.pose(car.motion),
        )
        fill_diagonal(
            message.twist.covariance, exact_covariance() if is_truth else odometry_error.twist()
        )
    return pose is not None


def _transform(
    publisher: PublishedCar, publication: Publication, message: Any, stamp: Any, car: SeenCar
) -> bool:
    pose = publisher.pose(publication.frame, car)
    if pose is not None:
        transform = message_class("geometry_msgs/msg/TransformStamped")()
        frames = publication.frame, publisher.vocabulary.base_frame
        conversions.fill_transform(transform, stamp, frames, pose)
        message.transforms = [transform, *_origin(publisher, publication, stamp, car, pose)]
    return pose is not None


def _origin(
    publisher: PublishedCar,
    publication: Publication,
    stamp: Any,
    car: SeenCar,
    reckoned: conversions.PoseTwist,
) -> list[Any]:
    """Lead from the map to the odometry's frame where the truth is published beside reckoning.

    So base_link has one parent alone, as with a localiser.
    """
    maps = {it.frame for it in publisher.vocabulary.publications if it.content is Content.TRUTH}
    if publication.frame in ABSOLUTE_FRAMES or len(maps) != 1:
        return []
    (frame,) = maps
    true = publisher.pose(frame, car)
    if true is None:
        return []
    transform = message_class("geometry_msgs/msg/TransformStamped")()
    origin = conversions.origin_of(reckoned, true)
    conversions.fill_transform(transform, stamp, (frame, publication.frame), origin)
    return [transform]


def _driven(
    publisher: PublishedCar, publication: Publication, message: Any, stamp: Any, car: SeenCar
) -> bool:
    assert car.status is not None, "asked of cars that have said their status"
    message.header.stamp = stamp
    message.drive.speed, message.drive.steering_angle = car.status.target_mps, car.status.steer_rad
    return True


def _place(
    publisher: PublishedCar, publication: Publication, message: Any, stamp: Any, car: SeenCar
) -> bool:
    pose = publisher.pose(publication.frame, car)
    if pose is not None:
        message.x, message.y = pose.x_m, pose.y_m
    return pose is not None


def _scan(
    publisher: PublishedCar, publication: Publication, message: Any, stamp: Any, car: SeenCar
) -> bool:
    scan = publisher.pipe.take_scan() if publisher.pipe else None
    if scan is not None:
        conversions.fill_scan(message, stamp, publication.frame, scan, publisher.vehicle)
    return scan is not None


def _vesc(
    publisher: PublishedCar, publication: Publication, message: Any, stamp: Any, car: SeenCar
) -> bool:
    conversions.fill_vesc_state(message, stamp, car, publisher.scale)
    return True


def _vesc_imu(
    publisher: PublishedCar, publication: Publication, message: Any, stamp: Any, car: SeenCar
) -> bool:
    assert car.motion is not None, "asked of cars that have said their motion"
    conversions.fill_vesc_imu(message, stamp, car.motion)
    return True


def _imu(
    publisher: PublishedCar, publication: Publication, message: Any, stamp: Any, car: SeenCar
) -> bool:
    assert car.motion is not None, "asked of cars that have said their motion"
    conversions.fill_imu(message, stamp, car.motion)
    fill_imu_covariances(message, publisher.odometry_error.noise)
    message.header.frame_id = publication.frame
    return True


def _acceleration(
    publisher: PublishedCar, publication: Publication, message: Any, stamp: Any, car: SeenCar
) -> bool:
    assert car.motion is not None, "asked of cars that have said their motion"
    message.header.stamp, message.header.frame_id = stamp, publication.frame
    message.accel.accel.linear.x = car.motion.accel_x_mps2
    message.accel.accel.linear.y = car.motion.accel_y_mps2
    return True


def _wheel_twist(
    publisher: PublishedCar, publication: Publication, message: Any, stamp: Any, car: SeenCar
) -> bool:
    assert car.status is not None, "asked of cars that have said their status"
    assert car.motion is not None, "and their motion"
    message.header.stamp, message.header.frame_id = stamp, publication.frame
    message.twist.twist.linear.x = car.status.speed_mps
    message.twist.twist.angular.z = car.motion.yaw_rate_radps
    fill_diagonal(message.twist.covariance, publisher.odometry_error.twist())
    return True


def _number(of: Callable[[PublishedCar, SeenCar], float]) -> Callable[..., bool]:
    def fill_number(
        publisher: PublishedCar, publication: Publication, message: Any, stamp: Any, car: SeenCar
    ) -> bool:
        message.data = of(publisher, car)
        return True

    return fill_number


def _servo(publisher: PublishedCar, car: SeenCar) -> float:
    assert car.status is not None, "asked of cars that have said their status"
    return publisher.scale.servo(car.status.steer_rad)


def _throttle(publisher: PublishedCar, car: SeenCar) -> float:
    assert car.status is not None, "asked of cars that have said their status"
    return publisher.like.throttle(car.status.target_mps)


def _steering(publisher: PublishedCar, car: SeenCar) -> float:
    assert car.status is not None, "asked of cars that have said their status"
    return car.status.steer_rad


def _speed(publisher: PublishedCar, car: SeenCar) -> float:
    assert car.status is not None, "asked of cars that have said their status"
    return car.status.speed_mps


def _wheel(
    publisher: PublishedCar, publication: Publication, message: Any, stamp: Any, car: SeenCar
) -> bool:
    """Report the rotation that the simulator's wheel would have made over the same distance."""
    assert car.motion is not None, "asked of cars that have said their motion"
    is_left = publication.content is Content.WHEEL_LEFT
    count = car.motion.count_left if is_left else car.motion.count_right
    rolled_m = count * publisher.vehicle.parameters["nm_per_count"][0] * 1e-9
    message.header.stamp, message.header.frame_id = stamp, publication.frame
    message.name, message.position = [publication.frame], [rolled_m / publisher.like.wheel_radius_m]
    return True


FILLERS: dict[Content, Callable[[PublishedCar, Publication, Any, Any, SeenCar], bool]] = {
    Content.DRIVEN: _driven,
    Content.ODOMETRY: _odometry,
    Content.TRUTH: _odometry,
    Content.TRANSFORM: _transform,
    Content.ACCELERATION: _acceleration,
    Content.WHEEL_TWIST: _wheel_twist,
    Content.PLACE: _place,
    Content.SCAN: _scan,
    Content.VESC_STATE: _vesc,
    Content.VESC_IMU: _vesc_imu,
    Content.IMU: _imu,
    Content.SERVO_ECHO: _number(_servo),
    Content.THROTTLE_ECHO: _number(_throttle),
    Content.STEERING_ECHO: _number(_steering),
    Content.SPEED: _number(_speed),
    Content.WHEEL_LEFT: _wheel,
    Content.WHEEL_RIGHT: _wheel,
}
