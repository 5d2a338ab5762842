"""What each model does, and what of it no other can do."""

from itertools import pairwise
from math import cos, exp, hypot, log2, pi, sin, sqrt, tan

import pytest

from sim_mock.models.autorally.double_track import grips_of, wheel_loads_n
from sim_mock.models.autorally.full import full_loads_n, spring_forces_n
from sim_mock.models.autorally.parameters import AUTORALLY, ActuatorInput
from tests.sim_mock.models.autorally.drives import MODELS, energy_j, rolling, run, steps

P = AUTORALLY
COAST = ActuatorInput()


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("steer_rad", [0.0, 0.3])
def test_at_rest_stays_at_rest(name, steer_rad):
    state = MODELS[name].state
    assert run(name, state(), ActuatorInput(steer_rad, 0.0, 5.0), 0.3) == state()


@pytest.mark.parametrize("name", MODELS)
def test_mirrored_steering_mirrors_the_drive(name):
    left = run(name, rolling(name, 4.0), ActuatorInput(0.2, 3.0, 0.0), 0.7)
    right = run(name, rolling(name, 4.0), ActuatorInput(-0.2, 3.0, 0.0), 0.7)
    assert left.y_m > 0.1
    even = ("x_m", "vx_mps", "heave_m", "pitch_rad", "heave_mps", "pitch_radps")
    twin = {"lf": "rf", "rf": "lf", "lr": "rr", "rr": "lr"}
    for field in left._fields:
        other = "_".join(twin.get(part, part) for part in field.split("_"))
        sign = 1.0 if field in even or field.startswith("spin") else -1.0
        assert getattr(right, other) == pytest.approx(sign * getattr(left, field), abs=1e-9), field


@pytest.mark.parametrize("name", MODELS)
def test_turning_the_world_turns_the_drive(name):
    u, slide = ActuatorInput(0.2, 3.0), {"vy_mps": 1.0}
    ahead = run(name, rolling(name, 4.0, **slide), u, 0.5)
    turned = run(name, rolling(name, 4.0, yaw_rad=1.1, **slide), u, 0.5)
    c, n = cos(1.1), sin(1.1)
    place = (c * ahead.x_m - n * ahead.y_m, n * ahead.x_m + c * ahead.y_m, ahead.yaw_rad + 1.1)
    assert turned[:3] == pytest.approx(place, abs=1e-9)
    assert turned[3:] == pytest.approx(ahead[3:], abs=1e-9)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("u", [COAST, ActuatorInput(0.35), ActuatorInput(0.2, 0.0, 4.0)])
def test_without_drive_energy_never_grows(name, u):
    start = rolling(name, 6.0, vy_mps=2.0, yaw_rate_radps=3.0)
    energies = [energy_j(name, x) for x in (start, *steps(name, start, u, 1.0))]
    assert max(b - a for a, b in pairwise(energies)) <= 1e-9
    assert energies[-1] < 0.98 * energies[0]


