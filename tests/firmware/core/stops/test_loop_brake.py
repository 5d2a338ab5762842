"""When a stop by the runstop loop may brake first, and everything that ends it, to the step."""

from types import SimpleNamespace

import pytest

from firmware.core.settings.params import POLICY_BRAKE, POLICY_CUT, POLICY_NEUTRAL
from firmware.core.stops.loop_brake import LoopBrake
from firmware.core.stops.stopping import StopSequence
from firmware.protocol.codes import (
    CAUSE_RUNSTOP_LOOP,
    CAUSE_SILENCE,
    FAULT_COUNT,
    FAULT_ENCODER,
    FAULT_RELAY,
    SPEED_IN_DOUBT,
)
from tests.firmware.core.desk import params_with

PARAMETERS = {"loop_brake_ms": 600, "brake_decel_mm_s2": 8_000, "step_us": 10_000}
LOOP = 1 << CAUSE_RUNSTOP_LOOP
WRAP_US = 1 << 30


class Car:
    """A car at 3 m/s whose loop has opened, and what is known of it."""

    def __init__(self, now_us=0):
        self.board = SimpleNamespace(enable_contact=1, step_us=4_000)
        self.runstop = SimpleNamespace(bits=LOOP)
        self.faults = SimpleNamespace(bits=0)
        self.stop = StopSequence()
        self.stop.configure(params_with(loop_brake_ms=600))
        self.stop.begin(0)
        self.odometry = SimpleNamespace(speed_mm_s=3_000)
        self.fault_monitor = SimpleNamespace(is_on_stand=False)
        self.drive = SimpleNamespace(effort=2_000)
        self.loop_brake = LoopBrake(
            self.board,
            self.runstop,
            self.faults,
            self.stop,
            self.odometry,
            self.fault_monitor,
            self.drive,
        )
        self.loop_brake.configure(SimpleNamespace(get=PARAMETERS.get))
        self.loop_brake.begin()
        self.began_us = self.now_us = now_us

    def after(self, ms, speed_mm_s=3_000):
        """A step so long after the first; whether it is cut."""
        self.odometry.speed_mm_s = speed_mm_s
        self.loop_brake.step((self.began_us + round(ms * 1000)) % WRAP_US)
        return self.stop.policy == POLICY_CUT


def test_it_brakes_while_all_is_well():
    car = Car()
    assert not car.after(0)
    assert not car.after(79)
    assert not car.after(80, 2_880)  # 4 m/s^2, from 50 ms on
    assert not car.after(300, 2_000)
    assert not car.after(599, 800)
    assert car.after(600, 700)


def test_it_ends_with_the_last_microsecond_of_its_time():
    car = Car()
    assert not car.after(0)
    assert not car.after(599.999, 500)
    assert car.after(600, 500)


@pytest.mark.parametrize("fault", range(FAULT_COUNT))
def test_of_all_faults_those_that_put_the_speed_in_doubt_cut(fault):
    car = Car()
    car.faults.bits = 1 << fault
    assert car.after(0) is bool(SPEED_IN_DOUBT >> fault & 1)


def test_another_cause_is_none_of_its_business():
    car = Car()
    car.runstop.bits = 1 << CAUSE_SILENCE
    assert not car.after(0, 0)
    assert not car.after(1_000, 3_000)
    car.runstop.bits = LOOP | 1 << CAUSE_SILENCE  # from here on it counts
    assert not car.after(1_010, 3_000)
    assert not car.after(1_089, 3_000)
    assert car.after(1_090, 2_881)


@pytest.mark.parametrize(
    ("ms", "most_mm_s"), [(80, 2_880), (81, 2_876), (100, 2_800), (500, 1_200), (590, 840)]
)
def test_the_measured_speed_has_to_fall_as_promised(ms, most_mm_s):
    for more_mm_s, is_cut in ((0, False), (1, True)):
        car = Car()
        assert not car.after(0)
        assert car.after(ms, most_mm_s + more_mm_s) is is_cut


def test_what_has_become_slow_need_not_fall_any_more():
    car = Car()
    car.after(0, 1_000)
    assert not car.after(590, 500)
    car = Car()
    car.after(0, 1_000)
    assert car.after(590, 501)


@pytest.mark.parametrize(("speed_mm_s", "is_cut"), [(500, False), (499, True), (0, True)])
def test_a_car_that_is_slow_already_is_cut(speed_mm_s, is_cut):
    assert Car().after(0, speed_mm_s) is is_cut


def test_a_car_that_goes_backward_is_cut():
    assert Car().after(0, -2_000)


@pytest.mark.parametrize(("speed_mm_s", "is_cut"), [(0, False), (-1, True)])
def test_a_sign_that_turns_round_meanwhile_is_a_cut(speed_mm_s, is_cut):
    car = Car()
    assert not car.after(0)
    assert car.after(20, speed_mm_s) is is_cut


def test_wheels_that_nothing_drives_or_brakes_are_turned_by_hands():
    car = Car()
    car.drive.effort = 0
    assert car.after(0)
    car = Car()
    car.drive.effort = -1
    assert not car.after(0)
    car.drive.effort = 0  # later it says nothing
    assert not car.after(10)


UNSOUND = [
    ("fault_monitor", "is_on_stand", True),
    ("faults", "bits", 1 << FAULT_ENCODER),
    ("board", "enable_contact", 0),
    ("board", "step_us", 20_001),
    ("stop", "policy", POLICY_NEUTRAL),
    ("stop", "policy", POLICY_CUT),
]


@pytest.mark.parametrize(("part", "name", "value"), UNSOUND)
@pytest.mark.parametrize("ms", [0, 40])
def test_whatever_is_not_as_it_should_be_cuts_at_once_and_later(part, name, value, ms):
    car = Car()
    if ms:
        assert not car.after(0)
    setattr(getattr(car, part), name, value)
    assert car.after(ms)


def test_what_does_not_put_the_speed_in_doubt_nor_makes_it_late_is_no_reason():
    car = Car()
    car.faults.bits = 1 << FAULT_RELAY
    car.board.step_us = 20_000
    assert not car.after(0)
    assert car.stop.policy == POLICY_BRAKE


def test_each_stop_is_looked_at_anew():
    car = Car()
    car.after(0, 400)
    car.stop.begin(0)
    assert car.after(10, 3_000)  # still the same stop: it was slow as the loop opened
    car.stop.begin(0)
    car.loop_brake.begin()
    assert not car.after(20, 3_000)


def test_a_wrap_of_the_clock_changes_nothing():
    car = Car(WRAP_US - 40_000)
    assert not car.after(0)
    assert not car.after(80, 2_880)
    assert not car.after(599, 800)
    assert car.after(600, 800)
