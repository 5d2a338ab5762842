"""The inherited suite, for every vehicle file and every way of moving the wheels."""

import pytest

from tests.firmware.copies import saved
from tests.safety.support.facts import NAMES
from tests.safety.support.wires import Wires
from tests.safety.ways import ways
from tests.safety.ways.suite import SafetySuite, StandSuite

_CRUISING: dict = {}


def pytest_generate_tests(metafunc):
    if "vehicle" in metafunc.fixturenames:
        fitting = [name for name in NAMES if metafunc.cls.way.fits(name)]
        metafunc.parametrize("vehicle", fitting)


@pytest.fixture
def vehicle(request):
    return request.param


@pytest.fixture
def car(request, vehicle):
    """A copy of a car that was brought to speed once."""
    way = request.cls.way
    if (way, vehicle) not in _CRUISING:
        driver = way(vehicle)
        driver.begin()
        driver.come_to_speed()
        _CRUISING[way, vehicle] = saved(driver)
    return _CRUISING[way, vehicle]()


@pytest.fixture
def limits():
    return Wires()


class TestGamepad(SafetySuite):
    way = ways.Way


class TestSeat(SafetySuite):
    way = ways.Seat


class TestSlowSeat(SafetySuite):
    way = ways.SlowSeat


class TestSpeeds(SafetySuite):
    way = ways.Speeds


class TestBrakes(SafetySuite):
    way = ways.Brakes


class TestStand(StandSuite):
    way = ways.Stand


class TestRace(SafetySuite):
    way = ways.Race


class TestAutonomous(SafetySuite):
    way = ways.Autonomous


class TestRc(SafetySuite):
    way = ways.Rc


def test_every_way_has_its_suite_and_every_vehicle_its_ways():
    suites = [c for c in globals().values() if isinstance(c, type) and issubclass(c, SafetySuite)]
    assert {suite.way for suite in suites if hasattr(suite, "way")} == set(ways.WAYS)
    for name in NAMES:
        assert sum(way.fits(name) for way in ways.WAYS) >= 8
