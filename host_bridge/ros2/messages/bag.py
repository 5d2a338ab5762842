"""Converts a Tandem log to a ROS 2 bag, with the topics that ``tandem ros`` would have published.

A single car has F1TENTH's topic names; several have them under their own names, as with ``--ns``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from host_bridge.core import CarMotion, CarStatus, Power, SeenCar, Vehicle, why_stopped
from host_bridge.core.errors import DataFileFault
from host_bridge.logs.bags.ros_types import empty
from host_bridge.logs.bags.writing import BagWriter
from host_bridge.logs.reading import Record, cars_in, facts, read
from host_bridge.logs.recorder import FACTS, ORIGIN
from host_bridge.logs.rows import from_row
from host_bridge.ros2.messages import conversions
from host_bridge.ros2.node.vesc_scale import VescScale
from host_bridge.ros2.vocabularies.f1tenth.vocabulary import F1TENTH

_NO_NAME = re.compile(r"\W")

VehicleLoader = Callable[[str], Vehicle | None]


def write_bag(log: Path, bag: Path, load: VehicleLoader) -> dict[str, int]:
    """Write the bag; return the number of messages by topic.

    ``load`` finds the vehicle of a name, or None. Raises errors.DataFileFault for a file that is no
    log or holds no car, and for a bag that exists already.
    """
    known = facts(log)
    cars = cars_in(known)
    records = (it for it in read(log) if not isinstance(it.value, bytes) and it.car in cars)
    first = next(records, None)
    if first is None:
        raise DataFileFault(
            "no car is in this log", where=str(log), expected="what a car said", got="notes alone"
        )
    origin_ns = int(known[FACTS][ORIGIN])
    with BagWriter(bag) as writer:
        publishers = {
            car: _BagPublisher(writer, _prefix(car, cars), load(row.get("vehicle", "")), car)
            for car, row in cars.items()
        }
        for record in (first, *records):
            publishers[record.car].tell(record, origin_ns + record.time_us * 1000)
    return writer.counts


def _prefix(car: str, cars: dict[str, dict[str, str]]) -> str:
    if len(cars) == 1:
        return ""
    name = _NO_NAME.sub("_", car)
    return f"car_{name}" if name[:1].isdigit() else name


class _BagPublisher:
    """Writes the messages that one car's node would have published, from the records of a log."""

    def __init__(self, writer: BagWriter, prefix: str, vehicle: Vehicle | None, car: str) -> None:
        self._writer = writer
        self._space = f"/{prefix}" if prefix else ""
        self._frames = f"{prefix}/" if prefix else ""
        self._vehicle = vehicle
        self._car = car
        self._status: CarStatus | None = None
        self._power: Power | None = None
        self._last_stop: tuple[bool, str] | None = None
        self._has_mount = False

    def tell(self, record: Record, time_ns: int) -> None:
        """Write every message that a node would have published at this record."""
        assert isinstance(record.value, dict), "records of bytes are left out before"
        for topic, type_name, message in self._messages_of(record.topic, record.value, time_ns):
            is_shared = topic.startswith("/tf")
            self._writer.write(
                topic if is_shared else f"{self._space}/{topic}",
                type_name,
                message,
                time_ns,
                is_latched=topic == "/tf_static" or topic.startswith("tandem/"),
            )

    def _messages_of(self, topic: str, row: Any, time_ns: int) -> Iterator[tuple[str, str, Any]]:
        stamp = _stamp(time_ns)
        if not self._has_mount:
            self._has_mount = True
            yield from self._mount(stamp)
        if topic == "claim":
            yield from _command(row, stamp)
        elif topic == "power":
            self._power = from_row(Power, row)
        elif topic == "status":
            self._status = from_row(CarStatus, row)
            yield from self._stop(self._status)
        elif topic == "motion" and self._status is not None:
            yield from self._moves(from_row(CarMotion, row), self._status, stamp)

    def _mount(self, stamp: Any) -> Iterator[tuple[str, str, Any]]:
        transform = empty("geometry_msgs/msg/TransformStamped")
        frames = self._frames + F1TENTH.base_frame, self._frames + F1TENTH.scan_frame
        if self._vehicle and conversions.fill_mount(transform, stamp, frames, self._vehicle):
            yield "/tf_static", *_transforms(transform)

    def _stop(self, status: CarStatus) -> Iterator[tuple[str, str, Any]]:
        stop = not status.state.is_armed, why_stopped(status, (), self._vehicle)
        if stop == self._last_stop:
            return
        self._last_stop = stop
        for topic, kind, value in zip(
            ("is_stopped", "why_stopped"), ("Bool", "String"), stop, strict=True
        ):
            message = empty(f"std_msgs/msg/{kind}")
            message.data = value
            yield f"tandem/{topic}", f"std_msgs/msg/{kind}", message

    def _moves(
        self, motion: CarMotion, status: CarStatus, stamp: Any
    ) -> Iterator[tuple[str, str, Any]]:
        frames = self._frames + F1TENTH.odom_frame, self._frames + F1TENTH.base_frame
        pose = conversions.dead_reckoned_pose(status, motion)
        odometry = empty("nav_msgs/msg/Odometry")
        conversions.fill_odometry(odometry, stamp, frames, pose)
        yield "odom", "nav_msgs/msg/Odometry", odometry
        transform = empty("geometry_msgs/msg/TransformStamped")
        conversions.fill_transform(transform, stamp, frames, pose)
        yield "/tf", *_transforms(transform)
        imu = empty("sensor_msgs/msg/Imu")
        conversions.fill_imu(imu, stamp, motion)
        yield "sensors/imu/raw", "sensor_msgs/msg/Imu", imu
        state = empty("vesc_msgs/msg/VescStateStamped")
        seen = SeenCar(self._car, True, self._vehicle, status, motion, None, self._power)
        conversions.fill_vesc_state(state, stamp, seen, VescScale())
        yield "sensors/core", "vesc_msgs/msg/VescStateStamped", state


def _command(row: Any, stamp: Any) -> Iterator[tuple[str, str, Any]]:
    """Yield the drive command of a claim whose deadman was held, from whatever source."""
    if row.get("is_held"):
        message = empty("ackermann_msgs/msg/AckermannDriveStamped")
        message.header.stamp = stamp
        message.drive.speed = float(row["speed_mps"])
        message.drive.steering_angle = float(row["steer_rad"])
        yield "drive", "ackermann_msgs/msg/AckermannDriveStamped", message


def _transforms(transform: Any) -> tuple[str, Any]:
    message = empty("tf2_msgs/msg/TFMessage")
    message.transforms = [transform]
    return "tf2_msgs/msg/TFMessage", message


def _stamp(time_ns: int) -> Any:
    made = empty("builtin_interfaces/msg/Time")
    made.sec, made.nanosec = divmod(time_ns, 1_000_000_000)
    return made
