"""A calibration reaches the virtual car that people drive: ``?calibration=``."""

import json
from dataclasses import replace

import numpy as np
import pytest

from calibration.files.calibration_file import OWN, read_calibration, shipped_calibration
from calibration.simulation.plant_numbers import speed_lag_s, steady_speed_mps
from calibration.simulation.twin import Twin
from calibration.vehicles.virtual_car import calibrated
from host_bridge.cli import main as cli
from host_bridge.config import load_vehicle
from host_bridge.core.errors import VehicleFileFault
from host_bridge.sharing.services import make_host
from sim_mock.virtual_car.config import vehicle_for, virtual_car_config
from tests.support.evidence import some


class Files:
    """As a host reads vehicle files."""

    def vehicle(self, name, changes=None):
        return load_vehicle(name, changes)


def facts(**query):
    return virtual_car_config(vehicle_for(query, "nigel", Files()), query)


def driven(car, steer_norm, seconds=4.0):
    """Speed and yaw rate at full throttle; the steering is a command, as its program gives it."""
    vehicle = load_vehicle("nigel")
    plant = car.make_plant()
    steer_rad = steer_norm * vehicle.steer_max_rad
    outputs = []
    for channel in vehicle.channels:
        if channel["kind"] == "servo_steering":
            outputs.append(round(float(np.interp(steer_rad, *zip(*channel["curve"], strict=True)))))
        else:
            outputs.append(10_000 if channel["kind"] == "h_bridge" else 0)
    for _ in range(round(seconds * 1000)):
        plant.step(0.001, outputs, True)
    return plant.truth.vx_mps, plant.truth.yaw_rate_radps


def test_the_car_that_was_measured_is_slower_and_drives_straight_at_its_trim_only():
    values = read_calibration(shipped_calibration("nigel")).values
    speed_mps, yaw_radps = driven(facts(calibration=OWN), values["steer_trim_norm"])
    assert speed_mps == pytest.approx(values["full_effort_mps"], rel=0.02)
    assert abs(yaw_radps) < 0.02
    assert abs(driven(facts(calibration=OWN), 0.0)[1]) > 0.1
    speed_mps, yaw_radps = driven(facts(), 0.0)
    assert speed_mps == pytest.approx(0.442, rel=0.02)
    assert abs(yaw_radps) < 0.02


def test_its_plant_is_the_one_that_was_fitted():
    vehicle = make_host().vehicles.load("nigel")
    car = facts(calibration=str(shipped_calibration("nigel")))
    made, tuned = (
        car.make_plant().parameters,
        Twin(vehicle).tuned(read_calibration(shipped_calibration("nigel")).values),
    )
    assert replace(made, motor=tuned.motor, battery=tuned.battery) == tuned
    assert steady_speed_mps(made) == pytest.approx(steady_speed_mps(tuned), rel=1e-9)
    assert speed_lag_s(made) == pytest.approx(speed_lag_s(tuned), rel=1e-9)
    assert car.parameters == vehicle.parameters


def test_the_calibrated_nigel_arms_and_drives(capsys):
    """On a battery that gives its speed it did not: its program saw an empty one."""
    words = ["--input", "script:straight", "--seconds", "2", "--lockstep", "--json"]
    assert cli.main(["drive", "--car", "sim://nigel?calibration=own", *words]) == 0
    summary = json.loads(capsys.readouterr().out.splitlines()[-1])["summary"]
    assert summary["cars"][0]["distance_m"] > 0.2


REFUSED = [
    ("f1tenth", OWN, "brings no calibration"),
    ("f1tenth", str(shipped_calibration("nigel")), "another vehicle's"),
    ("nigel", "/nowhere/nigel.toml", "cannot be read\n  got: No such file"),
]


@pytest.mark.parametrize(("name", "file", "words"), some(REFUSED))
def test_what_is_no_calibration_of_this_vehicle_is_refused(name, file, words):
    with pytest.raises(VehicleFileFault, match=words):
        calibrated(load_vehicle(name), file)


def test_none_is_the_car_of_the_vehicle_file():
    assert facts(calibration="none") == facts()
