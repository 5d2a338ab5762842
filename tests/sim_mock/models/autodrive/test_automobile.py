"""The whole full-scale car: rest, symmetry, energy, and a response for each of its parts."""

from dataclasses import replace
from itertools import groupby, pairwise
from math import log2, pi

import pytest

from sim_mock.models.autodrive.automobile import (
    Driven,
    Held,
    at_rest,
    automobile_rates,
    step,
)
from sim_mock.models.autodrive.automobiles import OPENCAV, RZR
from sim_mock.models.autodrive.car import Sprung, spring_forces_n, wheel_loads_n
from sim_mock.models.autodrive.gearbox import (
    FIRST,
    NEUTRAL,
    PARK,
    REVERSE,
    STILL_MPS,
    Gearbox,
    rpm_at,
)
from sim_mock.models.autodrive.parameters import Pedals
from sim_mock.models.autodrive.powertrain import driven_torques_nm, total_nm
from sim_mock.models.integration import rk4
from tests.sim_mock.models.autodrive.drives import assert_mirrored, energy_j, rolling
from tests.support.evidence import every

AUTOMOBILES = {"opencav": OPENCAV, "rzr": RZR}
DT_S = 0.001
each = pytest.mark.parametrize("p", AUTOMOBILES.values(), ids=AUTOMOBILES)


def driving(p, speed_mps, gear=FIRST, **more):
    rpm = p.idle_rpm + rpm_at(abs(speed_mps), gear, p)
    return Driven(rolling(p, speed_mps, **more), rpm, Gearbox(gear))


def steps(p, x, u, seconds, push_n=0.0):
    """Each state on the way; ``push_n`` is somebody who pushes the car ahead."""
    for _ in range(round(seconds / DT_S)):
        x = step(x, u, p, DT_S)
        pushed_mps = x.body.vx_mps + push_n / p.mass_kg * DT_S
        x = x._replace(body=x.body._replace(vx_mps=pushed_mps))
        yield x


def run(p, x, u, seconds, push_n=0.0):
    *_, last = steps(p, x, u, seconds, push_n)
    return last


@each
@pytest.mark.parametrize("u", [Pedals(0.0, 1.0), Pedals(handbrake=1.0), Pedals(1.0, handbrake=1.0)])
def test_at_rest_stays_at_rest(p, u):
    end = run(p, at_rest(p), u, 0.4)
    assert end.body == Sprung(steer_rad=end.body.steer_rad)
    assert end.engine_rpm == p.idle_rpm


@each
def test_mirrored_commands_mirror_the_drive(p):
    left, right = (run(p, driving(p, 5.0), Pedals(0.5, side * 0.6), 0.6) for side in (1, -1))
    assert left.body.yaw_rad > 0.01
    assert_mirrored(left.body, right.body)
    assert right.engine_rpm == pytest.approx(left.engine_rpm)
    assert right.box == left.box


@each
@pytest.mark.parametrize("u", [Pedals(0.0, 0.5), Pedals(0.0, 0.5, 0.7), Pedals(handbrake=1.0)])
def test_without_throttle_energy_never_grows(p, u):
    start = driving(p, 6.0, vy_mps=1.0, yaw_rate_radps=0.5)
    energies = [energy_j(p, x.body) for x in (start, *steps(p, start, u, 0.5))]
    assert max(b - a for a, b in pairwise(energies)) <= 1e-9
    assert energies[-1] < energies[0]


@each
def test_energy_only_comes_in_through_the_engine(p):
    x, worked_j = driving(p, 4.0), 0.0
    start_j = energy_j(p, x.body)
    for after in steps(p, x, Pedals(0.8, 0.3), 0.6):
        torques = driven_torques_nm(total_nm(x.engine_rpm, after.box, 0.8, p), x.body.steer_rad, p)
        worked_j += DT_S * sum(t * w for t, w in zip(torques, x.body[6:10], strict=True))
        x = after
    gained_j = energy_j(p, x.body) - start_j
    assert 0.5 * worked_j < gained_j < worked_j


