"""The lockstep loop: the same bytes each time, from arming to rest, and equal in the API."""

from __future__ import annotations

import pytest
import tandem

from host_bridge.core import DriveCommand, Input, State
from host_bridge.core.errors import UsageFault
from host_bridge.drive.controls import make_input
from host_bridge.drive.drive import Phase
from host_bridge.drive.lockstep.car import open_in_lockstep
from host_bridge.drive.lockstep.loop import LockstepDrive
from host_bridge.drive.options import DriveOptions
from host_bridge.sharing.services import make_host
from tests.support.evidence import some


def heard_of(uris, chosen, seconds, **options):
    """Return all bytes both ways of the first car in a whole drive, and the drive."""
    files = make_host().vehicles
    cars = [open_in_lockstep(files, uri, **options) for uri in uris]
    text = bytearray()
    world = cars[0].world
    feed, advance = world.feed, world.advance

    def spied_feed(data):
        text.extend(data)
        feed(data)

    def spied_advance(until_us):
        heard = advance(until_us)
        text.extend(heard)
        return heard

    world.feed, world.advance = spied_feed, spied_advance
    driver = make_input(chosen, {}, cars[0].clock.now_us) if isinstance(chosen, str) else chosen
    wanted = DriveOptions(cars=(), input=driver, seconds=seconds, is_lockstep=True)
    stepped = LockstepDrive(cars, driver, wanted)
    while not stepped.drive.is_over():
        stepped.tick()
    stepped.close()
    for car in cars:
        car.close()
    return bytes(text), stepped


def test_a_drive_goes_from_arming_to_rest_with_the_same_bytes_each_time():
    first, stepped = heard_of(["sim://f1tenth?seed=3"], "script:slalom", 2.0)
    second, _ = heard_of(["sim://f1tenth?seed=3"], "script:slalom", 2.0)
    other, _ = heard_of(["sim://f1tenth?seed=4"], "script:slalom", 2.0)
    assert len(some(first)) > 10_000
    assert first == second != other
    assert stepped.drive.is_completed
    assert stepped.drive.trips[0].distance_m > 1.0
    assert stepped.cars[0].car.status.state is State.STANDBY


def test_two_cars_get_the_same_claims():
    _, stepped = heard_of(["sim://nigel?name=a", "sim://nigel?name=b"], "script:slalom", 1.0)
    first, second = (car.world.plant.truth for car in stepped.cars)
    assert first.x_m == pytest.approx(second.x_m, abs=0.05)
    assert first.x_m > 0.1


def test_a_car_that_stops_ends_the_drive_as_not_completed():
    _, stepped = heard_of(["sim://nigel?fault=runstop@3s"], "script:slalom", 20.0)
    assert stepped.drive.phase is Phase.OVER
    assert not stepped.drive.is_completed
    assert some(stepped.drive.trips[0].stops)


def test_changes_of_the_vehicle_file_are_what_drives():
    files = make_host().vehicles
    car = open_in_lockstep(files, "sim://nigel", changes={"sources.script.lease_s": 0.08})
    assert car.vehicle.source("script").lease_s == 0.08
    car.close()


class Device(Input):
    def step(self, now_us, observed):
        return DriveCommand()


def test_an_input_with_a_time_of_its_own_is_refused():
    car = open_in_lockstep(make_host().vehicles, "sim://nigel")
    with pytest.raises(UsageFault, match="keeps the time of the world"):
        LockstepDrive([car], Device())
    car.close()


def test_the_api_steps_the_same_world_to_the_bit():
    """A car that hears nothing reports the same in both, tick for tick."""
    car = open_in_lockstep(make_host().vehicles, "sim://nigel?seed=5")
    with tandem.open("sim://nigel?seed=5", lockstep=True) as open_car:
        while car.clock.now_us() < round(open_car.now_s * 1e6):
            car.step()
        assert car.car.status == open_car._driver.car.status
        assert car.car.motion == open_car._driver.car.motion
        assert car.car.motion is not None
    car.close()
