"""The file of a calibration out of logs: what is written is read, what is strange is refused."""

import re

import numpy as np
import pytest

from calibration.files.calibration import Calibration
from calibration.files.calibration_file import OWN, read_calibration, shipped_calibration
from calibration.files.calibration_text import calibration_text
from calibration.files.source import CalibrationSource
from calibration.parameters import LOG_PARAMETER_NAMES, Estimate, not_identifiable
from calibration.regression.steering_map import SteeringMap, wheel_rad
from calibration.vehicles.identified_car import vehicle_file_values
from calibration.vehicles.virtual_car import calibrated
from host_bridge.cli.arguments.calibration_work import board_half
from host_bridge.config import load_vehicle
from host_bridge.core.errors import VehicleFileFault
from host_bridge.sharing.services import make_host
from tests.calibration.hidden import HiddenCar
from tests.support.evidence import some

MAP = SteeringMap(
    *(np.array([-0.3, 0.1, 0.4]) * scale for scale in (1.0, 0.9, 0.8, 1.0)), 0.001, True
)
WHOLE = Calibration(
    "f1tenth",
    "2026-05-01",
    "tandem calibrate a.mcap",
    (CalibrationSource("a.mcap", "c0ffee", "log of Tandem", 12.5, 6.42),),
    tuple(
        Estimate(name, 0.1, 0.05, 0.2, "as driven")
        if name.startswith("steer_")
        else not_identifiable(name, "no")
        for name in LOG_PARAMETER_NAMES
    ),
    MAP,
)


def test_a_calibration_comes_back_as_it_was_written(tmp_path):
    path = tmp_path / "c.toml"
    path.write_text(calibration_text(WHOLE))
    again = read_calibration(path)
    assert again.fit is None
    assert calibration_text(again) == calibration_text(WHOLE)
    assert again.data == WHOLE.data
    assert again.values == dict.fromkeys(
        (n for n in LOG_PARAMETER_NAMES if n.startswith("steer_")), 0.1
    )
    assert read_calibration(shipped_calibration("nigel")).fit is not None


WRONG = {
    "a head line missing": lambda text: text.replace('date = "2026-05-01"', ""),
    "an unknown parameter": lambda text: text.replace("steer_lag_s", "steer_lead_s"),
    "a value that no car has": lambda text: re.sub(r"value = 0.1", "value = 50.0", text, count=1),
    "a value that is no number": lambda text: text.replace("value = 0.1", 'value = "x"'),
    "a map that does not rise": lambda text: text.replace("[-0.3, 0.1, 0.4]", "[-0.3, 0.5, 0.4]"),
    "an interval that is not finite": lambda text: re.sub(
        "low = [^\n]+", "low = nan", text, count=1
    ),
    "a map that is not finite": lambda text: text.replace("[-0.3, 0.1, 0.4]", "[-0.3, 0.1, inf]"),
    "a key of no meaning in the map": lambda text: text + "is_flat = true\n",
    "a map of unequal columns": lambda text: text.replace("[-0.3, 0.1, 0.4]", "[-0.3, 0.4]"),
}


def test_what_is_no_toml_is_refused_with_its_line(tmp_path):
    path = tmp_path / "c.toml"
    for added, what in some([("[", "is not TOML"), ("\n[steering_map]\n", "is not TOML")]):
        path.write_text(calibration_text(WHOLE) + added)
        with pytest.raises(VehicleFileFault, match=what) as caught:
            read_calibration(path)
        assert caught.value.where.startswith(str(path))


def test_a_byte_order_mark_makes_no_difference(tmp_path):
    path = tmp_path / "c.toml"
    path.write_text("\ufeff" + calibration_text(WHOLE))
    assert calibration_text(read_calibration(path)) == calibration_text(WHOLE)


@pytest.mark.parametrize("spoil", WRONG.values(), ids=WRONG)
def test_a_strange_file_is_refused(tmp_path, spoil):
    path = tmp_path / "c.toml"
    spoilt = spoil(calibration_text(WHOLE))
    assert spoilt != calibration_text(WHOLE)
    path.write_text(spoilt)
    with pytest.raises(VehicleFileFault, match="no calibration out of logs"):
        read_calibration(path)


def test_a_map_goes_on_straight_beyond_what_was_driven():
    at = np.array([-0.5, -0.3, 0.1, 0.4, 0.6])
    assert wheel_rad(MAP, at) == pytest.approx(0.9 * at)