@each
def test_halving_the_step_divides_the_error_by_sixteen(p):
    """In a gear, a gentle turn, within the curve's first piece."""
    u = Held(Pedals(0.4, 0.1), Gearbox(2), p.drag_idle_ns_per_m)
    body = rolling(p, 12.0, steer_rad=0.1 * p.steer_max_rad, vy_mps=0.05)
    ends = []
    for n in (100, 200, 400, 1600):
        x = (*body, p.idle_rpm + rpm_at(12.0, 2, p))
        for _ in range(n):
            x = rk4(automobile_rates, x, u, p, 0.1 / n)
        ends.append(x)
    errors = [max(abs(a - b) for a, b in zip(end, ends[-1], strict=True)) for end in ends[:-1]]
    orders = [log2(coarse / fine) for coarse, fine in pairwise(errors)]
    print(errors, orders)
    assert orders == pytest.approx([4.0, 4.0], abs=0.5)


# --- a response for each part, and that a car without the part has another one -------------------


@each
def test_it_shifts_up_at_the_speed_of_its_map_and_pulls_no_more_while_it_does(p):
    shift_mps = p.up_rpm / 60 * 2 * pi * p.wheel_radius_m / (p.final_drive_ratio * p.gear_ratios[0])
    ways = {}
    for name, q in {"car": p, "no pause": replace(p, shift_s=0.0)}.items():
        ways[name] = list(steps(q, driving(q, shift_mps - 0.1), Pedals(0.9), 0.45))
    last, first = next((a, b) for a, b in pairwise(ways["car"]) if a.box.gear != b.box.gear)
    assert first.box.gear == 2
    assert last.body.vx_mps == pytest.approx(shift_mps, abs=0.02)
    speeds = [x.body.vx_mps for x in ways["car"] if x.box.pause_s > 0.0]
    assert len(speeds) == pytest.approx(p.shift_s / DT_S, abs=1)
    assert speeds[-1] < max(speeds)  # it coasts
    assert ways["no pause"][-1].body.vx_mps > ways["car"][-1].body.vx_mps + 0.1


@each
def test_from_drive_to_reverse_it_stops_and_goes_through_neutral(p):
    way = [driving(p, 1.0), *steps(p, driving(p, 1.0), Pedals(-1.0, 0.0, 0.8), 0.9)]
    assert [gear for gear, _ in groupby(x.box.gear for x in way)] == [FIRST, NEUTRAL, REVERSE]
    changes = [a.body.vx_mps for a, b in pairwise(way) if a.box.gear != b.box.gear]
    assert every(abs(speed_mps) < STILL_MPS for speed_mps in changes)
    off = run(p, way[-1], Pedals(-1.0), 0.4)
    assert off.body.vx_mps < -0.1
    assert off.box.gear == REVERSE


@each
@pytest.mark.parametrize("push_n", [300.0, -300.0])
def test_the_handbrake_holds_on_a_push_and_without_it_the_car_rolls(p, push_n):
    """A tyre that stands is a damper, so what is held creeps, by centimetres a second."""
    parked = run(p, at_rest(p), Pedals(handbrake=1.0), 0.3)
    held, free = (
        run(p, parked if hand else at_rest(p), Pedals(handbrake=hand), 0.8, push_n)
        for hand in (1.0, 0.0)
    )
    assert held.box.gear == PARK
    assert abs(held.body.vx_mps) < 0.04
    assert free.body.vx_mps / push_n > 0.7 * 0.8 / p.mass_kg
    assert abs(free.body.vx_mps) > 5 * abs(held.body.vx_mps)


def test_released_it_needs_neutral_before_it_drives():
    parked = run(OPENCAV, at_rest(OPENCAV), Pedals(handbrake=1.0), 0.3)
    gears = [x.box.gear for x in steps(OPENCAV, parked, Pedals(1.0), 0.4)]
    assert [gear for gear, _ in groupby(gears)] == [NEUTRAL, FIRST]


@each
@pytest.mark.parametrize("brake", [0.2, 0.4])
def test_it_slows_down_as_its_braking_distance_says(p, brake):
    """Less the wheels' mass and spin, which the report's M leaves out; drag helps."""
    rolls = [run(p, driving(p, 20.0, 2), Pedals(0.0, 0.0, b, b), 0.3) for b in (brake, 0.0)]
    more = [
        run(p, x, Pedals(0.0, 0.0, b, b), 0.2) for x, b in zip(rolls, (brake, 0.0), strict=True)
    ]
    braked, coasted = (
        (a.body.vx_mps - b.body.vx_mps) / 0.2 for a, b in zip(rolls, more, strict=True)
    )
    moved_kg = p.mass_kg + 4 * p.spin_kgm2 / p.wheel_radius_m**2
    stated = brake * 26.8224**2 / (2 * p.brake_distance_m) * p.sprung_kg / moved_kg
    assert braked - coasted == pytest.approx(stated, rel=0.05)


