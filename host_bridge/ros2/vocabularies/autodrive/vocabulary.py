"""AutoDRIVE's ROS 2 API: topic tables of its five cars, and its lights, laps, collisions and reset.

Topics that cannot be served (cameras, traffic lights, 3D LIDARs) are listed as absent, with why.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import hypot
from typing import Any

from host_bridge.core import SeenCar, Vehicle
from host_bridge.core.laps import Laps
from host_bridge.ros2.messages.messages import true
from host_bridge.ros2.node.bus import Bus
from host_bridge.ros2.node.mux import Source
from host_bridge.ros2.node.vocabulary_adapter import Asked, Fill, Manner
from host_bridge.ros2.vocabularies.vocabulary import (
    ODOMETRY_TYPE,
    SCAN_HZ,
    SCAN_TYPE,
    STATE_HZ,
    TF_TYPE,
    Absent,
    Heard,
    MuxRow,
    Part,
    Said,
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
_LIGHTS_MOST = {Part.HEADLIGHTS: 2, Part.INDICATORS: 3}


def _cameras(its: str, *sides: str) -> tuple[Absent, ...]:
    return tuple(Absent(f"{its}/{side}_camera", _IMAGE, _NO_PICTURE) for side in sides)


def _autodrive(
    car: str,
    root: str,
    *more: Heard | Said,
    like: str = "",
    place: str = "ips",
    absent: tuple[Absent, ...] = (),
) -> Vocabulary:
    """Build the vocabulary of one AutoDRIVE car, whose topics begin with its name.

    ``place`` names the topic of its position (``ips`` or ``gnss``), ``root`` the fixed frame.
    """
    its = f"/autodrive/{car}_1"
    lidar = Said(f"{its}/lidar", SCAN_TYPE, Part.SCAN, SCAN_HZ, "lidar")
    has_scan = lidar.topic not in {it.topic for it in absent}
    return Vocabulary(
        name=f"autodrive_{car}",
        title=f"AutoDRIVE's ROS 2 API for its {car}",
        heard=(
            Heard(f"{its}/throttle_command", _SHARE, Part.THROTTLE, _API),
            Heard(f"{its}/steering_command", _SHARE, Part.STEERING, _API),
            *(it for it in more if isinstance(it, Heard)),
        ),
        said=(
            Said(f"{its}/throttle", _SHARE, Part.THROTTLE_ECHO, STATE_HZ),
            Said(f"{its}/steering", _SHARE, Part.STEERING_ECHO, STATE_HZ),
            Said(f"{its}/left_encoder", _WHEEL, Part.WHEEL_LEFT, STATE_HZ, "left_encoder"),
            Said(f"{its}/right_encoder", _WHEEL, Part.WHEEL_RIGHT, STATE_HZ, "right_encoder"),
            Said(f"{its}/{place}", _POINT, Part.PLACE, STATE_HZ, root),
            Said(f"{its}/imu", "sensor_msgs/msg/Imu", Part.IMU, STATE_HZ, "imu"),
            *([lidar] if has_scan else []),
            Said("/tf", TF_TYPE, Part.TRANSFORM, STATE_HZ, root),
            *(it for it in more if isinstance(it, Said)),
        ),
        mux=(MuxRow(_API, f"{its}/throttle_command", 10, 0.2),),
        odom_frame=root,
        base_frame=f"{car}_1",
        scan_frame="lidar",
        like=like or car,
        absent=absent,
    )


def _odom(car: str, root: str) -> Said:
    return Said(f"/autodrive/{car}_1/odom", ODOMETRY_TYPE, Part.TRUTH, STATE_HZ, root)


def _racing(car: str) -> tuple[Heard | Said, ...]:
    """Return the extra topics of the racing simulator: reset, lap count and times, collisions."""
    its = f"/autodrive/{car}_1"
    return (
        Heard("/autodrive/reset_command", "std_msgs/msg/Bool", Part.RESET, _API),
        Said(f"{its}/lap_count", _COUNT, Part.LAP_COUNT, STATE_HZ),
        Said(f"{its}/lap_time", _SHARE, Part.LAP_TIME, STATE_HZ),
        Said(f"{its}/last_lap_time", _SHARE, Part.LAST_LAP_TIME, STATE_HZ),
        Said(f"{its}/best_lap_time", _SHARE, Part.BEST_LAP_TIME, STATE_HZ),
        Said(f"{its}/collision_count", _COUNT, Part.COLLISIONS, STATE_HZ),
    )


_NIGEL = "/autodrive/nigel_1"
AUTODRIVE_NIGEL = _autodrive(
    "nigel",
    "map",
    _odom("nigel", "map"),
    Heard(f"{_NIGEL}/headlights_command", _COUNT, Part.HEADLIGHTS, _API),
    Heard(f"{_NIGEL}/indicators_command", _COUNT, Part.INDICATORS, _API),
    absent=(
        *_cameras(_NIGEL, "front", "rear"),
        *(Absent(f"/autodrive/signal_{i}/command", _COUNT, _NO_SIGNALS) for i in _SIGNALS),
        *(Absent(f"/autodrive/signal_{i}/state", _COUNT, _NO_SIGNALS) for i in _SIGNALS),
    ),
)
AUTODRIVE_F1TENTH = _autodrive(
    "f1tenth",
    "map",
    _odom("f1tenth", "map"),
    Said("/autodrive/f1tenth_1/speed", _SHARE, Part.SPEED, STATE_HZ),
    *_racing("f1tenth"),
    absent=_cameras("/autodrive/f1tenth_1", "front"),
)
AUTODRIVE_ROBORACER = _autodrive(
    "roboracer",
    "world",
    _odom("roboracer", "world"),
    *_racing("roboracer"),
    absent=_cameras("/autodrive/roboracer_1", "front"),
)


def _cloud(its: str) -> Absent:
    why = "these cars' LIDARs are planar: scan of --as f1tenth"
    return Absent(f"{its}/lidar", "sensor_msgs/msg/PointCloud2", why)


AUTODRIVE_HUNTER = _autodrive(
    "hunter",
    "world",
    _odom("hunter", "world"),
    like="hunter_se",
    place="gnss",
    absent=(_cloud("/autodrive/hunter_1"), *_cameras("/autodrive/hunter_1", "front", "rear")),
)
_OPENCAV = "/autodrive/opencav_1"
AUTODRIVE_OPENCAV = _autodrive(
    "opencav",
    "world",
    _odom("opencav", "world"),
    Heard(f"{_OPENCAV}/brake_command", _SHARE, Part.BRAKE_SHARE, _API),
    Heard(f"{_OPENCAV}/handbrake_command", _SHARE, Part.HANDBRAKE, _API),
    place="gnss",
    absent=(_cloud(_OPENCAV), *_cameras(_OPENCAV, "front", "rear", "left", "right")),
)
CARS = (
    AUTODRIVE_NIGEL,
    AUTODRIVE_F1TENTH,
    AUTODRIVE_ROBORACER,
    AUTODRIVE_HUNTER,
    AUTODRIVE_OPENCAV,
)


class Simulated(Manner):
    """The adapter for AutoDRIVE's simulator topics: lights, laps, collisions and reset."""

    def __init__(self) -> None:
        self._asked: Asked
        self._rear_m = 0.0
        self._wheelbase_m = 0.0
        self._lights = {Part.HEADLIGHTS: 0, Part.INDICATORS: 0}
        self._is_reset = False
        self._is_on_its_way = False  # it was put back to its start, and is not there yet
        self._laps: Laps | None = None
        self._start: tuple[float, float, float] | None = None

    def begin(self, bus: Bus, asked: Asked, vehicle: Vehicle) -> None:
        self._asked = asked
        self._rear_m = vehicle.turns_behind_centre_m
        self._wheelbase_m = vehicle.wheelbase_m

    @property
    def lights(self) -> int:  # type: ignore[override]
        """The lights byte of a claim: the beam in bits 0 and 1, the indicators in bits 2 and 3."""
        beam, sides = self._lights[Part.HEADLIGHTS], self._lights[Part.INDICATORS]
        return beam & _BEAM | sides << _INDICATORS_AT

    def hear(self, heard: Heard, source: Source, message: Any, heard_us: int, now_us: int) -> bool:
        if heard.part in _LIGHTS_MOST:
            if 0 <= message.data <= _LIGHTS_MOST[heard.part]:
                self._lights[heard.part] = int(message.data)
            else:
                source.refuse(f"{heard.topic} has no {message.data}")
        elif heard.part is Part.RESET:
            self._reset(source, bool(message.data))
        else:
            return False
        return True

    def step(self, car: SeenCar, is_driving: bool, now_us: int) -> None:
        """Follow the true pose; the first one seen is the car's start and its lap line."""
        truth = self._asked.truth()
        if truth is None:
            return
        pose = true(truth, self._rear_m)
        if self._laps is None:
            self._start = pose.x_m, pose.y_m, pose.yaw_rad
            self._laps = Laps(*self._start, self._wheelbase_m)
        if self._is_on_its_way and self._start:
            off_m = hypot(pose.x_m - self._start[0], pose.y_m - self._start[1])
            self._is_on_its_way = off_m > _BACK_M
        if not self._is_on_its_way:
            self._laps.step(pose.x_m, pose.y_m, now_us)

    def _reset(self, source: Source, is_asked: bool) -> None:
        """Put the car back to its start on each change of the message from false to true.

        AutoDRIVE's simulator resets for as long as the value is true.
        """
        was, self._is_reset = self._is_reset, is_asked
        if is_asked and not was:
            why = self._asked.put(self._start) if self._start else "it has not begun"
            if why:
                source.refuse(why)
            elif self._start:
                self._laps = Laps(*self._start, self._wheelbase_m)
                self._is_on_its_way = True

    # --- publications

    def fills(self) -> Mapping[Part, Fill]:
        return {
            Part.LAP_COUNT: self._of_laps(lambda laps: laps.count),
            Part.LAP_TIME: self._of_laps(lambda laps: laps.time_s),
            Part.LAST_LAP_TIME: self._of_laps(lambda laps: laps.last_s),
            Part.BEST_LAP_TIME: self._of_laps(lambda laps: laps.best_s),
            Part.COLLISIONS: self._collisions,
        }

    def _of_laps(self, of: Any) -> Fill:
        def fill(said: Said, message: Any, stamp: Any, car: SeenCar) -> bool:
            if self._laps is not None:
                message.data = of(self._laps)
            return self._laps is not None

        return fill

    def _collisions(self, said: Said, message: Any, stamp: Any, car: SeenCar) -> bool:
        if self._asked.truth() is None:
            return False
        message.data = self._asked.hits()
        return True
