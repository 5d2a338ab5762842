"""The building blocks of every vocabulary: topics with their content, and rows of a mux.

Nothing here imports rclpy.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

STATE_HZ = 50.0  # as often as a VESC's ROS driver publishes
SCAN_HZ = 40.0  # the rate of the Hokuyo UST-10LX on an F1TENTH
ODOMETRY_TYPE = "nav_msgs/msg/Odometry"
SCAN_TYPE = "sensor_msgs/msg/LaserScan"
TF_TYPE = "tf2_msgs/msg/TFMessage"
ABSOLUTE_FRAMES = ("map", "world")  # dead reckoning gives no pose in these
DIRECT = "vesc"  # commands that bypass the mux, to the motor controller: the lowest priority


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
    ACCELERATION = "accelerations, as Autoware's localisation says them"
    WHEEL_TWIST = "speed and turn rate of the wheels and gyro, and how far off they may be"
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
    TWIST_STAMPED = "the same, and when it was decided"
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
    """A topic that a car publishes.

    One with ``is_optional`` is left out where its message package is missing, and one with
    ``is_of_virtual`` of a real car, of which it is not known.
    """

    topic: str
    type: str
    content: Content
    hz: float
    frame: str = ""
    is_optional: bool = False
    is_of_virtual: bool = False


@dataclass(frozen=True)
class Mount:
    """The place of a sensor's frame from the rear axle, in m, not turned.

    A LIDAR's is the vehicle file's.
    """

    frame: str
    x_m: float
    y_m: float
    z_m: float


@dataclass(frozen=True)
class UnsupportedTopic:
    """A topic of the community that does not exist here, and why."""

    topic: str
    type: str
    why: str


@dataclass(frozen=True)
class MuxRow:
    """A source of commands; the highest priority wins, and ``timeout_s`` makes it silent.

    One that ``yields`` lets the next one drive when it falls silent, as an emergency brake that
    speaks only while it brakes.
    """

    name: str
    topic: str
    priority: int
    timeout_s: float
    yields: bool = False
