"""The first stop cause and its time outlast the ring of events, the clock, and what comes after."""

import pytest

from firmware.protocol import codes, messages
from host_bridge.deploy.hil.host.small_host import SmallHost
from sim_mock.world import World
from tests.safety.support.desk import Facts
from tests.safety.support.facts import NAMES
from tests.safety.ways.ways import Way

STOP_REQUEST, CHARGER, NO_CAUSE = 1, 6, 255
RELAY_BIT = 1 << 2
RING = 64
TURN_MS = 110  # slow messages take turns: as old as this may be what was said last
WRAP_S = 4.0  # after power-up: the clock wraps while the car stands


def told(car: Way) -> tuple[int, int, int]:
    said = car.host.latest["Inputs"]
    return car.host.status.first_cause, said.cause_age_ms, said.fault_age_ms


def is_young(age_ms: int, expected_ms: int) -> bool:
    return expected_ms - TURN_MS <= age_ms <= expected_ms


@pytest.mark.parametrize("vehicle", NAMES)
def test_the_first_cause_and_its_age_outlive_the_ring_the_wrap_and_a_second_cause(vehicle):
    car = Way(vehicle, start_us=(1 << 30) - round(WRAP_S * 1e6))
    car.begin()
    assert told(car) == (NO_CAUSE, 0, 0)
    car.host.stop()
    car.rest()
    began_us = car.world.now_us
    car.rest(100)
    car.world.charger = True
    for _ in range(2 * RING):  # each is refused, which is an event
        car.host.say(messages.Act, action=codes.ACTION_ARM)
        car.rest(2)
    cause, age_ms, _ = told(car)
    assert cause == STOP_REQUEST
    assert is_young(age_ms, (car.world.now_us - began_us) // 1000)
    late = SmallHost(car.world, epoch=999)  # who joins now finds no event of it in the ring
    late.say(messages.EventRequest, first=0)
    late.rest(1000)
    assert late.has_event(codes.EVENT_ACTION_REFUSED, codes.ACTION_ARM)
    assert not late.has_event(codes.EVENT_STOP_LATCHED, STOP_REQUEST)
    assert is_young(late.latest["Inputs"].cause_age_ms, (car.world.now_us - began_us) // 1000)


def test_a_fault_has_an_age_of_its_own_and_a_clear_begins_anew():
    car = Way("f1tenth")
    car.begin()
    car.world.hardware.contact_stuck = False
    car.rest(200)
    assert car.host.status.faults == RELAY_BIT
    _cause, _, age_ms = told(car)
    assert is_young(age_ms, 2000)
    assert age_ms > 1500
    car.world.hardware.contact_stuck = None
    car.rest(20)
    assert car.host.act(codes.ACTION_CLEAR) == 0
    car.rest(20)
    assert told(car) == (NO_CAUSE, 0, 0)


def test_a_cause_at_power_up_is_counted_from_there():
    world = World(Facts("f1tenth"), 1)
    world.runstop_closed = False
    host = SmallHost(world)
    host.rest(2000)
    assert is_young(host.latest["Inputs"].cause_age_ms, 2000)
