"""What a car may be told of its model: by URI, in its vehicle file, by a file of Autoware's."""

import pytest

from host_bridge.config import load_vehicle
from sim_mock.board.firmware_runner import InProcessRunner
from sim_mock.bodies.table import MODELS, describe_models, parse_model
from sim_mock.virtual_car.config import VirtualCarConfig, virtual_car_config
from sim_mock.world import plant_of
from tests.sim_mock.bodies.modelled_cars import KEYS, vehicle_with, write_file

REFUSED = [
    ("nigel", {"model": "single"}, r"there is no such; there is twin, kinematic, single_track, "),
    (
        "nigel",
        {"model": "autorally_full"},
        r"is only for autorally; nigel may have twin, kinematic",
    ),
    ("f1tenth", {"model": "IDEAL_STEER_VEL"}, r"is only for nigel; f1tenth may have twin"),
    (
        "autorally",
        {"model": "autodrive"},
        r"is only for nigel, f1tenth, hunter_se, opencav, rzr; auto",
    ),
    ("nigel", {"model": "LEARNED_STEER_VEL"}, r"model_module_paths: .*; model=FILE.yaml says"),
    ("nigel", {"model": "DELAY_STEER_MAP_ACC_GEARED"}, r"acceleration_map_path: .*; model=FILE"),
    ("nigel", {"model": "kinematic", "payload_kg": "1"}, r"no payload and no patches"),
    ("nigel", {"model": "kinematic", "patch": "1,0,1,0.5"}, r"no payload and no patches"),
    ("nigel", {"model": "not_there.yaml"}, r"not_there.yaml: cannot be read"),
]


@pytest.mark.parametrize(("vehicle", "query", "told"), REFUSED)
def test_a_model_that_a_car_cannot_have_is_refused_before_it_is_made(vehicle, query, told):
    with pytest.raises(ValueError, match=told):
        virtual_car_config(load_vehicle(vehicle), query)


def test_a_model_goes_with_the_car_to_another_process():
    config = virtual_car_config(load_vehicle("nigel"), {"model": "kinematic"})
    world = VirtualCarConfig.from_json(config.to_json()).make_world(InProcessRunner)
    assert type(world.plant.model).__name__ == "KinematicBody"
    assert (
        virtual_car_config(load_vehicle("nigel"), {}).make_world(InProcessRunner).plant.model
        is None
    )


def test_what_the_vehicle_file_says_holds_unless_the_uri_says_otherwise():
    vehicle = vehicle_with("nigel", "kinematic")
    assert virtual_car_config(vehicle, {}).make_world(InProcessRunner).plant.model is not None
    assert (
        virtual_car_config(vehicle, {"model": "twin"}).make_world(InProcessRunner).plant.model
        is None
    )


@pytest.mark.parametrize("name", KEYS)
def test_a_file_of_autowares_gives_the_model_and_its_parameters(tmp_path, name):
    """Relative to itself; what only Autoware's node heeds is left out."""
    model, given = parse_model(write_file(tmp_path, name))
    assert model == name
    assert set(given) == {line.split(":")[0].strip() for line in KEYS[name].splitlines()}
    assert given.get("acceleration_map_path", "") in ("", str(tmp_path / "map.csv"))


@pytest.mark.parametrize("text", ["", "a: [", "vehicle_model_type: DELAY_STEER_ACC", "/**: 3"])
def test_a_file_that_is_none_of_autowares_is_refused(tmp_path, text):
    path = tmp_path / "car.yaml"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"car\.yaml"):
        parse_model(str(path))


def test_a_parameter_that_autoware_does_not_know_is_refused_by_name(tmp_path):
    path = tmp_path / "car.yaml"
    path.write_text(
        "/**:\n  ros__parameters:\n    vehicle_model_type: DELAY_STEER_ACC\n    steer_lag: 1.0\n"
    )
    with pytest.raises(ValueError, match="steer_lag: unknown parameter"):
        plant_of(vehicle_with("f1tenth", str(path)), 0)


def test_every_model_is_listed_with_the_cars_that_may_have_it():
    titles = {row["name"]: row["title"] for row in describe_models()}
    assert list(titles) == ["twin", *MODELS]
    assert titles["autorally_full"].endswith("(autorally)")
