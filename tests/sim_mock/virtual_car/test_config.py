"""What a virtual car's URI may say of it."""

import json
import os
from math import pi

import pytest
from PIL import Image

from host_bridge.config import load_vehicle
from sim_mock.board.firmware_runner import InProcessRunner
from sim_mock.sensors.instruments import instruments_of
from sim_mock.tracks.loading import load_track
from sim_mock.virtual_car.config import (
    QUERY,
    SAMPLE_BEGINS,
    VirtualCarConfig,
    parse_patch,
    virtual_car_config,
)
from tests.support.evidence import every

VEHICLE = load_vehicle("f1tenth")


def test_an_unknown_option_is_refused_by_name_and_the_known_ones_are_said():
    with pytest.raises(ValueError, match="unknown option 'sede'") as caught:
        virtual_car_config(VEHICLE, {"sede": "1"})
    assert every(known in str(caught.value) for known in QUERY)


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
        virtual_car_config(VEHICLE, {key: text})


def test_a_key_is_a_file_of_sixteen_bytes_and_nothing_that_is_waited_for(tmp_path):
    file, pipe = tmp_path / "key", tmp_path / "pipe"
    os.mkfifo(pipe)
    file.write_text("00" * 15)
    for path, what in ((file, "holds no key"), (pipe, "got a named pipe"), ("nowhere", "No such")):
        with pytest.raises(ValueError, match=f"option key=.*{what}.*tandem pair --virtual"):
            virtual_car_config(VEHICLE, {"key": str(path)})


def test_a_patch_is_four_numbers():
    assert parse_patch("9,2,3,0.2") == [9.0, 2.0, 3.0, 0.2]


@pytest.mark.parametrize(("text", "is_blank"), [("1", True), ("0", False), ("", False)])
def test_blank_is_one_or_nothing(text, is_blank):
    assert virtual_car_config(VEHICLE, {"blank": text}).blank is is_blank


def test_a_car_is_called_as_its_vehicle_unless_it_has_a_name():
    assert virtual_car_config(VEHICLE, {}).make_world(InProcessRunner).name == "f1tenth"
    assert virtual_car_config(VEHICLE, {"name": "red"}).make_world(InProcessRunner).name == "red"


def test_facts_survive_the_way_to_another_process():
    query = {"seed": "9", "name": "red", "payload_kg": "1.5", "patch": "9,2,3,0.2;1,1,1,0.5"}
    config = virtual_car_config(VEHICLE, query)
    again = VirtualCarConfig.from_json(config.to_json())
    assert json.loads(again.to_json()) == json.loads(config.to_json())
    ours, theirs = config.make_world(InProcessRunner), again.make_world(InProcessRunner)
    assert ours.advance(500_000) == theirs.advance(500_000)
    assert ours.board_id == theirs.board_id


def test_a_car_on_a_stand_turns_its_wheels_and_goes_nowhere():
    world = virtual_car_config(VEHICLE, {"stand": "1"}).make_world(InProcessRunner)
    assert world.plant.is_on_stand
    assert (
        not virtual_car_config(VEHICLE, {"stand": "0"})
        .make_world(InProcessRunner)
        .plant.is_on_stand
    )


SURROUNDED = {"track": "corridor", "start": "1,0.5,-90"}


def test_a_car_stands_where_it_is_said_to_also_in_another_process():
    config = virtual_car_config(VEHICLE, SURROUNDED)
    truth = VirtualCarConfig.from_json(config.to_json()).make_world(InProcessRunner).plant.truth
    assert truth.values() == (1.0, 0.5, pytest.approx(-pi / 2), 0.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ({"track": "monza"}, "there is autorally, corridor, oval"),
        ({"track": "oval", "map": "x.yaml"}, "not on both"),
        ({"map": "nowhere.yaml"}, "No such file"),
        ({"track": "corridor", "start": "0,0.9,0"}, "a wall is in the way"),
        ({"track": "corridor", "start": "0,9,0"}, "nobody may be there"),
        ({"start": "1,2"}, "option start="),
        ({"start": "1,2,east"}, "expected a number, got 'east'"),
        ({"seed": "x"}, "expected a whole number"),
        ({"payload_kg": "-5"}, "from 0 to 10000 kilograms, got -5"),
        ({"payload_kg": "nan"}, "expected a number, got 'nan'"),
        ({"payload_kg": "3", "payload_x_m": "2"}, "between the axles"),
        ({"patch": "1,2,3"}, "a patch is x,y,radius,mu"),
        (
            {"patch": "1,2,-3,0.5"},
            "patch.radius_m: radius_m cannot be that; expected a number from 0.001",
        ),
        ({"fault": "runstop:hard=1"}, "hard is not a key of this table; expected no key"),
        ({"start": "1,2,inf"}, "option start="),
        ({"sensors": "/nowhere/out.jsonl"}, "there is no folder"),
        ({"scenario": "/nowhere.toml"}, "No such file"),
    ],
)
def test_what_cannot_be_around_it_is_refused_before_it_begins(query, message):
    with pytest.raises(ValueError, match=message):
        virtual_car_config(VEHICLE, query)


