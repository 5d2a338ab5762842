"""Engine, transmission, differential and brakes of the full-scale cars, each by itself."""

from dataclasses import replace
from math import pi

import pytest

from sim_mock.models.autodrive.automobile import drag_ns_per_m
from sim_mock.models.autodrive.automobiles import OPENCAV, RZR
from sim_mock.models.autodrive.gearbox import (
    FIRST,
    NEUTRAL,
    PARK,
    REVERSE,
    STILL_MPS,
    Gearbox,
    next_gear,
    ratio_of,
    rpm_at,
    shifted,
)
from sim_mock.models.autodrive.parameters import Pedals
from sim_mock.models.autodrive.powertrain import (
    BRAKE_FULL_RADPS,
    brake_nm,
    brake_shares,
    driven_torques_nm,
    engine_rate_rpmps,
    total_nm,
)
from tests.sim_mock.models.autodrive.drives import rolling
from tests.support.evidence import some

AUTOMOBILES = {"opencav": OPENCAV, "rzr": RZR}
each = pytest.mark.parametrize("p", AUTOMOBILES.values(), ids=AUTOMOBILES)
GO, BACK, LET_GO, HAND = Pedals(1.0), Pedals(-1.0), Pedals(), Pedals(1.0, handbrake=0.5)


@each
def test_rpm_by_speed_is_the_reports_in_miles_and_inches(p):
    turns_per_minute = 30.0 * 5280 * 12 / (60 * 2 * pi * p.wheel_radius_m / 0.0254)
    expected = turns_per_minute * p.final_drive_ratio * p.gear_ratios[1]
    assert rpm_at(30.0 * 0.44704, 2, p) == pytest.approx(expected)
    assert rpm_at(30.0, NEUTRAL, p) == rpm_at(30.0, PARK, p) == 0.0


@each
def test_each_gear_is_left_at_the_speeds_of_its_map_and_not_come_back_to_at_once(p):
    metres_per_turn = 2 * pi * p.wheel_radius_m / p.final_drive_ratio
    for gear, ratio in enumerate(p.gear_ratios[:-1], FIRST):
        up_mps = p.up_rpm / 60 * metres_per_turn / ratio
        assert next_gear(gear, 0.999 * up_mps, GO, p) == gear
        assert next_gear(gear, 1.001 * up_mps, GO, p) == gear + 1
        assert next_gear(gear + 1, 1.001 * up_mps, GO, p) == gear + 1
        down_mps = p.down_rpm / 60 * metres_per_turn / p.gear_ratios[gear]
        assert next_gear(gear + 1, 1.001 * down_mps, GO, p) == gear + 1
        assert next_gear(gear + 1, 0.999 * down_mps, GO, p) == gear
    assert next_gear(len(p.gear_ratios), 90.0, GO, p) == len(p.gear_ratios)


@pytest.mark.parametrize(
    ("gear", "speed_mps", "pedals", "after"),
    [
        # Refusals: not from drive to reverse or back, moving or standing, but through neutral
        (FIRST, 3.0, BACK, FIRST),
        (FIRST, 0.0, BACK, NEUTRAL),
        (REVERSE, 3.0, GO, REVERSE),
        (REVERSE, 0.0, GO, NEUTRAL),
        # Standing
        (FIRST, 0.0, LET_GO, NEUTRAL),
        (3, 0.0, LET_GO, NEUTRAL),
        (NEUTRAL, 0.0, LET_GO, NEUTRAL),
        (NEUTRAL, 0.0, HAND, PARK),
        (FIRST, 0.0, HAND, PARK),
        (FIRST, 3.0, HAND, FIRST),
        (PARK, 1.0, HAND, PARK),
        (PARK, 0.0, GO, NEUTRAL),
        # Moving off
        (NEUTRAL, 0.0, GO, FIRST),
        (NEUTRAL, 0.0, BACK, REVERSE),
        (FIRST, 0.0, GO, FIRST),
        (REVERSE, 0.0, BACK, REVERSE),
        (REVERSE, 9.0, BACK, REVERSE),
        (FIRST, STILL_MPS, LET_GO, FIRST),
    ],
)
def test_the_next_gear(gear, speed_mps, pedals, after):
    assert next_gear(gear, speed_mps, pedals, OPENCAV) == after


