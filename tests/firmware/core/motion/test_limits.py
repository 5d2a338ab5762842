"""S8: range, slew and steering envelope."""

import pytest

from firmware.core.motion.limits import Slew, SteeringEnvelope, clamped, interpolated
from tests.firmware.core.desk import params_with


@pytest.mark.parametrize(
    ("value", "inside"), [(-11, -10), (-10, -10), (0, 0), (20, 20), (21, 20), (10**9, 20)]
)
def test_clamped_is_inside_and_changes_nothing_that_is(value, inside):
    assert clamped(value, -10, 20) == inside


POINTS = [7, 5000, 0, 1024, 3072, 2560, 9, 9]


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (-1000, 0),
        (-1, 0), (0, 0), (1, 1), (511, 511), (1023, 1023), (1024, 1024), (1025, 1026),
        (2047, 3070), (2048, 3072), (2050, 3071), (3071, 2560), (3072, 2560), (3500, 2560),
        (9999, 2560),
    ],
)  # fmt: skip
def test_interpolated_follows_the_line_between_the_points_and_stops_at_its_ends(place, value):
    assert interpolated(POINTS, 2, place, 1024, 3) == value


def test_interpolated_takes_the_fraction_in_1024ths_of_any_span():
    assert interpolated([0, 4096], 0, 250, 1000, 1) == 1024
    assert interpolated([0, 4096], 0, 1, 1000, 1) == 4  # 1/1000 is 1/1024, rounded down
    assert interpolated([0, 4096], 0, 1001, 1000, 1) == 4096


def test_a_slew_begins_at_nothing():
    assert Slew().value == 0
    assert Slew().follow(0, 1000, 10) == 0
    assert Slew().follow(100, 99, 10) == 0  # 0.99 of a unit
    assert Slew().follow(100, 999, 1) == 0
    assert Slew().follow(100, 1000, 1) == 1


def test_a_slew_follows_up_and_down_by_its_rate_and_meets_its_target():
    slew = Slew()
    assert [slew.follow(70, 3000, 10) for _ in range(4)] == [30, 60, 70, 70]
    assert [slew.follow(-20, 3000, 10) for _ in range(4)] == [40, 10, -20, -20]


def test_a_slew_carries_what_a_division_leaves():
    slew = Slew()
    assert [slew.follow(100, 150, 10) for _ in range(6)] == [1, 3, 4, 6, 7, 9]


def test_a_slew_is_exact_in_the_long_run():
    slew = Slew()
    for _ in range(2000):
        slew.follow(10_000, 150, 10)
    assert slew.value == 3000


def test_a_reset_slew_is_where_it_was_put_and_carries_nothing():
    slew = Slew()
    slew.follow(100, 150, 10)
    slew.reset(50)
    assert slew.value == 50
    assert [slew.follow(100, 150, 10) for _ in range(2)] == [51, 53]
    slew.reset(0)
    assert slew.follow(100, 999, 1) == 0


def envelope(**values) -> SteeringEnvelope:
    given = {
        "speed_max_mm_s": 6000, "reverse_max_mm_s": 1000, "steer_max_urad": 400_000,
        "lateral_accel_mm_s2": 7000, "wheelbase_um": 330_000,
    }  # fmt: skip
    made = SteeringEnvelope()
    made.configure(params_with(**{**given, **values}))
    return made


def allowed_urad(speed: int, top: int) -> int:
    """The hyperbola a L / v^2 at the faster end of the sixteenth of 1.25 * top that v is in."""
    span = top * 5 // 64 + 1
    knot = min(abs(speed) // span + 1, 16) * span
    return min(400_000, 7000 * 330_000 * 1000 // knot**2)


@pytest.mark.parametrize("top", [6000, 6400, 30_000])
def test_steering_is_limited_by_the_hyperbola_at_the_faster_end_of_each_step(top):
    made = envelope(speed_max_mm_s=top)
    for speed in range(-2 * top, 2 * top, 7):
        assert made.limit_urad(speed) == allowed_urad(speed, top)


def test_lateral_acceleration_stays_within_its_limit_at_every_speed_the_car_may_have():
    made = envelope()
    for speed in range(0, 7500):
        assert speed**2 * made.limit_urad(speed) // (330_000 * 1000) <= 7000


def test_a_car_that_is_faster_backwards_has_the_envelope_of_that_speed():
    made = envelope(speed_max_mm_s=1000, reverse_max_mm_s=6000)
    assert made.limit_urad(-5000) == allowed_urad(5000, 6000)


def test_a_car_that_creeps_may_steer_fully():
    assert envelope().limit_urad(0) == 400_000


def test_before_it_is_configured_there_is_no_steering():
    for speed in (0, 1, 14, 15, 16, 10_000, -1):
        assert SteeringEnvelope().limit_urad(speed) == 0