def test_another_vehicles_is_refused_and_none_is_the_file(tmp_path):
    path = tmp_path / "c.toml"
    path.write_text(calibration_text(WHOLE))
    with pytest.raises(VehicleFileFault, match="another vehicle"):
        calibrated(load_vehicle("nigel"), str(path))


@pytest.mark.parametrize("name", some(["f1tenth", "f1tenth_vesc", "nigel", "autorally"]))
def test_a_calibration_that_says_what_the_file_says_changes_nothing(name, tmp_path):
    """The way from numbers to plant and back is the same one."""
    vehicle = load_vehicle(name)
    same = calibrated(vehicle, str(HiddenCar(name, delay_s=0.01).write(tmp_path / "same.toml")))
    flat = {f"{t}.{k}": v for t, table in same.plant.items() for k, v in table.items()}
    before = {f"{t}.{k}": v for t, table in vehicle.plant.items() for k, v in table.items()}
    known = {key: value for key, value in flat.items() if key in before}
    numbers = [key for key, value in known.items() if isinstance(value, float)]
    assert {key: known[key] for key in numbers if key != "servo.dead_time_s"} == pytest.approx(
        {key: before[key] for key in numbers if key != "servo.dead_time_s"}, rel=1e-5
    )


@pytest.mark.parametrize("name", some(["f1tenth", "f1tenth_vesc", "nigel"]))
def test_a_slow_car_is_as_slow_on_a_full_battery(name, tmp_path):
    """Or its program would stop it as one whose battery is empty."""
    hidden = HiddenCar(name, speed=0.6)
    car = calibrated(load_vehicle(name), str(hidden.write(tmp_path / "slow.toml")))
    assert car.plant["battery"]["emf_v"] == load_vehicle(name).plant["battery"]["emf_v"]
    truth, known = hidden.truth(), vehicle_file_values(car)
    for key in ("full_effort_mps", "dead_effort"):
        assert known[key] == pytest.approx(truth[key], rel=1e-3)


def test_a_fit_is_written_onto_a_board_so_that_its_car_steers_as_it_is_told():
    file, host = load_vehicle("nigel"), make_host()
    board = board_half(file, OWN, host)
    values = read_calibration(shipped_calibration("nigel")).values
    curve = np.array(calibrated(file, OWN).channels[0]["curve"])
    wheels_rad, pulses_ns = curve[np.argsort(curve[:, 1])].T[:2]
    straight_ns = board.parameters["channel_neutral"][0]
    assert np.interp(straight_ns, pulses_ns, wheels_rad) == pytest.approx(0.0, abs=2e-3)
    assert board.parameters["speed_max_mm_s"][0] == int(1000 * values["full_effort_mps"])
    assert board.parameters["nm_per_count"] == file.parameters["nm_per_count"]  # it tells none
    # half of the board's lock either way turns the wheel so far, but for what Ackermann has of it
    half_rad = 0.5e-6 * board.parameters["steer_max_urad"][0]
    half_ns = [board.parameters["channel_curve"][at] for at in (2, 6)]
    turned = np.interp(half_ns, pulses_ns, wheels_rad)
    assert turned == pytest.approx([-half_rad, half_rad], rel=0.15)
    for name, named in (
        ("f1tenth", OWN),
        ("f1tenth", str(shipped_calibration("nigel"))),
        ("nigel", "no.toml"),
    ):
        with pytest.raises(VehicleFileFault):
            board_half(load_vehicle(name), named, host)


ONE = """vehicle = "f1tenth"
date = "2026-05-01"
command = "made"
method = "logs"

[parameters.{name}]
value = {value}
low = {value}
high = {value}
"""


def test_a_trim_without_a_map_is_applied(tmp_path):
    path = tmp_path / "trim.toml"
    path.write_text(ONE.format(name="steer_trim_rad", value=0.035))
    steering_map = read_calibration(path).steering_map
    angles = wheel_rad(steering_map, np.array([-0.4, 0.0, 0.035, 0.4]))
    assert angles == pytest.approx([-0.435, -0.035, 0.0, 0.365])
    plain, trimmed = load_vehicle("f1tenth"), calibrated(load_vehicle("f1tenth"), str(path))
    assert trimmed.channels[0]["curve"] != plain.channels[0]["curve"]


def test_a_gain_without_a_trim_is_refused(tmp_path):
    path = tmp_path / "gain.toml"
    path.write_text(ONE.format(name="steer_gain_left", value=0.9))
    with pytest.raises(VehicleFileFault, match="neither a trim nor a steering map"):
        read_calibration(path)
