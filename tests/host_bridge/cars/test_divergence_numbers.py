"""How far a car and its twin are apart, to the number and to the instant: pure cases alone."""

from __future__ import annotations

import math

import pytest

from host_bridge.cars.divergence import (
    PERSIST_US,
    Alarm,
    Difference,
    Divergence,
    MotionHistory,
    MotionSample,
    interpolated,
    position_from,
)
from host_bridge.core import DivergenceLimits

LIMITS = DivergenceLimits(steer_rad=0.05, speed_mps=0.3, yaw_rate_radps=0.4, path_m=0.6)
NAMES = ("steer_rad", "speed_mps", "yaw_rate_radps", "x_m", "y_m", "yaw_rad")
STEP_US = 100_000


def sample(time_us: int, **values: float) -> MotionSample:
    return MotionSample(time_us, **{**dict.fromkeys(NAMES, 0.0), **values})


def test_an_alarm_takes_three_tenths_of_a_second():
    assert PERSIST_US == 300_000


# --- between samples


def test_each_value_is_interpolated_by_itself():
    first = MotionSample(1000, 1.0, 2.0, 3.0, 4.0, 5.0, 0.5)
    second = MotionSample(2000, 3.0, 6.0, 9.0, 12.0, 15.0, 1.5)
    assert interpolated(first, second, 1250) == MotionSample(1250, 1.5, 3.0, 4.5, 6.0, 7.5, 0.75)
    assert interpolated(first, second, 1000) == first
    assert interpolated(first, second, 2000) == second


def test_of_two_samples_of_one_instant_the_later_one_counts():
    assert interpolated(sample(5, x_m=1.0), sample(5, x_m=2.0), 5).x_m == 2.0


@pytest.mark.parametrize(("begin", "end", "middle"), [(3.0, -3.0, math.pi), (-3.0, 3.0, -math.pi)])
def test_a_heading_goes_the_shorter_way_in_either_direction(begin, end, middle):
    between = interpolated(sample(0, yaw_rad=begin), sample(100, yaw_rad=end), 50)
    assert between.yaw_rad == pytest.approx(middle)


@pytest.mark.parametrize(
    ("yaw_rad", "ahead", "left"),
    [(0.0, 3.0, 4.0), (math.pi / 2, 4.0, -3.0), (math.pi, -3.0, -4.0), (-math.pi / 2, -4.0, 3.0)],
)
def test_a_position_is_ahead_and_to_the_left_of_where_it_looked(yaw_rad, ahead, left):
    origin = sample(0, x_m=10.0, y_m=20.0, yaw_rad=yaw_rad)
    assert position_from(origin, sample(1, x_m=13.0, y_m=24.0)) == pytest.approx((ahead, left))


# --- one car's samples


def test_a_track_gives_what_was_between_its_samples_and_nothing_else():
    track = MotionHistory()
    assert (track.latest_us(), track.at(0)) == (None, None)
    for time_us in (1000, 2000, 4000):
        track.add(sample(time_us, x_m=time_us))
    assert track.latest_us() == 4000
    for time_us in (1000, 1500, 2000, 2001, 3999, 4000):
        assert track.at(time_us) == sample(time_us, x_m=pytest.approx(time_us))
    assert (track.at(999), track.at(4001)) == (None, None)


def test_what_is_not_newer_is_dropped():
    track = MotionHistory()
    track.add(sample(1000, x_m=1.0))
    track.add(sample(1000, x_m=2.0))
    track.add(sample(999, x_m=3.0))
    assert track.at(1000) == sample(1000, x_m=1.0)
    assert track.latest_us() == 1000
    track.add(sample(2000, x_m=4.0))
    track.add(sample(1500, x_m=5.0))
    assert track.latest_us() == 2000


def test_it_forgets_all_but_the_newest_256():
    track = MotionHistory()
    for time_us in range(257):
        track.add(sample(time_us))
    assert (track.at(0), track.at(1)) == (None, sample(1))


# --- an alarm


def alarmed(*steps: tuple[int, bool]) -> list[int | None]:
    alarm = Alarm()
    found = []
    for time_us, exceeds in steps:
        alarm.step(exceeds, time_us)
        found.append(alarm.since_us)
    return found


def test_an_alarm_comes_when_it_lasted_and_says_since_when():
    assert alarmed((7, True), (PERSIST_US + 6, True), (PERSIST_US + 7, True)) == [None, None, 7]


def test_it_goes_as_late_and_a_moment_s_agreement_is_none():
    end = 1_000_000
    assert alarmed(
        (0, True), (PERSIST_US, True), (end, False), (end + 10, True), (end + 20, False),
        (end + 19 + PERSIST_US, False), (end + 20 + PERSIST_US, False),
    ) == [None, 0, 0, 0, 0, 0, None]  # fmt: skip


def test_a_moment_s_agreement_begins_its_time_anew():
    assert alarmed(
        (0, True), (PERSIST_US - 1, False), (PERSIST_US, True), (2 * PERSIST_US - 1, True),
        (2 * PERSIST_US, True),
    ) == [None, None, None, None, PERSIST_US]  # fmt: skip


def test_it_comes_again_as_late_as_the_first_time():
    away = 2 * PERSIST_US
    assert alarmed(
        (0, True), (PERSIST_US, True), (PERSIST_US + 1, False), (away + 1, False),
        (away + 2, True), (away + 3, True), (3 * PERSIST_US + 2, True),
    ) == [None, 0, 0, None, None, None, away + 2]  # fmt: skip


# --- a car against its twin


