"""The gesture on the RC: let go, in neutral, for a second, then held."""

import pytest

from tests.firmware.core.stops.radio import (
    CLOSED,
    FRAME_US,
    HIGH,
    LOSS_US,
    LOW,
    MIDDLE,
    OPEN,
    SECOND_US,
    Bench,
)


@pytest.fixture
def bench():
    return Bench()


# --- the gesture


def test_let_go_for_a_second_in_neutral_and_then_held_is_a_gesture_once(bench):
    assert bench.rest(SECOND_US + FRAME_US) == 0
    assert bench.frame(live_man=OPEN).gesture
    assert bench.rest(SECOND_US * 2) == 0
    assert bench.rest(SECOND_US + FRAME_US, live_man=CLOSED) == 0
    assert bench.frame(live_man=OPEN).gesture


def test_the_second_is_a_second_to_the_microsecond():
    for short_us, made in ((1, False), (0, True)):
        bench = Bench()
        began_us = bench.now_us
        bench.rest(SECOND_US - FRAME_US)
        bench.step(began_us + SECOND_US - bench.now_us - short_us)
        assert bench.frame(0, live_man=OPEN).gesture is made


def test_the_second_counts_from_where_it_was_held_last():
    for short_us, made in ((1, False), (0, True)):
        bench = Bench()
        bench.frame(live_man=OPEN)
        began_us = bench.now_us
        bench.rest(SECOND_US - FRAME_US, live_man=CLOSED)
        bench.step(began_us + SECOND_US - bench.now_us - short_us)
        assert bench.frame(0, live_man=OPEN).gesture is made


SPOILED = {
    "throttle": {"throttle": 1500}, "backwards": {"throttle": 1300}, "stop": {"mode": LOW},
    "held": {"live_man": OPEN},
}  # fmt: skip


@pytest.mark.parametrize("what", SPOILED)
def test_whatever_moves_in_that_second_begins_it_anew(bench, what):
    rest = {"throttle": 1400, "mode": MIDDLE, "live_man": CLOSED}
    bench.rest(SECOND_US // 2)
    bench.frame(**SPOILED[what])
    bench.rest(SECOND_US - FRAME_US, **rest)
    assert not bench.frame(live_man=OPEN).gesture
    bench.rest(SECOND_US + FRAME_US, **rest)
    bench.frame(**{**SPOILED[what], "live_man": CLOSED} if what != "held" else rest)
    assert bench.frame(**{**rest, "live_man": OPEN}).gesture is (what == "held")


@pytest.mark.parametrize("what", ["throttle", "backwards", "stop"])
def test_a_gesture_with_the_throttle_open_or_in_stop_is_none(bench, what):
    bench.rest(SECOND_US + FRAME_US)
    assert not bench.frame(**{**SPOILED[what], "live_man": OPEN}).gesture


def test_a_lost_radio_in_that_second_begins_it_anew(bench):
    bench.rest(SECOND_US // 2)
    bench.step(LOSS_US)
    bench.rest(SECOND_US // 2 + FRAME_US)
    assert not bench.frame(live_man=OPEN).gesture


def test_a_gesture_is_made_in_autonomy_too_and_the_steering_may_move(bench):
    bench.rest(SECOND_US + FRAME_US, mode=HIGH, steering=1100)
    assert bench.frame(live_man=OPEN).gesture
