"""A whole car whose opened runstop loop may be braked before it is cut."""

from firmware.core.settings.params import POLICY_BRAKE, POLICY_CUT
from tests.firmware.core.bare_car import ESC_NEUTRAL, HOLD, PAD, RUNSTOP_LOOP, STOPPING, Car


def at_speed(speed_mm_s=1000, **values) -> Car:
    car = Car(loop_brake_ms=600, **values).drive(PAD, speed_mm_s=1000)
    car.speed_mm_s = speed_mm_s
    return car.step(20)


def opened(car: Car) -> Car:
    car.board.runstop_closed = 0
    return car.step(2)


def test_it_brakes_while_its_speed_falls_and_is_cut_when_it_does_not():
    car = opened(at_speed())
    assert (car.state, car.app.stop_sequence.policy) == (STOPPING, POLICY_BRAKE)
    assert car.board.enable
    assert car.drive_ns < ESC_NEUTRAL
    car.step(10)  # as fast as before
    assert car.app.stop_sequence.policy == POLICY_CUT
    assert not car.board.enable


def test_without_an_off_delay_it_is_cut_at_once():
    car = Car().drive(PAD, speed_mm_s=1000)
    car.speed_mm_s = 1000
    opened(car.step(20))
    assert car.app.stop_sequence.policy == POLICY_CUT
    assert not car.board.enable


def test_each_stop_has_a_time_of_its_own():
    car = opened(at_speed(speed_mm_s=0))  # slow already
    assert car.app.stop_sequence.policy == POLICY_CUT
    car.board.runstop_closed = 1
    car.step(20)
    car.app.runstop.clear()
    assert not car.has_cause(RUNSTOP_LOOP)
    car.app.supervisor.state = HOLD
    car.app.arbiter.begin_from_neutral(car.now_us)
    car.claims = {PAD: {}}
    car.step(2)
    car.claims = {PAD: {"speed_mm_s": 1000}}
    car.step(5)
    car.speed_mm_s = 1000
    opened(car.step(20))
    assert (car.state, car.app.stop_sequence.policy) == (STOPPING, POLICY_BRAKE)
