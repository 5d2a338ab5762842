"""Odometry to the number: what each count, each turn and each step of time comes to."""

import math

import pytest

from firmware.core.motion import odometry as odometry_module
from firmware.core.motion.odometry import Odometry, sine
from firmware.core.settings.params import CURVE_POINTS
from tests.firmware.core.bare_car import GIVEN
from tests.firmware.core.desk import params_with
from tests.support.evidence import holds_for

STEP_US = 10_000
TURN_URAD, QUARTER_URAD = 6_283_185, 1_570_796
LOCK_URAD = 400_000
CURVES = [(i - 4) * 1000 for i in range(CURVE_POINTS)]  # 1/10 km: to the left is positive


def fresh(**values) -> Odometry:
    """A millimetre a count unless another is named; its first step is done."""
    made = Odometry()
    given = {"nm_per_count": 1_000_000, "steer_max_urad": LOCK_URAD, "curvature_per_10km": CURVES}
    made.configure(params_with(**{**GIVEN, **given, **values}))
    made.step(0, 0, 0, 0, 0)
    return made


class Drive:
    def __init__(self, **values) -> None:
        self.odometry = fresh(**values)
        self.left = self.right = self.now_us = 0

    def step(self, left=0, right=None, steer=0, yaw_rate=0, steps=1, dt_us=STEP_US) -> Odometry:
        for _ in range(steps):
            self.left += left
            self.right += left if right is None else right
            self.now_us += dt_us
            self.odometry.step(self.left, self.right, self.now_us, steer, yaw_rate)
        return self.odometry


# --- sines


def is_right_at(degrees):
    urad = round(math.radians(degrees) * 1e6)
    assert sine(urad) == pytest.approx(16384 * math.sin(urad * 1e-6), abs=6)


def test_a_sine_is_right_to_three_ten_thousandths():
    assert holds_for(((degrees,) for degrees in range(-720, 721, 7)), is_right_at)


@pytest.mark.parametrize(
    ("urad", "value"),
    [(0, 0), (QUARTER_URAD, 16383), (2 * QUARTER_URAD, 0), (3 * QUARTER_URAD, -16383),
     (TURN_URAD, 0), (TURN_URAD + QUARTER_URAD, 16383), (-QUARTER_URAD, -16383)],
)  # fmt: skip
def test_at_the_quarters_it_is_exact(urad, value):
    assert sine(urad) == pytest.approx(value, abs=1)


def test_its_table_is_the_sine():
    table = [round(16384 * math.sin(i * math.pi / 64)) for i in range(33)]
    assert list(odometry_module._SINES) == table


# --- before it moves


def test_it_begins_at_rest_where_it_is():
    made = Odometry()
    assert (made.speed_mm_s, made.distance_mm, made.x_mm, made.y_mm) == (0, 0, 0, 0)
    assert (made.yaw_urad, made.yaw_rate_mrad_s) == (0, 0)
    assert not (made.is_gyro_lost)
    assert not (made.is_driven)
    assert not (made.is_one_sided)
    assert not (made.has_gyro)


def test_what_it_finds_at_first_is_no_travel():
    made = Odometry()
    made.configure(params_with(**GIVEN))
    made.step(1000, 1000, 5_000_000, 0, 0)
    assert (made.distance_mm, made.speed_mm_s, made.is_one_sided) == (0, 0, False)
    made.step(1005, 1005, 5_010_000, 0, 0)
    assert made.distance_mm == 5


# --- speed and distance


def test_speed_is_that_of_the_last_four_steps():
    drive = Drive()
    drive.step(0, steps=4)
    assert [drive.step(8).speed_mm_s for _ in range(5)] == [200, 400, 600, 800, 800]
    assert [drive.step(-4).speed_mm_s for _ in range(4)] == [500, 200, -100, -400]
    assert [drive.step(0).speed_mm_s for _ in range(4)] == [-300, -200, -100, 0]


def test_it_is_of_the_time_that_passed():
    drive = Drive()
    assert drive.step(10, dt_us=5_000, steps=8).speed_mm_s == 2000
    assert drive.step(10, dt_us=20_000, steps=4).speed_mm_s == 500


def test_a_step_without_time_is_no_travel():
    drive = Drive()
    drive.step(5, steps=4)
    before = drive.odometry.distance_mm
    made = drive.step(7, dt_us=0)
    assert made.distance_mm == before
    drive.now_us -= 3
    drive.odometry.step(drive.left, drive.right, drive.now_us, 0, 0)
    assert made.distance_mm == before


