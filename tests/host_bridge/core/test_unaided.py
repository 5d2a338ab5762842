"""A cap follows from what a button, a hang and a reset leave; or the file accepts more in words."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from host_bridge.cli.car_actions import request
from host_bridge.cli.output import faults_report
from host_bridge.config import load_vehicle, vehicle_names
from host_bridge.core import (
    UNAIDED_MOST_M,
    Action,
    OperatorAction,
    Profile,
    Sender,
    UnaidedFacts,
    arm_action,
    unaided_text,
)
from host_bridge.core.errors import VehicleFileFault
from host_bridge.station.backend.stop_tables import StopTables
from tests.support.evidence import every, holds_for, some
from tests.tools.rules.program import unaided as tool

PLAIN = UnaidedFacts(0.5, 0.5, has_brake_servo=False, has_off_delay=False)


def own(tmp_path, text: str, base: str = "f1tenth") -> str:
    path = tmp_path / "car.toml"
    path.write_text(f'base = "{base}"\ntitle = "a car"\n{text}\n')
    return str(path)


def fast(*, mps: float = 4.0, profile: str = "track") -> str:
    return f"[profiles.{profile}]\nspeed_cap_mps = {mps}\n"


def accepted(distance_m: float, reason: str = "an empty hall") -> str:
    return f'[accepted_coast]\ndistance_m = {distance_m}\nreason = "{reason}"\n'


# --- what is computed

# what it has, from m/s: button, hang, reset, power lost
DISTANCES = [
    (PLAIN, 2.0, (4.002, 4.2, 4.06, 4.0)),
    (UnaidedFacts(2.0, 0.5, has_brake_servo=False, has_off_delay=False), 2.0,
     (1.002, 1.2, 1.06, 4.0)),
    (UnaidedFacts(2.0, 0.5, has_brake_servo=True, has_off_delay=False), 2.0,
     (1.002, 1.2, 1.82, 4.0)),
    (UnaidedFacts(0.5, 0.5, has_brake_servo=False, has_off_delay=True), 2.0,
     (4.3, 4.2, 4.06, 4.0)),
    (PLAIN, 0.0, (0.0, 0.0, 0.0, 0.0)),
]  # fmt: skip


def test_v_squared_over_2a_after_what_it_rolls_on_unslowed():
    def check(facts, speed_mps, metres):
        goes = facts.stop_from(speed_mps)
        found = (goes.button_m, goes.hang_m, goes.reset_m, goes.power_lost_m)
        assert found == pytest.approx(metres)
        assert goes.most_m == pytest.approx(max(metres[:3]))  # lost power is told apart

    assert holds_for(DISTANCES, check)


@pytest.mark.parametrize("name", vehicle_names())
def test_each_vehicle_of_ours_keeps_it_or_says_why_not(name):
    vehicle = load_vehicle(name)
    goes = vehicle.unaided.stop_from(vehicle.profile_caps_mps[vehicle.profile])
    assert goes.most_m > 0.0
    if goes.most_m > UNAIDED_MOST_M:
        assert vehicle.accepted_coast.distance_m >= goes.most_m
        assert len(vehicle.accepted_coast.reason) > 20


# --- what is refused


def test_a_cap_from_which_it_goes_too_far_is_refused_with_the_cap_that_would_do(tmp_path):
    path = own(tmp_path, fast())
    with pytest.raises(VehicleFileFault) as refused:
        load_vehicle(path)
    assert "profiles.track.speed_cap_mps" in refused.value.where
    assert "button 14.5, hang 14.9, reset 14.7 m from 4 m/s" in refused.value.got
    assert "lower speed_cap_mps to 2," in refused.value.remedy
    load_vehicle(own(tmp_path, fast(mps=2.0)))
    with pytest.raises(VehicleFileFault):
        load_vehicle(own(tmp_path, fast(mps=2.1)))


def test_it_is_accepted_in_words_and_for_no_less_than_is_computed(tmp_path):
    assert load_vehicle(own(tmp_path, fast() + accepted(14.95))).accepted_coast.distance_m == 14.95
    with pytest.raises(VehicleFileFault, match="farther than anybody has accepted") as refused:
        load_vehicle(own(tmp_path, fast() + accepted(14.9)))
    assert "accepted_coast.distance_m" in refused.value.where


@pytest.mark.parametrize("reason", ["", " . ", "two\\nlines", "\\u001b[2J"])
def test_a_reason_is_a_line_of_words(tmp_path, reason):
    with pytest.raises(VehicleFileFault, match=r"accepted distance is not|reason cannot be"):
        load_vehicle(own(tmp_path, accepted(15.0, reason)))


@pytest.mark.parametrize("text", ["distance_m = 15.0", 'reason = "an empty hall"'])
def test_neither_alone_is_an_acceptance(tmp_path, text):
    text = f"[accepted_coast]\n{text}"
    with pytest.raises(VehicleFileFault, match="is missing"):
        load_vehicle(own(tmp_path, text))


def test_it_is_the_default_profile_that_counts(tmp_path):
    text = fast(mps=2.0) + fast(profile="race")
    assert load_vehicle(own(tmp_path, text))
    raced = text + '[stop]\nprofile = "race"\n'
    with pytest.raises(VehicleFileFault, match="farther than anybody has accepted"):
        load_vehicle(own(tmp_path, raced))


# --- where it is shown


def test_make_check_prints_each_vehicle_and_refuses_one_that_goes_too_far(tmp_path, capsys):
    assert tool.main([]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert {line.split()[0] for line in lines[1:]} == set(vehicle_names())
    (autorally,) = (line for line in lines if line.startswith("autorally"))
    assert "10 m/s   16.14 m  17.13 m  20.23 m  135.14 m" in autorally.replace("    ", "   ")
    assert "accepted: 20.5 m, a car for open ground" in autorally
    assert tool.main([own(tmp_path, fast())]) == 1
    assert "farther than anybody has accepted" in capsys.readouterr().out


def test_what_is_accepted_is_said_with_all_distances_and_the_reason():
    text = unaided_text(load_vehicle("autorally"), "track")
    assert text.startswith("From its cap in Track, 10 m/s, it goes 20.2 m without its program: ")
    assert "button 16.1 m, hang 17.1 m, reset 20.2 m; with its power lost 135 m." in text
    assert "accepts 20.5 m: a car for open ground" in text
    assert text.endswith("its front brake keeps its power.")


def test_nothing_is_said_of_few_metres_nor_of_a_stand():
    words = [
        unaided_text(load_vehicle("nigel"), "track"),
        unaided_text(load_vehicle("f1tenth_vesc"), "track"),
        unaided_text(load_vehicle("autorally"), "stand"),
    ]
    assert words == ["", "", ""]


@pytest.mark.parametrize("caps", [{}, {"race": 0.0}])
def test_a_profile_that_the_file_does_not_offer_is_told_as_missing(caps):
    vehicle = replace(load_vehicle("autorally"), profile_caps_mps=caps)
    text = unaided_text(vehicle, "race")
    assert text == "Its vehicle file does not offer the profile Race: it has no cap in it."


def test_a_faster_profile_than_was_accepted_is_told_as_such(tmp_path):
    text = fast(mps=2.0) + fast(profile="race") + accepted(5.0)
    vehicle = load_vehicle(own(tmp_path, text))
    assert unaided_text(vehicle, "track") == ""
    text = unaided_text(vehicle, "race")
    assert "4 m/s, it goes 14.9 m" in text
    assert text.endswith("accepts that only by the profile's cap.")


def test_arm_says_it_of_the_profile_that_is_armed_and_no_other_action_does():
    opened = SimpleNamespace(vehicle=load_vehicle("autorally"))
    texts = {
        profile: request._unaided(opened, arm_action(profile, Sender.COMMAND))
        for profile in Profile
    }
    assert texts[Profile.STAND] == ""
    assert "in Track, 10 m/s" in texts[Profile.TRACK]
    assert "in Race, 10 m/s" in texts[Profile.RACE]
    assert request._unaided(opened, OperatorAction(Action.CLEAR, Sender.COMMAND)) == ""


def test_the_station_says_it_before_anything_is_worked_out():
    tables = StopTables()
    assert tables.state(None) == {"is_known": False, "is_ready": False, "unaided": ""}
    state = tables.state(load_vehicle("autorally"))
    assert (state["is_known"], state["is_ready"]) == (True, False)
    assert "accepts 20.5 m" in str(state["unaided"])
    assert tables.state(load_vehicle("nigel"))["unaided"] == ""


def test_the_table_of_stops_has_it_below():
    run = SimpleNamespace(
        vehicle="autorally", case="runstop-opens", asked_mps=10.0, speed_mps=10.0,
        reaction_s=0.001, distance_m=14.1, friction_m=5.2, coasts=False,
    )  # fmt: skip
    text = unaided_text(load_vehicle("autorally"), "track")
    (shown,) = faults_report.stops_tables([run], {"runstop-opens": "b"}, {"autorally": text})
    assert shown.caption == text
    (shown,) = faults_report.stops_tables([run], {"runstop-opens": "b"}, {"autorally": ""})
    assert shown.caption is None
    assert every(some([shown.title]))
