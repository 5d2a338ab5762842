"""Encoders: whole counts, both directions, the counter's wrap."""

from math import pi

import pytest

from sim_mock.sensors.encoder import Encoder, EncoderParameters

RADIUS_M, TRACK_M = 0.0325, 0.153
PER_COUNT_M = 2 * pi * RADIUS_M / 1920


def encoder(on: str = "wheels") -> Encoder:
    return Encoder(EncoderParameters(1920, on), RADIUS_M, TRACK_M)


def test_one_turn_of_the_wheel_is_its_counts():
    one = encoder()
    one.step(2 * pi * RADIUS_M + 0.5 * PER_COUNT_M, 0.0)
    assert one.counts() == (1920, 1920)


def test_counts_are_whole_and_late_by_less_than_one():
    one, travel_m = encoder(), 0.0
    for _ in range(1000):
        one.step(0.37 * PER_COUNT_M, 0.0)
        travel_m += 0.37 * PER_COUNT_M
        assert 0 <= travel_m / PER_COUNT_M - one.counts()[0] < 1 + 1e-6


def test_backward_counts_down_and_there_and_back_is_zero():
    one = encoder()
    one.step(-10.5 * PER_COUNT_M, 0.0)
    assert one.counts()[0] == (1 << 30) - 11
    one.step(11.0 * PER_COUNT_M, 0.0)
    assert one.counts()[0] == 0


def test_the_counter_wraps_at_30_bits():
    one = encoder()
    one.step(((1 << 30) + 5.5) * PER_COUNT_M, 0.0)
    assert one.counts()[0] == 5


@pytest.mark.parametrize(("on", "apart_m"), [("wheels", TRACK_M), ("shaft", 0.0)])
def test_turning_left_the_right_wheel_goes_further_by_track_times_angle(on, apart_m):
    one = encoder(on)
    one.step(1.0, 0.5)
    left, right = one.counts()
    assert (right - left) * PER_COUNT_M == pytest.approx(0.5 * apart_m, abs=PER_COUNT_M)
