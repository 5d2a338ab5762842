"""What the red flag does to a car: against the car's program, in virtual time."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest

from host_bridge.cars.stop_source_heartbeat import FLEET
from host_bridge.core import Cause, State
from host_bridge.core.errors import DeviceFault
from host_bridge.station.backend.red_flag import RedFlag
from tests.host_bridge.drive.drives import Drive as Track
from tests.host_bridge.drive.drives import Rig


class Desk:
    """A car on a track, and the flag over it. Closing a connection ends its heartbeats."""

    def __init__(self) -> None:
        self.track = Track(Rig("red"))
        self.track.bind()
        self.opened: list[str] = []
        self.fault: Exception | None = None
        self.flag = RedFlag(self.open, lambda: self.track.now_us)

    @property
    def car(self):
        return self.track.rigs[0].car

    async def open(self, name):
        if self.fault:
            raise self.fault
        self.opened.append(name)

        async def close() -> None:
            self.opened.remove(name)
            self.car.heartbeats.clear()

        return SimpleNamespace(car=self.car, close=close)

    def follow(self, *names: str) -> None:
        asyncio.run(self.flag.follow(names))
        self.track.advance(0.4)

    def is_done(self, request) -> bool:
        return self.track.finish(request).is_done()


@pytest.fixture
def desk():
    return Desk()


def test_while_it_is_down_no_car_is_opened(desk):
    desk.follow("red")
    assert desk.opened == []
    assert desk.flag.row() is None


def test_it_stops_an_armed_car_and_keeps_it_from_being_cleared_and_armed(desk):
    desk.track.arm()
    desk.flag.raise_by("Phone")
    desk.follow("red")
    assert desk.car.status.shown_state is State.STOPPED
    assert desk.car.status.first_cause is Cause.STOP_SOURCE
    assert desk.flag.row() == {"by": "Phone", "since_s": 0.4, "held": ["red"], "missing": {}}
    desk.is_done(desk.track.fleet.clear(desk.track.now_us))
    assert not desk.is_done(desk.track.fleet.arm(desk.track.now_us))


def test_lifted_it_clears_nothing_and_then_the_car_is_cleared_and_armed(desk):
    desk.flag.raise_by("Phone")
    desk.follow("red")
    desk.flag.lift()
    desk.follow("red")
    assert desk.opened == []
    assert desk.flag.row() is None
    assert desk.car.status.shown_state is State.STOPPED
    assert desk.is_done(desk.track.fleet.clear(desk.track.now_us))
    assert desk.is_done(desk.track.fleet.arm(desk.track.now_us))


def test_who_raised_it_first_is_named(desk):
    desk.flag.raise_by("Phone")
    desk.track.advance(1.0)
    desk.flag.raise_by("Laptop")
    assert (desk.flag.row()["by"], desk.flag.row()["since_s"]) == ("Phone", 1.0)


def test_a_car_is_held_once_it_is_there_and_let_go_of_once_it_is_gone(desk):
    desk.flag.raise_by("Phone")
    desk.follow()
    assert desk.flag.row()["held"] == []
    desk.follow("red")
    desk.follow("red")
    assert desk.opened == ["red"]
    desk.follow()
    assert desk.opened == []


def test_a_car_that_cannot_be_held_is_told_with_its_reason(desk):
    desk.fault = DeviceFault("nobody serves it")
    desk.flag.raise_by("Phone")
    desk.follow("red")
    assert desk.flag.row()["missing"] == {"red": "nobody serves it"}
    desk.fault = None
    sources = [it for it in desk.car.vehicle.stop_sources if it.name != FLEET]
    vehicle, desk.car.vehicle = desk.car.vehicle, SimpleNamespace(stop_sources=sources)
    desk.follow("red")
    assert "[stop.sources.fleet]" in desk.flag.row()["missing"]["red"]
    assert desk.opened == []
    desk.car.vehicle = vehicle
    desk.follow("red")
    assert (desk.flag.row()["held"], desk.flag.row()["missing"]) == (["red"], {})
