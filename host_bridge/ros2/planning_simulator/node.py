"""simple_planning_simulator as a node: its topics, service and tf around a car of its models."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from host_bridge.ros2.bus.bus import Bus
from host_bridge.ros2.bus.message_types import has_message, message_class
from host_bridge.ros2.messages.conversions import fill_yaw, yaw_of
from host_bridge.ros2.node.vocabulary_adapter import Reply
from host_bridge.ros2.planning_simulator.car import AUTONOMOUS, MANUAL, ControlCommand, PlanningCar
from host_bridge.ros2.planning_simulator.parameter_files import SimulatorSetup
from host_bridge.ros2.planning_simulator.topics import (
    CONTROL_MODE_REQUEST,
    MOTION_TOPICS,
    SET_POSE,
    SET_POSE_TYPE,
    SUBSCRIPTIONS,
    Topic,
    installed_generation,
)
from sim_mock.models.planning.motion import MotionReport

# Their covariance diagonals: a pose's position and angle, as their localisation's; acceleration
_POSITION, _ANGLE, _ACCELERATION = 0.0225, 0.000625, 0.001
_ON_DIAGONAL = range(0, 36, 7)


@dataclass
class StampedMotion:
    """The true and the measured motion at one stamp, from which messages are filled."""

    stamp: Any
    true: MotionReport
    measured: MotionReport


class PlanningNode:
    """The node's publishers, subscriptions and services; ``tell`` gets a sentence per refusal."""

    def __init__(
        self,
        bus: Bus,
        car: PlanningCar,
        setup: SimulatorSetup,
        publish: str,
        tell: Callable[[str], None],
    ) -> None:
        self._bus, self._car, self._values, self._tell = bus, car, setup.values, tell
        self._types = installed_generation(has_message)
        self._period_ns = round(setup.period_s * 1e9)
        self._due_ns: int | None = None
        self._turn: int | None = None
        self._hazard: int | None = None
        self._height_m = 0.0
        self._pose: tuple[float, float, float] | None = None
        motion = dict(
            zip(
                (Topic.ODOMETRY, Topic.ACCELERATION, Topic.POSE),
                MOTION_TOPICS[publish],
                strict=True,
            )
        )
        self._publishers = {
            out: bus.publisher(
                motion.get(out, out.value[1]), self._types.type_of(out.value[0]), depth=1
            )
            for out in Topic
            if out is not Topic.STEERING or self._values["enable_pub_steer"]
        }
        for topic, (type_name, hear) in SUBSCRIPTIONS.items():
            bus.subscribe(topic, self._types.type_of(type_name), _without_time(getattr(self, hear)))
        bus.serve(CONTROL_MODE_REQUEST, self._types.mode_service, self._request)
        if has_message(SET_POSE_TYPE):  # of a package that Autoware has dropped
            bus.serve(SET_POSE, SET_POSE_TYPE, self._set_pose)
        else:
            tell(f"this Python has no {SET_POSE_TYPE.split('/')[0]}: {SET_POSE} is not served")
        if self._types.is_old:
            tell("Autoware's messages of before 2024 are spoken, autoware_auto_*")

    # --- time

    def step(self) -> float:
        """Step and publish if that is due; return how long to wait for the next, in s at most."""
        now_ns = self._bus.ros_ns()
        if self._due_ns is None or now_ns < self._due_ns - self._period_ns:
            self._due_ns = now_ns + self._period_ns  # the first, or a clock that was set back
        if now_ns < self._due_ns:
            return (self._due_ns - now_ns) * 1e-9
        late = (now_ns - self._due_ns) // self._period_ns
        self._due_ns += (late + 1) * self._period_ns  # ticks that were missed are not made up for
        self._car.step(now_ns * 1e-9)
        self._publish(now_ns)
        return 0.0

    # --- subscriptions

    def _now_s(self) -> float:
        return self._bus.ros_ns() * 1e-9

    def _control_command(self, message: Any) -> ControlCommand:
        along = message.longitudinal
        return ControlCommand(
            float(getattr(along, self._types.speed_field)),
            float(along.acceleration),
            float(message.lateral.steering_tire_angle),
            self._now_s(),
        )

    def _hear_control(self, message: Any) -> None:
        self._car.set_command(AUTONOMOUS, self._control_command(message))

    def _hear_manual(self, message: Any) -> None:
        self._car.set_command(MANUAL, self._control_command(message))

    def _hear_gear(self, message: Any) -> None:
        self._car.gears[AUTONOMOUS] = int(message.command)

    def _hear_manual_gear(self, message: Any) -> None:
        self._car.gears[MANUAL] = int(message.command)

    def _hear_turn(self, message: Any) -> None:
        self._turn = int(message.command)

    def _hear_hazard(self, message: Any) -> None:
        self._hazard = int(message.command)

    def _hear_engage(self, message: Any) -> None:
        self._car.is_engaged = bool(message.engage)

    def _hear_pose(self, message: Any) -> None:
        self._place(message)

    def _hear_twist(self, message: Any) -> None:
        """Start again from the last pose that was given, at this speed."""
        if self._pose is not None:
            self._car.simulator.initialize(*self._pose, float(message.twist.linear.x))

    def _request(self, request: Any, reply: Reply) -> None:
        reply(self._car.set_mode(int(request.mode)), "")

    def _set_pose(self, request: Any, reply: Reply) -> None:
        is_done = self._place(request.pose)
        reply(is_done, "" if is_done else "its frame is another one, and no tf is read here")

    def _place(self, message: Any) -> bool:
        frame, origin = message.header.frame_id, self._values["origin_frame_id"]
        if frame not in ("", origin):
            self._tell(f"a pose in {frame!r} was not taken: expected one in {origin!r}")
            return False
        pose = message.pose.pose
        self._pose = pose.position.x, pose.position.y, yaw_of(pose.orientation)
        self._height_m = pose.position.z
        self._car.simulator.initialize(*self._pose)
        return True

    # --- publications

    def _publish(self, now_ns: int) -> None:
        stamp = message_class("builtin_interfaces/msg/Time")()
        stamp.sec, stamp.nanosec = divmod(now_ns, 1_000_000_000)
        true, measured = self._car.simulator.truth, self._car.simulator.measured
        sample = None if true is None or measured is None else StampedMotion(stamp, true, measured)
        for out, publisher in self._publishers.items():
            message = message_class(self._types.type_of(out.value[0]))()
            if out is Topic.MODE:
                message.stamp, message.mode = stamp, self._car.mode
                publisher.publish(message)
            elif sample is not None and _FILLERS[out](self, message, sample):
                publisher.publish(message)

    def _odometry(self, message: Any, sample: StampedMotion) -> bool:
        self._head(message, sample)
        message.child_frame_id = self._values["simulated_frame_id"]
        self._fill_pose(message.pose.pose.position, message.pose.pose.orientation, sample)
        message.pose.covariance[0] = self._values["x_stddev"]
        message.pose.covariance[7] = self._values["y_stddev"]
        message.twist.twist.linear.x = sample.measured.vx_mps
        message.twist.twist.angular.z = sample.measured.wz_radps
        return True

    def _pose_alone(self, message: Any, sample: StampedMotion) -> bool:
        self._head(message, sample)
        self._fill_pose(message.pose.pose.position, message.pose.pose.orientation, sample)
        for i, index in enumerate(_ON_DIAGONAL):
            message.pose.covariance[index] = _POSITION if i < 3 else _ANGLE
        return True

    def _acceleration(self, message: Any, sample: StampedMotion) -> bool:
        message.header.stamp, message.header.frame_id = sample.stamp, "/base_link"  # as theirs
        message.accel.accel.linear.x = sample.true.ax_mps2
        message.accel.accel.linear.y = sample.true.wz_radps * sample.true.vx_mps
        for index in _ON_DIAGONAL:
            message.accel.covariance[index] = _ACCELERATION
        return True

    def _imu(self, message: Any, sample: StampedMotion) -> bool:
        message.header.stamp, message.header.frame_id = sample.stamp, "base_link"
        message.linear_acceleration.x = sample.true.ax_mps2
        message.linear_acceleration.y = sample.true.wz_radps * sample.true.vx_mps
        message.angular_velocity.z = sample.measured.wz_radps
        fill_yaw(message.orientation, sample.measured.yaw_rad)
        for name in ("linear_acceleration", "angular_velocity", "orientation"):
            for index in (0, 4, 8):  # the diagonal of a 3 by 3 matrix
                getattr(message, f"{name}_covariance")[index] = _ACCELERATION
        return True

    def _velocity(self, message: Any, sample: StampedMotion) -> bool:
        message.header.stamp = sample.stamp
        message.header.frame_id = self._values["simulated_frame_id"]
        message.longitudinal_velocity = sample.measured.vx_mps
        message.heading_rate = sample.measured.wz_radps
        return True

    def _steering(self, message: Any, sample: StampedMotion) -> bool:
        message.stamp, message.steering_tire_angle = sample.stamp, sample.measured.steer_rad
        return True

    def _transform(self, message: Any, sample: StampedMotion) -> bool:
        transform = message_class("geometry_msgs/msg/TransformStamped")()
        self._head(transform, sample)
        transform.child_frame_id = self._values["simulated_frame_id"]
        self._fill_pose(transform.transform.translation, transform.transform.rotation, sample)
        message.transforms = [transform]
        return True

    def _gear(self, message: Any, sample: StampedMotion) -> bool:
        return _report(message, sample, self._car.gear)

    def _turn_indicators(self, message: Any, sample: StampedMotion) -> bool:
        return _report(message, sample, self._turn)

    def _hazard_lights(self, message: Any, sample: StampedMotion) -> bool:
        return _report(message, sample, self._hazard)

    def _head(self, message: Any, sample: StampedMotion) -> None:
        message.header.stamp = sample.stamp
        message.header.frame_id = self._values["origin_frame_id"]

    def _fill_pose(self, position: Any, orientation: Any, sample: StampedMotion) -> None:
        measured = sample.measured
        position.x, position.y, position.z = measured.x_m, measured.y_m, self._height_m
        fill_yaw(orientation, measured.yaw_rad)


def _without_time(hear: Callable[[Any], None]) -> Callable[[Any, int], None]:
    """Drop the time of arrival: ages are in ROS time here, read when a message is taken."""
    return lambda message, _received_us: hear(message)


def _report(message: Any, sample: StampedMotion, report: int | None) -> bool:
    """Fill a report; return False, for no report, until the indicator was commanded, as theirs."""
    if report is None:
        return False
    message.stamp, message.report = sample.stamp, report
    return True


_FILLERS: dict[Topic, Callable[[PlanningNode, Any, StampedMotion], bool]] = {
    Topic.ODOMETRY: PlanningNode._odometry,
    Topic.ACCELERATION: PlanningNode._acceleration,
    Topic.POSE: PlanningNode._pose_alone,
    Topic.VELOCITY: PlanningNode._velocity,
    Topic.IMU: PlanningNode._imu,
    Topic.GEAR: PlanningNode._gear,
    Topic.TURN: PlanningNode._turn_indicators,
    Topic.HAZARD: PlanningNode._hazard_lights,
    Topic.TF: PlanningNode._transform,
    Topic.STEERING: PlanningNode._steering,
}
