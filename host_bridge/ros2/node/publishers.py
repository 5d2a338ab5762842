"""Publishes the state of a car: one function for each part of a vocabulary, and their rates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from host_bridge.core import SeenCar, Vehicle
from host_bridge.logs.sensor_lines import SensorPipe
from host_bridge.ros2.bus.bus import Bus
from host_bridge.ros2.bus.message_types import has_message, message_class
from host_bridge.ros2.messages import conversions
from host_bridge.ros2.node.diagnostics import why_standing
from host_bridge.ros2.node.message_fillers import FILLERS, PublishedCar
from host_bridge.ros2.node.vesc_scale import VescScale
from host_bridge.ros2.node.vocabulary_adapter import MessageFiller
from host_bridge.ros2.vocabularies.topics import Content, Publication
from host_bridge.ros2.vocabularies.vocabulary import Vocabulary
from sim_mock.autodrive.cars import SimulatedCar

BOOL = "std_msgs/msg/Bool"
_TRANSFORMS = "tf2_msgs/msg/TFMessage"
_EVERY = 2  # steps of 10 ms: 50 Hz


class StatePublisher(PublishedCar):
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
        super().__init__(vocabulary, vehicle, scale, like, pipe)
        self._bus = bus
        self._fillers = fillers
        self._publications = [
            (
                publication,
                bus.publisher(publication.topic, publication.type),
                message_class(publication.type),
            )
            for publication in vocabulary.publications
            if not publication.is_optional or has_message(publication.type)
        ]
        has_scan = any(it.content is Content.SCAN for it in vocabulary.publications)
        if has_scan or vocabulary.mounts:
            self._tell_mounts(has_scan)
        self._is_stopped = bus.publisher("~/is_stopped", BOOL, is_latched=True)
        self._why = bus.publisher("~/why_stopped", "std_msgs/msg/String", is_latched=True)
        self._last_stop: tuple[bool, str] | None = None
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

    def _fill(self, publication: Publication, message: Any, stamp: Any, car: SeenCar) -> bool:
        if publication.content in self._fillers:
            return self._fillers[publication.content](publication, message, stamp, car)
        return FILLERS[publication.content](self, publication, message, stamp, car)

    def _tell_mounts(self, has_scan: bool) -> None:
        """Publish, latched, where the LIDAR and the other sensors are."""
        make, stamp = message_class("geometry_msgs/msg/TransformStamped"), self._bus.stamp()
        base = self.vocabulary.base_frame
        found = []
        scanner = make()
        frames = base, self.vocabulary.scan_frame
        if has_scan and conversions.fill_mount(scanner, stamp, frames, self.vehicle):
            found.append(scanner)
        for mount in self.vocabulary.mounts:
            transform = make()
            conversions.fill_offset(transform, stamp, base, mount, self.vehicle)
            found.append(transform)
        if found:
            message = message_class(_TRANSFORMS)()
            message.transforms = found
            self._bus.publisher("/tf_static", _TRANSFORMS, is_latched=True).publish(message)

    def _tell_stop(self, car: SeenCar) -> None:
        """Publish whether and why the car stands, latched, when it has changed."""
        is_stopped = not car.is_online or car.status is None or not car.status.state.is_armed
        stop = is_stopped, why_standing(car)
        if stop != self._last_stop:
            self._last_stop = stop
            flag, why = message_class(BOOL)(), message_class("std_msgs/msg/String")()
            flag.data, why.data = stop
            self._is_stopped.publish(flag)
            self._why.publish(why)
