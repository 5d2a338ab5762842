"""A drive in a profile, under a cap, with the seat as a stop source. In virtual time."""

from __future__ import annotations

from dataclasses import replace

import pytest

from host_bridge.core import OperatorRequest, Profile, State
from host_bridge.drive.controls import Controls
from host_bridge.drive.display.lines import PlainView
from host_bridge.drive.display.screen import screen
from host_bridge.drive.drive import ARMED_THERE, LOCKED, UNARMED, UNLOCKED, FleetDrive, Phase
from tests.host_bridge.drive.drives import Rig, vehicle
from tests.host_bridge.drive.test_drive import LIMITS, Day
from tests.host_bridge.inputs.made_inputs import Person
from tests.support.evidence import every, some


class OtherDay(Day):
    """As any day, but the drive was told a profile or a cap."""

    def __init__(self, **options):
        super().__init__()
        source = self.control_task.source
        person = Person(seat=self.seat)
        controls = Controls(person, source, LIMITS, person)
        self.drive = FleetDrive(
            self.fleet, controls, self.now_us, sender_name="drive@test", **options
        )
        self.control_task._read_command = self.drive.read


def test_all_cars_are_armed_in_the_profile_that_was_named():
    day = OtherDay(profile=Profile.RACE)
    day.until_phase(Phase.STOPPED)
    assert "stop box: this car has no key for a stop box" in day.drive.refusal
    assert "red did not arm" in day.drive.refusal
    assert "blue did not arm" in day.drive.refusal


def test_a_car_on_a_stand_is_shown_with_the_time_that_is_left():
    day = OtherDay(profile=Profile.STAND)
    day.until_phase(Phase.DRIVING)
    day.advance(1.0)
    shown = "\n".join(screen(day.drive, day.now_us, 80, 24))
    assert "Stand, 59 s left" in shown
    assert "Stand, 59 s left" in "\n".join(PlainView().news(day.drive, day.now_us))


def test_the_cap_is_on_the_cars_before_they_are_armed():
    day = OtherDay(cap_mps=0.6)
    day.until_phase(Phase.DRIVING)
    day.press("space")
    day.until(lambda: day.is_in(State.ACTIVE))
    for _ in range(8):
        day.press("w")
    day.advance(2.0)
    assert [rig.car.outputs.cap_mps for rig in day.rigs] == [0.6, 0.6]
    assert every(0.3 < rig.car.status.speed_mps < 0.7 for rig in day.rigs)
    assert "cap 0.6 m/s" in "\n".join(screen(day.drive, day.now_us, 100, 40))


def test_an_unarmed_drive_waits_for_a_persons_word_and_the_cap_is_there_before():
    day = OtherDay(cap_mps=0.6, is_unarmed=True)
    day.advance(4.0)
    assert (day.drive.phase, day.drive.notice) == (Phase.STOPPED, UNARMED)
    assert day.is_in(State.STANDBY)
    day.press("r")
    day.until_phase(Phase.DRIVING)
    day.advance(0.5)
    assert [rig.car.outputs.cap_mps for rig in day.rigs] == [0.6, 0.6]


def test_the_cap_is_asked_for_again_where_the_first_arming_came_to_nothing():
    day = OtherDay(cap_mps=0.6)
    day.rigs[1].world.runstop_closed = False
    day.until_phase(Phase.STOPPED)
    day.fleet.cap(day.now_us, 0.9)
    day.rigs[1].world.runstop_closed = True
    day.advance(0.5)
    assert [rig.car.outputs.cap_mps for rig in day.rigs] == [0.9, 0.9]
    day.press("r")
    day.until_phase(Phase.DRIVING)
    day.advance(0.5)
    assert [rig.car.outputs.cap_mps for rig in day.rigs] == [0.6, 0.6]


def test_a_cap_that_somebody_lowered_later_is_not_raised_by_arming_again():
    day = OtherDay(cap_mps=0.6)
    day.until_phase(Phase.DRIVING)
    day.fleet.cap(day.now_us, 0.4)
    day.press("x")
    day.until(lambda: day.is_in(State.STOPPED))
    day.press("r")
    day.until_phase(Phase.DRIVING)
    day.advance(0.5)
    assert [rig.car.outputs.cap_mps for rig in day.rigs] == [0.4, 0.4]


def test_a_stop_key_is_said_as_a_stop_source_until_r_and_named_once():
    day = Day()
    day.until_phase(Phase.DRIVING)
    day.drive_off()
    day.press("x")
    day.until(lambda: day.is_in(State.STOPPED))
    day.advance(0.3)
    for rig in some(day.rigs):
        assert 3 in rig.car.inputs.stop_said
        text = "Stopped because the driver's seat (drive@test) asked for a stop."
        assert rig.car.why_stopped() == text
    day.press("r")
    day.until_phase(Phase.DRIVING)
    day.until(lambda: every(3 not in rig.car.inputs.stop_said for rig in day.rigs))


@pytest.mark.parametrize("key", ["r", "enter"])
def test_r_at_once_after_a_stop_arms_when_the_cars_have_heard(key):
    day = Day()
    day.until_phase(Phase.DRIVING)
    day.press("x")
    day.until(lambda: day.is_in(State.STOPPED))
    day.press(key)
    day.until_phase(Phase.DRIVING)
    assert day.is_in(State.HOLD)


def stopped_by_a_person():
    day = OtherDay(is_unarmed=True, arm_clears=False)
    day.advance(2.0)
    day.drive.handle(OperatorRequest.ARM, day.now_us)
    day.until_phase(Phase.DRIVING)
    day.drive.handle(OperatorRequest.STOP, day.now_us)
    day.until(lambda: day.is_in(State.STOPPED))
    return day


def test_where_a_stop_has_to_be_unlocked_to_arm_leaves_it_locked():
    day = stopped_by_a_person()
    day.drive.handle(OperatorRequest.ARM, day.now_us)
    day.advance(2.0)
    assert (day.drive.phase, day.drive.notice) == (Phase.STOPPED, LOCKED)
    assert day.is_in(State.STOPPED)


def test_to_unlock_arms_nothing_and_to_arm_is_another_word():
    day = stopped_by_a_person()
    day.drive.handle(OperatorRequest.UNLOCK, day.now_us)
    day.until(lambda: day.is_in(State.STANDBY))
    day.advance(2.0)
    assert (day.drive.phase, day.drive.notice) == (Phase.STOPPED, UNLOCKED)
    assert day.is_in(State.STANDBY)
    day.drive.handle(OperatorRequest.ARM, day.now_us)
    day.until_phase(Phase.DRIVING)
    day.drive.handle(OperatorRequest.UNLOCK, day.now_us)
    assert day.drive.phase is Phase.DRIVING, "there is nothing to unlock"


class OfGuests(OtherDay):
    """The same, with a car whose file lets a guest arm it."""

    def make_cars(self):
        file = vehicle()
        return (Rig("red", of=replace(file, may_arm=(*file.may_arm, "guest"))),)


def test_who_arms_nothing_waits_for_a_person_beside_the_car_whatever_its_file_lets_guests_do():
    """A phone: it is no guest of the car, and drives on once somebody else has armed it."""
    day = OfGuests(is_unarmed=True, is_armed_there=True)
    day.advance(4.0)
    assert (day.drive.phase, day.drive.notice) == (Phase.STOPPED, ARMED_THERE)
    assert day.is_in(State.STANDBY)
    assert day.finish(day.fleet.arm(day.now_us)).is_done()
    day.until_phase(Phase.DRIVING)
    assert day.drive.notice == ""
