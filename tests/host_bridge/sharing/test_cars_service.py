"""Which car is meant, and whether it is one that a program may drive."""

from __future__ import annotations

import asyncio
import os

import pytest

from host_bridge.core.errors import DeviceFault, UsageFault
from host_bridge.sharing.endpoints.choosing import find_served
from host_bridge.sharing.endpoints.served import ServedCar
from host_bridge.sharing.services import make_host
from tests.host_bridge.sharing.desk import runtime_folder


@pytest.fixture(autouse=True)
def folder(monkeypatch):
    with runtime_folder(monkeypatch) as path:
        yield path


def served_car(name: str, uri: str) -> ServedCar:
    return ServedCar(name, uri, os.getpid(), "nigel", "")


CARS = [served_car("red", "serial:///dev/ttyACM0"), served_car("twin", "sim://nigel")]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("red", "red"),
        ("tandem:///twin", "twin"),
        ("sim://nigel", "twin"),
        ("serial:///dev/../dev/ttyACM0", "red"),
        ("sim://nigel?seed=1", None),  # another car
        ("serial:///dev/ttyACM1", None),
    ],
)
def test_a_served_car_is_found_by_name_or_uri(text, name):
    found = find_served(text, CARS)
    assert (found.name if found else None) == name


def test_without_a_name_there_has_to_be_one_car():
    assert find_served(None, CARS[:1]) == CARS[0]
    with pytest.raises(UsageFault, match="which car") as which:
        find_served(None, CARS)
    assert which.value.expected == "one of red, twin"
    with pytest.raises(UsageFault, match="no car is served"):
        find_served(None, [])


@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        ("/dev/ttyACM0", "serial:///dev/ttyACM0"),
        ("nigel", "sim://nigel"),
        ("my car", "--name 'my car'"),
    ],
)
def test_what_may_have_been_meant_by_a_name_that_no_car_has(text, remedy):
    with pytest.raises(DeviceFault) as wrong:
        find_served(text, CARS)
    assert remedy in wrong.value.remedy


def test_a_name_that_is_not_served_is_an_error_and_not_a_new_car():
    with pytest.raises(DeviceFault, match="by the name of blue") as wrong:
        find_served("blue", CARS)
    assert "red, twin" in wrong.value.got


@pytest.mark.parametrize(
    ("uri", "vehicle"),
    [
        ("sim://nigel?seed=1", "nigel"),
        ("lossy+sim+process://f1tenth?loss=0.1", "f1tenth"),
        ("serial:///dev/ttyACM0?vehicle=nigel", "nigel"),
        ("serial:///dev/ttyACM0", None),
        ("sim://nigel?blank=1", None),
        ("serial:///dev/ttyACM0?hitl=nigel", "nigel"),
        ("autodrive://:4567?vehicle=nigel", "nigel"),
    ],
)
def test_a_uri_may_say_which_vehicle_it_is(uri, vehicle):
    assert make_host().cars.transport(uri).vehicle == vehicle


@pytest.mark.parametrize(
    ("uri", "is_virtual"),
    [
        ("sim://nigel", True),
        ("sim+process://nigel", True),
        ("lossy+sim://nigel?loss=0.1", True),
        ("autodrive://:4567?vehicle=nigel", True),
        ("serial:///dev/ttyACM0", False),
        ("lossy+serial:///dev/ttyACM0", False),
        ("serial:///dev/ttyACM0?hitl=nigel", False),
        ("tandem:///nigel", False),
    ],
)
def test_a_transport_says_whether_there_is_nothing_but_what_opening_it_makes(uri, is_virtual):
    assert make_host().cars.transport(uri).is_virtual is is_virtual


def test_short_commands_to_one_car_share_a_session_and_others_have_their_own():
    cars = make_host().cars
    assert cars.new_epoch() != cars.new_epoch()
    assert cars.command_epoch("sim://nigel") != cars.command_epoch("sim://nigel")


def test_the_type_of_a_car_is_told_by_the_configuration_that_it_reports():
    """Of a car behind a bare port, that is: nothing in its URI says it."""
    host = make_host()

    async def test() -> None:
        opened = await host.cars.open("sim://f1tenth?name=red")
        identity = opened.car.identity
        assert opened.name == "red"
        assert opened.vehicle.name == "f1tenth"
        assert host.vehicles.recognised(identity) is opened.vehicle
        await opened.close()

    asyncio.run(test())
