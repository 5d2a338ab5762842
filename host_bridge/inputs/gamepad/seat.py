"""Turns a pad's reports into deadman, command and requests. No I/O; time is an argument."""

from __future__ import annotations

from enum import Enum
from typing import Protocol

from host_bridge.core import DriveCommand, InputLimits, OperatorRequest
from host_bridge.inputs.gamepad.mapping import LivenessCheck, Roles
from host_bridge.inputs.gamepad.report_count import PRESS_AGAIN_US, ReportCount
from host_bridge.inputs.gamepad.sdl import AXES, PadReport, ReportKind

REST = 0.05  # of an axis' range: springs do not centre it more exactly
_PRESSED = 0.5  # of a trigger's range, which some pads have in place of a button
_HELD = (0.2, 0.9)  # range of a trigger as the deadman: less is released, more is a panic grip


class PadControls(Protocol):
    """The controls of a pad by SDL's names."""

    def value(self, name: str) -> float: ...

    def button_name(self, number: int) -> str: ...


class DeadmanButtons(Enum):
    """The state of the two deadman buttons, LB and RB."""

    NEEDS_RELEASE = "let go of both shoulder buttons first"
    OPEN = "nothing is held"
    HAND = "drives by hand"
    AUTONOMY = "lets a program drive"


class PadSeat:
    """The state of a person at a pad: takes reports, gives a command and requests.

    A hold counts only if it began with all speed controls at rest; otherwise it has to be released
    first. The same holds after each stop.
    """

    def __init__(
        self, controls: PadControls, roles: Roles, liveness: LivenessCheck, limits: InputLimits
    ) -> None:
        trigger = getattr(controls, "axis_number", None)
        number = trigger(roles.hand) if trigger and roles.hand in AXES else -1
        self.reports = ReportCount(liveness, number)
        self.deadman = DeadmanButtons.NEEDS_RELEASE
        self.requests: list[OperatorRequest] = []
        self.began_off_neutral = False  # the hold began with a trigger pressed
        self._controls = controls
        self._roles = roles
        self._liveness = liveness
        self._limits = limits
        self._by_button = {
            roles.arm: OperatorRequest.ARM,
            roles.quit: OperatorRequest.QUIT,
            roles.hand: None,
            roles.autonomy: None,
        }
        driving = (roles.forward, roles.reverse, roles.brake, roles.steer)
        self._by_button.update({name.lstrip("+-"): None for name in driving if name})
        self._by_button[roles.stop] = OperatorRequest.STOP  # last: it overrides any other role

    def hear(self, report: PadReport, now_us: int) -> None:
        """Take one report of this pad."""
        self.reports.hear(report, now_us)
        if report.kind is ReportKind.BUTTON and report.value:
            self._press(self._controls.button_name(report.number))
        elif report.kind is ReportKind.HAT and report.value:
            self._press("")

    def step(self, now_us: int) -> None:
        """Update the deadman; release it when a report is overdue."""
        wanted = self._wanted()
        if wanted is DeadmanButtons.OPEN:
            self.deadman, self.began_off_neutral = DeadmanButtons.OPEN, False
        elif self.deadman is not wanted and self.deadman is not DeadmanButtons.NEEDS_RELEASE:
            self.began_off_neutral = not self._is_at_rest()
            self.deadman = DeadmanButtons.NEEDS_RELEASE if self.began_off_neutral else wanted
        if self.left_us(now_us) == 0:
            self.let_go()

    def read(self) -> DriveCommand:
        """Return the command at this moment."""
        count = self.reports.count
        if self.deadman is DeadmanButtons.AUTONOMY:
            return DriveCommand(is_held=True, permits_autonomy=True, input_count=count)
        if self.deadman is not DeadmanButtons.HAND:
            return DriveCommand(input_count=count)
        roles, limits = self._roles, self._limits
        forward, reverse = self._part(roles.forward), self._part(roles.reverse)
        return DriveCommand(
            steer_rad=self._axis(roles.steer) * limits.steer_rad,
            speed_mps=forward * limits.speed_mps - reverse * limits.reverse_mps,
            brake=self._part(roles.brake),
            is_held=True,
            input_count=count,
        )

    def let_go(self) -> None:
        """Require a release before the deadman counts again."""
        self.deadman = DeadmanButtons.NEEDS_RELEASE

    def left_us(self, now_us: int) -> int | None:
        """Return the time in us until the deadman drops without a new report.

        None if none is held, or the car itself judges by the input count.
        """
        if self._liveness is not LivenessCheck.PRESSES or self.deadman not in (
            DeadmanButtons.HAND,
            DeadmanButtons.AUTONOMY,
        ):
            return None
        heard_us = self.reports.heard_us
        return 0 if heard_us is None else max(heard_us + PRESS_AGAIN_US - now_us, 0)

    def _press(self, name: str) -> None:
        """Take a pressed button. One without a role stops, so that any button will do."""
        request = self._by_button.get(name, OperatorRequest.STOP)
        if request:
            self.let_go()
            self.requests.append(request)

    def _wanted(self) -> DeadmanButtons:
        if self._is_held(self._roles.hand):
            return DeadmanButtons.HAND  # driving by hand takes precedence over a program
        return (
            DeadmanButtons.AUTONOMY if self._is_held(self._roles.autonomy) else DeadmanButtons.OPEN
        )

    def _is_held(self, name: str) -> bool:
        value = self._controls.value(name) if name else 0.0
        return _HELD[0] <= value <= _HELD[1] if name in AXES else value > _PRESSED

    def _is_at_rest(self) -> bool:
        roles = self._roles
        return not any(map(self._part, (roles.forward, roles.reverse, roles.brake)))

    def _part(self, name: str) -> float:
        """Return a value from 0 to 1 of the half of the axis that the name means."""
        return max(self._axis(name), 0.0)

    def _axis(self, name: str) -> float:
        if not name:
            return 0.0
        value = self._controls.value(name.lstrip("+-")) * (-1 if name.startswith("-") else 1)
        if abs(value) <= REST:
            return 0.0
        sign = 1 if value > 0 else -1
        return sign * min((abs(value) - REST) / (1 - REST), 1.0)
