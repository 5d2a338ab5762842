"""What each part does, in closed form: no trace needed."""

from math import cos, exp, inf, pi, sin, tan

import pytest

from sim_mock.models.planning import gear
from sim_mock.models.planning.model_types import LEARNED, MODEL_TYPES, make_car
from sim_mock.models.planning.motion import DriverCommand

WHEELBASE_M = 2.79
STEP_S = 0.001
VELOCITY = ("IDEAL_STEER_VEL", "DELAY_STEER_VEL")
DELAYED = ("DELAY_STEER_VEL", "DELAY_STEER_ACC", "DELAY_STEER_ACC_GEARED")
GEARED = [name for name, parts in MODEL_TYPES.items() if parts.is_geared]
ONE_TAU = 1.0 - exp(-1.0)  # 63 %


@pytest.fixture
def map_path(tmp_path):
    """A map that changes nothing: cells are the commanded acceleration."""
    path = tmp_path / "map.csv"
    path.write_text("default, 0, 20\n-9, -9, -9\n9, 9, 9\n")
    return str(path)


def made(model_type, map_path="", dt_s=STEP_S, **given):
    return make_car(model_type, {"acceleration_map_path": map_path, **given}, WHEELBASE_M, dt_s)


def driven(car, seconds, command, dt_s=STEP_S):
    for _ in range(round(seconds / dt_s)):
        car.step(dt_s, command)
    return car.report()


@pytest.mark.parametrize("model_type", DELAYED)
def test_steering_reaches_63_percent_one_time_constant_after_the_dead_time(model_type):
    car = made(model_type)
    command = DriverCommand(steer_rad=0.2)
    assert driven(car, 0.24, command).steer_rad == 0.0
    assert driven(car, 0.001, command).steer_rad > 0.0
    assert driven(car, 0.269, command).steer_rad == pytest.approx(0.2 * ONE_TAU, rel=2e-3)


def test_velocity_reaches_63_percent_one_time_constant_after_the_dead_time():
    car = made("DELAY_STEER_VEL")
    command = DriverCommand(vx_mps=2.0)
    assert driven(car, 0.25, command).vx_mps == 0.0
    assert driven(car, 0.5, command).vx_mps == pytest.approx(2.0 * ONE_TAU, rel=1e-9)


@pytest.mark.parametrize("model_type", ["DELAY_STEER_ACC", *GEARED[1:]])
def test_acceleration_reaches_63_percent_one_time_constant_after_the_dead_time(
    model_type, map_path
):
    car = made(model_type, map_path)
    command = DriverCommand(ax_mps2=1.5)
    assert driven(car, 0.1, command).ax_mps2 == 0.0
    assert driven(car, 0.1, command).ax_mps2 == pytest.approx(1.5 * ONE_TAU, rel=1e-9)


def test_dead_times_and_time_constants_are_the_parameters():
    car = made("DELAY_STEER_VEL", vel_time_delay=0.4, vel_time_constant=1.2)
    assert driven(car, 0.4, DriverCommand(vx_mps=2.0)).vx_mps == 0.0
    assert driven(car, 1.2, DriverCommand(vx_mps=2.0)).vx_mps == pytest.approx(
        2 * ONE_TAU, rel=1e-9
    )


def test_a_time_constant_below_0_03_s_acts_as_0_03_s():
    car = made("DELAY_STEER_VEL", vel_time_delay=0.0, vel_time_constant=0.001)
    assert driven(car, 0.03, DriverCommand(vx_mps=0.1)).vx_mps == pytest.approx(
        0.1 * ONE_TAU, rel=1e-6
    )


@pytest.mark.parametrize("model_type", ["IDEAL_STEER_VEL", "IDEAL_STEER_ACC"])
def test_ideal_models_steer_at_once(model_type):
    assert driven(made(model_type), STEP_S, DriverCommand(steer_rad=0.3)).steer_rad == 0.3


def test_ideal_velocity_drives_a_circle_of_wheelbase_over_tan_steer():
    steer_rad, speed_mps = 0.2, 3.0
    radius_m = WHEELBASE_M / tan(steer_rad)
    quarter_s = 0.5 * pi * radius_m / speed_mps
    car = made("IDEAL_STEER_VEL")
    report = driven(car, quarter_s, DriverCommand(vx_mps=speed_mps, steer_rad=steer_rad))
    turned = round(quarter_s / STEP_S) * STEP_S * speed_mps / radius_m
    assert report.yaw_rad == pytest.approx(turned, abs=1e-9)
    assert report.x_m == pytest.approx(radius_m * sin(turned), abs=1e-8)
    assert report.y_m == pytest.approx(radius_m * (1.0 - cos(turned)), abs=1e-8)
    assert report.wz_radps == pytest.approx(speed_mps / radius_m, abs=1e-12)