@pytest.mark.parametrize("nm_per_count", [1_000_000, 333_333, 20_001])
@pytest.mark.parametrize("sign", [1, -1])
def test_distance_is_exact_in_the_long_run(nm_per_count, sign):
    drive = Drive(nm_per_count=nm_per_count)
    made = drive.step(sign * 7, steps=1000)
    expected = sign * 7 * 1000 * (nm_per_count // 2) * 2 / 1e6
    assert made.distance_mm == pytest.approx(expected, abs=2)


def test_one_side_s_count_is_half_the_way():
    assert Drive().step(100, 0).distance_mm == 50
    assert Drive().step(0, 100).distance_mm == 50


def test_more_than_a_quarter_metre_in_a_step_is_a_quarter_metre():
    for counts, distance in ((250, 250), (251, 250), (5000, 250), (-251, -250)):
        drive = Drive()
        assert drive.step(counts).distance_mm == distance
        assert drive.odometry.speed_mm_s == distance * 100


def test_a_distance_ends_at_a_thousand_kilometres():
    drive = Drive()
    drive.odometry.distance_mm = 999_999_950
    assert drive.step(100).distance_mm == 1_000_000_000
    drive.odometry.distance_mm = -999_999_950
    assert drive.step(-100).distance_mm == -1_000_000_000


def test_after_a_hang_the_speed_is_that_of_the_hang():
    drive = Drive()
    made = drive.step(100, dt_us=1_000_000)
    assert made.speed_mm_s == 100
    assert made.distance_mm == 100
    made = drive.step(20, dt_us=100_000, steps=4)
    assert made.speed_mm_s == 200


@pytest.mark.parametrize("dt_us", [24_999, 25_000, 40_000, 150_000])
def test_after_a_hang_a_fast_car_is_not_taken_for_a_slow_one(dt_us):
    """7 m/s: what a step may count at most is 0.25 m, and the hang lasted for more than that."""
    drive = Drive()
    drive.step(7 * 10, steps=5)
    made = drive.step(7 * dt_us // 1000, dt_us=dt_us)
    assert made.speed_mm_s == pytest.approx(7000, rel=0.02)


@pytest.mark.parametrize(("is_on_stand", "speed_mm_s"), [(False, 2000), (True, 1000)])
def test_where_one_side_stands_the_other_is_the_cars_speed_but_not_on_a_stand(
    is_on_stand, speed_mm_s
):
    drive = Drive()
    drive.odometry.is_on_stand = is_on_stand
    assert drive.step(20, 0, steps=8).speed_mm_s == speed_mm_s
    assert drive.step(20, 20, steps=8).speed_mm_s == 2000


# --- one side


def test_one_side_that_stands_while_the_other_turns_is_seen_after_12_mm():
    drive = Drive()
    assert [drive.step(4, 0).is_one_sided for _ in range(4)] == [False, False, True, True]
    assert [drive.step(4).is_one_sided for _ in range(2)] == [False, False]


@pytest.mark.parametrize("standing", [0, 1])
@pytest.mark.parametrize("sign", [1, -1])
def test_whichever_side_in_whichever_direction_and_one_count_is_no_turning(standing, sign):
    counts = [sign * 6, 0] if standing else [0, sign * 6]
    drive = Drive()
    for _ in range(3):
        made = drive.step(*counts)
    assert made.is_one_sided
    drive.left += 1 - standing
    drive.right += standing
    assert drive.step(*counts).is_one_sided, "one count of the one that stands"
    drive.left += 1 - standing
    drive.right += standing
    assert not drive.step(*counts).is_one_sided, "two are a turning wheel"


def test_coarse_wheels_need_three_counts():
    drive = Drive(nm_per_count=20_000_000)
    assert [drive.step(1, 0).is_one_sided for _ in range(3)] == [False, False, True]


# --- the gyro


def test_a_bias_is_learned_after_half_a_second_at_rest():
    drive = Drive(gyro_fitted=1)
    assert drive.step(yaw_rate=10, steps=50).yaw_rate_mrad_s == 10
    rates = [drive.step(yaw_rate=10).yaw_rate_mrad_s for _ in range(200)]
    assert rates[0] == 10
    assert rates[-1] in (0, 1)
    assert sorted(rates, reverse=True) == rates


@pytest.mark.parametrize("is_driven", [True, False])
def test_none_is_learned_while_it_drives_or_turns(is_driven):
    drive = Drive(gyro_fitted=1)
    drive.odometry.is_driven = is_driven
    made = drive.step(0 if is_driven else 1, yaw_rate=20, steps=300)
    assert made.yaw_rate_mrad_s == 20
    drive.odometry.is_driven = False
    assert drive.step(yaw_rate=20, steps=50).yaw_rate_mrad_s == 20
    assert drive.step(yaw_rate=20, steps=100).yaw_rate_mrad_s < 5


@pytest.mark.parametrize("sign", [1, -1])
def test_a_bias_is_fifty_at_most_and_one_reading_a_thousand(sign):
    drive = Drive(gyro_fitted=1)
    made = drive.step(yaw_rate=sign * 500, steps=600)
    assert made.yaw_rate_mrad_s == sign * 450
    drive = Drive(gyro_fitted=1)
    drive.step(steps=50)
    made = drive.step(yaw_rate=sign * 9000)
    assert made.yaw_rate_mrad_s == pytest.approx(sign * (9000 - 1000 / 32), abs=1)


def test_a_lost_gyro_says_nothing_and_is_forgotten_for_nothing():
    drive = Drive(gyro_fitted=1)
    drive.step(yaw_rate=64, steps=400)
    drive.odometry.is_gyro_lost = True
    made = drive.step(yaw_rate=700)
    assert made.yaw_rate_mrad_s == 0
    drive.odometry.is_gyro_lost = False
    assert drive.step(1, yaw_rate=100).yaw_rate_mrad_s == pytest.approx(50, abs=2)


@pytest.mark.parametrize(("rate", "turned_urad"), [(100, 1000), (-100, -1000), (12_000, 100_000)])
def test_with_a_gyro_it_turns_as_that_says_and_ten_radians_a_second_at_most(rate, turned_urad):
    made = Drive(gyro_fitted=1).step(yaw_rate=rate)
    assert made.yaw_urad == turned_urad % TURN_URAD


def test_what_is_less_than_a_microradian_is_carried():
    drive = Drive(gyro_fitted=1)
    made = drive.step(1, yaw_rate=1, dt_us=1_100, steps=10)
    assert made.yaw_urad == 11


def test_what_it_turned_is_less_the_bias():
    drive = Drive(gyro_fitted=1)
    drive.step(yaw_rate=50, steps=800)
    before = drive.odometry.yaw_urad
    drive.step(1, yaw_rate=50, steps=100)
    assert abs(drive.odometry.yaw_urad - before) < 2_000, "of 50 000"


def test_in_a_hang_it_turned_a_tenth_of_a_second_at_most():
    assert Drive(gyro_fitted=1).step(yaw_rate=100, dt_us=100_000).yaw_urad == 10_000
    assert Drive(gyro_fitted=1).step(yaw_rate=100, dt_us=900_000).yaw_urad == 10_000
    assert Drive(gyro_fitted=1).step(yaw_rate=100, dt_us=99_999).yaw_urad == 9_999


# --- the wheels' turn


@pytest.mark.parametrize(
    ("steer", "per_10km"), [(0, 0), (LOCK_URAD, 4000), (-LOCK_URAD, -4000), (200_000, 2000)]
)
@pytest.mark.parametrize("sign", [1, -1])
def test_without_a_gyro_it_turns_as_its_curve_says(steer, per_10km, sign):
    made = Drive().step(sign * 10, steer=steer, steps=100)
    turned = sign * 1.0 * per_10km * 1e-4 * 1e6  # over a metre
    yaw = (made.yaw_urad + TURN_URAD // 2) % TURN_URAD - TURN_URAD // 2
    assert yaw == pytest.approx(turned, abs=15)


def test_a_gyro_that_is_lost_leaves_it_to_the_curve():
    drive = Drive(gyro_fitted=1)
    drive.odometry.is_gyro_lost = True
    made = drive.step(10, steer=LOCK_URAD, yaw_rate=5000, steps=100)
    assert made.yaw_urad == pytest.approx(400_000, abs=15)


def test_small_travels_turn_it_too():
    drive = Drive(nm_per_count=7_000)
    made = drive.step(1, steer=LOCK_URAD, steps=20_000)
    assert made.yaw_urad == pytest.approx(0.007 * 0.4 * 20_000 * 1e3, rel=0.01)


# --- where it is


@pytest.mark.parametrize("degrees", [0, 30, 90, 135, 180, 250, 270, 359])
def test_it_goes_where_it_looks(degrees):
    drive = Drive()
    drive.odometry.yaw_urad = round(math.radians(degrees) * 1e6)
    made = drive.step(10, steps=100)
    x, y = 1000 * math.cos(math.radians(degrees)), 1000 * math.sin(math.radians(degrees))
    assert (made.x_mm, made.y_mm) == (pytest.approx(x, abs=1.5), pytest.approx(y, abs=1.5))


def test_a_circle_ends_where_it_began_and_its_width_is_its_curve_s():
    drive = Drive()
    widest = 0
    while drive.odometry.distance_mm < round(2 * math.pi * 2500):
        made = drive.step(20, steer=LOCK_URAD)
        widest = max(widest, made.y_mm)
    assert widest == pytest.approx(5000, abs=10)
    assert (made.x_mm, made.y_mm) == (pytest.approx(0, abs=20), pytest.approx(0, abs=20))


def test_in_a_step_it_looks_halfway_between_before_and_after():
    drive = Drive(gyro_fitted=1)
    made = drive.step(200, yaw_rate=10_000, dt_us=100_000)
    assert made.yaw_urad == 1_000_000
    x, y = 200 * math.cos(0.5), 200 * math.sin(0.5)
    assert (made.x_mm, made.y_mm) == (pytest.approx(x, abs=1), pytest.approx(y, abs=1))
