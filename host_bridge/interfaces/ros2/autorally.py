"""AutoRally's chassis: commanders by priority for each actuator, runstops, and what it reports.

A value out of its range is a commander's way not to claim that actuator. Throttle is a share of the
vehicle's top speed; below 0 it brakes. Steering is -1 to the left, as there. Fields have the names
that ROS 2 lets fields have: front_brake for frontBrake.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from host_bridge.domain import CarMotion, SeenCar, State, Vehicle
from host_bridge.interfaces.ros2.bus import Bus
from host_bridge.interfaces.ros2.chassis_mux import Actuator, ChassisMux
from host_bridge.interfaces.ros2.manner import Asked, Fill, Manner
from host_bridge.interfaces.ros2.mux import Command, Mux, Source
from host_bridge.interfaces.ros2.stops import WORDS, RunWord
from host_bridge.interfaces.ros2.vocabulary import (
    STATE_HZ,
    Heard,
    MuxRow,
    Part,
    Said,
    Vocabulary,
)

COMMAND = "autorally_msgs/msg/ChassisCommand"
RUNSTOP = ("runstop", "autorally_msgs/msg/Runstop")
COMMAND_MAX_AGE_S = 0.2  # AutoRally's own
# Its chassisCommandPriorities.yaml, the lowest first; RC's is the board's own receiver here
PRIORITIES = {
    "mppi_controller": 1,
    "constantSpeedController": 2,
    "waypointFollower": 3,
    "joystick": 4,
    "OCS": 5,
    "RC": 7,
}
RC = "RC"
RC_MANUAL = "RC - manual"
_RUNSTOP_SILENT_US = 500_000  # of five words a second two are missed, and a bit
_MODULUS = 2**30  # of the board's counts and times
_SPEEDS_EVERY_US = 50_000
_ARMED = (State.ACTIVE, State.HOLD)


def rows_of(priorities: Mapping[str, int]) -> tuple[MuxRow, ...]:
    """The commanders' topics; the lowest number wins there, the highest priority in a mux."""
    return tuple(
        MuxRow(name, f"{name}/chassisCommand", -number, COMMAND_MAX_AGE_S)
        for name, number in priorities.items()
        if name != RC
    )


AUTORALLY = Vocabulary(
    name="autorally",
    title="AutoRally's chassis",
    heard=tuple(Heard(row.topic, COMMAND, Part.CHASSIS, row.name) for row in rows_of(PRIORITIES)),
    said=(
        Said("chassisState", "autorally_msgs/msg/ChassisState", Part.CHASSIS, STATE_HZ),
        Said("wheelSpeeds", "autorally_msgs/msg/WheelSpeeds", Part.WHEEL_SPEEDS, STATE_HZ),
        Said(f"{RC}/chassisCommand", COMMAND, Part.RC, STATE_HZ),
    ),
    mux=rows_of(PRIORITIES),
    odom_frame="odom",
    base_frame="base_link",
    scan_frame="",
)


class Runstops:
    """All senders that were ever heard: each has to say that motion is enabled, and to go on."""

    def __init__(self) -> None:
        self._heard: dict[str, RunWord] = {}

    def hear(self, sender: str, enables: bool, heard_us: int) -> None:
        self._heard.setdefault(sender, RunWord(_RUNSTOP_SILENT_US)).hear(enables, heard_us)

    def why_not(self, now_us: int) -> str:
        """Why nothing may move, in a sentence; "" if all enable it."""
        if not self._heard:
            return "No runstop was heard."
        for sender, word in self._heard.items():
            if why := word.why_not(now_us):
                return f"The runstop {sender} {why}."
        return ""


