"""Driveline and motors: standstill, slip, and the torque-speed line in closed form."""

import itertools

import pytest

from sim_mock.plant.drive import Driveline, settled_mps
from sim_mock.plant.motor import Motor
from tests.sim_mock.plant.cars import f1tenth, nigel
from tests.support.evidence import every

DT_S = 1e-3


def test_friction_takes_a_small_momentum_whole_and_a_large_one_in_part():
    assert settled_mps(0.5, 0.6, 2.0) == settled_mps(-0.5, 0.6, 2.0) == 0.0
    assert settled_mps(1.6, 0.6, 2.0) == -settled_mps(-1.6, 0.6, 2.0) == pytest.approx(0.5)


def point_mass(p, push_n, steps, grip_n=1e9, rolled_mps=0.0, damping=0.0):
    """A driveline on a body that only goes straight; its speeds."""
    drive, mass_kg = Driveline(p.drive, p.body.mass_kg), p.body.mass_kg
    drive.rim_mps = rolled_mps
    for _ in range(steps):
        before = rolled_mps
        force_n = drive.force_n(DT_S, (push_n, damping), before, grip_n)
        rolled_mps = 0.0 if drive.is_held else before + DT_S * force_n / mass_kg
        drive.follow(DT_S, before, rolled_mps)
    return drive, rolled_mps


def test_wheels_do_not_creep_below_the_friction():
    p = f1tenth()
    friction_n = 1.5 + 0.015 * 3.47 * 9.81
    assert point_mass(p, 0.99 * friction_n, 1000)[1] == 0.0
    assert point_mass(p, -0.99 * friction_n, 1000)[1] == 0.0
    assert point_mass(p, 1.01 * friction_n, 1000)[1] > 0.0


def test_push_moves_car_and_turning_mass_together():
    p = f1tenth()
    friction_n = 1.5 + 0.015 * 3.47 * 9.81
    _, speed_mps = point_mass(p, 10.0, 1000)
    assert speed_mps == pytest.approx((10.0 - friction_n) / (3.47 + 0.34), rel=1e-9)


def test_coasting_ends_in_standstill_after_the_time_that_friction_takes():
    p = f1tenth()
    decel_mps2 = (1.5 + 0.015 * 3.47 * 9.81) / (3.47 + 0.34)
    steps = round(1.0 / decel_mps2 / DT_S)
    assert point_mass(p, 0.0, steps - 2, rolled_mps=1.0)[1] > 0.0
    drive, speed_mps = point_mass(p, 0.0, steps + 2, rolled_mps=1.0)
    assert (speed_mps, drive.is_held) == (0.0, True)


def test_wheels_spin_when_the_push_exceeds_the_grip():
    drive, speed_mps = point_mass(f1tenth(), 60.0, 100, grip_n=20.0)
    assert drive.is_sliding
    assert drive.rim_mps > 2.0 * speed_mps
    assert speed_mps == pytest.approx(0.9 * 20.0 / 3.47 * 0.1, rel=1e-6)


def test_locked_wheels_turn_again_when_the_car_has_slowed_to_them():
    p = f1tenth()
    drive, speed_mps = point_mass(p, 0.0, 200, grip_n=20.0, rolled_mps=2.0, damping=2000.0)
    assert drive.is_sliding
    assert drive.rim_mps < 0.1 < speed_mps
    drive, speed_mps = point_mass(p, 0.0, 400, grip_n=20.0, rolled_mps=2.0, damping=2000.0)
    assert not drive.is_sliding
    assert drive.rim_mps == speed_mps == 0.0


