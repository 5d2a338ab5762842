"""A wrong call is refused by a ``TandemError`` that says what is expected; none is another's."""

from __future__ import annotations

import inspect
import math
import warnings

import numpy as np
import pytest
import tandem

from host_bridge.core import errors
from tests.host_bridge.sharing.desk import runtime_folder
from tests.support.evidence import some


@pytest.fixture(autouse=True)
def folder(monkeypatch):
    with runtime_folder(monkeypatch) as path:
        yield path


@pytest.fixture(scope="module")
def car():
    with tandem.open("sim://f1tenth", lockstep=True) as opened:
        opened.arm()
        yield opened


SCAN = tandem.Scan(0.0, np.zeros(1), np.ones(1))
WRONG = {
    "a speed in words": lambda car: car.drive("fast"),
    "no speed": lambda car: car.drive(None),
    "not a number": lambda car: car.drive(math.nan),
    "an infinite angle": lambda car: car.drive(1.0, math.inf),
    "a list": lambda car: car.drive([1.0]),
    "a truth": lambda car: car.drive(True),
    "too much brake": lambda car: car.drive(0.0, brake=1.5),
    "too many lights": lambda car: car.drive(0.0, lights=256),
    "half a light": lambda car: car.drive(0.0, lights=0.5),
    "an unknown profile": lambda car: car.arm("fast"),
    "a profile that is none": lambda car: car.arm(3),
    "a time that is none": lambda car: car.wait("soon"),
    "back in time": lambda car: car.wait(-1.0),
    "ticks of no length": lambda car: next(car.ticks("all")),
    "a decision that is none": lambda car: car.run(lambda t_s, car: None, 1.0),
    "a decision of one": lambda car: car.run(lambda t_s, car: 1.0, 1.0),
    "a sector in words": lambda car: SCAN.nearest_m("left"),
    "a number for a car": lambda car: tandem.open(7),
    "a number for a car in lockstep": lambda car: tandem.open(7, lockstep=True),
    "a car in place of a function": lambda car: tandem.drive("sim://nigel"),
    "a function in place of a car": lambda car: tandem.drive(lambda t_s, seen: None, print),
    "a duration that is none": lambda car: tandem.drive(
        lambda t_s, seen: None, "sim://nigel", seconds="long"
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_argument_is_refused_with_what_was_expected(name, car):
    with pytest.raises(tandem.ArgumentFault) as refused:
        WRONG[name](car)
    assert isinstance(refused.value, tandem.UsageFault | ValueError)
    assert refused.value.expected


@pytest.mark.parametrize(
    "uri",
    ["sim://nogel", "sim://nigel?tarck=oval", "nowhere://x", "sim://nigel?start=1,2", "sim://nigel?"
     "track=oval&start=9,9,0"],
)  # fmt: skip
@pytest.mark.parametrize("lockstep", [True, False])
def test_a_wrong_uri_is_refused_alike_in_lockstep_and_in_real_time(uri, lockstep):
    with pytest.raises(tandem.TandemError):
        tandem.open(uri, lockstep=lockstep)


def test_a_near_miss_is_named(car):
    with pytest.raises(tandem.ArgumentFault, match="did you mean race") as refused:
        car.arm("rase")
    assert "track" in refused.value.expected


def test_every_error_is_exported_and_of_one_tree():
    faults = [
        fault
        for _, fault in inspect.getmembers(errors, inspect.isclass)
        if issubclass(fault, errors.TandemError)
    ]
    for fault in some([*faults, tandem.StoppedFault, tandem.ArgumentFault]):
        assert getattr(tandem, fault.__name__) is fault
        assert issubclass(fault, tandem.TandemError)
        assert fault.__name__ in tandem.__all__


def test_what_the_car_limits_is_said_once(car):
    with pytest.warns(tandem.LimitWarning, match=r"speed_mps=99 is beyond .* 2 m/s is driven"):
        car.drive(99.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        car.drive(99.0)
        car.drive(2.0, car.vehicle.steer_max_rad)
    with pytest.warns(tandem.LimitWarning, match=r"steer_rad=-1 is beyond .* -0.4189 rad") as told:
        car.drive(0.5, -1.0)
    assert told[0].filename == __file__


def test_a_closed_car_says_so_and_is_asked_for_nothing_more():
    with tandem.open("sim://nigel", lockstep=True) as car:
        car.arm()
    assert repr(car) == "<tandem.Car nigel: closed>"
    for ask in (car.arm, car.stop, car.reset, car.scan, lambda: car.drive(0.1)):
        with pytest.raises(tandem.UsageFault, match="the car is closed"):
            ask()
    car.close()


def test_a_car_and_a_log_say_what_they_are(tmp_path):
    path = tmp_path / "drive.mcap"
    with tandem.open("sim://nigel", lockstep=True, record=path) as car:
        assert repr(car) == "<tandem.Car nigel: PARKED, 0.00 m/s at (0.00, 0.00) m>"
        car.arm()
        for _ in car.ticks(1.0):
            car.drive(0.4)
        assert "nigel: DRIVING, 0.4" in repr(car)
    assert repr(tandem.read_log(path)).startswith("<tandem.Log of nigel (status ")