def test_the_clutch_is_open_for_as_long_as_a_shift_takes_and_no_gear_changes_meanwhile():
    box, pauses = Gearbox(NEUTRAL), 0
    box = shifted(box, 0.0, GO, OPENCAV, 0.01)
    while box.pause_s > 0.0:
        pauses += 1
        assert box.gear == FIRST
        assert total_nm(3000.0, box, 1.0, OPENCAV) == 0.0
        box = shifted(box, 0.0, HAND, OPENCAV, 0.01)
    assert pauses * 0.01 == pytest.approx(OPENCAV.shift_s, abs=0.0101)
    assert box.gear == FIRST
    assert total_nm(3000.0, box, 1.0, OPENCAV) > 0.0


@each
def test_torque_is_the_engines_by_both_ratios_and_goes_with_the_gear_only(p):
    rpm, engine_nm = p.torque_nm[2]
    for gear in (FIRST, 3):
        full = engine_nm * p.gear_ratios[gear - 1] * p.final_drive_ratio
        assert total_nm(rpm, Gearbox(gear), 1.0, p) == pytest.approx(full)
        assert total_nm(rpm, Gearbox(gear), 0.5, p) == pytest.approx(full / 4)
        assert total_nm(rpm, Gearbox(gear), 7.0, p) == pytest.approx(full)
    back = total_nm(rpm, Gearbox(REVERSE), -1.0, p)
    assert back == pytest.approx(-engine_nm * p.reverse_ratio * p.final_drive_ratio)
    against = [(FIRST, -1.0), (REVERSE, 1.0), (NEUTRAL, 1.0), (PARK, 1.0), (PARK, -1.0)]
    assert [total_nm(rpm, Gearbox(gear), t, p) for gear, t in against] == [0.0] * 5
    assert total_nm(p.torque_nm[-1][0], Gearbox(FIRST), 1.0, p) == 0.0


@each
def test_the_engine_follows_its_wheels_from_idle(p):
    spin = 10.0 / p.wheel_radius_m
    turning_rpm = p.idle_rpm + rpm_at(10.0, 2, p)
    assert engine_rate_rpmps(turning_rpm, [spin] * 4, 2, p) == pytest.approx(0.0, abs=1e-6)
    assert engine_rate_rpmps(turning_rpm, [-spin] * 4, 2, p) == pytest.approx(0.0, abs=1e-6)
    missing = engine_rate_rpmps(turning_rpm - 100.0, [spin] * 4, 2, p)
    assert missing == pytest.approx(100.0 / p.engine_lag_s)
    assert engine_rate_rpmps(p.idle_rpm, [spin] * 4, NEUTRAL, p) == 0.0
    one = engine_rate_rpmps(p.idle_rpm, [4 * spin, 0.0, 0.0, 0.0], 2, p)
    assert one == pytest.approx(rpm_at(10.0, 2, p) / p.engine_lag_s)


def test_the_differential_gives_the_inner_wheel_less_down_to_a_tenth():
    front = driven_torques_nm(1000.0, 0.25, OPENCAV)
    assert front == pytest.approx([500.0 * (1 - 0.8 * 0.25), 500.0, 0.0, 0.0])
    assert driven_torques_nm(1000.0, -0.25, OPENCAV) == pytest.approx([500.0, front[0], 0.0, 0.0])
    assert driven_torques_nm(1000.0, 0.0, RZR) == [250.0] * 4
    steep = replace(RZR, drop_per_rad=90.0)
    assert driven_torques_nm(1000.0, -0.25, steep) == pytest.approx([250.0, 25.0] * 2)
    rear = replace(OPENCAV, is_front_driven=False, is_rear_driven=True)
    assert driven_torques_nm(1000.0, 0.0, rear) == [0.0, 0.0, 500.0, 500.0]


