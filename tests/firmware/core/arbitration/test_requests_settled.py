"""What a host has asked for, and a gesture half made, at the end of a step: which outlives what."""

import pytest

from firmware.core.arbitration.actions import TAKEN
from tests.firmware.core.bare_car import ACTIVE, CHARGER, FAULT, HOLD, PAD, STANDBY, STEP_US, Car
from tests.firmware.core.link.test_dispatcher import Hand

NONCE = 77


def asked(**values) -> Car:
    """A car that stands by, of which a host has asked something."""
    car = Car(**values)
    car.step(12)
    assert car.state == STANDBY
    return ask(car)


def ask(car: Car) -> Car:
    car.app.actions.nonce = NONCE
    car.app.actions._open.set(car.now_us, 1_000_000)
    return car


def step_with(car: Car, meanwhile) -> Car:
    """One step, in the middle of which that happens, as a message would have it."""
    car._sync()
    car.app.begin(car.now_us)
    meanwhile(car.app)
    car.app.finish(car.now_us)
    car.now_us += STEP_US
    return car


def test_without_a_disturbance_a_request_lives_for_its_second():
    car = asked()
    car.step(99)
    assert car.app.actions.nonce == NONCE
    car.step(3)
    assert car.app.actions.nonce == 0


def takes(app):
    app.actions.granted = TAKEN


def acknowledges(app):
    app.dispatcher.must_acknowledge = True


def is_told(app):
    app.stop_sources.heard_mask = 1 << 3


@pytest.mark.parametrize("happens", [takes, acknowledges, is_told])
def test_what_is_heard_ends_a_request(happens):
    assert step_with(asked(), lambda app: None).app.actions.nonce == NONCE
    assert step_with(asked(), happens).app.actions.nonce == 0


def test_a_cause_to_stop_that_is_present_lets_none_be_open():
    car = asked()
    car.board.charger = 1
    car.step()
    assert (car.app.actions.nonce, car.app.runstop.present) == (0, 1 << CHARGER)
    ask(car).step()
    assert car.app.actions.nonce == 0
    car.board.charger = 0
    ask(car).step(2)
    assert car.app.actions.nonce == NONCE  # latched, and gone: it may be asked to clear


def test_a_fault_that_is_present_lets_none_be_open():
    car = asked()
    car.is_welded = True
    car.board.enable_contact = 1
    car.step(40)
    assert car.state == FAULT
    assert car.app.faults.present
    assert car.app.runstop.present == 0
    ask(car).step()
    assert (car.app.actions.nonce, car.state) == (0, FAULT)


def test_a_change_of_the_car_s_state_ends_a_request():
    car = Car()
    car.drive(speed_mm_s=0)
    car.claims = {PAD: {"deadman": 0}}
    car.step(2)
    assert ask(car).step().app.actions.nonce == NONCE
    assert car.state == HOLD
    car.claims = {PAD: {}}
    car.step()
    assert (car.state, car.app.actions.nonce) == (ACTIVE, 0)


@pytest.mark.parametrize(("happens", "is_made"), [(lambda app: None, True), (takes, False)])
def test_a_gesture_that_was_half_made_before_a_disturbance_is_none(happens, is_made):
    hand = Hand()
    hand.step(90)
    assert hand.car.app.rc.is_live
    step_with(hand.car, happens)
    hand.step(40)
    hand.set(live_man=2000)
    hand.step(4)
    assert (hand.car.state in (HOLD, ACTIVE)) is is_made


def test_what_a_step_took_is_known_to_the_next_one():
    car = Car()
    car.step(30)
    assert car.app.actions.is_off_beat is False
    car.board.step_us, car.board.ran_us = 2 * STEP_US, 4_000
    car.step(21)
    assert car.app.overruns.missed == 21
    car.step()
    assert car.app.actions.is_off_beat is True
    before_us = car.now_us - STEP_US
    car.step()
    assert car.app.sessions.left_us(before_us) == before_us + 4_000
