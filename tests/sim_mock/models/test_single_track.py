"""The two single tracks by themselves: rest, symmetry, energy, steady states, convergence."""

from itertools import pairwise
from math import atan, hypot, log2, tan
from random import Random

import pytest

from sim_mock.models.integration import rk4
from sim_mock.models.single_track.kinematic import (
    Kinematic,
    kinematic_rates,
    kinematic_slip_rad,
)
from sim_mock.models.single_track.linear import (
    GRAVITY_MPS2,
    Linear,
    axle_slips_rad,
    linear_rates,
    side_forces_n,
)
from sim_mock.models.single_track.parameters import (
    ControlLimits,
    DriverInput,
    SingleTrackParameters,
)
from tests.support.evidence import every

# A car of an F1TENTH's size. Mass, inertia and lengths as in the tests of the plant; stiffnesses
# apart from each other on purpose, so that front and rear cannot be mistaken for one another.
LIMITS = ControlLimits(-0.42, 0.42, -3.2, 3.2, -5.0, 20.0, 7.3, 9.5)
UNDERSTEERING = SingleTrackParameters(
    3.47, 0.04712, 0.15875, 0.17145, 0.074, 1.05, 4.7, 5.5, LIMITS
)
OVERSTEERING = UNDERSTEERING._replace(stiffness_front_per_rad=5.5, stiffness_rear_per_rad=4.7)
NEUTRAL = UNDERSTEERING._replace(stiffness_front_per_rad=5.0, stiffness_rear_per_rad=5.0)
MODELS = {"kinematic": (kinematic_rates, Kinematic), "linear": (linear_rates, Linear)}
COAST = DriverInput(0.0, 0.0)


def run(name, x, u, seconds, p=UNDERSTEERING, dt_s=0.001):
    rates, state = MODELS[name]
    for _ in range(round(seconds / dt_s)):
        x = rk4(rates, x, u, p, dt_s)
    return state(*x)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("steer_rad", [0.0, 0.3])
def test_at_rest_stays_at_rest(name, steer_rad):
    start = MODELS[name][1](steer_rad=steer_rad)
    assert run(name, start, COAST, 0.5) == start


@pytest.mark.parametrize("name", MODELS)
def test_straight_on_stays_straight_on(name):
    end = run(name, MODELS[name][1](speed_mps=2.0), DriverInput(0.0, 1.5), 2.0)
    assert (end.x_m, end.speed_mps) == pytest.approx((7.0, 5.0), abs=1e-9)
    assert (end.y_m, end.yaw_rad) == (0.0, 0.0)


@pytest.mark.parametrize("name", MODELS)
def test_a_mirrored_drive_is_the_mirror_of_the_drive(name):
    start = MODELS[name][1](speed_mps=1.0)
    left = run(name, start, DriverInput(0.3, 0.5), 1.0)
    right = run(name, start, DriverInput(-0.3, 0.5), 1.0)
    assert left.y_m > 0.01
    even = {"x_m", "speed_mps"}
    mirrored = [v if n in even else -v for n, v in left._asdict().items()]
    assert list(right) == pytest.approx(mirrored, abs=1e-15)


def test_turning_the_world_turns_the_drive():
    straight = run("linear", Linear(speed_mps=2.0), DriverInput(0.2, 0.5), 1.0)
    turned = run("linear", Linear(speed_mps=2.0, yaw_rad=1.0), DriverInput(0.2, 0.5), 1.0)
    assert hypot(*turned[:2]) == pytest.approx(hypot(*straight[:2]), abs=1e-12)
    assert turned.yaw_rad - straight.yaw_rad == pytest.approx(1.0, abs=1e-12)
    assert turned[5:] == pytest.approx(straight[5:], abs=1e-12)


def test_kinetic_energy_grows_by_the_work_of_the_asked_acceleration():
    a, s0 = 1.5, Linear(speed_mps=2.0)
    end = run("linear", s0, DriverInput(0.0, a), 1.0)
    assert 0.5 * (end.speed_mps**2 - s0.speed_mps**2) == pytest.approx(a * end.x_m, rel=1e-9)


def test_side_forces_never_push_the_way_their_tyres_slide():
    random = Random(5)
    for _ in range(500):
        state = Linear(0, 0, *[random.uniform(-0.4, 0.4), random.uniform(0.2, 15.0), 0],
                       random.uniform(-4, 4), random.uniform(-0.3, 0.3))  # fmt: skip
        forces, slips = (
            side_forces_n(state, 2.0, UNDERSTEERING),
            axle_slips_rad(state, UNDERSTEERING),
        )
        assert every(force * slip >= 0.0 for force, slip in zip(forces, slips, strict=True))


def test_yaw_energy_is_what_the_tyres_moment_puts_in():
    x, work_j, p = Linear(steer_rad=0.1, speed_mps=3.0), 0.0, UNDERSTEERING
    powers = []
    for _ in range(1001):
        front_n, rear_n = side_forces_n(x, 0.0, p)
        powers.append((p.lf_m * front_n - p.lr_m * rear_n) * x.yaw_rate_radps)
        x = Linear(*rk4(linear_rates, x, COAST, p, 0.0005))
    # Simpson's rule over the same half second
    work_j = (
        0.0005
        / 3
        * sum(
            a + 4 * b + c
            for a, b, c in zip(powers[0:-1:2], powers[1::2], powers[2::2], strict=True)
        )
    )
    end = run("linear", Linear(steer_rad=0.1, speed_mps=3.0), COAST, 0.5, dt_s=0.0005)
    assert 0.5 * p.inertia_z_kgm2 * end.yaw_rate_radps**2 == pytest.approx(work_j, rel=1e-6)