def test_a_file_of_samples_is_begun_anew_and_anything_else_is_kept(tmp_path):
    samples, thesis = tmp_path / "samples.jsonl", tmp_path / "thesis.txt"
    for query in ({"sensors": str(samples)}, {"located": str(samples), "track": "corridor"}):
        for _ in range(2):
            virtual_car_config(VEHICLE, query).make_world(InProcessRunner).advance(200_000)
            assert samples.read_bytes().startswith(SAMPLE_BEGINS)
    thesis.write_text("three years of work")
    for query in ({"sensors": str(thesis)}, {"located": str(thesis), "track": "corridor"}):
        with pytest.raises(ValueError, match="something else than samples, and is not overwritten"):
            virtual_car_config(VEHICLE, query)
    with pytest.raises(ValueError, match="is a folder"):
        virtual_car_config(VEHICLE, {"sensors": str(tmp_path)})
    assert thesis.read_text() == "three years of work"


def test_a_map_is_found_from_where_the_command_was_given(tmp_path, monkeypatch):
    """The car's own process stands elsewhere."""
    Image.new("L", (100, 100), 254).save(tmp_path / "floor.png")
    (tmp_path / "floor.yaml").write_text(
        "{image: floor.png, resolution: 0.1, origin: [-5, -5, 0], negate: 0,"
        " occupied_thresh: 0.65, free_thresh: 0.196}"
    )
    monkeypatch.chdir(tmp_path)
    config = virtual_car_config(VEHICLE, {"map": "floor.yaml", "sensors": "out.jsonl"})
    monkeypatch.chdir("/")
    config.make_world(InProcessRunner).advance(100_000)
    assert '"is_off": false' in (tmp_path / "out.jsonl").read_text()


def test_two_cars_of_one_seed_have_noise_of_their_own_and_each_the_same_again():
    """A fleet named by one seed is several cars, not one car several times."""

    def samples(query):
        plant = virtual_car_config(load_vehicle("nigel"), query).make_world(InProcessRunner).plant
        seen = []
        for _ in range(50):
            plant.step(1e-3, [0] * 8, True)
            seen.append(plant.imu.measured)
        return seen

    alone, twin, other = {"seed": "1"}, {"seed": "1", "name": "twin"}, {"seed": "1", "name": "b"}
    assert samples(alone) == samples({"seed": "1", "name": "nigel"})
    assert samples(twin) == samples(twin)
    assert samples(alone) != samples(twin) != samples(other) != samples(alone)
    assert samples(twin) != samples({"seed": "2", "name": "twin"})


def test_the_rays_of_two_cars_of_one_seed_are_not_noisy_alike():
    def ranges(query):
        found = []
        config = virtual_car_config(load_vehicle("f1tenth"), {"track": "corridor", **query})
        world = config.make_world(InProcessRunner)
        scanner = next(
            one
            for one in instruments_of(world, config.noise_seed, load_track("corridor"))
            if one.name == "lidar"
        )
        found.append(scanner.take(world)[0]["ranges_m"])
        return found

    assert ranges({}) == ranges({})
    assert ranges({}) != ranges({"name": "twin"})


def test_a_board_is_one_thing_and_the_name_of_its_car_another():
    def board_of(**query):
        return virtual_car_config(VEHICLE, query).make_world(InProcessRunner).board_id

    assert board_of(name="red", board="1") != board_of(name="red", board="2")
    assert board_of(name="red", board="1") == board_of(name="blue", board="1")
    assert board_of(name="red") == board_of(name="red")  # a URI said again is the same car
