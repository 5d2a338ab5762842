"""AutoRally's chassis interface: per-actuator arbitration by priority, runstops and reports.

A commander that sends a value out of range does not claim that actuator. Throttle is a share of the
vehicle's top speed; below 0 it brakes. Steering is -1 to the left, as in AutoRally. Field names are
those that ROS 2 allows: front_brake for frontBrake.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from host_bridge.core import CarMotion, SeenCar, Vehicle
from host_bridge.ros2.bus.bus import Bus
from host_bridge.ros2.node.mux import Mux, MuxSource, StampedCommand
from host_bridge.ros2.node.stops import STOP_QUEUE_DEPTH, RunstopState
from host_bridge.ros2.node.vocabulary_adapter import MessageFiller, NodeApi, VocabularyAdapter
from host_bridge.ros2.vocabularies.autorally.chassis_mux import ChassisActuator, ChassisMux
from host_bridge.ros2.vocabularies.topics import Content, MuxRow, Publication, Subscription

RUNSTOP = ("runstop", "autorally_msgs/msg/Runstop")
RC = "RC"
RC_MANUAL = "RC - manual"
_RUNSTOP_SILENT_US = 500_000  # senders publish at 5 Hz: two missed messages, and a margin
_MODULUS = 2**30  # the board's counts and timestamps wrap here
_SPEEDS_EVERY_US = 50_000  # over so long one count more or less hardly shows in a speed


class RunstopSenders:
    """All runstop senders heard so far; each has to enable motion, and to keep publishing."""

    def __init__(self) -> None:
        self._heard: dict[str, RunstopState] = {}

    def hear(self, sender: str, enables: bool, heard_us: int) -> None:
        self._heard.setdefault(sender, RunstopState(_RUNSTOP_SILENT_US)).hear(enables, heard_us)

    def stop_reason(self, now_us: int) -> str:
        """Return why motion is not enabled, as a sentence; "" if all senders enable it."""
        if not self._heard:
            return "No runstop was heard."
        for sender, word in self._heard.items():
            if why := word.stop_reason(now_us):
                return f"The runstop {sender} {why}."
        return ""


class WheelSpeedEstimator:
    """The wheel speed of each side in m/s, from the encoder counts of two reports."""

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


class AutorallyAdapter(VocabularyAdapter):
    """The adapter that shows one car as AutoRally's chassis."""

    has_runstop = True

    def __init__(self) -> None:
        self._runstops = RunstopSenders()
        self._why = self._runstops.stop_reason(0)
        self._mux: ChassisMux
        self._node: NodeApi
        self._vehicle: Vehicle
        self._wheels: WheelSpeedEstimator

    def begin(self, bus: Bus, node: NodeApi, vehicle: Vehicle) -> None:
        self._node, self._vehicle = node, vehicle
        self._wheels = WheelSpeedEstimator(vehicle.parameters["nm_per_count"][0] * 1e-9)
        topic, type_name = RUNSTOP
        bus.subscribe(topic, type_name, self.hear_runstop, depth=STOP_QUEUE_DEPTH)

    def mux(self, rows: Sequence[MuxRow], lease_s: float) -> Mux:
        self._mux = ChassisMux(rows, lease_s)
        return self._mux

    def hear_runstop(self, message: Any, received_us: int) -> None:
        self._runstops.hear(str(message.sender), bool(message.motion_enabled), received_us)

    def on_message(
        self,
        subscription: Subscription,
        source: MuxSource,
        message: Any,
        heard_us: int,
        now_us: int,
    ) -> bool:
        values = {
            ChassisActuator.THROTTLE: float(message.throttle),
            ChassisActuator.STEERING: float(message.steering),
            ChassisActuator.BRAKE: float(message.front_brake),
        }
        self._mux.hear(source.row.name, values, heard_us, now_us)
        return True

    def step(self, car: SeenCar, is_driving: bool, now_us: int) -> None:
        """Stop the car when a runstop that enabled motion no longer does."""
        before, self._why = self._why, self._runstops.stop_reason(now_us)
        if self._why and not before:
            self._node.stop()
        if car.motion is not None:
            self._wheels.step(car.motion)

    @property
    def may_drive(self) -> bool:  # type: ignore[override]
        """True while all runstops enable motion."""
        return not self._why

    def arming_refusal(self) -> str:
        return self._why

    def words(self) -> str:
        return self._why

    def limited(self, command: StampedCommand) -> StampedCommand:
        """Convert shares into the vehicle's units; a negative throttle becomes a brake."""
        share = command.speed_mps
        return StampedCommand(
            max(share, 0.0) * self._vehicle.speed_max_mps,
            -command.steer_rad * self._vehicle.steer_max_rad,
            command.heard_us,
            max(command.brake, -share),
        )

    # --- publications

    def fillers(self) -> Mapping[Content, MessageFiller]:
        return {
            Content.CHASSIS: self._state,
            Content.WHEEL_SPEEDS: self._wheel_speeds,
            Content.RC: self._rc,
        }

    def _state(self, publication: Publication, message: Any, stamp: Any, car: SeenCar) -> bool:
        assert car.status is not None, "asked of cars that have said their status"
        message.header.stamp = stamp
        by_hand = self._is_by_rc(car)
        is_armed = car.status.state.is_armed
        message.throttle_relay_enabled = is_armed
        message.autonomous_enabled = is_armed and not by_hand
        message.runstop_motion_enabled = self.may_drive
        winners = self._mux.winners()
        message.steering_commander = RC_MANUAL if by_hand else winners[ChassisActuator.STEERING]
        message.throttle_commander = RC_MANUAL if by_hand else winners[ChassisActuator.THROTTLE]
        message.front_brake_commander = RC_MANUAL if by_hand else winners[ChassisActuator.BRAKE]
        self._fill_shares(message, car)
        return True

    def _wheel_speeds(
        self, publication: Publication, message: Any, stamp: Any, car: SeenCar
    ) -> bool:
        """Report each side's speed for both wheels of that side: only driven wheels are counted."""
        message.header.stamp = stamp
        message.lf_speed = message.lb_speed = self._wheels.left_mps
        message.rf_speed = message.rb_speed = self._wheels.right_mps
        return True

    def _rc(self, publication: Publication, message: Any, stamp: Any, car: SeenCar) -> bool:
        """Report the steering, speed and brake while the RC transmitter drives.

        Other values that the transmitter asks for are not in a car's reports.
        """
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