def test_a_handbrake_slows_the_rear_wheels_only_and_with_the_brake_all():
    ends = [
        run(RZR, driving(RZR, 12.0, 2, vy_mps=-0.3), u, 0.5)
        for u in (Pedals(handbrake=1.0), Pedals(0.0, 0.0, 0.5, 0.5))
    ]
    rims = [[w * RZR.wheel_radius_m / x.body.vx_mps for w in x.body[6:10]] for x in ends]
    assert rims[0][:2] == pytest.approx([1.0, 1.0], abs=0.01)
    assert max(rims[0][2:]) < 0.95
    assert max(rims[1]) < 0.98


@pytest.mark.parametrize(
    ("speed_mps", "gear", "throttle", "regime"),
    [(29.9, 4, 1.0, "drag_max_ns_per_m"), (-3.9, REVERSE, -1.0, "drag_reverse_ns_per_m")],
)
def test_past_its_designated_speed_drag_holds_it_and_without_the_regime_it_goes_on(
    speed_mps, gear, throttle, regime
):
    most_mps = RZR.speed_max_mps if throttle > 0 else RZR.reverse_max_mps
    without = replace(RZR, **{regime: RZR.drag_idle_ns_per_m})
    held, loose = (
        run(p, driving(p, speed_mps, gear), Pedals(throttle), 0.6) for p in (RZR, without)
    )
    assert abs(held.body.vx_mps) == pytest.approx(most_mps, abs=0.05)
    assert abs(loose.body.vx_mps) > most_mps + 0.15


@each
def test_downforce_presses_the_wheels_in_proportion_to_speed(p):
    """The report's F = K |v|: twice as fast, twice as much; standing, none."""
    stiffness = sum(at.spring_n_per_m for at in p.corners)
    pressed = []
    for speed in (0.0, 10.0, 20.0):
        settled = rolling(p, speed, heave_m=-p.down_ns_per_m * speed / stiffness)
        loads = wheel_loads_n(spring_forces_n(settled, p.corners), p.corners, p)
        pressed.append(sum(loads) - p.mass_kg * 9.81)
        u = Held(Pedals(), Gearbox(), p.drag_idle_ns_per_m)
        rates = automobile_rates((*settled, p.idle_rpm), u, p)
        assert rates[Sprung._fields.index("heave_mps")] == pytest.approx(0.0, abs=1e-9)
    assert pressed == pytest.approx([0.0, 10 * p.down_ns_per_m, 20 * p.down_ns_per_m], abs=1e-6)
    sunk = run(p, driving(p, 20.0, 3), Pedals(), 0.6).body.heave_m
    assert sunk == pytest.approx(-p.down_ns_per_m * 20.0 / stiffness, rel=0.4)
    assert run(replace(p, down_ns_per_m=0.0), driving(p, 20.0, 3), Pedals(), 0.6).body.heave_m > (
        0.1 * sunk
    )


def test_the_differential_turns_it_in_under_throttle():
    open_car = replace(RZR, drop_per_rad=0.0)
    start = driving(RZR, 6.0, steer_rad=0.12)
    dropped, even = (run(p, start, Pedals(0.8, 0.2), 0.5).body for p in (RZR, open_car))
    assert dropped.yaw_rad > even.yaw_rad > 0.0
    assert dropped.spin_lf_radps < even.spin_lf_radps


def test_the_engine_lags_behind_its_wheels():
    p = replace(OPENCAV, drag_idle_ns_per_m=0.0)
    start = driving(p, 20.0, 5)._replace(engine_rpm=p.idle_rpm)
    end = run(p, start, Pedals(), p.engine_lag_s)
    missing = rpm_at(end.body.vx_mps, 5, p)
    assert end.engine_rpm - p.idle_rpm == pytest.approx(0.632 * missing, rel=0.01)
