"""The topics of each vocabulary as tables: those that users' nodes publish, and those they read.

Nothing here imports rclpy; a test compares the tables with the facts that they were written from.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

STATE_HZ = 50.0
SCAN_HZ = 40.0


class Content(Enum):
    """The content of a topic; each has one function that reads or fills its message."""

    ACKERMANN = "a speed and a steering angle"
    MOTOR_SPEED = "electrical revolutions a minute"
    SERVO = "a servo's position from 0 to 1"
    MOTOR_BRAKE = "a brake current"
    REFUSED = "a way of driving that these cars do not have"
    DRIVEN = "the speed and the steering angle that the car is told to hold"
    ODOMETRY = "where the car reckons that it is"
    TRUTH = "where a virtual car really is"
    TRANSFORM = "the same as a transform"
    SCAN = "the LIDAR's ranges"
    VESC_STATE = "what a VESC would say"
    VESC_IMU = "rates and accelerations, as a VESC says them"
    IMU = "rates and accelerations"
    SERVO_ECHO = "the steering that was put out, as a servo's position"
    THROTTLE = "a share of the top speed, from -1 to 1"
    STEERING = "a share of full lock, from -1 to 1"
    THROTTLE_ECHO = "the share that the car drives at"
    STEERING_ECHO = "the steering angle that was put out"
    SPEED = "how fast the car is"
    PLACE = "where a virtual car really is, as a point"
    WHEEL_LEFT = "how far the left wheel has turned"
    WHEEL_RIGHT = "how far the right wheel has turned"
    CONTROL = "a speed and a steering angle, as Autoware commands them"
    GEAR = "which way the wheels may turn"
    TURN = "the turn indicators"
    HAZARD = "the hazard lights"
    EMERGENCY = "an emergency, and that it is over"
    ENGAGE = "whether commands are to be obeyed"
    CONTROL_MODE = "who is in control"
    SPEEDS = "speed and turn rate, as Autoware reports them"
    PEDALS = "throttle, brake and a steering angle, as a driver outside Autoware has them"
    SHIFT = "which way the wheels may turn, of the same"
    SIGNAL = "the turn signals, of the same"
    HEARTBEAT = "that who drives from outside is there"
    CHASSIS = "throttle, steering and front brake, as AutoRally's chassis has them"
    WHEEL_SPEEDS = "how fast each wheel rolls"
    RC = "what the transmitter commands"
    TWIST = "a speed, and which way to turn"
    POSE = "where a virtual car is to be put"
    RESET = "that a virtual car is to be put where it began"
    BRAKE_SHARE = "a share of the full brake"
    HANDBRAKE = "the same, of the handbrake"
    HEADLIGHTS = "the headlights"
    INDICATORS = "the indicators"
    LAP_COUNT = "how many laps a virtual car has made"
    LAP_TIME = "for how long this lap has lasted"
    LAST_LAP_TIME = "how long the last lap was"
    BEST_LAP_TIME = "how long the best lap was"
    COLLISIONS = "how often a virtual car has driven into something"
    TYRE_ANGLE = "the steering angle, as Autoware reports it"


@dataclass(frozen=True)
class Subscription:
    """A topic that users publish and a car obeys; ``source`` is its row of the mux.

    One with ``is_optional`` is left out where its message package is missing.
    """

    topic: str
    type: str
    content: Content
    source: str
    is_optional: bool = False


@dataclass(frozen=True)
class Publication:
    """A topic that a car publishes."""

    topic: str
    type: str
    content: Content
    hz: float
    frame: str = ""


@dataclass(frozen=True)
class UnsupportedTopic:
    """A topic of the community that does not exist here, and why."""

    topic: str
    type: str
    why: str


@dataclass(frozen=True)
class MuxRow:
    """A source of commands; the highest priority wins, and ``timeout_s`` makes it silent."""

    name: str
    topic: str
    priority: int
    timeout_s: float


@dataclass(frozen=True)
class Vocabulary:
    """The topics, frames and mux rows by which one community's cars are driven."""

    name: str
    title: str
    subscriptions: tuple[Subscription, ...]
    publications: tuple[Publication, ...]
    mux: tuple[MuxRow, ...]
    odom_frame: str
    base_frame: str
    scan_frame: str
    like: str = "f1tenth"  # the AutoDRIVE car by whose top speed and full lock shares count
    unsupported: tuple[UnsupportedTopic, ...] = ()
    node: str = "tandem"
    prefix: str = ""  # in front of the topics that all cars share: joint_states, robot_description


ACKERMANN = "ackermann_msgs/msg/AckermannDriveStamped"
_FLOAT = "std_msgs/msg/Float64"
ODOMETRY_TYPE = "nav_msgs/msg/Odometry"
SCAN_TYPE = "sensor_msgs/msg/LaserScan"
TF_TYPE = "tf2_msgs/msg/TFMessage"
ABSOLUTE_FRAMES = ("map", "world")  # dead reckoning gives no pose in these
DIRECT = "vesc"  # commands that bypass the mux, to the motor controller: the lowest priority

F1TENTH = Vocabulary(
    name="f1tenth",
    title="f1tenth_system: the F1TENTH / RoboRacer car",
    subscriptions=(
        Subscription("drive", ACKERMANN, Content.ACKERMANN, "navigation"),
        Subscription("teleop", ACKERMANN, Content.ACKERMANN, "joystick"),
        Subscription("commands/motor/speed", _FLOAT, Content.MOTOR_SPEED, DIRECT),
        Subscription("commands/servo/position", _FLOAT, Content.SERVO, DIRECT),
        Subscription("commands/motor/brake", _FLOAT, Content.MOTOR_BRAKE, DIRECT),
        Subscription("commands/motor/duty_cycle", _FLOAT, Content.REFUSED, DIRECT),
        Subscription("commands/motor/current", _FLOAT, Content.REFUSED, DIRECT),
        Subscription("commands/motor/position", _FLOAT, Content.REFUSED, DIRECT),
    ),
    publications=(
        Publication("ackermann_cmd", ACKERMANN, Content.DRIVEN, STATE_HZ),
        Publication("odom", ODOMETRY_TYPE, Content.ODOMETRY, STATE_HZ, "odom"),
        Publication("/tf", TF_TYPE, Content.TRANSFORM, STATE_HZ, "odom"),
        Publication("scan", SCAN_TYPE, Content.SCAN, SCAN_HZ, "laser"),
        Publication("sensors/core", "vesc_msgs/msg/VescStateStamped", Content.VESC_STATE, STATE_HZ),
        Publication("sensors/imu", "vesc_msgs/msg/VescImuStamped", Content.VESC_IMU, STATE_HZ),
        Publication("sensors/imu/raw", "sensor_msgs/msg/Imu", Content.IMU, STATE_HZ),
        Publication("sensors/servo_position_command", _FLOAT, Content.SERVO_ECHO, STATE_HZ),
    ),
    mux=(
        MuxRow("navigation", "drive", 10, 0.2),
        MuxRow("joystick", "teleop", 100, 0.2),
        MuxRow(DIRECT, "commands/motor/speed", 0, 0.2),
    ),
    odom_frame="odom",
    base_frame="base_link",
    scan_frame="laser",
)
