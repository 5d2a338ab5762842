"""What hands at a pad want, and what shows that it lives: logic, with a pad made here."""

from __future__ import annotations

import pytest

from host_bridge.core import DriveCommand, InputLimits, OperatorRequest
from host_bridge.inputs.gamepad.mapping import LivenessCheck, Roles
from host_bridge.inputs.gamepad.report_count import PRESS_AGAIN_US, ReportCount
from host_bridge.inputs.gamepad.sdl import AXES, BUTTONS, PadReport, ReportKind
from host_bridge.inputs.gamepad.seat import DeadmanButtons, PadSeat

LIMITS = InputLimits(steer_rad=0.4, speed_mps=4.0, reverse_mps=2.0)
PRESS_US = 1_000_000


class Pad:
    """Its controls by name; without axes by number, as what is no gamepad to SDL."""

    def __init__(self, **values: float) -> None:
        self.values = values

    def value(self, name: str) -> float:
        assert name in AXES or name in BUTTONS, name
        return self.values.get(name, 0.0)

    def button_name(self, number: int) -> str:
        return BUTTONS[number]


class NumberedPad(Pad):
    def axis_number(self, name: str) -> int:
        assert name in AXES
        return 4


class Table:
    def __init__(
        self, liveness: LivenessCheck = LivenessCheck.REPORTS, pad: Pad | None = None, **roles: str
    ) -> None:
        self.pad = pad or Pad()
        self.seat = PadSeat(self.pad, Roles(**roles), liveness, LIMITS)
        self.now_us = 0

    def step(self, **values: float) -> DriveCommand:
        """These controls are moved; the next step."""
        self.pad.values.update(values)
        self.seat.step(self.now_us)
        return self.seat.read()

    def hold(self, **values: float) -> DriveCommand:
        """Let go, then held."""
        self.step(leftshoulder=0.0)
        return self.step(leftshoulder=1.0, **values)

    def press(self, name: str, value: float = 1.0) -> None:
        self.hear(PadReport(0, ReportKind.BUTTON, BUTTONS.index(name), value))

    def hear(self, report: PadReport) -> None:
        self.seat.hear(report, self.now_us)


@pytest.mark.parametrize("role", ["arm", "quit", "hand", "autonomy", "forward", "steer"])
def test_what_stops_does_nothing_else_whatever_roles_it_was_given(role):
    table = Table(**{role: "b"})
    table.press("b")
    assert table.seat.requests == [OperatorRequest.STOP]
    assert table.seat.deadman is DeadmanButtons.NEEDS_RELEASE


# --- what is held


def test_a_grip_counts_only_after_a_release():
    table = Table()
    assert table.seat.deadman is DeadmanButtons.NEEDS_RELEASE
    assert not table.seat.began_off_neutral
    assert table.step(leftshoulder=1.0) == DriveCommand()
    assert not table.seat.began_off_neutral
    assert table.step(leftshoulder=0.0) == DriveCommand()
    assert table.seat.deadman is DeadmanButtons.OPEN
    assert table.step(leftshoulder=1.0) == DriveCommand(is_held=True)
    assert table.seat.deadman is DeadmanButtons.HAND


@pytest.mark.parametrize(("value", "is_held"), [(0.5, False), (0.51, True)])
def test_a_button_is_held_beyond_half(value, is_held):
    table = Table()
    table.step()
    assert table.step(leftshoulder=value).is_held is is_held


@pytest.mark.parametrize(
    ("value", "is_held"), [(0.19, False), (0.2, True), (0.9, True), (0.91, False), (1.0, False)]
)
def test_a_trigger_is_held_between_let_go_and_a_cramp(value, is_held):
    table = Table(hand="lefttrigger", reverse="")
    table.step()
    assert table.step(lefttrigger=value).is_held is is_held


def test_the_other_button_lets_a_program_drive_and_the_hand_takes_over():
    table = Table()
    table.step(leftx=1.0)
    held = table.step(rightshoulder=1.0)
    assert held == DriveCommand(is_held=True, permits_autonomy=True)
    assert table.seat.deadman is DeadmanButtons.AUTONOMY
    taken = table.step(leftshoulder=1.0)
    assert (taken.is_held, taken.permits_autonomy) == (True, False)
    assert table.step(leftshoulder=0.0).permits_autonomy


def test_without_a_role_for_it_no_program_is_let_drive():
    table = Table(autonomy="")
    table.step()
    assert table.step(rightshoulder=1.0) == DriveCommand()


@pytest.mark.parametrize("control", ["righttrigger", "lefttrigger", "rightx"])
@pytest.mark.parametrize("hand", ["leftshoulder", "rightshoulder"])
def test_a_grip_that_begins_with_what_makes_speed_pressed_is_none_until_released(control, hand):
    table = Table(brake="rightx")
    table.step(**{control: 0.3})
    assert table.step(**{hand: 1.0}) == DriveCommand()
    assert table.seat.deadman is DeadmanButtons.NEEDS_RELEASE
    assert table.seat.began_off_neutral
    assert table.step(**{control: 0.0}) == DriveCommand()
    assert table.seat.began_off_neutral, "until it is let go"
    table.step(**{hand: 0.0})
    assert not table.seat.began_off_neutral
    assert table.step(**{hand: 1.0}).is_held


