"""Autoware's vehicle interface: gears, control mode, indicators, emergencies and reports.

Commands have no effect until AUTONOMOUS control is requested, by the service control_mode_request
or an engage; after each stop it has to be requested again. Gears act as in a gearbox: a command
against the gear is a speed of 0, and the direction changes only at standstill.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isfinite
from typing import Any

from host_bridge.core import SeenCar, Vehicle
from host_bridge.ros2.bus.bus import Bus
from host_bridge.ros2.bus.message_types import has_message
from host_bridge.ros2.node.mux import Mux, MuxSource, StampedCommand
from host_bridge.ros2.node.vocabulary_adapter import (
    MessageFiller,
    NodeApi,
    Reply,
    VocabularyAdapter,
)
from host_bridge.ros2.vocabularies.autoware.external import (
    DRIVERS,
    EMERGENCY,
    ENGAGE,
    GEARS,
    SERVICES,
    SIGNALS,
    ExternalDrivers,
)
from host_bridge.ros2.vocabularies.autoware.gearbox import BACKWARD, PARK, GearSelector
from host_bridge.ros2.vocabularies.topics import Content, MuxRow, Publication, Subscription

PLANNER, _OPERATOR = "autoware", "operator"
CONTROL_MODE_REQUEST = "/control/control_mode_request"

# Modes, as ControlModeCommand and ControlModeReport number them
AUTONOMOUS, MANUAL, _DISENGAGED, _NOT_READY = 1, 4, 5, 6
_NO_GEAR = 255
_HALVES = (2, 3)  # autonomous steering only, autonomous speed only
# TurnIndicatorsCommand, HazardLightsCommand
_OFF, _LEFT, _RIGHT, _ON = 1, 2, 3, 2
# Bits of the lights' byte of a claim
_LEFT_LIGHT, _RIGHT_LIGHT = 4, 8


class AutowareAdapter(VocabularyAdapter):
    """The adapter that shows one car as Autoware's vehicle interface."""

    _mode_service = "autoware_vehicle_msgs/srv/ControlModeCommand"
    _speed_field = "velocity"  # of a control command's longitudinal part

    def __init__(self) -> None:
        self.gearbox = GearSelector()
        self.mode = MANUAL
        self._is_engaged = True  # until somebody disengages it
        self._emergencies = {PLANNER: False, _OPERATOR: False}  # per sender
        self._external_drivers = ExternalDrivers()
        self._mux: Mux
        self._top_mps = 0.0
        self._turn = self._hazard = _OFF
        self._is_ready = False
        self._node: NodeApi

    def begin(self, bus: Bus, node: NodeApi, vehicle: Vehicle) -> None:
        self._node, self._top_mps = node, vehicle.speed_max_mps
        bus.serve(CONTROL_MODE_REQUEST, self._mode_service, self._request)
        answers = {ENGAGE: self._serve_engage, EMERGENCY: self._serve_emergency}
        for name, type_name in SERVICES.items():
            if has_message(type_name):
                bus.serve(name, type_name, answers[name])

    def mux(self, rows: Sequence[MuxRow], lease_s: float) -> Mux:
        self._mux = Mux(rows, lease_s)
        return self._mux

    # --- subscriptions

    def on_message(
        self,
        subscription: Subscription,
        source: MuxSource,
        message: Any,
        heard_us: int,
        now_us: int,
    ) -> bool:
        if subscription.content is Content.CONTROL:
            self._control(source, message, heard_us, now_us)
        elif subscription.content is Content.PEDALS:
            self._external_drivers.control(source, message, heard_us, now_us, self._top_mps)
        elif subscription.content is Content.HEARTBEAT:
            self._external_drivers.on_heartbeat(source, heard_us, now_us)
        elif subscription.content is Content.EMERGENCY:
            self._emergency(PLANNER, bool(message.emergency))
        elif now_us - heard_us > source.timeout_us:
            source.refuse(
                f"{subscription.topic} was {(now_us - heard_us) * 1e-6:.2f} s old when it came"
            )
        elif subscription.content is Content.ENGAGE:
            self._engage(bool(message.engage))
        elif self._mux.winner in (None, source.row.name):
            self._lever(subscription, source, message)
        return True

    def _lever(self, subscription: Subscription, source: MuxSource, message: Any) -> None:
        """Take gear and signal commands, which are accepted only from the source that drives."""
        if subscription.content is Content.GEAR:
            self._shift(source, int(message.command))
        elif subscription.content is Content.SHIFT:
            self._shift(source, GEARS.get(int(message.gear_shift.data), _NO_GEAR))
        elif subscription.content is Content.SIGNAL:
            signals = SIGNALS.get(int(message.turn_signal.data), (self._turn, self._hazard))
            self._turn, self._hazard = signals
        elif subscription.content is Content.TURN and message.command in (_OFF, _LEFT, _RIGHT):
            self._turn = int(message.command)
        elif subscription.content is Content.HAZARD and message.command in (_OFF, _ON):
            self._hazard = int(message.command)

    def _shift(self, source: MuxSource, gear: int) -> None:
        if not self.gearbox.take(gear):
            source.refuse(f"there is no gear {gear}")

    def _control(self, source: MuxSource, message: Any, heard_us: int, now_us: int) -> None:
        speed_mps = float(getattr(message.longitudinal, self._speed_field))
        steer_rad = float(message.lateral.steering_tire_angle)
        if isfinite(speed_mps) and isfinite(steer_rad):
            source.take(StampedCommand(speed_mps, steer_rad, heard_us), now_us)
        else:
            source.refuse("it was not a number")

    @property
    def _is_emergency(self) -> bool:
        return any(self._emergencies.values())

    def _emergency(self, who: str, is_emergency: bool) -> None:
        """Record a sender's emergency and stop the cars when it begins.

        Its age is not checked, since a stop needs no permission. The end of an emergency clears
        nothing.
        """
        if is_emergency and not self._emergencies[who]:
            self._node.stop()
        self._emergencies[who] = is_emergency

    def _engage(self, is_engaged: bool) -> None:
        """Engage or disengage; to engage gives Autoware control of an armed car, and arms none."""
        self._is_engaged = is_engaged
        if not is_engaged:
            self.mode = MANUAL
        elif self._is_ready and not self._is_emergency:
            self.mode = AUTONOMOUS

    def _serve_emergency(self, request: Any, reply: Reply) -> None:
        self._emergencies[_OPERATOR] = bool(request.emergency)
        if request.emergency:
            self._node.stop_for(reply)
        else:
            reply(True, "It is over, and clears nothing.")

    # --- control mode

    def _serve_engage(self, request: Any, reply: Reply) -> None:
        """Answer the engage service; like the topic, it arms no car."""
        self._engage(bool(request.engage))
        if self.mode == AUTONOMOUS or not request.engage:
            reply(True, "Commands are obeyed." if request.engage else "No command is obeyed.")
        else:
            why = self.arming_refusal() or "It is not armed: ~/arm, or its control mode request."
            reply(False, why)

    def _request(self, request: Any, reply: Reply) -> None:
        mode = int(request.mode)
        if mode == AUTONOMOUS:
            self._is_engaged = True
            self._take_control(reply)
        elif mode == MANUAL:
            self.mode = MANUAL
            reply(True, "Nothing of what Autoware commands is done.")
        elif mode in _HALVES:
            reply(False, "These cars are driven whole: steering and speed.")
        else:
            reply(False, f"There is no mode {mode}.")

    def _take_control(self, reply: Reply) -> None:
        if self._is_emergency:
            reply(False, "An emergency was said, and not that it is over.")
        elif self._is_ready:
            self.mode = AUTONOMOUS
            reply(True, "Autoware drives.")
        else:
            self._node.arm(lambda is_armed, words: self._armed(is_armed, words, reply))

    def _armed(self, is_armed: bool, words: str, reply: Reply) -> None:
        if is_armed and not self._is_emergency:
            self.mode = AUTONOMOUS
        reply(is_armed, words)

    # --- effect on commands

    def step(self, car: SeenCar, is_driving: bool, now_us: int) -> None:
        if self._is_ready and not is_driving:
            self.mode = MANUAL  # it was stopped: control has to be requested again
        self._is_ready = is_driving
        if car.status is not None:
            self.gearbox.step(car.status.speed_mps)

    @property
    def may_drive(self) -> bool:  # type: ignore[override]
        """True while Autoware's commands are obeyed: mode AUTONOMOUS, and not disengaged."""
        return self.mode == AUTONOMOUS and self._is_engaged

    def limited(self, command: StampedCommand) -> StampedCommand:
        """Apply the gear to a command.

        Pedal commands have no direction of their own: in reverse gear their speed is made negative.
        """
        if self._mux.winner in DRIVERS and self.gearbox.gear in BACKWARD:
            command = replace(command, speed_mps=-command.speed_mps)
        return self.gearbox.limited(command)

    def arming_refusal(self) -> str:
        return "Autoware says emergency." if self._is_emergency else ""

    def words(self) -> str:
        if self._is_emergency:
            return self.arming_refusal()
        if self.mode != AUTONOMOUS:
            return f"Autoware has not asked for control ({CONTROL_MODE_REQUEST})."
        return "It is in park." if self.gearbox.gear == PARK else ""

    @property
    def lights(self) -> int:  # type: ignore[override]
        """The indicator bits of the lights byte in the claims."""
        if self._hazard == _ON:
            return _LEFT_LIGHT | _RIGHT_LIGHT
        return {_LEFT: _LEFT_LIGHT, _RIGHT: _RIGHT_LIGHT}.get(self._turn, 0)

    # --- publications

    def fillers(self) -> Mapping[Content, MessageFiller]:
        return {
            Content.SPEEDS: _speeds,
            Content.TYRE_ANGLE: _tyre_angle,
            Content.CONTROL_MODE: self._control_mode,
            Content.GEAR: lambda publication, message, stamp, car: _report(
                message, stamp, self.gearbox.gear
            ),
            Content.TURN: lambda publication, message, stamp, car: _report(
                message, stamp, self._turn
            ),
            Content.HAZARD: lambda publication, message, stamp, car: _report(
                message, stamp, self._hazard
            ),
        }

    def _control_mode(
        self, publication: Publication, message: Any, stamp: Any, car: SeenCar
    ) -> bool:
        message.stamp = stamp
        is_ready = car.status is not None and car.status.state.is_armed
        if not self._is_engaged:
            message.mode = _DISENGAGED
        else:
            message.mode = self.mode if is_ready else _NOT_READY
        return True


class AutowareAutoAdapter(AutowareAdapter):
    """The same in the messages of before 2024."""

    _mode_service = "autoware_auto_vehicle_msgs/srv/ControlModeCommand"
    _speed_field = "speed"


def _report(message: Any, stamp: Any, report: int) -> bool:
    message.stamp, message.report = stamp, report
    return True


def _speeds(publication: Publication, message: Any, stamp: Any, car: SeenCar) -> bool:
    assert car.status is not None, "asked of cars that have said their status"
    assert car.motion is not None, "and their motion"
    message.header.stamp, message.header.frame_id = stamp, publication.frame
    message.longitudinal_velocity = car.status.speed_mps
    message.heading_rate = car.motion.yaw_rate_radps
    return True


def _tyre_angle(publication: Publication, message: Any, stamp: Any, car: SeenCar) -> bool:
    assert car.status is not None, "asked of cars that have said their status"
    message.stamp, message.steering_tire_angle = stamp, car.status.steer_rad
    return True
