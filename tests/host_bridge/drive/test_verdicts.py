"""What a drive, or a following, is told to have been at its end: each fault by itself, in order."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from host_bridge.cars.fleet import FleetAgreement
from host_bridge.core import KnownCar
from host_bridge.core.errors import (
    AnotherCarFault,
    DeviceFault,
    NotHeldFault,
    OverrunFault,
    RefusedFault,
    VehicleFileFault,
)
from host_bridge.drive import outcome
from host_bridge.drive.follow import _judge, _with_receiver
from tests.host_bridge.drive.drives import vehicle


def driven(agreement=(9, 0, None), cars=2, lost=(), **changes):
    """A drive of two cars that went to its end, but for what is said."""
    fleet = SimpleNamespace(
        cars=[SimpleNamespace(stranger="")] * cars, agreement=lambda: FleetAgreement(*agreement)
    )
    given = {
        "begun_us": 1,
        "refusal": "",
        "overrunning_cars": [],
        "is_completed": True,
        "notice": "",
        "asked_s": 0.0,
    }
    given |= {"trips": (), "controls": SimpleNamespace(input=SimpleNamespace(is_person=False))}
    return SimpleNamespace(**{**given, **changes}, fleet=fleet, lost=lambda: list(lost))


def fault_of(drive, *, has_hand, is_virtual=False):
    return outcome.fault_of(drive, has_hand=has_hand, is_virtual=is_virtual)


@pytest.mark.parametrize("has_hand", [True, False])
def test_what_went_to_its_end_has_nofault_of(has_hand):
    assert fault_of(driven(), has_hand=has_hand) is None
    assert fault_of(driven((0, 0, None), cars=1), has_hand=has_hand) is None
    assert fault_of(driven((1, 0, None)), has_hand=has_hand) is None
    assert fault_of(driven(refusal="later", overrunning_cars=[1]), has_hand=has_hand) is None


def test_a_drive_that_asked_for_motion_and_got_none_is_none():
    def trips(*distances_m):
        cars = (SimpleNamespace(name=name) for name in "ab")
        return tuple(
            SimpleNamespace(car=car, distance_m=distance_m, is_halted=lambda: False)
            for car, distance_m in zip(cars, distances_m, strict=False)
        )

    fault = fault_of(driven(trips=trips(1.0, 0.001), asked_s=0.6), has_hand=False)
    assert type(fault) is NotHeldFault
    assert fault.what == "b did not move, though motion was asked for"
    assert fault.got == "0.6 s of commands to drive"
    assert fault_of(driven(trips=trips(0.0), cars=1, asked_s=0.5), has_hand=True) is not None
    assert fault_of(driven(trips=trips(1.0, 0.02), asked_s=9.0), has_hand=False) is None
    assert fault_of(driven(trips=trips(0.0, 0.0), asked_s=0.4), has_hand=False) is None


def test_what_was_refused_before_it_began_says_so_and_what_to_do():
    fault = fault_of(driven(begun_us=None, refusal="a did not arm", lost=["a"]), has_hand=True)
    assert type(fault) is RefusedFault
    assert fault.what == "a did not arm"
    assert fault.remedy.startswith("put that right; a stop whose cause is gone: tandem clear")
    assert fault_of(driven(begun_us=None), has_hand=True) is None, "nobody armed it"
    assert fault_of(driven(begun_us=0, refusal="later"), has_hand=True) is None


def test_a_program_whose_cars_ended_stopped_says_so_whoever_was_there():
    car = SimpleNamespace(name="red", why_stopped=lambda: "the seat stopped it")
    trips = (SimpleNamespace(car=car, is_halted=lambda: True),)
    ended = {"is_completed": False, "trips": trips}
    for has_hand in (True, False):
        fault = fault_of(driven(**ended), has_hand=has_hand)
        assert type(fault) is NotHeldFault
        assert "red: the seat stopped it" in fault.got
        came_to_its_end = fault_of(driven(trips=trips), has_hand=has_hand)
        assert came_to_its_end is None, "stopped while it came to rest"
    person = SimpleNamespace(input=SimpleNamespace(is_person=True))
    assert fault_of(driven(**ended, controls=person), has_hand=True) is None, "a person's own stop"


def test_who_misses_its_beat_is_named():
    overrunning_cars = [
        SimpleNamespace(cli_name=name, as_known_car=lambda at=at: KnownCar(at))
        for name, at in (("one", b"1"), ("two", b"2"))
    ]
    fault = fault_of(
        driven(begun_us=None, refusal="no", overrunning_cars=overrunning_cars), has_hand=False
    )
    assert isinstance(fault, OverrunFault)
    assert fault.cars == ("one", "two")
    assert fault.boards == (b"1", b"2")


def test_another_car_at_the_place_of_one_comes_before_its_loss():
    there = driven(lost=["a"])
    there.fleet.cars[1] = SimpleNamespace(stranger="another car is there", remedy="plug a in again")
    fault = fault_of(there, has_hand=True)
    assert type(fault) is AnotherCarFault
    assert (fault.what, fault.remedy) == ("another car is there", "plug a in again")
    assert fault.exit_code == DeviceFault.exit_code


@pytest.mark.parametrize(
    ("is_virtual", "what"),
    [(False, "cable and power"), (True, "its program, or who serves it, has ended")],
)
def test_a_link_that_was_lost_comes_before_what_the_cars_accepted(is_virtual, what):
    fault = fault_of(driven((0, 0, 7), lost=["a", "b"]), has_hand=False, is_virtual=is_virtual)
    assert isinstance(fault, DeviceFault)
    assert fault.what == "the link to a, b was lost, and did not come back before the end"
    assert fault.remedy == f"see to it: {what}; a car that hears nothing has stopped by itself"


@pytest.mark.parametrize("differs_at", [0, 44])
@pytest.mark.parametrize("has_hand", [True, False])
def test_different_bytes_are_a_fault_whoever_drove(differs_at, has_hand):
    fault = fault_of(driven((3, 0, differs_at), is_completed=False), has_hand=has_hand)
    assert isinstance(fault, NotHeldFault)
    assert fault.what == "the cars did not accept the same bytes"
    assert fault.got == f"a difference at or before claim {differs_at}"
    assert fault.expected == "the same running CRC over the claims on all cars"


def test_of_two_cars_of_which_nothing_is_shown_nothing_is_claimed():
    fault = fault_of(driven((0, 0, None)), has_hand=False)
    assert isinstance(fault, NotHeldFault)
    assert fault.what == "nothing shows that the cars accepted the same bytes"
    assert (fault.got, fault.expected) == ("none", "both cars' reports of the same claim")
    assert "long enough" in fault.remedy
    assert fault_of(driven((0, 0, None)), has_hand=True) is None, "somebody was there, and ended it"


@pytest.mark.parametrize("agreed", [0, 9])
def test_a_program_that_did_not_come_to_its_end_says_why(agreed):
    stopped = driven((agreed, 0, None), is_completed=False, notice="a stopped")
    fault = fault_of(stopped, has_hand=False)
    assert isinstance(fault, NotHeldFault)
    assert (fault.what, fault.got) == ("the cars stopped before the end", "a stopped")
    assert fault_of(stopped, has_hand=True) is None


# --- following


def following(*differ: int | None):
    followers = [
        SimpleNamespace(
            car=SimpleNamespace(name=f"twin {number}"),
            agreement=SimpleNamespace(differs_at=at, is_equal=lambda at=at: at is None),
        )
        for number, at in enumerate(differ)
    ]
    return SimpleNamespace(followers=followers)


def test_a_follower_that_took_other_bytes_is_named():
    _judge(following(None, None))
    with pytest.raises(NotHeldFault) as raised:
        _judge(following(None, 5, 6))
    fault = raised.value
    assert fault.what == "twin 1 did not accept the bytes that its leader did"
    assert fault.got == "a difference at or before claim 5"
    assert fault.expected == "the same running CRC over the claims on both"


def test_a_vehicle_without_a_receiver_has_nothing_to_follow():
    fitted = replace(vehicle(), has_rc=True)
    assert _with_receiver(fitted) is fitted
    with pytest.raises(VehicleFileFault) as raised:
        _with_receiver(replace(vehicle(), has_rc=False, path="x.toml"))
    assert (raised.value.where, raised.value.expected) == ("x.toml", "[rc] and [sources.rc]")
    assert "tandem drive" in raised.value.remedy
