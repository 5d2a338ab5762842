"""A hall sensor's wheel: speed by period, standstill, bounce, stray edges."""

import itertools
import random

import pytest

from firmware.drivers.wheels.timed_wheel import TimedWheel
from firmware.drivers.wheels.wheel_sensor import WheelSensor

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


# --- fine counts -----------------------------------------------------------------------------

FINE_GAP_UM = 102_000  # AutoRally's front wheel: six magnets on 0.612 m
FINE = 64
STEP_US = 10_000


def rolled(speeds_mm_s):
    """Truth in um and counts in um, after each step of 10 ms at these speeds."""
    sensor = WheelSensor(lambda: 0, FINE_GAP_UM, 12_000, 8_000, 500_000)
    wheel = TimedWheel(sensor, FINE_GAP_UM, FINE)
    at_um, edge_um, seen = 0, FINE_GAP_UM // 2, []
    for step, speed_mm_s in enumerate(speeds_mm_s):
        end_um = at_um + speed_mm_s * STEP_US // 1000
        while speed_mm_s and edge_um <= end_um:
            sensor.edge(step * STEP_US + (edge_um - at_um) * 1000 // speed_mm_s)
            edge_um += FINE_GAP_UM
        at_um = end_um
        wheel.read((step + 1) * STEP_US)
        seen.append((at_um, wheel.count * (FINE_GAP_UM // FINE)))
    return seen


@pytest.mark.parametrize("speed_mm_s", [500, 2000, 9000])
def test_fine_counts_run_at_the_wheels_speed_between_its_magnets(speed_mm_s):
    seen = rolled([speed_mm_s] * 400)
    first, last = seen[200], seen[-1]
    assert abs((last[1] - first[1]) - (last[0] - first[0])) <= 0.02 * (last[0] - first[0])
    steps = [b[1] - a[1] for a, b in itertools.pairwise(seen[200:])]
    assert max(steps) <= speed_mm_s * 10 * 1.1 + FINE_GAP_UM // FINE


def test_fine_counts_are_drawn_to_the_edges_and_stay_there():
    speeds = [min(step * 20, 6000) for step in range(600)] + [3000] * 600
    seen = rolled(speeds)
    away_um = [fine_um - true_um for true_um, fine_um in seen]
    assert max(away_um[600:]) - min(away_um[600:]) <= 2 * FINE_GAP_UM
    assert abs(away_um[-1] - away_um[700]) <= FINE_GAP_UM


def test_a_wheel_that_stands_counts_nothing():
    seen = rolled([2000] * 100 + [0] * 200)
    assert seen[-1][1] == seen[160][1]


@pytest.mark.parametrize(("gap_um", "counts"), [(500_001, 64), (100, 101), (100, 0)])
def test_fine_counts_that_cannot_be_are_refused(gap_um, counts):
    sensor = WheelSensor(lambda: 0, 102_000, 12_000, 8_000, 500_000)
    with pytest.raises(ValueError, match="counts_per_gap"):
        TimedWheel(sensor, gap_um, counts)
