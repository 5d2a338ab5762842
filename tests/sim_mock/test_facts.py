"""What a virtual car's URI may say of it."""

import json

import pytest

from host_bridge.config import load_vehicle
from sim_mock.facts import QUERY, CarFacts, facts_of, parse_patch
from sim_mock.firmware_runner import InProcess

VEHICLE = load_vehicle("f1tenth")


def test_an_unknown_option_is_refused_by_name_and_the_known_ones_are_said():
    with pytest.raises(ValueError, match="unknown option 'sede'") as caught:
        facts_of(VEHICLE, {"sede": "1"})
    assert all(known in str(caught.value) for known in QUERY)


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("seed", "one"),
        ("payload_kg", "1 kg"),
        ("payload_x_m", ""),
        ("patch", "1,2,3"),
        ("patch", "1,2,3,0.5;"),
        ("patch", "a,b,c,d"),
    ],
)
def test_a_value_that_is_none_is_refused_with_its_option(key, text):
    with pytest.raises(ValueError, match=f"option {key}="):
        facts_of(VEHICLE, {key: text})


def test_a_patch_is_four_numbers():
    assert parse_patch("9,2,3,0.2") == [9.0, 2.0, 3.0, 0.2]


@pytest.mark.parametrize(("text", "is_blank"), [("1", True), ("0", False), ("", False)])
def test_blank_is_one_or_nothing(text, is_blank):
    assert facts_of(VEHICLE, {"blank": text}).blank is is_blank


def test_a_car_is_called_as_its_vehicle_unless_it_has_a_name():
    assert facts_of(VEHICLE, {}).world(InProcess).name == "f1tenth"
    assert facts_of(VEHICLE, {"name": "red"}).world(InProcess).name == "red"


def test_facts_survive_the_way_to_another_process():
    query = {"seed": "9", "name": "red", "payload_kg": "1.5", "patch": "9,2,3,0.2;1,1,1,0.5"}
    facts = facts_of(VEHICLE, query)
    again = CarFacts.from_json(facts.to_json())
    assert json.loads(again.to_json()) == json.loads(facts.to_json())
    ours, theirs = facts.world(InProcess), again.world(InProcess)
    assert ours.advance(500_000) == theirs.advance(500_000)
    assert ours.board_id == theirs.board_id


def test_a_car_on_a_stand_turns_its_wheels_and_goes_nowhere():
    world = facts_of(VEHICLE, {"stand": "1"}).world(InProcess)
    assert world.plant.is_on_stand
    assert not facts_of(VEHICLE, {"stand": "0"}).world(InProcess).plant.is_on_stand
