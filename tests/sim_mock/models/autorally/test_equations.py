"""The models against the paper's equations as printed, written out again here."""

from math import atan, cos, hypot, sin
from random import Random

import pytest

from sim_mock.models.autorally.double_track import (
    DoubleTrack,
    corners_of,
    double_track_rates,
    grips_of,
    wheel_loads_n,
)
from sim_mock.models.autorally.full import Full, Rise, body_rates, full_loads_n, spring_forces_n
from sim_mock.models.autorally.parameters import AUTORALLY, TYRE, ActuatorInput
from sim_mock.models.autorally.single_track import SingleTrackState, single_track_rates
from sim_mock.models.autorally.tyre import friction
from tests.sim_mock.models.autorally.drives import MODELS, rolling
from tests.support.evidence import some

G = 9.81
P = AUTORALLY
# Not symmetrical, so that no front can pass for a rear and no spring for another.
ODD = P._replace(
    track_front_m=0.36,
    suspension=P.suspension._replace(spring_rear_n_per_m=2600.0, damper_rear_ns_per_m=90.0),
)


def test_autorally_is_its_tables_3_and_4():
    assert (P.mass_kg, P.wheelbase_m, P.lr_m, P.h_cg_m) == pytest.approx((21.88, 0.57, 0.23, 0.12))
    assert (P.track_front_m, P.track_rear_m, 2 * P.wheel_radius_m) == (0.395, 0.405, 0.195)
    assert P.inertia_z_kgm2 == 1.124
    assert (2 * P.spin_front_kgm2, 2 * P.spin_rear_kgm2) == (0.048, 0.044)
    b, wheels_kg = P.suspension, 2 * 0.82 + 2 * 0.89
    assert b.mass_kg + wheels_kg == pytest.approx(21.88)
    # Sprung mass and wheels have the whole car's centre
    assert b.mass_kg * b.height_m + wheels_kg * 0.0975 == pytest.approx(21.88 * 0.12)
    assert b.roll_inertia_kgm2 == pytest.approx(
        0.347 + b.mass_kg * (b.height_m - b.roll_centre_m) ** 2
    )
    assert b.pitch_inertia_kgm2 == pytest.approx(1.131 + b.mass_kg * b.height_m**2)
    assert b.spring_front_n_per_m == b.spring_rear_n_per_m == 2000.0


def table_5(s):
    """Eq. 9 with Table 5's numbers in it."""
    e = s + 0.0540
    inner = 1.1559 * e + 0.8505 * (1.1559 * e - atan(e))
    return 0.9956 * sin(1.1924 * atan(inner)) + 0.1444


@pytest.mark.parametrize("slip", [0.0, 0.05, 0.3, 1.0, 2.7, 20.0])
def test_friction_is_equation_9_with_table_5(slip):
    assert friction(slip, TYRE) == pytest.approx(table_5(slip), abs=1e-12)


def test_friction_peaks_between_slip_2_and_3_and_falls_beyond():
    curve = [friction(0.01 * k, TYRE) for k in range(1001)]
    peak = curve.index(max(curve))
    assert 180 < peak < 300
    assert curve[peak] == pytest.approx(0.9956 + 0.1444, abs=1e-6)  # D + S_v
    assert curve[-1] < curve[peak]


def drawn(count=200):
    """Sliding states: total slips beyond the ramp, so that eq. 10 holds as printed."""
    random = Random(77)
    for _ in range(count):
        yield (
            random.uniform(2.0, 9.0), random.uniform(-3.0, 3.0), random.uniform(-3.0, 3.0),
            [random.uniform(20.0, 140.0) for _ in range(4)],
            ActuatorInput(random.uniform(-0.4, 0.4), random.uniform(-3.0, 8.0), 0.0),
        )  # fmt: skip


def per_load(ahead, aside, spin, angle):
    """Eq. 8 and 10 in the wheel's axes, per newton of load; and in the car's."""
    rim = spin * P.wheel_radius_m
    x = (ahead * cos(angle) + aside * sin(angle) - rim) / rim
    y = (aside * cos(angle) - ahead * sin(angle)) / rim
    s = hypot(x, y)
    assert s > TYRE.ramp
    along, across = -x / s * table_5(s), -y / s * table_5(s)
    return along, across


