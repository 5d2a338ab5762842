"""Encoders: whole counts, both directions, the counter's wrap."""

from math import pi

import pytest

from sim_mock.sensors.encoder import EncoderPair, EncoderParameters

RADIUS_M, TRACK_M = 0.0325, 0.153
DT_S = 0.001
PER_COUNT_M = 2 * pi * RADIUS_M / 1920


def encoder(on: str = "wheels") -> EncoderPair:
    return EncoderPair(EncoderParameters(1920, on), RADIUS_M, TRACK_M)


def test_one_turn_of_the_wheel_is_its_counts():
    one = encoder()
    one.step(DT_S, 2 * pi * RADIUS_M + 0.5 * PER_COUNT_M, 0.0)
    assert one.counts() == (1920, 1920)


def test_counts_are_whole_and_late_by_less_than_one():
    one, travel_m = encoder(), 0.0
    for _ in range(1000):
        one.step(DT_S, 0.37 * PER_COUNT_M, 0.0)
        travel_m += 0.37 * PER_COUNT_M
        assert 0 <= travel_m / PER_COUNT_M - one.counts()[0] < 1 + 1e-6


def test_backward_counts_down_and_there_and_back_is_zero():
    one = encoder()
    one.step(DT_S, -10.5 * PER_COUNT_M, 0.0)
    assert one.counts()[0] == (1 << 30) - 11
    one.step(DT_S, 11.0 * PER_COUNT_M, 0.0)
    assert one.counts()[0] == 0


def test_the_counter_wraps_at_30_bits():
    one = encoder()
    one.step(DT_S, ((1 << 30) + 5.5) * PER_COUNT_M, 0.0)
    assert one.counts()[0] == 5


@pytest.mark.parametrize(("on", "apart_m"), [("wheels", TRACK_M), ("shaft", 0.0)])
def test_turning_left_the_right_wheel_goes_further_by_track_times_angle(on, apart_m):
    one = encoder(on)
    one.step(DT_S, 1.0, 0.5)
    left, right = one.counts()
    assert (right - left) * PER_COUNT_M == pytest.approx(0.5 * apart_m, abs=PER_COUNT_M)


# --- magnets: six a turn, timed


GAP_M = 2 * pi * 0.0975 / 6


def magnets():
    return EncoderPair(EncoderParameters(384, "wheels", magnets=6, floor_s=0.4), 0.0975, 0.4)


def roll(one, speed_mps, seconds):
    """Speed by the board's counts, over the second half."""
    half = round(seconds / DT_S / 2)
    for step in range(2 * half):
        if step == half:
            begun_m = one.left_m
        one.step(DT_S, speed_mps * DT_S, 0.0)
    return (one.left_m - begun_m) / (half * DT_S)


@pytest.mark.parametrize("speed_mps", [0.5, 3.0, 10.0])
def test_timed_magnets_tell_a_steady_speed_to_a_thousandth(speed_mps):
    assert roll(magnets(), speed_mps, 6.0) == pytest.approx(speed_mps, rel=1e-3)


def test_timed_magnets_are_where_the_tyre_is_to_within_two_gaps_and_a_bit():
    """Two are gone before the speed is known for the first time."""
    one, rolled_m, worst_m = magnets(), 0.0, 0.0
    for step in range(8000):
        speed_mps = 5.0 * min(step, 8000 - step) / 4000
        rolled_m += speed_mps * DT_S
        one.step(DT_S, speed_mps * DT_S, 0.0)
        worst_m = max(worst_m, abs(one.left_m - rolled_m))
    assert worst_m < 2.2 * GAP_M


def test_magnets_tell_no_direction():
    assert roll(magnets(), -2.0, 4.0) == pytest.approx(2.0, rel=1e-3)


def test_a_wheel_that_stops_between_magnets_stands_after_the_floor_and_counts_no_more():
    one = magnets()
    roll(one, 3.0, 2.0)
    roll(one, 0.0, 0.5)
    stood = one.counts()
    roll(one, 0.0, 2.0)
    assert one.counts() == stood