@pytest.mark.parametrize("name", MODELS)
def test_drive_puts_in_at_most_its_own_work(name):
    x, u, work_j = rolling(name, 2.0), ActuatorInput(0.1, 6.0), 0.0
    start_j = energy_j(name, x)
    for y in steps(name, x, u, 1.0):
        rear = list(y)[6 : 6 + MODELS[name].wheels][MODELS[name].wheels // 2 :]
        work_j += 0.001 * u.drive_nm * sum(rear) / len(rear)
        x = y
    gained_j = energy_j(name, x) - start_j
    assert 0.2 * work_j < gained_j < work_j


@pytest.mark.parametrize("name", MODELS)
def test_slowly_it_turns_on_the_circle_of_its_geometry(name):
    """At 1 m/s the side force is small: radius is near wheelbase over the tangent of the angle."""
    x = run(name, rolling(name, 1.0), ActuatorInput(0.2, 0.12), 2.0)
    radius_m = hypot(x.vx_mps, x.vy_mps) / x.yaw_rate_radps
    assert radius_m == pytest.approx(0.57 / tan(0.2), rel=0.08)


@pytest.mark.parametrize("name", MODELS)
def test_locked_front_wheels_do_not_turn_back_and_do_not_steer(name):
    x = run(name, rolling(name, 8.0), ActuatorInput(0.0, 0.0, 60.0), 0.2)
    locked, free = (run(name, x, ActuatorInput(0.3, 0.0, brake), 0.3) for brake in (60.0, 0.0))
    assert -0.5 < list(locked)[6] < 1.0
    assert free.yaw_rad > 4.0 * abs(locked.yaw_rad)


@pytest.mark.parametrize("name", MODELS)
def test_halving_the_step_divides_the_error_by_sixteen(name):
    """In a slide to the left, all slips beyond the ramp, where the equations are smooth."""
    start, u = rolling(name, 6.0, vy_mps=-1.5, yaw_rate_radps=1.5), ActuatorInput(0.05, 4.0)
    exact = run(name, start, u, 0.2, dt_s=0.2 / 1600)
    ends = [run(name, start, u, 0.2, dt_s=0.2 / n) for n in (25, 50, 100)]
    errors = [max(abs(a - b) for a, b in zip(end, exact, strict=True)) for end in ends]
    orders = [log2(coarse / fine) for coarse, fine in pairwise(errors)]
    print(name, errors, orders)
    assert orders == pytest.approx([4.0, 4.0], abs=0.4)


# --- what only one of them can do ---------------------------------------------------------------


def side_accel_mps2(name, x, u=COAST):
    """Side acceleration of the centre of gravity in that very state."""
    return MODELS[name].rates(x, u, P)[4] + x.vx_mps * x.yaw_rate_radps


@pytest.mark.parametrize("name", MODELS)
def test_spinning_rear_wheels_let_go_of_the_side(name):
    """Total slip: what the linear single track, which knows no wheel speed, cannot do."""
    rolls = rolling(name, 6.0, vy_mps=-0.6)
    rear = [f for f in rolls._fields if f in ("spin_rear_radps", "spin_lr_radps", "spin_rr_radps")]
    spins = rolls._replace(**dict.fromkeys(rear, 3.0 * 6.0 / P.wheel_radius_m))
    held, lost = (MODELS[name].rates(x, COAST, P)[5] for x in (rolls, spins))
    # Sliding to the right, the rear pushes left and turns the nose right; spinning it cannot.
    assert lost - held > 1.0
    assert side_accel_mps2(name, spins) < 0.8 * side_accel_mps2(name, rolls)


def test_only_two_tracks_turn_when_one_side_pushes():
    """Left rear wheel braking, right rear pushing: no single track has such a state."""
    spin = 5.0 / P.wheel_radius_m
    for name in ("double", "full"):
        x = rolling(name, 5.0, spin_lr_radps=0.6 * spin, spin_rr_radps=1.4 * spin)
        assert MODELS[name].rates(x, COAST, P)[5] > 1.0
    x = rolling("single", 5.0)
    assert MODELS["single"].rates(x, COAST, P)[5] == 0.0


def test_on_two_tracks_the_inner_driven_wheel_spins_up_under_power():
    x = run("double", rolling("double", 3.0), ActuatorInput(0.35, 9.0), 0.8)
    inner_mps, outer_mps = (w * P.wheel_radius_m for w in (x.spin_lr_radps, x.spin_rr_radps))
    ground = [x.vx_mps - side * 0.5 * 0.405 * x.yaw_rate_radps for side in (1.0, -1.0)]
    assert inner_mps / ground[0] > outer_mps / ground[1] + 0.05


def test_a_double_track_that_is_low_and_alike_on_both_sides_is_the_single_track():
    """With no width the two are one model: the difference above is the width's."""
    narrow = P._replace(track_front_m=1e-9, track_rear_m=1e-9, h_cg_m=0.0)
    u = ActuatorInput(0.25, 4.0)
    one = run("single", rolling("single", 5.0), u, 0.8, narrow)
    two = run("double", rolling("double", 5.0), u, 0.8, narrow)
    assert two[:6] == pytest.approx(one[:6], abs=1e-6)
    wide = run("double", rolling("double", 5.0), u, 0.8)
    assert hypot(wide.x_m - one.x_m, wide.y_m - one.y_m) > 0.05


def test_the_inner_wheels_of_a_high_and_narrow_double_track_leave_the_ground():
    high = P._replace(h_cg_m=0.4, track_front_m=0.3, track_rear_m=0.3)
    x = rolling("double", 6.0, vy_mps=-6.0)
    loads = wheel_loads_n(grips_of(x, COAST, high), high)
    assert loads[0] == loads[2] == 0.0
    assert sum(loads) == pytest.approx(high.mass_kg * 9.81)


def rear_load_n(name, x, u):
    grips = grips_of(x, u, P)
    loads = wheel_loads_n(grips, P) if name == "double" else full_loads_n(
        grips, spring_forces_n(x, P), P
    )  # fmt: skip
    return sum(loads[2:])


def test_only_the_full_models_loads_come_late_and_overshoot():
    """Front wheels locked from the start, so that the tyres' force is there at once and stays."""
    static_n, u = P.mass_kg * 9.81 * 0.34 / 0.57, ActuatorInput(0.0, 0.0, 60.0)
    off = {}
    for name in ("double", "full"):
        x = rolling(name, 8.0, spin_lf_radps=0.0, spin_rf_radps=0.0)
        off[name] = [static_n - rear_load_n(name, y, u) for y in steps(name, x, u, 0.6)]
    assert off["full"][-1] == pytest.approx(off["double"][-1], rel=0.15)
    at_once_n = off["double"][0]
    assert at_once_n == max(off["double"])
    assert off["full"][0] < 0.02 * at_once_n
    assert max(off["full"]) > 1.1 * at_once_n


def test_only_the_full_model_dives_lifts_and_rolls_outwards():
    braked = run("full", rolling("full", 8.0), ActuatorInput(0.0, 0.0, 8.0), 0.5)
    driven = run("full", rolling("full", 3.0), ActuatorInput(0.0, 6.0), 0.5)
    turned = run("full", rolling("full", 5.0), ActuatorInput(0.2, 2.0), 0.5)
    assert braked.pitch_rad < -0.005
    assert driven.pitch_rad > 0.005
    assert turned.roll_rad > 0.01
    assert turned.yaw_rad > 0.1


def test_steady_roll_is_moment_over_roll_stiffness():
    x = run("full", rolling("full", 2.5), ActuatorInput(0.2, 0.9), 4.0)
    b = P.suspension
    arm = b.height_m - b.roll_centre_m
    accel = side_accel_mps2("full", x, ActuatorInput(0.2, 0.9))
    stiffness = 0.5 * (0.395**2 + 0.405**2) * 2000.0
    roll = b.mass_kg * arm * accel / (stiffness - b.mass_kg * 9.81 * arm)
    assert accel > 1.0
    assert x.roll_rad == pytest.approx(roll, rel=0.01)


def test_a_lifted_body_rings_at_the_springs_frequency_and_damping():
    """CG in the middle, so heave is alone: w^2 = 8000 / m, decay rate 4 c / m."""
    even = P._replace(lf_m=0.285, lr_m=0.285)
    mass_kg, dt_s = P.suspension.mass_kg, 0.0005
    start = MODELS["full"].state(heave_m=0.01)
    heights = [x.heave_m for x in steps("full", start, COAST, 1.2, even, dt_s)]
    rate = 4.0 * 64.0 / mass_kg / 2.0
    ringing = sqrt(8000.0 / mass_kg - rate**2)
    crossings = [k * dt_s for k, (a, b) in enumerate(pairwise(heights)) if a * b < 0.0]
    assert crossings[2] - crossings[0] == pytest.approx(2.0 * pi / ringing, rel=5e-3)
    turn = round(2.0 * pi / ringing / dt_s)
    assert heights[2 * turn] / heights[turn] == pytest.approx(exp(-rate * turn * dt_s), rel=0.03)


def test_only_the_full_model_is_slowed_by_air():
    speeds = {n: run(n, rolling(n, 10.0), COAST, 1.0).vx_mps for n in MODELS}
    assert speeds["single"] == speeds["double"] == 10.0
    # 1/v grows by k t, k = rho cd A / 2 m'; the wheels' inertia counts as mass
    wheels_kg = (0.048 + 0.044) / P.wheel_radius_m**2
    k = 0.5 * 1.2 * P.suspension.drag_area_m2 / (P.mass_kg + wheels_kg)
    assert speeds["full"] == pytest.approx(1.0 / (0.1 + k), rel=1e-3)