def test_single_track_is_equation_4_with_loads_in_equilibrium():
    for vx, vy, rate, spins, u in some(drawn()):
        state = SingleTrackState(0, 0, 0.3, vx, vy, rate, spins[0], spins[1])
        out = SingleTrackState(*single_track_rates(state, u, P))
        d, m = u.steer_rad, P.mass_kg
        fx, fy = per_load(vx, vy + rate * 0.34, spins[0], d)
        rx, ry = per_load(vx, vy - rate * 0.23, spins[1], 0.0)
        # The loads that hold the body level under the acceleration that came out
        push = m * (out.vx_mps - vy * rate)
        front = (m * G * 0.23 - 0.12 * push) / 0.57
        rear = m * G - front
        assert front > 0.0 < rear
        ffx, ffy, frx, fry = front * fx, front * fy, rear * rx, rear * ry
        assert out.vx_mps == pytest.approx(
            (ffx * cos(d) - ffy * sin(d) + frx) / m + vy * rate, rel=1e-9
        )
        assert out.vy_mps == pytest.approx(
            (ffx * sin(d) + ffy * cos(d) + fry) / m - vx * rate, rel=1e-9, abs=1e-9
        )
        assert out.yaw_rate_radps == pytest.approx(
            ((ffy * cos(d) + ffx * sin(d)) * 0.34 - fry * 0.23) / 1.124, rel=1e-9, abs=1e-9
        )
        assert out.spin_front_radps == pytest.approx(-ffx * 0.0975 / 0.048, rel=1e-9, abs=1e-9)
        assert out.spin_rear_radps == pytest.approx(
            (u.drive_nm - frx * 0.0975) / 0.044, rel=1e-9, abs=1e-9
        )


def test_double_track_is_equation_5_and_the_moment_of_unlike_sides():
    for vx, vy, rate, spins, u in some(drawn()):
        state = DoubleTrack(0, 0, -0.2, vx, vy, rate, *spins)
        out = DoubleTrack(*double_track_rates(state, u, P))
        loads = wheel_loads_n(grips_of(state, u, P), P)
        d, m, ahead, left, force = u.steer_rad, P.mass_kg, [], [], []
        for at, spin, load in zip(corners_of(P), spins, loads, strict=True):
            angle = d if at.is_front else 0.0
            along, across = per_load(vx - rate * at.left_m, vy + rate * at.ahead_m, spin, angle)
            force.append((along * load, across * load))
            ahead.append(load * (along * cos(angle) - across * sin(angle)))
            left.append(load * (along * sin(angle) + across * cos(angle)))
        (lfx, lfy), (rfx, rfy), (lrx, lry), (rrx, rry) = force
        eq5a = ((lfx + rfx) * cos(d) - (lfy + rfy) * sin(d) + lrx + rrx) / m + vy * rate
        eq5b = ((lfx + rfx) * sin(d) + (lfy + rfy) * cos(d) + lry + rry) / m - vx * rate
        eq5c = ((lfy + rfy) * cos(d) + (lfx + rfx) * sin(d)) * 0.34 - (lry + rry) * 0.23
        unlike = 0.5 * (0.395 * (ahead[1] - ahead[0]) + 0.405 * (ahead[3] - ahead[2]))
        c, n = cos(0.2), -sin(0.2)  # the yaw is -0.2
        assert out[:3] == pytest.approx((vx * c - vy * n, vx * n + vy * c, rate))
        assert out.vx_mps == pytest.approx(eq5a, rel=1e-9)
        assert out.vy_mps == pytest.approx(eq5b, rel=1e-9, abs=1e-9)
        assert out.yaw_rate_radps == pytest.approx((eq5c + unlike) / 1.124, rel=1e-9, abs=1e-9)


