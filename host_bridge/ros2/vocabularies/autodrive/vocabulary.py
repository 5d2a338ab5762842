"""AutoDRIVE's ROS 2 API: the topics of its five cars.

Topics that cannot be served (cameras, traffic lights, 3D LIDARs) are listed as unsupported, with
the reason.
"""

from __future__ import annotations

from host_bridge.ros2.vocabularies.autodrive.adapter import AutodriveAdapter
from host_bridge.ros2.vocabularies.topics import (
    ODOMETRY_TYPE,
    SCAN_HZ,
    SCAN_TYPE,
    STATE_HZ,
    TF_TYPE,
    Content,
    Mount,
    MuxRow,
    Publication,
    Subscription,
    UnsupportedTopic,
)
from host_bridge.ros2.vocabularies.vocabulary import Vocabulary

_SHARE = "std_msgs/msg/Float32"
_COUNT = "std_msgs/msg/Int32"
_POINT = "geometry_msgs/msg/Point"
_WHEEL = "sensor_msgs/msg/JointState"
_IMAGE = "sensor_msgs/msg/Image"
_API = "script"
_NO_PICTURE = "virtual cars have no camera, and a real camera has its own driver"
_NO_SIGNALS = "there are no traffic lights here"
_SIGNALS = range(1, 5)


def _cameras(its: str, *sides: str) -> tuple[UnsupportedTopic, ...]:
    return tuple(UnsupportedTopic(f"{its}/{side}_camera", _IMAGE, _NO_PICTURE) for side in sides)


def _autodrive(
    car: str,
    root: str,
    *more: Subscription | Publication,
    like: str = "",
    place: str = "ips",
    unsupported: tuple[UnsupportedTopic, ...] = (),
    mounts: tuple[Mount, ...] = (),
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
        # priority, and the seconds that a command counts: as F1TENTH's mux has them
        mux=(MuxRow(_API, f"{its}/throttle_command", 10, 0.2),),
        odom_frame=root,
        base_frame=f"{car}_1",
        scan_frame="lidar",
        like=like or car,
        unsupported=unsupported,
        mounts=mounts,
        adapter=AutodriveAdapter,
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


# From the rear axle, as AutoDRIVE's bridges have them: encoders at the wheels
_NIGEL_MOUNTS = (
    Mount("imu", 0.03995, 0.0, 0.08313),
    Mount("ips", 0.035125, 0.0, 0.129165),
    Mount("left_encoder", 0.0, 0.0765, 0.0),
    Mount("right_encoder", 0.0, -0.0765, 0.0),
)
_RACING_MOUNTS = (
    Mount("imu", 0.08, 0.0, 0.055),
    Mount("ips", 0.08, 0.0, 0.055),
    Mount("left_encoder", 0.0, 0.118, 0.0),
    Mount("right_encoder", 0.0, -0.118, 0.0),
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
    mounts=_NIGEL_MOUNTS,
)
AUTODRIVE_F1TENTH = _autodrive(
    "f1tenth",
    "map",
    _odom("f1tenth", "map"),
    Publication("/autodrive/f1tenth_1/speed", _SHARE, Content.SPEED, STATE_HZ),
    *_racing("f1tenth"),
    unsupported=_cameras("/autodrive/f1tenth_1", "front"),
    mounts=_RACING_MOUNTS,
)
AUTODRIVE_ROBORACER = _autodrive(
    "roboracer",
    "world",
    _odom("roboracer", "world"),
    Publication("/autodrive/roboracer_1/speed", _SHARE, Content.SPEED, STATE_HZ),
    *_racing("roboracer"),
    unsupported=_cameras("/autodrive/roboracer_1", "front"),
    mounts=_RACING_MOUNTS,
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
