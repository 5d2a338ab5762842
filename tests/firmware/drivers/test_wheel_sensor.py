"""A hall sensor's wheel: speed by period, standstill, bounce, stray edges."""

import random

import pytest

from firmware.drivers.wheel_sensor import WheelSensor

GAP_UM = 100_000  # 0.6 m round, six magnets
TICKS = 1 << 30


def wheel(top_mm_s=20_000, most_mm_s2=15_000, floor_us=1_000_000):
    return WheelSensor(lambda: 0, GAP_UM, top_mm_s, most_mm_s2, floor_us)


def roll(sensor, start_us, speed_mm_s, edges):
    gap_us = GAP_UM * 1000 // speed_mm_s
    for n in range(edges):
        sensor.edge((start_us + n * gap_us) % TICKS)
    return start_us + (edges - 1) * gap_us


@pytest.mark.parametrize("speed_mm_s", [120, 1000, 7000, 20_000])
@pytest.mark.parametrize("start_us", [0, TICKS - 30_000])
def test_the_speed_is_that_of_the_last_gap(speed_mm_s, start_us):
    sensor = wheel()
    last_us = roll(sensor, start_us, speed_mm_s, 5)
    sensor.step((last_us + 100) % TICKS)
    assert abs(sensor.speed_mm_s - speed_mm_s) <= speed_mm_s // 500 + 1
    assert (sensor.count, sensor.captured_us) == (5, last_us % TICKS)


def test_without_an_edge_the_speed_falls_to_what_the_wait_allows_and_ends_at_the_floor():
    sensor = wheel()
    last_us = roll(sensor, 0, 5000, 10)
    for waited_us, speed_mm_s in ((20_000, 5000), (100_000, 1000), (500_000, 200), (999_999, 100)):
        sensor.step(last_us + waited_us)
        assert sensor.speed_mm_s == speed_mm_s
    sensor.step(last_us + 1_000_000)
    assert sensor.speed_mm_s == 0
    sensor.edge(last_us + 1_500_000)  # one edge after a rest tells no speed
    sensor.step(last_us + 1_500_010)
    assert sensor.speed_mm_s == 0
    for later_us in range(0, TICKS, 400_000_000):
        sensor.step((last_us + 3_000_000 + later_us) % TICKS)
        assert sensor.speed_mm_s == 0


def test_bounce_counts_nothing():
    sensor = wheel()
    at_us = 0
    for _ in range(20):
        for bounce_us in (0, 40, 90, 1000, 4000):
            sensor.edge(at_us + bounce_us)
        at_us += 20_000
    sensor.step(at_us - 10_000)
    assert (sensor.count, sensor.refused, sensor.speed_mm_s) == (20, 80, 5000)


def test_a_stray_edge_between_two_counts_nothing():
    sensor = wheel()
    last_us = roll(sensor, 0, 5000, 10)
    sensor.edge(last_us + 9000)
    sensor.step(last_us + 9001)
    assert (sensor.count, sensor.refused, sensor.speed_mm_s) == (10, 1, 5000)
    sensor.edge(last_us + 20_000)
    sensor.step(last_us + 20_001)
    assert (sensor.count, sensor.speed_mm_s) == (11, 5000)


def test_a_hard_start_loses_no_edge():
    sensor, gap_m = wheel(), GAP_UM / 1e6
    for n in range(40):  # 12 m/s2 from rest: way = 6 t2
        sensor.edge(round((n * gap_m / 6) ** 0.5 * 1e6))
    assert (sensor.count, sensor.refused) == (40, 0)


def test_a_wheel_that_really_got_faster_is_believed_again():
    sensor = wheel()
    last_us = roll(sensor, 0, 1000, 5)
    last_us = roll(sensor, last_us + 10_000, 10_000, 10)
    sensor.step(last_us + 100)
    assert 9900 <= sensor.speed_mm_s <= 10_000
    assert sensor.refused <= 4


def test_random_strays_make_a_wheel_at_most_a_little_wrong():
    sensor, chance, at_us = wheel(), random.Random(9), 0
    for _ in range(500):
        at_us += 20_000
        sensor.edge(at_us)
        if chance.random() < 0.3:
            sensor.edge(at_us + chance.randrange(100, 15_000))
    assert sensor.count == 500
    sensor.step(at_us + 100)
    assert sensor.speed_mm_s == 5000


def test_the_limits_themselves_are_possible():
    sensor = WheelSensor(lambda: 0, 1_000_000, 1_000_000, 50_000, 10_000_000)
    assert (sensor.speed_mm_s, sensor.count, sensor.captured_us) == (0, 0, 0)


@pytest.mark.parametrize(("speed_mm_s", "is_stray"), [(1076, False), (1079, True)])
def test_the_gain_that_the_acceleration_allows_is_the_limit(speed_mm_s, is_stray):
    # from 1000 mm/s, over gaps of 100 and 93 ms, 400 mm/s2 allow a gain of 77 mm/s
    sensor = wheel(most_mm_s2=400)
    last_us = roll(sensor, 0, 1000, 3)
    sensor.edge(last_us + GAP_UM * 1000 // speed_mm_s)
    assert sensor.refused == is_stray


def test_an_edge_that_came_after_the_step_was_timed_is_no_long_wait():
    sensor = wheel()
    last_us = roll(sensor, 0, 5000, 5)
    for early_us in (0, 1, 999):
        sensor.step(last_us - early_us)
        assert sensor.speed_mm_s == 5000


@pytest.mark.parametrize(
    ("gap_um", "top_mm_s", "most_mm_s2", "floor_us", "word"),
    [
        (0, 1000, 1000, 10**6, "gap_um"),
        (1_000_001, 1000, 1000, 10**6, "gap_um"),
        (1000, 0, 1000, 10**6, "top_mm_s"),
        (1000, 1000, 50_001, 10**6, "most_mm_s2"),
        (100_000, 1000, 1000, 100_000, "floor_us"),
        (1000, 1000, 1000, 10**7 + 1, "floor_us"),
    ],
)
def test_a_wheel_that_cannot_be_is_refused(gap_um, top_mm_s, most_mm_s2, floor_us, word):
    with pytest.raises(ValueError, match=word):
        WheelSensor(lambda: 0, gap_um, top_mm_s, most_mm_s2, floor_us)