@pytest.mark.parametrize("dt_s", [1e-4, 1e-3, 5e-3])
def test_stiff_gear_motors_settle_at_any_step(dt_s):
    """Nigel's motors pull the turning mass with 650 N per m/s: explicit steps would ring."""
    p = nigel()
    motor = Motor(p.motor, p.battery, p.drive.turns_rad_per_m)
    drive, rim_mps, speeds = Driveline(p.drive, p.body.mass_kg), 0.0, []
    for _ in range(round(1.0 / dt_s)):
        motor.drive(0.3, drive.rim_mps, False)
        force_n = drive.force_n(dt_s, (motor.push_n, motor.damping_n_per_mps), rim_mps, 1e9)
        before, rim_mps = rim_mps, rim_mps + dt_s * force_n / p.body.mass_kg
        drive.follow(dt_s, before, rim_mps)
        speeds.append(rim_mps)
    assert every(a <= b + 1e-12 for a, b in itertools.pairwise(speeds))
    friction_n = 3.0 + 0.02 * 2.68 * 9.81
    expected = (motor.push_n - friction_n) / motor.damping_n_per_mps
    assert speeds[-1] == pytest.approx(expected, rel=1e-6)


def test_motor_line_runs_from_stall_torque_to_no_load_speed():
    p = nigel(battery={"resistance_ohm": 0.0, "idle_a": 0.0, "emf_v": 12.0})
    motor = Motor(p.motor, p.battery, p.drive.turns_rad_per_m)
    motor.drive(1.0, 0.0, False)
    assert motor.push_n == pytest.approx(4 * 2.352 / 0.0325, rel=1e-3)  # facts: 2.352 N m a wheel
    no_load_mps = motor.push_n / motor.damping_n_per_mps
    assert no_load_mps / 0.0325 == pytest.approx(13.6136, rel=1e-3)  # facts: 130 rpm


def test_duty_zero_on_a_bridge_brakes_and_coasting_does_not():
    p = nigel()
    motor = Motor(p.motor, p.battery, p.drive.turns_rad_per_m)
    motor.drive(0.0, 0.4, False)
    assert motor.push_n - motor.damping_n_per_mps * 0.4 < -100.0
    motor.coast()
    assert motor.push_n == motor.damping_n_per_mps == 0.0


def test_current_limit_cuts_the_torque():
    p = f1tenth()
    motor = Motor(p.motor, p.battery, p.drive.turns_rad_per_m)
    motor.drive(1.0, 0.0, True)
    assert motor.push_n == pytest.approx(100.0 * 0.002728 * 14.0 / 0.058)
    motor.brake(1.0, 20.0)
    assert motor.push_n == pytest.approx(-100.0 * 0.002728 * 14.0 / 0.058)


def test_sticking_tyres_give_all_their_grip_and_sliding_ones_less():
    """Tyres alone have to move the car: push minus friction, shared with the turning mass."""
    p = f1tenth()
    needed_n = (30.0 - 1.5 - 0.015 * 3.47 * 9.81) * 3.47 / (3.47 + 0.34)
    assert not point_mass(p, 30.0, 100, grip_n=1.01 * needed_n)[0].is_sliding
    assert point_mass(p, 30.0, 100, grip_n=0.99 * needed_n)[0].is_sliding


def test_sag_takes_from_the_stall_torque():
    p = f1tenth(motor={"current_limit_a": 1e4})
    motor = Motor(p.motor, p.battery, p.drive.turns_rad_per_m)
    motor.drive(0.5, 0.0, True)
    idle_v = 11.8 - 1.5 * 0.015
    current_a = 0.5 * idle_v / (0.02 + 0.25 * 0.015)
    assert motor.push_n == pytest.approx(current_a * 0.002728 * 14.0 / 0.058)
    assert motor.battery_v == pytest.approx(idle_v - 0.5 * current_a * 0.015)


def test_brake_grows_with_speed_until_the_current_limit():
    p = f1tenth()
    motor = Motor(p.motor, p.battery, p.drive.turns_rad_per_m)
    limit_mps = 100.0 * 0.02 / (0.002728 * 14.0 / 0.058)  # where 100 A flow through 0.02 ohm
    limit_n = 100.0 * 0.002728 * 14.0 / 0.058
    for share, speed_mps, expected_n in (
        (1.0, 0.8 * limit_mps, 0.8 * limit_n),
        (1.0, 1.2 * limit_mps, limit_n),
        (0.5, 1.2 * limit_mps, 0.6 * limit_n),
    ):
        motor.brake(share, speed_mps)
        assert motor.damping_n_per_mps * speed_mps - motor.push_n == pytest.approx(expected_n)
