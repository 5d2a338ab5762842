"""What steering and the auxiliary outputs do in a stop: as the vehicle file says, and no more.

The whole virtual car. Whoever drove goes on claiming, another angle and its lights, through the
stop, the rest and the clear: only what ``steering`` and ``aux`` of the file's ``[stop]`` name is
obeyed, and once the car is not armed its wheels are not turned, whatever it says.
"""

import pytest

from firmware.core.settings.params import STEERING_CENTRED, STEERING_HELD, STEERS_ON
from firmware.protocol import codes
from tests.safety.support.facts import NAMES, facts_of
from tests.safety.ways.ways import Way

LIGHTS = codes.LIGHTS_BIT
FULL_50URAD = 20_000 // 50
WORDS = {"follow": STEERS_ON, "hold": STEERING_HELD, "centre": STEERING_CENTRED}


def way(vehicle: str, **parameters) -> Way:
    """A car that drives with its wheels to the left and its lights on."""
    kind = type("LitWay", (Way,), {"parameters": parameters})
    car = kind(vehicle)
    car.begin()
    car.claims = {"mask": codes.STEERING_BIT | codes.DRIVE_BIT | LIGHTS, "lights": 5}
    car.drive(2000, car.cruise_mm_s, 20_000)
    status = car.host.status
    assert (status.state, status.steer_50urad) == (codes.ACTIVE, FULL_50URAD)
    assert shine(car) == 5
    return car


def shine(car: Way) -> int:
    return car.world.runner.app.board.lights


def stop_steering_right(car: Way) -> tuple[list[int], list[int]]:
    """Stop it, claim the other side until it stands in STANDBY; angles and lights of the stop."""
    car.host.stop()
    angles, lights = [], []
    for _ in range(1000):
        car.drive(10, car.cruise_mm_s, -20_000)
        if car.state == codes.STOPPING:
            angles.append(car.host.status.steer_50urad)
            lights.append(shine(car))
        elif angles:
            return angles, lights
    raise AssertionError("it does not come out of its stop")


@pytest.mark.parametrize("vehicle", NAMES)
@pytest.mark.parametrize("word", WORDS)
def test_in_a_stop_the_wheels_do_what_the_vehicle_file_says(vehicle, word):
    car = way(vehicle, steer_in_stop=WORDS[word])
    angles, _ = stop_steering_right(car)
    assert len(angles) > 10, "or the stop was too short to show it"
    ends = {"follow": -FULL_50URAD, "hold": FULL_50URAD, "centre": 0}
    assert angles[-1] == ends[word]


@pytest.mark.parametrize("vehicle", NAMES)
def test_the_wheels_of_a_car_that_is_not_armed_stand_still_whoever_claims(vehicle):
    car = way(vehicle)
    stop_steering_right(car)
    car.drive(100, 0, -20_000)
    at = car.host.status.steer_50urad
    car.drive(1000, 0, 20_000)
    assert car.state not in (codes.ACTIVE, codes.HOLD)
    assert car.host.status.steer_50urad == at


@pytest.mark.parametrize("vehicle", NAMES)
@pytest.mark.parametrize("obeyed", [0, LIGHTS])
def test_lights_go_on_in_a_stop_only_where_the_vehicle_file_lets_them(vehicle, obeyed):
    car = way(vehicle, aux_in_stop=obeyed)
    _, lights = stop_steering_right(car)
    assert set(lights) == ({5} if obeyed else {0})
    car.drive(500, 0)
    assert shine(car) == (5 if obeyed else 0)


@pytest.mark.parametrize("vehicle", NAMES)
def test_the_files_say_it_and_their_words_are_known(vehicle):
    stop = facts_of(vehicle)["stop"]
    assert stop["steering"] in WORDS
    assert stop["aux"] == ["lights"]
