"""A parameter file that a car's own speed loop cannot bear is refused by the parameter's name."""

from dataclasses import replace
from functools import lru_cache

import pytest

from host_bridge.config import load_vehicle
from host_bridge.deploy.hil.host.small_host import SmallHost
from sim_mock.bodies import table
from sim_mock.bodies.planning import numbers_of
from sim_mock.bodies.speed_loop import refuse_unstable_loop, speed_loop_of
from sim_mock.faults.bounds.limits import plant_parameters
from sim_mock.plant.servo import ServoParameters
from sim_mock.plant.vehicle_plant import Plant
from sim_mock.virtual_car.config import virtual_car_config
from sim_mock.world import World

GEARED = "DELAY_STEER_ACC_GEARED"
# What Autoware's documentation and its sample vehicle have, for a car of full size
DEFAULTS = {
    "vel_lim": 50.0, "vel_rate_lim": 7.0, "steer_lim": 1.0, "steer_rate_lim": 5.0,
    "acc_time_delay": 0.1, "acc_time_constant": 0.1, "steer_time_delay": 0.24,
    "steer_time_constant": 0.27, "steer_dead_band": 0.0,
    "debug_acc_scaling_factor": 1.0, "debug_steer_scaling_factor": 1.0,
}  # fmt: skip
SMALL = ("nigel", "f1tenth", "f1tenth_vesc", "autorally", "hunter_se")


@lru_cache
def loop(name):
    vehicle = load_vehicle(name)
    p = plant_parameters(vehicle)
    motor_s = numbers_of(p)["vel_time_constant"]
    return speed_loop_of(p, vehicle.parameters, motor_s), motor_s


def refused(name, given, model=GEARED):
    car, motor_s = loop(name)
    refuse_unstable_loop(model, given, car, name, motor_s)


def file_of(tmp_path, given, model=GEARED):
    lines = "".join(f"    {key}: {value}\n" for key, value in given.items())
    path = tmp_path / "simulator_model.param.yaml"
    path.write_text(f"/**:\n  ros__parameters:\n    vehicle_model_type: {model}\n{lines}")
    return str(path)


def driven(name, path):
    """A complete car with that file, wherever the check would refuse it: how its speed swings."""
    vehicle = load_vehicle(name)
    _, given = table.parse_model(path)
    p = plant_parameters(vehicle)
    row = table.MODELS[GEARED]
    moves = row.make(name, p, given, 1e-3)
    at_once = replace(p, servo=ServoParameters(rate_rad_s=1e3, dead_time_s=0.0))
    host = SmallHost(World(vehicle, plant=Plant(at_once, 0, moves)))
    host.take_the_wheel()
    host.drive(4000, 1500 if name != "nigel" else 300)
    seen = []
    for _ in range(100):
        host.drive(10, 1500 if name != "nigel" else 300)
        seen.append(host.world.plant.truth.vx_mps)
    return max(seen) - min(seen), sum(seen) / len(seen)


@pytest.mark.parametrize("name", SMALL)
def test_autowares_default_file_names_the_parameters_that_cannot_suit_each_small_car(name):
    with pytest.raises(ValueError, match=r"acc_time_delay 0.1 s with acc_time_constant 0.1 s") as e:
        refused(name, DEFAULTS)
    assert f"cannot suit {name}" in str(e.value)
    assert "Leave both out" in str(e.value)


@pytest.mark.parametrize("name", SMALL)
def test_without_these_two_the_default_file_drives_each_small_car(name, tmp_path):
    given = {k: v for k, v in DEFAULTS.items() if not k.startswith("acc_time")}
    refused(name, given)
    swing, mean = driven(name, file_of(tmp_path, given))
    wanted = 0.3 if name == "nigel" else 1.5
    assert mean == pytest.approx(wanted, rel=0.04)  # the AutoRally is still on its way
    assert swing < 0.05 * wanted


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", ["nigel", "f1tenth", "hunter_se"])
def test_what_is_refused_swings_and_what_it_says_is_borne_does_not(name, tmp_path):
    """The margin is no rule of thumb: at twice the dead time that is borne the real loop swings."""
    longest_s = loop(name)[0].longest_delay_s(False, 0.03)
    assert longest_s is not None
    assert longest_s > 0.01
    wanted = 0.3 if name == "nigel" else 1.5
    below = driven(name, file_of(tmp_path, {"acc_time_delay": 0.5 * longest_s}))[0]
    beyond = driven(name, file_of(tmp_path, {"acc_time_delay": 2.0 * longest_s}))[0]
    assert below < 0.03 * wanted
    assert beyond > 2.0 * below
    assert beyond > 0.04 * wanted


def test_a_velocity_model_is_judged_by_its_own_two():
    refused("f1tenth", {}, "DELAY_STEER_VEL")
    with pytest.raises(ValueError, match=r"vel_time_delay 0.25 s with vel_time_constant 0.5 s"):
        refused("f1tenth", {"vel_time_delay": 0.25, "vel_time_constant": 0.5}, "DELAY_STEER_VEL")


def test_a_dead_time_longer_than_the_board_waits_for_obedience_is_refused_without_any_swing():
    car, _ = loop("autorally")
    assert car.margin(False, 0.1, 0.1) > 1.0
    assert not car.is_stable(False, 0.1, 0.1)


def test_a_uri_with_such_a_file_is_refused(tmp_path):
    vehicle = load_vehicle("f1tenth")
    path = file_of(tmp_path, DEFAULTS)
    with pytest.raises(ValueError, match="cannot suit f1tenth"):
        virtual_car_config(vehicle, {"model": path})
