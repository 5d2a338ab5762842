"""Files of calibrations: what is written is read, what is strange is refused."""

import re
from dataclasses import replace

import numpy as np
import pytest

from calibration.bayesian_fit.estimates import Fit, LackOfFit
from calibration.bayesian_fit.parameters import FIT_PARAMETER_NAMES, FIT_PARAMETERS, known_values
from calibration.bayesian_fit.variance_components import prior_scales
from calibration.files.calibration import Calibration
from calibration.files.calibration_file import read_calibration, shipped_calibration
from calibration.files.calibration_text import calibration_text
from calibration.files.source import COMMANDS, ODOMETRY, CalibrationSource
from calibration.parameters import OLD_NAMES, Estimate
from host_bridge.config import load_vehicle
from host_bridge.config.vehicle.vehicle import vehicle_names
from host_bridge.core.errors import VehicleFileFault
from tests.calibration.drives import TRUTH, made_run
from tests.support.evidence import some

SOURCES = (
    CalibrationSource("a_commands.csv", "c0ffee", COMMANDS, 5.0),
    CalibrationSource("a_odometry.csv", "decade", ODOMETRY, 8.0),
)
ESTIMATES = tuple(
    Estimate(p.name, p.low, p.low, p.high, known=p.low, is_fitted=i % 2 == 0)
    for i, p in enumerate(FIT_PARAMETERS)
)


def calibration_of(estimates, vehicle="nigel", covariance=None):
    """A whole one around such estimates."""
    spread = np.eye(len(FIT_PARAMETER_NAMES)) if covariance is None else covariance
    fit = Fit(
        tuple(estimates), spread, prior_scales(), LackOfFit(0.25, ""), 1.25, steering=(-0.1, 0.3)
    )
    command = "tandem replay --fit"
    return Calibration(vehicle, "2026-05-01", command, SOURCES, fit.estimates, fit=fit)


WHOLE = calibration_of(ESTIMATES)


def test_a_calibration_comes_back_as_it_was_written(tmp_path):
    path = tmp_path / "c.toml"
    path.write_text(calibration_text(WHOLE))
    again = read_calibration(path)
    assert calibration_text(again) == calibration_text(WHOLE)
    assert again.estimates == ESTIMATES
    assert again.fit.covariance.tolist() == np.eye(len(FIT_PARAMETER_NAMES)).tolist()
    assert again.fit.steering == WHOLE.fit.steering
    assert again.fit.lack_of_fit == WHOLE.fit.lack_of_fit
    assert again.fit.stretch == WHOLE.fit.stretch
    assert list(read_calibration(path).values) == list(FIT_PARAMETER_NAMES)


def test_a_file_of_before_parameters_differed_from_run_to_run_has_them_alike(tmp_path):
    path = tmp_path / "c.toml"
    path.write_text(
        re.sub(r"run_(steering|response|mount|queue)_share.*\n", "", calibration_text(WHOLE))
    )
    found = read_calibration(path).fit.scales
    assert found[:9].tolist() == WHOLE.fit.scales[:9].tolist()
    assert found[9:].tolist() == [0.0] * 4


WRONG = {
    "no TOML": lambda text: text + "[",
    "a head line missing": lambda text: text.replace('date = "2026-05-01"', ""),
    "another method": lambda text: text.replace('"fit"', '"guess"'),
    "an unknown key": lambda text: 'colour = "red"\n' + text,
    "a parameter missing": lambda text: re.sub(r"(?s).parameters.steer_rate.*?\n\n", "", text),
    "a covariance of another size": lambda text: text.replace("[1, ", "[", 1),
    "no band": lambda text: re.sub(r"stretch.*\n", "", text),
    "a scale missing": lambda text: re.sub(r"run_trim_norm.*\n", "", text),
    "a parameter too many": lambda text: text.replace("mount_x_m", "mount_z_m"),
    "a value out of range": lambda text: re.sub(r"value = -0.5\b", "value = 5.0", text),
    "a value that is no number": lambda text: re.sub(r"value = -0.5\b", 'value = "x"', text),
}


@pytest.mark.parametrize("spoil", WRONG.values(), ids=WRONG)
def test_a_strange_file_is_refused_by_name(tmp_path, spoil):
    path = tmp_path / "c.toml"
    path.write_text(spoil(calibration_text(WHOLE)))
    with pytest.raises(VehicleFileFault) as fault:
        read_calibration(path)
    assert str(path) in fault.value.where


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(VehicleFileFault):
        read_calibration(tmp_path / "nothing.toml")


def test_a_run_is_recognised_by_its_hashes():
    run = made_run(0.1, TRUTH, 0, 0.0)
    assert not WHOLE.was_fitted_on(run)
    own = replace(WHOLE, data=(*SOURCES, *CalibrationSource.of_run(run)))
    assert own.was_fitted_on(run)
    assert own.fitted_on == ["a_commands.csv", run.commands.file]
    commands, odometry = CalibrationSource.of_run(run)
    assert not replace(WHOLE, data=(commands, SOURCES[1])).was_fitted_on(run)
    assert not replace(WHOLE, data=(SOURCES[0], odometry)).was_fitted_on(run)


def test_a_file_of_before_says_the_same(tmp_path):
    """Without a method, with names of its own, and with a row for each run."""
    rows = """\
[[data]]
commands = "a_commands.csv"
commands_sha256 = "c0ffee"
odometry = "a_odometry.csv"
odometry_sha256 = "decade"

[par"""
    text = calibration_text(WHOLE).replace('method = "fit"\n', "")
    for before, now in some(OLD_NAMES.items()):
        assert text.count(f"[parameters.{now}]") == 1
        text = text.replace(f"[parameters.{now}]", f"[parameters.{before}]")
    path = tmp_path / "c.toml"
    path.write_text(re.sub(r"(?s)\[\[data\]\].*?\[par", rows, text, count=1))
    again = read_calibration(path)
    assert again.data == tuple(replace(one, seconds=0.0) for one in SOURCES)
    assert again.estimates == WHOLE.estimates


def test_tandem_brings_nigel_and_nobody_else():
    path = shipped_calibration("nigel")
    assert path is not None
    assert read_calibration(path).vehicle == "nigel"
    assert shipped_calibration("f1tenth") is None


@pytest.mark.parametrize("vehicle", some(vehicle_names()))
def test_a_fit_may_find_what_the_file_of_any_shipped_vehicle_says(vehicle):
    known = known_values(load_vehicle(vehicle))
    for p in some(FIT_PARAMETERS):
        assert p.low <= known[p.name] <= p.high, p.name
