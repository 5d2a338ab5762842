"""Publishes the state of a car: one function for each part of a vocabulary, and their rates."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from host_bridge.core import SeenCar, State, Vehicle
from host_bridge.logs.sensor_lines import SensorPipe
from host_bridge.ros2.bus.bus import Bus
from host_bridge.ros2.bus.message_types import message_class
from host_bridge.ros2.messages import conversions
from host_bridge.ros2.messages.covariances import (
    OdometryError,
    exact_covariance,
    fill_diagonal,
    fill_imu_covariances,
)
from host_bridge.ros2.node.diagnostics import why_standing
from host_bridge.ros2.node.vesc_scale import VescScale
from host_bridge.ros2.node.vocabulary_adapter import MessageFiller
from host_bridge.ros2.vocabularies.topics import ABSOLUTE_FRAMES, Content, Publication
from host_bridge.ros2.vocabularies.vocabulary import Vocabulary
from sim_mock.autodrive.cars import SimulatedCar

ARMED = (State.ACTIVE, State.HOLD)
BOOL = "std_msgs/msg/Bool"
_TRANSFORMS = "tf2_msgs/msg/TFMessage"
_EVERY = 2  # steps of 10 ms: 50 Hz


class StatePublisher:
    """The publisher of one car's state in the topics of a vocabulary."""

    def __init__(
        self,
        bus: Bus,
        vocabulary: Vocabulary,
        vehicle: Vehicle,
        scale: VescScale,
        like: SimulatedCar,
        pipe: SensorPipe | None,
        fillers: Mapping[Content, MessageFiller],
    ) -> None:
        """Create the publishers.

        ``scale`` converts to a VESC's units, ``like`` is the AutoDRIVE Simulator's car that shares
        refer to, ``pipe`` a virtual car's sensors, ``fillers`` what its adapter publishes besides.
        Raises errors.DeviceFault for a missing message type.
        """
        self.vocabulary = vocabulary
        self.vehicle = vehicle
        self.scale = scale
        self.like = like
        self.pipe = pipe
        self._bus = bus
        self._fillers = fillers
        self._publications = [
            (
                publication,
                bus.publisher(publication.topic, publication.type),
                message_class(publication.type),
            )
            for publication in vocabulary.publications
        ]
        if any(publication.content is Content.SCAN for publication in vocabulary.publications):
            self._tell_mount()
        self._is_stopped = bus.publisher("~/is_stopped", BOOL, is_latched=True)
        self._why = bus.publisher("~/why_stopped", "std_msgs/msg/String", is_latched=True)
        self.odometry_error = OdometryError(vehicle)
        self._told: tuple[bool, str] | None = None
        self._count = 0

    def step(self, car: SeenCar, now_us: int) -> None:
        """Publish scans as they come, all other topics at 50 Hz."""
        self._count += 1
        self._tell_stop(car)
        is_due = self._count % _EVERY == 0 and car.is_online and car.status and car.motion
        if self.pipe:
            self.pipe.step(now_us)
        if is_due and car.motion:
            self.odometry_error.step(car.motion)
        has_scan = self.pipe is not None and self.pipe.scan is not None
        if is_due or has_scan:
            age_us = self.pipe.scan_age_us(now_us) if self.pipe and has_scan else 0
            for publication, publisher, make in self._publications:
                is_scan = publication.content is Content.SCAN
                if has_scan if is_scan else is_due:
                    message = make()
                    stamp = self._bus.stamp(age_us if is_scan else 0)
                    if self._fill(publication, message, stamp, car):
                        publisher.publish(message)

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

    def _fill(self, publication: Publication, message: Any, stamp: Any, car: SeenCar) -> bool:
        if publication.content in self._fillers:
            return self._fillers[publication.content](publication, message, stamp, car)
        return _FILLERS[publication.content](self, publication, message, stamp, car)

    def _tell_mount(self) -> None:
        static = self._bus.publisher("/tf_static", _TRANSFORMS, is_latched=True)
        transform = message_class("geometry_msgs/msg/TransformStamped")()
        frames = self.vocabulary.base_frame, self.vocabulary.scan_frame
        if conversions.fill_mount(transform, self._bus.stamp(), frames, self.vehicle):
            message = message_class(_TRANSFORMS)()
            message.transforms = [transform]
            static.publish(message)

    def _tell_stop(self, car: SeenCar) -> None:
        """Publish whether and why the car stands, latched, when it has changed."""
        is_stopped = not car.is_online or car.status is None or car.status.state not in ARMED
        told = is_stopped, why_standing(car)
        if told != self._told:
            self._told = told
            flag, why = message_class(BOOL)(), message_class("std_msgs/msg/String")()
            flag.data, why.data = told
            self._is_stopped.publish(flag)
            self._why.publish(why)