@pytest.mark.parametrize("model_type", ["IDEAL_STEER_ACC", "IDEAL_STEER_ACC_GEARED"])
def test_ideal_acceleration_goes_half_a_t_squared(model_type):
    report = driven(made(model_type), 2.0, DriverCommand(ax_mps2=1.5))
    assert (report.x_m, report.vx_mps, report.ax_mps2) == pytest.approx((3.0, 3.0, 1.5), abs=1e-9)


def test_ideal_velocity_reports_the_jump_as_acceleration():
    car = made("IDEAL_STEER_VEL", dt_s=0.025)
    assert driven(car, 0.025, DriverCommand(vx_mps=1.0), 0.025).ax_mps2 == pytest.approx(40.0)
    assert driven(car, 0.025, DriverCommand(vx_mps=1.0), 0.025).ax_mps2 == 0.0


@pytest.mark.parametrize("model_type", DELAYED)
def test_within_the_dead_band_the_wheels_stay_and_beyond_it_they_stop_at_its_edge(model_type):
    car = made(model_type, steer_dead_band=0.05)
    assert driven(car, 3.0, DriverCommand(steer_rad=0.04)).steer_rad == 0.0
    assert driven(car, 6.0, DriverCommand(steer_rad=0.20)).steer_rad == pytest.approx(
        0.15, abs=1e-6
    )
    assert driven(car, 6.0, DriverCommand(steer_rad=-0.20)).steer_rad == pytest.approx(
        -0.15, abs=1e-6
    )


@pytest.mark.parametrize("model_type", [*DELAYED, "DELAY_STEER_MAP_ACC_GEARED"])
def test_with_a_bias_the_report_settles_at_the_command_and_the_car_turns_by_the_rest(
    model_type, map_path
):
    car = made(model_type, map_path, steer_bias=0.03)
    car.place(0.0, 0.0, 0.0, 2.0)
    command = DriverCommand(vx_mps=2.0, steer_rad=0.1)
    report = driven(car, 6.0, command)
    assert report.steer_rad == pytest.approx(0.1, abs=1e-6)
    assert report.wz_radps == pytest.approx(report.vx_mps * tan(0.07) / WHEELBASE_M, abs=1e-6)


@pytest.mark.parametrize("model_type", [*DELAYED, "DELAY_STEER_MAP_ACC_GEARED"])
def test_limits_hold_angle_rate_and_speed(model_type, map_path):
    limits = {"steer_lim": 0.3, "steer_rate_lim": 0.4, "vel_lim": 3.0, "vel_rate_lim": 2.0}
    car = made(model_type, map_path, **limits)
    command, steer_rad, speed_mps, rates, slopes = DriverCommand(90.0, 90.0, 9.0), 0.0, 0.0, [], []
    for _ in range(4000):
        car.step(STEP_S, command)
        report = car.report()
        rates.append((report.steer_rad - steer_rad) / STEP_S)
        slopes.append((report.vx_mps - speed_mps) / STEP_S)
        steer_rad, speed_mps = report.steer_rad, report.vx_mps
    assert max(rates) == pytest.approx(0.4)
    assert max(slopes) == pytest.approx(2.0, rel=1e-3)
    assert steer_rad == pytest.approx(0.3, abs=1e-3)
    assert speed_mps == pytest.approx(3.0, abs=5e-3)


@pytest.mark.parametrize("model_type", ["DELAY_STEER_ACC", "DELAY_STEER_ACC_GEARED"])
def test_scaling_factors_scale_what_the_car_settles_at(model_type):
    car = made(model_type, debug_acc_scaling_factor=0.5, debug_steer_scaling_factor=2.0)
    report = driven(car, 4.0, DriverCommand(ax_mps2=1.0, steer_rad=0.1))
    assert (report.ax_mps2, report.steer_rad) == pytest.approx((0.5, 0.2), abs=1e-5)


def test_a_mapped_car_settles_at_the_maps_acceleration_at_its_speed(tmp_path):
    path = tmp_path / "map.csv"
    path.write_text("default, 0, 10\n0, 0, 0\n2, 1.8, 0.8\n")
    car = made("DELAY_STEER_MAP_ACC_GEARED", str(path), acc_time_delay=0.0)
    report = driven(car, 8.0, DriverCommand(ax_mps2=1.0))
    # Half way between the rows: 0.9 - 0.05 v; behind it by the lag, tau times its own change.
    assert report.vx_mps > 4.0
    want = 0.9 - 0.05 * report.vx_mps
    assert report.ax_mps2 == pytest.approx(want, abs=0.1 * 0.05 * 0.9)
    assert report.ax_mps2 != pytest.approx(1.0, abs=0.2)


@pytest.mark.parametrize("model_type", GEARED)
def test_in_drive_a_braked_car_stops_and_never_rolls_back(model_type, map_path):
    car = made(model_type, map_path)
    car.place(0.0, 0.0, 0.0, 1.0)
    report = driven(car, 3.0, DriverCommand(ax_mps2=-1.0, gear=gear.DRIVE))
    assert report.vx_mps == 0.0
    assert 0.4 < report.x_m < 1.0
    assert driven(car, 1.0, DriverCommand(ax_mps2=-1.0, gear=gear.LOW)).x_m == report.x_m


