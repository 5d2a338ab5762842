"""Silence is forgiven to virtual cars alone, and nothing else is."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from host_bridge.core import Cause, Observed, SeenCar, State
from host_bridge.ros2.node.forgiveness import Forgiveness
from host_bridge.ros2.node.mux import Mux, StampedCommand
from host_bridge.ros2.vocabularies.topics import MuxRow

MS, SECOND_US = 1000, 1_000_000


def seen(state=State.STOPPED, causes=(Cause.SILENCE,), faults=(), is_online=True) -> SeenCar:
    status = SimpleNamespace(state=state, causes=causes, faults=faults)
    return SeenCar("car", is_online, None, status, None, None, None)


def observed(*cars: SeenCar, is_driving: bool = False) -> Observed:
    return Observed(cars or (seen(),), is_driving, True)


def test_a_car_that_silence_stopped_is_armed_again_once_a_second():
    it = Forgiveness()
    asked = [it.must_arm(observed(), ms * MS) for ms in range(0, 2500, 10)]
    assert asked.count(True) == 3
    assert "3 silences forgiven" in it.words()


@pytest.mark.parametrize(
    "car",
    [
        seen(causes=(Cause.STOP_REQUEST,)),
        seen(causes=(Cause.SILENCE, Cause.STOP_REQUEST)),
        seen(causes=()),
        seen(state=State.STOPPING),
        seen(state=State.FAULT),
        seen(faults=(1,)),
        seen(is_online=False),
    ],
)
def test_no_other_stop_is_forgiven_nor_a_car_that_nobody_armed(car):
    assert not Forgiveness().must_arm(observed(car), SECOND_US)
    assert not Forgiveness().must_arm(observed(seen(), car), SECOND_US) or not car.status.causes


def test_cars_that_drive_need_nothing():
    assert not Forgiveness().must_arm(observed(is_driving=True), SECOND_US)


def mux(*, yields_all: bool = False, yields: bool = False) -> Mux:
    made = Mux([MuxRow("drive", "drive", 10, 0.2), MuxRow("aeb", "teleop", 100, 0.2, yields)], 0.12)
    if yields_all:
        made.forgive()
    made.begin()
    return made


def drive(it: Mux, told: dict[str, range], until_ms: int) -> list[float | None]:
    """The speed that is decided each 10 ms; each source speaks at its times: drive 1, aeb 0."""
    found = []
    for ms in range(0, until_ms, 10):
        for name, times in told.items():
            if ms in times:
                it.sources[name].take(StampedCommand(float(name == "drive"), 0.0, ms * MS), ms * MS)
        command = it.decide(ms * MS)
        found.append(None if command is None else command.speed_mps)
    return found


BURST = {"drive": range(0, 3000, 20), "aeb": range(1000, 1400, 20)}


def test_an_emergency_brake_that_speaks_only_while_it_brakes_ends_the_drive_by_default():
    found = drive(mux(), BURST, 3000)
    assert found[120] == 0.0
    assert set(found[160:]) == {None}


@pytest.mark.parametrize("how", [{"yields": True}, {"yields_all": True}])
def test_where_its_silence_yields_the_drive_goes_on(how):
    found = drive(mux(**how), BURST, 3000)
    assert (found[50], found[120], found[290]) == (1.0, 0.0, 1.0)
    assert None not in found[10:]


def test_who_yields_to_nobody_has_fallen_silent():
    it = mux(yields=True)
    drive(it, {"aeb": range(0, 400, 20)}, 1000)
    assert it.timed_out == "aeb"


def test_for_forgiving_cars_nobody_falls_silent_for_good():
    it = mux(yields_all=True)
    told = {"drive": range(0, 400, 20)}
    assert drive(it, told, 1000)[-1] is None
    assert it.timed_out is None
