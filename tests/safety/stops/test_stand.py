"""Wheels off the ground: light, turned by hands, and a motor that runs away is told even so."""

from random import Random

import pytest

from host_bridge.config import load_vehicle
from tests.firmware.copies import saved
from tests.safety.support.facts import NAMES
from tests.safety.ways.ways import Stand

ACTIVE, HOLD = 2, 3
RUNAWAY_BIT = 1 << 6
BRAKE_MASK = 1 | 2 | 4
BEATS = 900
_BEGUN: dict = {}


class LongStand(Stand):
    parameters = {"stand_ms": 60_000}  # noqa: RUF012 - as in the files


@pytest.fixture(params=NAMES)
def car(request):
    """A copy of a car that stands there, its driver holding on."""
    if request.param not in _BEGUN:
        driver = LongStand(request.param)
        driver.begin()
        _BEGUN[request.param] = saved(driver)
    return _BEGUN[request.param]()


def steps(car, beat: int, random: Random) -> None:
    car.speed_mm_s = car.cap_mm_s if beat // 150 % 2 == 0 else car.cap_mm_s // 8


def anything(car, beat: int, random: Random) -> None:
    if beat % 20 == 0:
        car.speed_mm_s = random.randrange(car.cap_mm_s + 1)


def to_and_fro(car, beat: int, random: Random) -> None:
    car.speed_mm_s = car.cap_mm_s if beat // 200 % 2 == 0 else -car.cap_mm_s


def lets_go(car, beat: int, random: Random) -> None:
    car.speed_mm_s = 0 if 200 < beat % 300 < 250 else car.cap_mm_s
    car.deadman = int(not 200 < beat % 300 < 230)


def brakes(car, beat: int, random: Random) -> None:
    car.speed_mm_s = car.cap_mm_s
    car.claims = {"mask": BRAKE_MASK, "brake": 80 if beat % 200 > 120 else 0}


@pytest.mark.parametrize("command", [steps, anything, to_and_fro, lets_go, brakes])
def test_a_healthy_car_on_its_stand_is_never_in_fault(car, command):
    random, fastest = Random(7), 0
    for beat in range(BEATS):
        command(car, beat, random)
        car.beat()
        status = car.host.status
        assert (status.faults, status.causes) == (0, 0), (beat, status.speed_mm_s)
        assert status.state in (ACTIVE, HOLD)
        fastest = max(fastest, abs(status.speed_mm_s))
    assert fastest > car.cap_mm_s // 2, "or it says nothing"


def test_a_motor_that_runs_away_below_its_top_speed_is_told_within_a_second_and_a_half(car):
    of = load_vehicle(car.vehicle).parameters
    top, full = of["speed_max_mm_s"][0], of["full_effort_mm_s"][0]
    car.drive(1000, car.cap_mm_s // 10)
    car.world.plant.stuck_throttle = 0.75 * top / full
    car.drive(1500, car.cap_mm_s // 10)
    status = car.host.status
    assert status.faults == RUNAWAY_BIT
    assert status.speed_mm_s < top
    assert not car.world.enable