class Pair:
    def __init__(self, **limits) -> None:
        self.divergence = Divergence(LIMITS if not limits else DivergenceLimits(**limits))
        self.now_us = 0

    def report(self, car=None, twin=None, steps: int = 1) -> Divergence:
        for _ in range(steps):
            self.now_us += STEP_US
            self.divergence.car.add(sample(self.now_us, **(car or {})))
            self.divergence.twin.add(sample(self.now_us, **(twin or {})))
            self.divergence.step()
        return self.divergence

    def amounts(self) -> dict[str, float]:
        return {it.what: round(it.amount, 9) for it in self.divergence.differences}


NONE = {"steering": 0.0, "speed": 0.0, "yaw rate": 0.0, "path": 0.0}


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize(
    ("value", "what", "unit", "limit"),
    [
        ("steer_rad", "steering", "rad", 0.05),
        ("speed_mps", "speed", "m/s", 0.3),
        ("yaw_rate_radps", "yaw rate", "rad/s", 0.4),
    ],
)
def test_each_quantity_has_its_own_limit_which_is_itself_no_difference(
    value, what, unit, limit, sign
):
    pair = Pair()
    divergence = pair.report(twin={value: sign * limit}, steps=9)
    assert pair.amounts() == {**NONE, what: limit}
    assert divergence.alarms() == ()
    divergence = pair.report(car={value: 1.0}, twin={value: 1.0 + sign * 1.5 * limit}, steps=3)
    assert divergence.alarms() == ()
    (alarm,) = pair.report(car={value: -1.0}, twin={value: -1.0 + sign * 1.5 * limit}).alarms()
    assert (alarm.what, alarm.unit, alarm.limit) == (what, unit, limit)
    assert (alarm.amount, alarm.since_us) == (pytest.approx(1.5 * limit), 10 * STEP_US)


def test_a_path_is_measured_from_where_each_was_first_and_its_limit_is_its_own():
    pair = Pair()
    here, there = {"x_m": 5.0, "y_m": 1.0}, {"x_m": -7.0, "y_m": 2.0, "yaw_rad": math.pi / 2}
    pair.report(here, there)
    assert pair.amounts() == NONE
    pair.report({**here, "x_m": 8.0}, {**there, "y_m": 5.0})
    assert pair.amounts() == NONE, "both went 3 m ahead"
    pair.report({**here, "x_m": 8.0}, {**there, "y_m": 5.0, "x_m": -7.4})
    assert pair.amounts() == {**NONE, "path": 0.4}
    far = {**there, "y_m": 5.0, "x_m": -7.8}
    (alarm,) = pair.report({**here, "x_m": 8.0}, far, steps=4).alarms()
    assert (alarm.what, alarm.unit, alarm.limit) == ("path", "m", 0.6)
    assert (alarm.amount, alarm.since_us) == (pytest.approx(0.8), 4 * STEP_US)


def test_after_a_reset_paths_begin_where_the_cars_then_are_and_no_alarm_is_left():
    pair = Pair()
    far = {"x_m": 3.0, "speed_mps": 1.0}
    pair.report()
    assert len(pair.report(far, steps=4).alarms()) == 2
    pair.divergence.reset()
    assert (pair.divergence.differences, pair.divergence.alarms()) == ((), ())
    divergence = pair.report(far)
    assert pair.amounts() == {**NONE, "speed": 1.0}
    assert divergence.alarms() == ()
    assert [it.what for it in pair.report(far, steps=3).alarms()] == ["speed"]


def test_it_compares_at_the_newest_instant_that_both_reached_and_only_once():
    divergence = Divergence(LIMITS)
    divergence.step()
    divergence.car.add(sample(1000))
    divergence.step()
    divergence.twin.add(sample(500, speed_mps=1.0))
    divergence.step()
    assert (divergence.compared, divergence.differences) == (0, ()), "the car began later"
    divergence.twin.add(sample(1500, speed_mps=2.0))
    divergence.step()
    divergence.step()
    assert divergence.compared == 1
    assert divergence.differences[1].amount == pytest.approx(1.5), "at 1000, between its two"
    divergence.car.add(sample(1400))
    divergence.step()
    assert divergence.compared == 2
    assert divergence.differences[1].amount == pytest.approx(1.9)
    divergence.car.add(sample(1600))
    divergence.step()
    divergence.step()
    assert divergence.compared == 3
    assert divergence.differences[1].amount == pytest.approx(2.0)


def test_what_only_the_twin_is_early_for_is_not_compared():
    divergence = Divergence(LIMITS)
    divergence.twin.add(sample(1000))
    divergence.step()
    divergence.car.add(sample(500))
    divergence.step()
    assert divergence.compared == 0
    assert Divergence(LIMITS).compared == 0


@pytest.mark.parametrize(("on_exceed", "what"), [("tell", ""), ("stop", "speed")])
def test_they_must_stop_only_where_the_limits_say_so_and_it_says_for_what(on_exceed, what):
    limits = {name: getattr(LIMITS, name) for name in (*NAMES[:3], "path_m")}
    pair = Pair(**limits, on_exceed=on_exceed)
    twin = {"speed_mps": 1.0, "yaw_rate_radps": 1.0}
    assert pair.report(twin=twin, steps=3).must_stop() == ""
    assert pair.report(twin=twin).must_stop() == what
    assert len(pair.divergence.alarms()) == 2


def test_a_difference_says_what_how_much_and_beyond_what():
    assert str(Difference("speed", "m/s", 1.23456, 0.3, 5)) == "speed differs: 1.23 m/s, limit 0.3"
    agrees = Difference("path", "m", 0.01, 0.6, None)
    assert str(agrees) == "path agrees: 0.01 m, limit 0.6"
    assert "differs" in str(Difference("path", "m", 1.0, 0.6, 0)), "since 0 is since then"