# --- one for each part: fills a message; returns False if there is nothing to publish


def _odometry(
    publisher: StatePublisher, publication: Publication, message: Any, stamp: Any, car: SeenCar
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
    publisher: StatePublisher, publication: Publication, message: Any, stamp: Any, car: SeenCar
) -> bool:
    pose = publisher.pose(publication.frame, car)
    if pose is not None:
        transform = message_class("geometry_msgs/msg/TransformStamped")()
        frames = publication.frame, publisher.vocabulary.base_frame
        conversions.fill_transform(transform, stamp, frames, pose)
        message.transforms = [transform]
    return pose is not None


def _driven(
    publisher: StatePublisher, publication: Publication, message: Any, stamp: Any, car: SeenCar
) -> bool:
    assert car.status is not None, "asked of cars that have said their status"
    message.header.stamp = stamp
    message.drive.speed, message.drive.steering_angle = car.status.target_mps, car.status.steer_rad
    return True


def _place(
    publisher: StatePublisher, publication: Publication, message: Any, stamp: Any, car: SeenCar
) -> bool:
    pose = publisher.pose(publication.frame, car)
    if pose is not None:
        message.x, message.y = pose.x_m, pose.y_m
    return pose is not None


def _scan(
    publisher: StatePublisher, publication: Publication, message: Any, stamp: Any, car: SeenCar
) -> bool:
    scan = publisher.pipe.take_scan() if publisher.pipe else None
    if scan is not None:
        conversions.fill_scan(message, stamp, publication.frame, scan, publisher.vehicle)
    return scan is not None


def _vesc(
    publisher: StatePublisher, publication: Publication, message: Any, stamp: Any, car: SeenCar
) -> bool:
    conversions.fill_vesc_state(message, stamp, car, publisher.scale)
    return True


def _vesc_imu(
    publisher: StatePublisher, publication: Publication, message: Any, stamp: Any, car: SeenCar
) -> bool:
    assert car.motion is not None, "asked of cars that have said their motion"
    conversions.fill_vesc_imu(message, stamp, car.motion)
    return True


def _imu(
    publisher: StatePublisher, publication: Publication, message: Any, stamp: Any, car: SeenCar
) -> bool:
    assert car.motion is not None, "asked of cars that have said their motion"
    conversions.fill_imu(message, stamp, car.motion)
    fill_imu_covariances(message, publisher.odometry_error.noise)
    message.header.frame_id = publication.frame
    return True


def _number(of: Callable[[StatePublisher, SeenCar], float]) -> Callable[..., bool]:
    def fill_number(
        publisher: StatePublisher, publication: Publication, message: Any, stamp: Any, car: SeenCar
    ) -> bool:
        message.data = of(publisher, car)
        return True

    return fill_number


def _servo(publisher: StatePublisher, car: SeenCar) -> float:
    assert car.status is not None, "asked of cars that have said their status"
    return publisher.scale.servo(car.status.steer_rad)


def _throttle(publisher: StatePublisher, car: SeenCar) -> float:
    assert car.status is not None, "asked of cars that have said their status"
    return publisher.like.throttle(car.status.target_mps)


def _steering(publisher: StatePublisher, car: SeenCar) -> float:
    assert car.status is not None, "asked of cars that have said their status"
    return car.status.steer_rad


def _speed(publisher: StatePublisher, car: SeenCar) -> float:
    assert car.status is not None, "asked of cars that have said their status"
    return car.status.speed_mps


def _wheel(
    publisher: StatePublisher, publication: Publication, message: Any, stamp: Any, car: SeenCar
) -> bool:
    """Report the rotation that the simulator's wheel would have made over the same distance."""
    assert car.motion is not None, "asked of cars that have said their motion"
    is_left = publication.content is Content.WHEEL_LEFT
    count = car.motion.count_left if is_left else car.motion.count_right
    rolled_m = count * publisher.vehicle.parameters["nm_per_count"][0] * 1e-9
    message.header.stamp, message.header.frame_id = stamp, publication.frame
    message.name, message.position = [publication.frame], [rolled_m / publisher.like.wheel_radius_m]
    return True


_FILLERS: dict[Content, Callable[[StatePublisher, Publication, Any, Any, SeenCar], bool]] = {
    Content.DRIVEN: _driven,
    Content.ODOMETRY: _odometry,
    Content.TRUTH: _odometry,
    Content.TRANSFORM: _transform,
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