@pytest.mark.parametrize("model_type", GEARED)
def test_in_reverse_it_only_rolls_back(model_type, map_path):
    car = made(model_type, map_path)
    assert driven(car, 1.0, DriverCommand(ax_mps2=1.0, gear=gear.REVERSE)).x_m == 0.0
    assert driven(car, 1.0, DriverCommand(ax_mps2=-1.0, gear=gear.REVERSE_2)).x_m < -0.2


@pytest.mark.parametrize("model_type", GEARED)
@pytest.mark.parametrize("name", ["PARK", "NEUTRAL", "NONE"])
def test_park_neutral_and_none_stop_it_at_once_and_report_that_stop(model_type, name, map_path):
    car = made(model_type, map_path)
    car.place(5.0, 6.0, 0.7, 2.0)
    car.step(STEP_S, DriverCommand(ax_mps2=1.0, gear=getattr(gear, name)))
    report = car.report()
    assert (report.x_m, report.y_m, report.yaw_rad, report.vx_mps) == (5.0, 6.0, 0.7, 0.0)
    assert report.ax_mps2 == pytest.approx(-2.0 / STEP_S)


@pytest.mark.parametrize("model_type", ["IDEAL_STEER_ACC", "DELAY_STEER_ACC"])
def test_models_without_gears_roll_back_in_drive(model_type):
    assert driven(made(model_type), 2.0, DriverCommand(ax_mps2=-1.0, gear=gear.DRIVE)).vx_mps < -1.5


def test_every_gear_number_has_one_direction():
    assert {*gear.FORWARD, *gear.BACKWARD} == set(range(2, 22)) | {23, 24}
    assert not gear.FORWARD & gear.BACKWARD


def test_a_command_in_reverse_accelerates_backwards():
    gears = (gear.NONE, gear.DRIVE, gear.REVERSE, gear.REVERSE_2)
    assert [gear.accel_along_x_mps2(g, 1.5) for g in gears] == [0.0, 1.5, -1.5, -1.5]


@pytest.mark.parametrize("model_type", MODEL_TYPES)
def test_at_rest_stays_at_rest(model_type, map_path):
    report = driven(made(model_type, map_path), 1.0, DriverCommand())
    assert tuple(report) == (0.0,) * 8


@pytest.mark.parametrize("model_type", MODEL_TYPES)
def test_mirrored_commands_mirror_the_drive(model_type, map_path):
    left, right = (
        driven(made(model_type, map_path), 2.0, DriverCommand(2.0, 1.0, side * 0.2))
        for side in (1, -1)
    )
    assert left.y_m > 0.01
    assert (right.x_m, right.y_m, right.yaw_rad) == (left.x_m, -left.y_m, -left.yaw_rad)


@pytest.mark.parametrize(
    ("model_type", "given", "words"),
    [
        ("IDEAL_STEER", {}, "vehicle_model_type"),
        ("DELAY_STEER_VEL", {"vel_limit": 3.0}, "vel_limit: unknown"),
        ("DELAY_STEER_VEL", {"vel_lim": -3.0}, "vel_lim: expected"),
        ("DELAY_STEER_VEL", {"vel_lim": "fast"}, "vel_lim: expected"),
        ("DELAY_STEER_VEL", {"steer_bias": inf}, "steer_bias: expected"),
        ("DELAY_STEER_VEL", {"steer_bias": True}, "steer_bias: expected"),
        ("DELAY_STEER_MAP_ACC_GEARED", {}, "acceleration_map_path: expected"),
        (LEARNED, {}, "model_module_paths: expected"),
    ],
)
def test_what_is_wrong_is_named(model_type, given, words):
    with pytest.raises(ValueError, match=words):
        make_car(model_type, given, WHEELBASE_M, STEP_S)


@pytest.mark.parametrize(("wheelbase_m", "dt_s"), [(0.0, 0.01), (2.0, 0.0), (-1.0, 0.01)])
def test_wheelbase_and_step_are_above_zero(wheelbase_m, dt_s):
    with pytest.raises(ValueError, match="wheelbase and step"):
        make_car("IDEAL_STEER_VEL", {}, wheelbase_m, dt_s)


def test_a_parameter_that_a_type_does_not_use_is_accepted_and_changes_nothing():
    plain = driven(made("DELAY_STEER_VEL"), 2.0, DriverCommand(2.0, 2.0, 0.1))
    other = {"acc_time_constant": 9.0, "debug_steer_scaling_factor": 3.0}
    assert driven(made("DELAY_STEER_VEL", **other), 2.0, DriverCommand(2.0, 2.0, 0.1)) == plain
