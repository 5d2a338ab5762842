"""DELAY_STEER_ACC_GEARED_WO_FALL_GUARD: pedals that drive the gear's way, and brake either way."""

from math import exp

import pytest

from sim_mock.models.planning.gear import DRIVE, NEUTRAL, PARK, REVERSE
from sim_mock.models.planning.model_types import PEDALLED, make_car
from sim_mock.models.planning.motion import DriverCommand

STEP_S = 0.001
LAG_S = 0.1


def made(vx_mps=0.0, **given):
    car = make_car(PEDALLED, {"acc_time_delay": 0.0, "steer_time_delay": 0.0, **given}, 2.8, STEP_S)
    car.place(0.0, 0.0, 0.0, vx_mps)
    return car


def speeds(car, seconds, command):
    return [car.step(STEP_S, command).vx_mps for _ in range(round(seconds / STEP_S))]


@pytest.mark.parametrize(("gear", "way"), [(DRIVE, 1), (REVERSE, -1), (NEUTRAL, 0), (PARK, 0)])
def test_the_pedal_drives_the_way_of_the_gear(gear, way):
    """Speed after t of a step of acceleration a through a lag T: a (t - T (1 - exp(-t/T)))."""
    last = speeds(made(), 1.0, DriverCommand(ax_mps2=2.0, gear=gear))[-1]
    expected = 2.0 * (1.0 - LAG_S * (1.0 - exp(-1.0 / LAG_S)))
    assert last == pytest.approx(way * expected, rel=2e-3)


@pytest.mark.parametrize("gear", [DRIVE, REVERSE, NEUTRAL])
@pytest.mark.parametrize("vx_mps", [1.5, -1.5])
def test_the_brake_slows_whatever_moves_and_the_car_then_stands(gear, vx_mps):
    seen = speeds(made(vx_mps), 3.0, DriverCommand(ax_mps2=-1.0, gear=gear))
    assert seen[-1] == 0.0
    assert min(v * vx_mps for v in seen) >= 0.0  # at no time the other way
    assert seen.index(0.0) * STEP_S == pytest.approx(1.5 + LAG_S, rel=0.01)


def test_no_gear_guards_against_rolling_backward():
    """What the guarded one forbids: backward while the gear says drive."""
    rolling = DriverCommand(ax_mps2=0.0, gear=DRIVE)
    assert speeds(made(-1.0), 1.0, rolling)[-1] == -1.0
    guarded = make_car("DELAY_STEER_ACC_GEARED", {}, 2.8, STEP_S)
    guarded.place(0.0, 0.0, 0.0, -1.0)
    assert min(speeds(guarded, 1.0, rolling)) == 0.0


def test_the_acceleration_reported_is_the_change_of_speed():
    car = made(1.0)
    before = 1.0
    for _ in range(50):
        after = car.step(STEP_S, DriverCommand(ax_mps2=-3.0)).vx_mps
        assert car.report().ax_mps2 == pytest.approx((after - before) / STEP_S, abs=1e-9)
        before = after


def test_its_limits_and_its_scaling_are_the_parameters():
    car = made(debug_acc_scaling_factor=0.5, vel_lim=0.8)
    seen = speeds(car, 2.0, DriverCommand(ax_mps2=1.0))
    assert seen[999] == pytest.approx(0.5 * (1.0 - LAG_S), rel=5e-3)
    assert seen[-1] == 0.8
