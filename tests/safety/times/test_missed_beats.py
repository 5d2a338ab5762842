"""A car that misses its beat is not armed, says why, and is armed once it keeps it: the whole
program in the virtual car, whose steps take their time.

None of it stops a car or keeps one from being stopped: that is for a step as long as three, and for
the guard (test_slow_step.py, the catalogue's steps-overrun and loop-hangs).
"""

import pytest

from firmware.protocol import codes, messages
from tests.firmware.core.desk import parameters_of
from tests.safety.support.facts import NAMES
from tests.safety.ways.suite import STOP_REQUEST
from tests.safety.ways.ways import Rc, Way

STANDBY, ACTIVE, HOLD, STOPPING = 1, 2, 3, 4
OFF_BEAT = 1 << 16
STEP_US = 10_000
TOO_LONG_US = 11_400


def parked(vehicle="f1tenth") -> Way:
    """Standing by, hands off."""
    car = Way(vehicle)
    car.take_up()
    car.let_go(200)
    assert car.state == STANDBY
    return car


def inputs(car):
    return car.host.latest["Inputs"]


def run(car, ms) -> None:
    """Claims go on while it goes on as it is."""
    car.drive(ms, car.speed_mm_s)


@pytest.mark.parametrize("vehicle", NAMES)
def test_a_car_whose_steps_are_too_long_is_not_armed_and_says_by_how_much(vehicle):
    car = parked(vehicle)
    car.world.step_takes_us = TOO_LONG_US
    run(car, 1500)
    assert car.arm() == OFF_BEAT
    assert car.state == STANDBY
    said = inputs(car)
    assert (said.beat_100us, said.takes_100us, said.missed_lately) == (100, 114, 100)
    assert said.missed > 100
    assert car.host.has_event(codes.EVENT_BEAT, 0)
    assert car.host.has_event(codes.EVENT_ACTION_REFUSED, codes.ACTION_ARM, OFF_BEAT)


def test_it_is_armed_once_it_keeps_its_beat_and_not_a_moment_sooner():
    car = parked()
    car.world.step_takes_us = TOO_LONG_US
    run(car, 1500)
    car.world.step_takes_us = 9_000
    run(car, 500)
    assert car.arm() == OFF_BEAT
    run(car, 1000)
    assert inputs(car).missed_lately <= 10
    assert car.arm() == 0
    run(car, 50)
    assert car.state == HOLD
    assert [event[2] for event in car.host.events if event[1] == codes.EVENT_BEAT] == [0, 1]


def test_what_was_asked_for_in_time_is_refused_when_it_is_confirmed_too_late():
    car = parked()
    config_hash = bytes(car.host.latest["Identity"].config_hash)
    act = {"action": codes.ACTION_ARM, "config_hash": config_hash, "value": car.profile}
    car.host.say(messages.Act, nonce=0, **act)
    run(car, 20)
    nonce = car.host.latest["ActReply"].nonce
    assert nonce
    car.world.step_takes_us = TOO_LONG_US
    run(car, 500)
    car.host.say(messages.Act, nonce=nonce, **act)
    run(car, 50)
    assert car.host.latest["ActReply"].refusals == OFF_BEAT
    assert car.state == STANDBY


@pytest.mark.parametrize("takes_us", [0, 8_600, 9_500, 10_000])
@pytest.mark.parametrize("pause_ms", [15, 30, 60, 200])
def test_a_single_pause_while_it_stands_by_refuses_nothing(takes_us, pause_ms):
    """A collection of garbage, a write to flash."""
    car = parked()
    car.world.step_takes_us = takes_us
    run(car, 500)
    car.world.hang(pause_ms * 1000)
    run(car, pause_ms + 300)
    assert not car.host.has_event(codes.EVENT_BEAT, 0)
    assert car.arm() == 0


@pytest.mark.parametrize("takes_us", [TOO_LONG_US, 15_000, 19_000])
def test_a_car_that_drives_goes_on_driving_and_is_stopped_as_ever(takes_us):
    car = Way("f1tenth")
    car.begin()
    car.drive(1000, car.cruise_mm_s)
    car.world.step_takes_us = takes_us
    run(car, 2500)
    assert car.state == ACTIVE
    assert car.world.enable
    assert inputs(car).missed_lately == 100
    car.host.stop()
    asked_us = car.world.now_us
    while car.state != STOPPING:
        car.beat()
    assert car.world.now_us - asked_us <= 2 * takes_us + STEP_US  # the step of it, and its report
    assert car.host.status.first_cause == STOP_REQUEST


def test_it_clears_disarms_and_lowers_its_cap_all_the_same():
    car = parked()
    assert car.arm() == 0
    car.world.step_takes_us = TOO_LONG_US
    run(car, 1500)
    assert car.state == HOLD
    config_hash = bytes(car.host.latest["Identity"].config_hash)
    car.host.say(messages.Act, action=codes.ACTION_CAP, value=300, config_hash=config_hash)
    run(car, 50)
    assert car.host.latest["ActReply"].refusals == 0
    assert car.host.act(codes.ACTION_DISARM) == 0
    assert car.state == STANDBY
    car.host.stop()
    run(car, 50)
    assert car.host.status.causes
    assert car.clear() == 0
    assert car.arm() == OFF_BEAT


@pytest.mark.parametrize(("takes_us", "moves"), [(29_000, True), (31_000, False), (60_000, False)])
def test_steps_as_long_as_three_stop_it_as_before(takes_us, moves):
    car = Way("f1tenth")
    car.begin()
    car.drive(1000, 1000)
    car.world.step_takes_us = takes_us
    run(car, 1000)
    assert (car.state == ACTIVE) is moves
    if not moves:
        assert car.host.status.first_cause == codes.CAUSE_OVERRUN
        assert not car.world.enable


def test_the_gesture_of_a_transmitter_is_refused_as_well():
    car = Rc("f1tenth")
    car.take_up()
    car.let_go(200)
    car.world.step_takes_us = TOO_LONG_US
    car.drive(1500, 0)
    car.arm()
    car.drive(100, 0)
    assert car.state == STANDBY
    assert car.host.has_event(codes.EVENT_ACTION_REFUSED, codes.ACTION_ARM, OFF_BEAT)


def test_a_car_that_is_configured_for_twenty_milliseconds_arms_with_the_same_steps():
    """By the wire, as tandem config write does it: afterwards it keeps its beat."""
    car = parked()
    car.world.step_takes_us = TOO_LONG_US
    run(car, 1500)
    assert car.arm() == OFF_BEAT
    params = parameters_of(car.world.runner.app)
    at = params.index("step_us")
    car.host.say(messages.ParameterWrite, index=at, value=20_000)
    run(car, 50)
    wanted = _hash_with(params, at, 20_000)
    name = bytes(params.car_name)
    car.host.say(messages.ConfigCommit, config_hash=wanted, car_name=name)
    run(car, 50)
    assert car.host.latest["Committed"].result == 0
    assert car.world.step_us == 20_000
    run(car, 2500)
    car.host.say(messages.Identify, token=9)
    run(car, 50)
    assert (inputs(car).beat_100us, inputs(car).missed_lately) == (200, 0)
    assert car.arm() == 0


def _hash_with(params, index, value) -> bytes:
    before, params.values[index] = params.values[index], value
    found = bytearray(4)
    params.hash_into(found)
    params.values[index] = before
    return bytes(found)
