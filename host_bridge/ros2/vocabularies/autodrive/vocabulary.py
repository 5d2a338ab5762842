"""AutoDRIVE's ROS 2 API: topic tables of its five cars, and its lights, laps, collisions and reset.

Topics that cannot be served (cameras, traffic lights, 3D LIDARs) are listed as absent, with why.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import hypot
from typing import Any

from host_bridge.core import SeenCar, Vehicle
from host_bridge.core.laps import Laps
from host_bridge.ros2.messages.messages import true_pose
from host_bridge.ros2.node.bus import Bus
from host_bridge.ros2.node.mux import MuxSource
from host_bridge.ros2.node.vocabulary_adapter import MessageFiller, NodeApi, VocabularyAdapter
from host_bridge.ros2.vocabularies.vocabulary import (
    ODOMETRY_TYPE,
    SCAN_HZ,
    SCAN_TYPE,
    STATE_HZ,
    TF_TYPE,
    Content,
    MuxRow,
    Publication,
    Subscription,
    UnsupportedTopic,
    Vocabulary,
)

_SHARE = "std_msgs/msg/Float32"
_COUNT = "std_msgs/msg/Int32"
_POINT = "geometry_msgs/msg/Point"
_WHEEL = "sensor_msgs/msg/JointState"
_IMAGE = "sensor_msgs/msg/Image"
_API = "script"
_NO_PICTURE = "virtual cars have no camera, and a real camera has its own driver"
_NO_SIGNALS = "there are no traffic lights here"
_SIGNALS = range(1, 5)
_BACK_M = 0.05
# The lights' byte of a claim (firmware/boards/physical/signals.py): beam, left, right
_BEAM, _INDICATORS_AT = 3, 2
_LIGHTS_MOST = {Content.HEADLIGHTS: 2, Content.INDICATORS: 3}


def _cameras(its: str, *sides: str) -> tuple[UnsupportedTopic, ...]:
    return tuple(UnsupportedTopic(f"{its}/{side}_camera", _IMAGE, _NO_PICTURE) for side in sides)


def _autodrive(
    car: str,
    root: str,
    *more: Subscription | Publication,
    like: str = "",
    place: str = "ips",
    unsupported: tuple[UnsupportedTopic, ...] = (),
) -> Vocabulary:
    """Build the vocabulary of one AutoDRIVE car, whose topics begin with its name.

    ``place`` names the topic of its position (``ips`` or ``gnss``), ``root`` the fixed frame.
    """
    its = f"/autodrive/{car}_1"
    lidar = Publication(f"{its}/lidar", SCAN_TYPE, Content.SCAN, SCAN_HZ, "lidar")
    has_scan = lidar.topic not in {it.topic for it in unsupported}
    return Vocabulary(
        name=f"autodrive_{car}",
        title=f"AutoDRIVE's ROS 2 API for its {car}",
        subscriptions=(
            Subscription(f"{its}/throttle_command", _SHARE, Content.THROTTLE, _API),
            Subscription(f"{its}/steering_command", _SHARE, Content.STEERING, _API),
            *(it for it in more if isinstance(it, Subscription)),
        ),
        publications=(
            Publication(f"{its}/throttle", _SHARE, Content.THROTTLE_ECHO, STATE_HZ),
            Publication(f"{its}/steering", _SHARE, Content.STEERING_ECHO, STATE_HZ),
            Publication(
                f"{its}/left_encoder", _WHEEL, Content.WHEEL_LEFT, STATE_HZ, "left_encoder"
            ),
            Publication(
                f"{its}/right_encoder", _WHEEL, Content.WHEEL_RIGHT, STATE_HZ, "right_encoder"
            ),
            Publication(f"{its}/{place}", _POINT, Content.PLACE, STATE_HZ, root),
            Publication(f"{its}/imu", "sensor_msgs/msg/Imu", Content.IMU, STATE_HZ, "imu"),
            *([lidar] if has_scan else []),
            Publication("/tf", TF_TYPE, Content.TRANSFORM, STATE_HZ, root),
            *(it for it in more if isinstance(it, Publication)),
        ),
        mux=(MuxRow(_API, f"{its}/throttle_command", 10, 0.2),),
        odom_frame=root,
        base_frame=f"{car}_1",
        scan_frame="lidar",
        like=like or car,
        unsupported=unsupported,
    )


def _odom(car: str, root: str) -> Publication:
    return Publication(f"/autodrive/{car}_1/odom", ODOMETRY_TYPE, Content.TRUTH, STATE_HZ, root)


def _racing(car: str) -> tuple[Subscription | Publication, ...]:
    """Return the extra topics of the racing simulator: reset, lap count and times, collisions."""
    its = f"/autodrive/{car}_1"
    return (
        Subscription("/autodrive/reset_command", "std_msgs/msg/Bool", Content.RESET, _API),
        Publication(f"{its}/lap_count", _COUNT, Content.LAP_COUNT, STATE_HZ),
        Publication(f"{its}/lap_time", _SHARE, Content.LAP_TIME, STATE_HZ),
        Publication(f"{its}/last_lap_time", _SHARE, Content.LAST_LAP_TIME, STATE_HZ),
        Publication(f"{its}/best_lap_time", _SHARE, Content.BEST_LAP_TIME, STATE_HZ),
        Publication(f"{its}/collision_count", _COUNT, Content.COLLISIONS, STATE_HZ),
    )


_NIGEL = "/autodrive/nigel_1"
AUTODRIVE_NIGEL = _autodrive(
    "nigel",
    "map",
    _odom("nigel", "map"),
    Subscription(f"{_NIGEL}/headlights_command", _COUNT, Content.HEADLIGHTS, _API),
    Subscription(f"{_NIGEL}/indicators_command", _COUNT, Content.INDICATORS, _API),
    unsupported=(
        *_cameras(_NIGEL, "front", "rear"),
        *(
            UnsupportedTopic(f"/autodrive/signal_{i}/command", _COUNT, _NO_SIGNALS)
            for i in _SIGNALS
        ),
        *(UnsupportedTopic(f"/autodrive/signal_{i}/state", _COUNT, _NO_SIGNALS) for i in _SIGNALS),
    ),
)
AUTODRIVE_F1TENTH = _autodrive(
    "f1tenth",
    "map",
    _odom("f1tenth", "map"),
    Publication("/autodrive/f1tenth_1/speed", _SHARE, Content.SPEED, STATE_HZ),
    *_racing("f1tenth"),
    unsupported=_cameras("/autodrive/f1tenth_1", "front"),
)
AUTODRIVE_ROBORACER = _autodrive(
    "roboracer",
    "world",
    _odom("roboracer", "world"),
    *_racing("roboracer"),
    unsupported=_cameras("/autodrive/roboracer_1", "front"),
)


def _cloud(its: str) -> UnsupportedTopic:
    why = "these cars' LIDARs are planar: scan of --as f1tenth"
    return UnsupportedTopic(f"{its}/lidar", "sensor_msgs/msg/PointCloud2", why)


AUTODRIVE_HUNTER = _autodrive(
    "hunter",
    "world",
    _odom("hunter", "world"),
    like="hunter_se",
    place="gnss",
    unsupported=(_cloud("/autodrive/hunter_1"), *_cameras("/autodrive/hunter_1", "front", "rear")),
)
_OPENCAV = "/autodrive/opencav_1"
AUTODRIVE_OPENCAV = _autodrive(
    "opencav",
    "world",
    _odom("opencav", "world"),
    Subscription(f"{_OPENCAV}/brake_command", _SHARE, Content.BRAKE_SHARE, _API),
    Subscription(f"{_OPENCAV}/handbrake_command", _SHARE, Content.HANDBRAKE, _API),
    place="gnss",
    unsupported=(_cloud(_OPENCAV), *_cameras(_OPENCAV, "front", "rear", "left", "right")),
)
AUTODRIVE_VOCABULARIES = (
    AUTODRIVE_NIGEL,
    AUTODRIVE_F1TENTH,
    AUTODRIVE_ROBORACER,
    AUTODRIVE_HUNTER,
    AUTODRIVE_OPENCAV,
)


class AutodriveAdapter(VocabularyAdapter):
    """The adapter for AutoDRIVE's simulator topics: lights, laps, collisions and reset."""

    def __init__(self) -> None:
        self._node: NodeApi
        self._rear_m = 0.0
        self._wheelbase_m = 0.0
        self._lights = {Content.HEADLIGHTS: 0, Content.INDICATORS: 0}
        self._is_reset = False
        self._is_on_its_way = False  # it was put back to its start, and is not there yet
        self._laps: Laps | None = None
        self._start: tuple[float, float, float] | None = None

    def begin(self, bus: Bus, node: NodeApi, vehicle: Vehicle) -> None:
        self._node = node
        self._rear_m = vehicle.turns_behind_centre_m
        self._wheelbase_m = vehicle.wheelbase_m

    @property
    def lights(self) -> int:  # type: ignore[override]
        """The lights byte of a claim: the beam in bits 0 and 1, the indicators in bits 2 and 3."""
        beam, sides = self._lights[Content.HEADLIGHTS], self._lights[Content.INDICATORS]
        return beam & _BEAM | sides << _INDICATORS_AT

    def on_message(
        self,
        subscription: Subscription,
        source: MuxSource,
        message: Any,
        heard_us: int,
        now_us: int,
    ) -> bool:
        if subscription.content in _LIGHTS_MOST:
            if 0 <= message.data <= _LIGHTS_MOST[subscription.content]:
                self._lights[subscription.content] = int(message.data)
            else:
                source.refuse(f"{subscription.topic} has no {message.data}")
        elif subscription.content is Content.RESET:
            self._reset(source, bool(message.data))
        else:
            return False
        return True

    def step(self, car: SeenCar, is_driving: bool, now_us: int) -> None:
        """Follow the true pose; the first one seen is the car's start and its lap line."""
        truth = self._node.truth()
        if truth is None:
            return
        pose = true_pose(truth, self._rear_m)
        if self._laps is None:
            self._start = pose.x_m, pose.y_m, pose.yaw_rad
            self._laps = Laps(*self._start, self._wheelbase_m)
        if self._is_on_its_way and self._start:
            off_m = hypot(pose.x_m - self._start[0], pose.y_m - self._start[1])
            self._is_on_its_way = off_m > _BACK_M
        if not self._is_on_its_way:
            self._laps.step(pose.x_m, pose.y_m, now_us)

    def _reset(self, source: MuxSource, is_asked: bool) -> None:
        """Put the car back to its start on each change of the message from false to true.

        AutoDRIVE's simulator resets for as long as the value is true.
        """
        was, self._is_reset = self._is_reset, is_asked
        if is_asked and not was:
            why = self._node.set_pose(self._start) if self._start else "it has not begun"
            if why:
                source.refuse(why)
            elif self._start:
                self._laps = Laps(*self._start, self._wheelbase_m)
                self._is_on_its_way = True

    # --- publications

    def fillers(self) -> Mapping[Content, MessageFiller]:
        return {
            Content.LAP_COUNT: self._of_laps(lambda laps: laps.count),
            Content.LAP_TIME: self._of_laps(lambda laps: laps.time_s),
            Content.LAST_LAP_TIME: self._of_laps(lambda laps: laps.last_s),
            Content.BEST_LAP_TIME: self._of_laps(lambda laps: laps.best_s),
            Content.COLLISIONS: self._collisions,
        }

    def _of_laps(self, of: Any) -> MessageFiller:
        def fill(publication: Publication, message: Any, stamp: Any, car: SeenCar) -> bool:
            if self._laps is not None:
                message.data = of(self._laps)
            return self._laps is not None

        return fill

    def _collisions(self, publication: Publication, message: Any, stamp: Any, car: SeenCar) -> bool:
        if self._node.truth() is None:
            return False
        message.data = self._node.hits()
        return True