def test_steering_may_be_anywhere_when_a_grip_begins():
    assert Table().hold(leftx=-1.0).steer_rad == 0.4


def test_taking_over_with_a_trigger_pressed_is_no_grip():
    table = Table()
    table.step()
    table.step(rightshoulder=1.0)
    table.step(righttrigger=0.5)
    assert table.step(leftshoulder=1.0) == DriveCommand()
    assert table.seat.began_off_neutral


def test_what_is_let_go_by_the_drive_has_to_be_held_anew():
    table = Table()
    table.hold()
    table.seat.let_go()
    assert table.step() == DriveCommand()
    assert table.hold().is_held


# --- what is commanded


@pytest.mark.parametrize(
    ("values", "command"),
    [
        ({"righttrigger": 1.0}, (0.0, 4.0, 0.0)),
        ({"lefttrigger": 1.0}, (0.0, -2.0, 0.0)),
        ({"righttrigger": 1.0, "lefttrigger": 1.0}, (0.0, 2.0, 0.0)),
        ({"lefttrigger": 0.525}, (0.0, -1.0, 0.0)),
        ({"rightx": 1.0}, (0.0, 0.0, 1.0)),
        ({"rightx": -1.0}, (0.0, 0.0, 0.0)),
        ({"leftx": 1.0}, (-0.4, 0.0, 0.0)),
        ({"leftx": -1.0}, (0.4, 0.0, 0.0)),
        ({"leftx": 0.05}, (0.0, 0.0, 0.0)),
        ({"leftx": -0.05}, (0.0, 0.0, 0.0)),
        ({"leftx": -0.525}, (0.2, 0.0, 0.0)),
        ({"leftx": 0.525}, (-0.2, 0.0, 0.0)),
        ({"righttrigger": 0.525}, (0.0, 2.0, 0.0)),
        ({"righttrigger": 1.5}, (0.0, 4.0, 0.0)),
        ({"leftx": -1.5}, (0.4, 0.0, 0.0)),
    ],
)
def test_each_control_moves_its_part_of_the_reach(values, command):
    table = Table(brake="rightx")
    table.hold()
    read = table.step(**values)
    assert (read.steer_rad, read.speed_mps, read.brake) == pytest.approx(command)
    assert (read.is_held, read.permits_autonomy) == (True, False)


def test_an_axis_may_have_a_sign():
    table = Table(forward="-lefty", reverse="+lefty", steer="")
    table.hold()
    assert table.step(lefty=-1.0).speed_mps == 4.0
    assert table.step(lefty=1.0).speed_mps == -2.0
    assert table.step(lefty=0.0, leftx=1.0).steer_rad == 0.0


def test_the_count_of_reports_goes_with_each_wish():
    table = Table()
    for value in (0.1, 0.2, 0.3):
        table.hear(PadReport(0, ReportKind.AXIS, 0, value))
    assert table.step().input_count == 3
    assert table.hold().input_count == 3
    table.step(leftshoulder=0.0)
    assert table.step(rightshoulder=1.0).input_count == 3


# --- what is pressed


@pytest.mark.parametrize(
    ("name", "expected"), [("start", OperatorRequest.ARM), ("back", OperatorRequest.QUIT)]
)
def test_a_button_with_a_request_makes_it_and_lets_go(name, expected):
    table = Table()
    table.hold()
    table.press(name)
    assert table.seat.requests == [expected]
    assert table.step() == DriveCommand(input_count=1)


WITH_A_ROLE = {"start", "back", "leftshoulder", "rightshoulder"}


@pytest.mark.parametrize("name", sorted(set(BUTTONS) - WITH_A_ROLE))
def test_each_button_without_a_role_stops(name):
    table = Table()
    table.hold()
    table.press(name, 0.0)  # let go: that is no press
    assert table.seat.requests == []
    table.press(name)
    assert table.seat.requests == [OperatorRequest.STOP]
    assert not table.step().is_held


def test_those_that_hold_or_drive_order_nothing():
    table = Table(forward="x", reverse="", brake="-y", steer="+paddle1")
    table.hold()
    for name in ("leftshoulder", "rightshoulder", "x", "y", "paddle1"):
        table.press(name)
    assert table.seat.requests == []
    assert table.step().is_held


def test_a_hat_stops_and_its_middle_does_not():
    table = Table()
    table.hold()
    table.hear(PadReport(0, ReportKind.HAT, 0, 0.0))
    assert table.seat.requests == []
    table.hear(PadReport(0, ReportKind.HAT, 0, 2.0))
    assert table.seat.requests == [OperatorRequest.STOP]
    assert table.seat.deadman is DeadmanButtons.NEEDS_RELEASE


def test_an_axis_orders_nothing():
    table = Table()
    table.hold()
    table.hear(PadReport(0, ReportKind.AXIS, 1, 1.0))
    assert table.seat.requests == []
    assert table.step().is_held


# --- what shows that it lives