def test_double_tracks_loads_hold_the_body_level_along_and_across():
    for vx, vy, rate, spins, u in some(drawn()):
        state = DoubleTrack(0, 0, 0, vx, vy, rate, *spins)
        out = DoubleTrack(*double_track_rates(state, u, P))
        lf, rf, lr, rr = wheel_loads_n(grips_of(state, u, P), P)
        m, weight = P.mass_kg, P.mass_kg * G
        accel_x, accel_y = out.vx_mps - vy * rate, out.vy_mps + vx * rate
        assert min(lf, rf, lr, rr) > 0.0  # else a wheel lifts, and it would not hold
        assert lf + rf + lr + rr == pytest.approx(weight, rel=1e-12)
        assert 0.34 * (lf + rf) - 0.23 * (lr + rr) == pytest.approx(-0.12 * m * accel_x, abs=1e-9)
        tilt = 0.5 * (0.395 * (rf - lf) + 0.405 * (rr - lr))
        assert tilt == pytest.approx(0.12 * m * accel_y, abs=1e-9)


def test_body_is_equation_7_with_its_misprints_put_right():
    random, b = Random(3), ODD.suspension
    kf, kr, cf, cr = 2000.0, 2600.0, 64.0, 90.0
    lf, lr, wf, wr, ms = ODD.lf_m, ODD.lr_m, 0.36, 0.405, b.mass_kg
    for _ in range(50):
        heave, vz = random.uniform(-0.02, 0.02), random.uniform(-0.3, 0.3)
        roll, pitch = random.uniform(-0.1, 0.1), random.uniform(-0.1, 0.1)
        roll_v, pitch_v = random.uniform(-1.0, 1.0), random.uniform(-1.0, 1.0)
        ax, ay = random.uniform(-8.0, 8.0), random.uniform(-8.0, 8.0)
        x = Full(*[0.0] * 10, heave, roll, pitch, vz, roll_v, pitch_v)
        out = body_rates(Rise(heave, roll, pitch), spring_forces_n(x, ODD), ax, ay, ODD)
        z, zv = -heave, -vz  # theirs points down
        eq7a = (
            -2 * (kf + kr) * z - 2 * (cf + cr) * zv
            + 2 * (lf * kf - lr * kr) * pitch + 2 * (lf * cf - lr * cr) * pitch_v
        ) / ms  # fmt: skip
        eq7b = (
            2 * (lf * kf - lr * kr) * z + 2 * (lf * cf - lr * cr) * zv
            - 2 * (lf**2 * kf + lr**2 * kr) * pitch - 2 * (lf**2 * cf + lr**2 * cr) * pitch_v
            + ms * G * b.height_m * sin(pitch) + ms * ax * b.height_m * cos(pitch)
        ) / b.pitch_inertia_kgm2  # fmt: skip
        arm = b.height_m - b.roll_centre_m
        eq7c = (
            -(wf**2) * kf * roll / 2 - wf**2 * cf * roll_v / 2
            - wr**2 * kr * roll / 2 - wr**2 * cr * roll_v / 2
            + ms * G * arm * sin(roll) + ms * ay * arm * cos(roll)
        ) / b.roll_inertia_kgm2  # fmt: skip
        assert tuple(out) == pytest.approx((-eq7a, eq7c, eq7b), rel=1e-9, abs=1e-9)


def test_full_is_the_double_track_less_air_when_its_loads_are_the_same():
    """Springs placed so that the loads are the double track's: the plane must move alike."""
    no_roll_axis = P._replace(suspension=P.suspension._replace(roll_centre_m=0.0))
    x = rolling("full", 6.0)
    u = ActuatorInput(0.0, 3.0)
    springs = spring_forces_n(x, no_roll_axis)
    assert springs == (0.0,) * 4
    loads = full_loads_n(grips_of(x, u, no_roll_axis), springs, no_roll_axis)
    static = [P.mass_kg * G / 2 * share / 0.57 for share in (0.23, 0.23, 0.34, 0.34)]
    assert loads == pytest.approx(static)
    drag = 0.5 * 1.2 * 0.5 * 0.46 * 0.32 * 36.0 / P.mass_kg
    out = Full(*MODELS["full"].rates(x, u, P))
    assert out.vx_mps == pytest.approx(-drag, abs=1e-12)