def test_a_brake_takes_its_masss_energy_at_60_mph_over_the_braking_distance():
    force_n = 400.0 * 26.8224**2 / 2 / 45.0
    assert brake_nm(400.0, OPENCAV) == pytest.approx(force_n * 0.365)


@pytest.mark.parametrize(
    ("pedals", "gear", "shares"),
    [
        (Pedals(1.0), FIRST, [0.0, 0.0, 0.0, 0.0]),
        (Pedals(brake=0.5), FIRST, [0.5, 0.5, 0.0, 0.0]),  # as the script has it
        (Pedals(handbrake=0.5), FIRST, [0.0, 0.0, 0.5, 0.5]),
        (Pedals(brake=0.3, handbrake=0.5), FIRST, [0.3, 0.3, 0.5, 0.5]),
        (Pedals(handbrake=0.5), PARK, [1.0, 1.0, 0.5, 0.5]),
        (Pedals(brake=9.0, handbrake=9.0), FIRST, [1.0, 1.0, 1.0, 1.0]),
    ],
)
def test_brakes_are_combined_handbrakes_of_the_rear_park_of_the_driven(pedals, gear, shares):
    assert brake_shares(pedals, gear, OPENCAV) == shares


@pytest.mark.parametrize(
    ("speed_mps", "out_nm", "gear", "regime"),
    [
        (40.0, 900.0, 9, "max"),
        (40.0, 0.0, 9, "max"),
        (39.9, 900.0, 9, "idle"),
        (20.0, 0.0, 5, "idle"),
        (-5.0, -900.0, REVERSE, "reverse"),
        (-5.0, 0.0, REVERSE, "idle"),
        (-4.9, -900.0, REVERSE, "idle"),
        (5.0, -900.0, REVERSE, "idle"),  # its wheels turn ahead
        (-5.0, 900.0, FIRST, "idle"),
    ],
)
def test_drag_is_that_of_the_first_regime_that_holds(speed_mps, out_nm, gear, regime):
    drag = drag_ns_per_m(rolling(OPENCAV, speed_mps), out_nm, gear, OPENCAV)
    assert drag == getattr(OPENCAV, f"drag_{regime}_ns_per_m")


@each
def test_springs_have_the_frequency_and_damping_asked_for_under_every_wheel(p):
    for at in p.corners:
        assert at.spring_n_per_m / at.sprung_kg == pytest.approx(p.natural_radps**2)
        critical = 2 * (at.spring_n_per_m * at.sprung_kg) ** 0.5
        assert at.damper_ns_per_m / critical == pytest.approx(p.damping_ratio)
    assert p.corners[0].spring_n_per_m != p.corners[2].spring_n_per_m


@each
def test_no_rate_of_tyres_and_brakes_is_beyond_runge_kutta_at_1_ms(p):
    for at in some(p.corners):
        load_n = 9.81 * (at.sprung_kg + p.wheel_kg)
        tyre = p.tyre_along.slope * load_n * p.wheel_radius_m**2 / p.slow_mps
        assert (tyre + brake_nm(at.sprung_kg, p) / BRAKE_FULL_RADPS) / p.spin_kgm2 < 2700.0


@each
def test_gear_ratios_fall_and_neutral_and_park_have_none(p):
    ratios = [ratio_of(gear, p) for gear in range(FIRST, len(p.gear_ratios) + 1)]
    assert ratios == sorted(p.gear_ratios, reverse=True)
    assert ratio_of(NEUTRAL, p) == ratio_of(PARK, p) == 0.0
    assert ratio_of(REVERSE, p) == p.reverse_ratio