def test_a_pad_that_shows_no_life_is_let_go_of_after_a_second():
    table = Table(LivenessCheck.PRESSES)
    table.now_us = 500
    table.press("leftshoulder")
    table.hold()
    for now_us, left_us in ((500, PRESS_US), (1000, PRESS_US - 500), (PRESS_US + 499, 1)):
        table.now_us = now_us
        assert table.seat.left_us(now_us) == left_us
        assert table.step().is_held
    table.now_us = PRESS_US + 500
    assert table.seat.left_us(table.now_us) == 0
    assert not table.step().is_held
    assert table.seat.left_us(table.now_us) is None


def test_one_that_never_said_anything_is_no_hand():
    table = Table(LivenessCheck.PRESSES)
    assert not table.hold().is_held
    assert table.seat.left_us(0) is None


def test_nor_does_it_let_a_program_drive_for_longer():
    table = Table(LivenessCheck.PRESSES)
    table.press("rightshoulder")
    table.step()
    assert table.step(rightshoulder=1.0).permits_autonomy
    table.now_us = 2 * PRESS_US
    assert table.seat.left_us(table.now_us) == 0
    assert not table.step().is_held


@pytest.mark.parametrize("liveness", [LivenessCheck.REPORTS, LivenessCheck.TRIGGER])
def test_of_one_that_shows_life_the_car_is_judge(liveness):
    table = Table(liveness)
    table.hold()
    table.now_us = 10 * PRESS_US
    assert table.seat.left_us(table.now_us) is None
    assert table.step().is_held


def test_of_a_trigger_as_the_deadman_its_own_noise_counts():
    table = Table(LivenessCheck.TRIGGER, NumberedPad(), hand="lefttrigger", reverse="")
    for number in (3, 4, 5):
        table.hear(PadReport(0, ReportKind.AXIS, number, 0.5))
    assert table.seat.reports.count == 1


def test_a_button_as_the_deadman_has_no_axis():
    table = Table(LivenessCheck.TRIGGER, NumberedPad())
    for number in (0, 1, 4):
        table.hear(PadReport(0, ReportKind.AXIS, number, 0.5))
    assert table.seat.reports.count == 0


# --- the count


@pytest.mark.parametrize(
    "kind", [ReportKind.AXIS, ReportKind.BUTTON, ReportKind.HAT, ReportKind.SENSOR]
)
def test_what_says_something_new_counts_and_what_repeats_does_not(kind):
    count = ReportCount(LivenessCheck.REPORTS)
    assert (count.count, count.total, count.heard_us) == (0, 0, None)
    assert count.hear(PadReport(0, kind, 1, 0.5), 10) is True
    assert count.hear(PadReport(0, kind, 1, 0.5), 20) is False
    assert count.heard_us == 10
    assert count.hear(PadReport(0, kind, 2, 0.5), 30) is True
    assert count.hear(PadReport(0, kind, 1, 0.6), 40) is True
    assert (count.count, count.total, count.heard_us) == (3, 3, 40)


def test_of_a_sensor_its_content_is_what_it_says():
    count = ReportCount(LivenessCheck.REPORTS)
    assert count.hear(PadReport(0, ReportKind.SENSOR, 0, 0.0, (1.0, 2.0)), 0)
    assert count.hear(PadReport(0, ReportKind.SENSOR, 0, 0.0, (1.5, 2.0)), 0)
    assert not count.hear(PadReport(0, ReportKind.SENSOR, 0, 1.0, (1.5, 2.0)), 0)


@pytest.mark.parametrize("kind", [ReportKind.ADDED, ReportKind.REMOVED])
def test_plugging_is_no_sign_of_life(kind):
    count = ReportCount(LivenessCheck.PRESSES)
    assert count.hear(PadReport(0, kind), 0) is False
    assert (count.count, count.heard_us) == (0, None)


def test_only_the_triggers_axis_counts_where_it_is_the_deadman():
    count = ReportCount(LivenessCheck.TRIGGER, 2)
    assert not count.hear(PadReport(0, ReportKind.BUTTON, 2, 1.0), 0)
    assert not count.hear(PadReport(0, ReportKind.AXIS, 1, 1.0), 0)
    assert count.hear(PadReport(0, ReportKind.AXIS, 2, 1.0), 7)
    assert count.heard_us == 7
    assert not ReportCount(LivenessCheck.TRIGGER).hear(PadReport(0, ReportKind.AXIS, 0, 1.0), 0)
    assert not ReportCount(LivenessCheck.TRIGGER).hear(PadReport(0, ReportKind.AXIS, 1, 1.0), 0)
    assert ReportCount(LivenessCheck.REPORTS, 2).hear(PadReport(0, ReportKind.AXIS, 1, 1.0), 0)


def test_the_count_is_of_sixteen_bits():
    count = ReportCount(LivenessCheck.REPORTS)
    count.count = count.total = 65_534
    for number, expected in enumerate((65_535, 0, 1)):
        count.hear(PadReport(0, ReportKind.AXIS, 0, float(number)), 0)
        assert count.count == expected
    assert count.total == 65_537
    assert PRESS_AGAIN_US == PRESS_US