class Wheels:
    """How fast the wheels of each side turn, by the counts between two reports."""

    def __init__(self, m_per_count: float) -> None:
        self._m_per_count = m_per_count
        self._before: CarMotion | None = None
        self.left_mps = self.right_mps = 0.0

    def step(self, motion: CarMotion) -> None:
        before = self._before
        if before is None:
            self._before = motion
            return
        past_us = (motion.captured_us - before.captured_us) % _MODULUS
        if past_us < _SPEEDS_EVERY_US:
            return
        self._before = motion
        self.left_mps = self._speed_mps(motion.count_left - before.count_left, past_us)
        self.right_mps = self._speed_mps(motion.count_right - before.count_right, past_us)

    def _speed_mps(self, counts: int, past_us: int) -> float:
        signed = (counts + _MODULUS // 2) % _MODULUS - _MODULUS // 2
        return signed * self._m_per_count / (past_us * 1e-6)


class Chassis(Manner):
    """One car as AutoRally's nodes see it."""

    has_runstop = True

    def __init__(self) -> None:
        self._runstops = Runstops()
        self._why = self._runstops.why_not(0)
        self._mux: ChassisMux
        self._asked: Asked
        self._vehicle: Vehicle
        self._wheels: Wheels

    def begin(self, bus: Bus, asked: Asked, vehicle: Vehicle) -> None:
        self._asked, self._vehicle = asked, vehicle
        self._wheels = Wheels(vehicle.parameters["nm_per_count"][0] * 1e-9)
        topic, type_name = RUNSTOP
        bus.subscribe(topic, type_name, self.hear_runstop, depth=WORDS)

    def mux(self, rows: Sequence[MuxRow], lease_s: float) -> Mux:
        self._mux = ChassisMux(rows, lease_s)
        return self._mux

    def hear_runstop(self, message: Any, received_us: int) -> None:
        self._runstops.hear(str(message.sender), bool(message.motion_enabled), received_us)

    def hear(self, heard: Heard, source: Source, message: Any, heard_us: int, now_us: int) -> bool:
        values = {
            Actuator.THROTTLE: float(message.throttle),
            Actuator.STEERING: float(message.steering),
            Actuator.BRAKE: float(message.front_brake),
        }
        self._mux.hear(source.row.name, values, heard_us, now_us)
        return True

    def step(self, car: SeenCar, is_driving: bool, now_us: int) -> None:
        """A runstop that has enabled motion and does so no more stops the car."""
        before, self._why = self._why, self._runstops.why_not(now_us)
        if self._why and not before:
            self._asked.stop()
        if car.motion is not None:
            self._wheels.step(car.motion)

    @property
    def may_drive(self) -> bool:  # type: ignore[override]
        """Whether all runstops enable motion."""
        return not self._why

    def why_not(self) -> str:
        return self._why

    def words(self) -> str:
        return self._why

    def allowed(self, command: Command) -> Command:
        """Shares into the vehicle's units."""
        share = command.speed_mps
        return Command(
            max(share, 0.0) * self._vehicle.speed_max_mps,
            -command.steer_rad * self._vehicle.steer_max_rad,
            command.heard_us,
            max(command.brake, -share),
        )

    # --- what is said

    def fills(self) -> Mapping[Part, Fill]:
        return {
            Part.CHASSIS: self._state,
            Part.WHEEL_SPEEDS: self._wheel_speeds,
            Part.RC: self._rc,
        }

    def _state(self, said: Said, message: Any, stamp: Any, car: SeenCar) -> bool:
        assert car.status is not None, "asked of cars that have said their status"
        message.header.stamp = stamp
        by_hand = self._is_by_rc(car)
        is_armed = car.status.state in _ARMED
        message.throttle_relay_enabled = is_armed
        message.autonomous_enabled = is_armed and not by_hand
        message.runstop_motion_enabled = self.may_drive
        winners = self._mux.winners()
        message.steering_commander = RC_MANUAL if by_hand else winners[Actuator.STEERING]
        message.throttle_commander = RC_MANUAL if by_hand else winners[Actuator.THROTTLE]
        message.front_brake_commander = RC_MANUAL if by_hand else winners[Actuator.BRAKE]
        self._fill_shares(message, car)
        return True

    def _wheel_speeds(self, said: Said, message: Any, stamp: Any, car: SeenCar) -> bool:
        """The board counts the driven wheels: what those of a side say is said of both."""
        message.header.stamp = stamp
        message.lf_speed = message.lb_speed = self._wheels.left_mps
        message.rf_speed = message.rb_speed = self._wheels.right_mps
        return True

    def _rc(self, said: Said, message: Any, stamp: Any, car: SeenCar) -> bool:
        """While the transmitter drives: what it asks for besides is not reported by a car."""
        if not self._is_by_rc(car):
            return False
        message.header.stamp, message.sender = stamp, RC
        self._fill_shares(message, car)
        return True

    def _fill_shares(self, message: Any, car: SeenCar) -> None:
        assert car.status is not None, "asked of cars that have said their status"
        message.steering = -car.status.steer_rad / self._vehicle.steer_max_rad
        message.throttle = car.status.target_mps / self._vehicle.speed_max_mps
        message.front_brake = car.status.brake

    def _is_by_rc(self, car: SeenCar) -> bool:
        assert car.status is not None, "asked of cars that have said their status"
        ids = [source.id for source in self._vehicle.sources if source.name == "rc"]
        return car.status.drive_source in ids