@pytest.mark.parametrize("p", [UNDERSTEERING, NEUTRAL, OVERSTEERING])
@pytest.mark.parametrize("speed_mps", [1.0, 3.0, 5.0])
def test_the_steady_turn_has_the_gain_of_its_understeer_gradient(p, speed_mps):
    """yaw rate = v delta / (L + K v^2), K = (1/C_f - 1/C_r) / (mu g): Rajamani, section 3.3."""
    end = run("linear", Linear(steer_rad=0.02, speed_mps=speed_mps), COAST, 3.0, p)
    softness = 1.0 / p.stiffness_front_per_rad - 1.0 / p.stiffness_rear_per_rad
    gradient = softness / (p.mu * GRAVITY_MPS2)
    gain = speed_mps / (p.wheelbase_m + gradient * speed_mps**2)
    assert end.yaw_rate_radps == pytest.approx(0.02 * gain, rel=1e-6)


@pytest.mark.parametrize("over", [False, True])
def test_an_oversteering_car_diverges_above_its_critical_speed_only(over):
    p = OVERSTEERING
    softness = 1.0 / p.stiffness_front_per_rad - 1.0 / p.stiffness_rear_per_rad
    critical_mps = (-p.wheelbase_m * p.mu * GRAVITY_MPS2 / softness) ** 0.5
    speed_mps = critical_mps * (1.3 if over else 0.7)
    end = run("linear", Linear(speed_mps=speed_mps, slip_rad=1e-3), COAST, 3.0, p)
    assert (abs(end.slip_rad) > 1e-2) == over
    assert abs(end.slip_rad) < 1e-4 or over


def test_only_the_linear_one_slides_outwards():
    """At 0.3 rad and 6 m/s the kinematic car turns as asked; the other needs slip for it."""
    both = [run(n, MODELS[n][1](steer_rad=0.3, speed_mps=6.0), COAST, 1.5) for n in MODELS]
    asked = 6.0 * tan(0.3) / UNDERSTEERING.wheelbase_m
    assert both[0].yaw_rad == pytest.approx(1.5 * asked, rel=1e-9)
    assert both[1].yaw_rad < 0.8 * both[0].yaw_rad
    assert both[1].slip_rad < -0.1 < kinematic_slip_rad(0.3, UNDERSTEERING)


def test_slowly_both_turn_alike():
    p, steer_rad, speed_mps = UNDERSTEERING, 0.1, 0.3
    slip_rad = kinematic_slip_rad(steer_rad, p)
    assert slip_rad == pytest.approx(atan(tan(0.1) * p.lr_m / p.wheelbase_m))
    rolls = run("kinematic", Kinematic(0, 0, steer_rad, speed_mps, 0), COAST, 2.0)
    slides = run("linear", Linear(0, 0, steer_rad, speed_mps, 0, 0, slip_rad), COAST, 2.0)
    assert slides.yaw_rad == pytest.approx(rolls.yaw_rad, rel=0.02)


def test_inputs_end_at_their_limits():
    turned = run("linear", Linear(speed_mps=1.0), DriverInput(99.0, -99.0), 0.05)
    assert turned.steer_rad == pytest.approx(LIMITS.steer_rate_max_radps * 0.05)
    assert turned.speed_mps == pytest.approx(1.0 - LIMITS.accel_max_mps2 * 0.05)
    stopped = run("kinematic", Kinematic(speed_mps=19.0), DriverInput(-2.0, 99.0), 2.0)
    assert stopped.steer_rad == pytest.approx(LIMITS.steer_min_rad, abs=3e-3)
    assert stopped.speed_mps == pytest.approx(LIMITS.speed_max_mps, abs=1e-2)


def test_above_the_switching_speed_the_motor_gives_constant_power():
    for speed_mps in (8.0, 12.0, 16.0):
        accel = kinematic_rates(Kinematic(speed_mps=speed_mps), DriverInput(0.0, 99.0), NEUTRAL)[3]
        assert accel * speed_mps == pytest.approx(LIMITS.accel_max_mps2 * LIMITS.speed_switch_mps)


@pytest.mark.parametrize("name", MODELS)
def test_halving_the_step_divides_the_error_by_sixteen(name):
    """With the wheels turning, well inside all limits, against 32 times finer steps."""
    start, u = MODELS[name][1](speed_mps=3.0), DriverInput(0.15, 0.4)
    exact = run(name, start, u, 1.0, dt_s=1 / 3200)
    ends = [run(name, start, u, 1.0, dt_s=1 / steps) for steps in (25, 50, 100)]
    errors = [hypot(end.x_m - exact.x_m, end.y_m - exact.y_m) for end in ends]
    orders = [log2(coarse / fine) for coarse, fine in pairwise(errors)]
    print(name, errors, orders)
    assert orders == pytest.approx([4.0, 4.0], abs=0.2)
