"""The receiver on the board: what its pulses say, and when it counts."""

import pytest

from firmware.core.arbitration.rc_receiver import RcReceiver
from tests.firmware.core.desk import params_with
from tests.firmware.core.stops.radio import (
    AUTONOMY,
    CLOSED,
    HELD,
    HIGH,
    LOSS_US,
    LOW,
    MANUAL,
    MIDDLE,
    OPEN,
    PERIOD,
    PERMITS,
    PULSES,
    STOP,
    Bench,
)


@pytest.fixture
def bench():
    return Bench()


def said(rc: RcReceiver) -> tuple[bool, bool, bool]:
    return rc.is_live, rc.has_news, rc.gesture


# --- when it counts


def test_before_any_frame_it_says_nothing_and_stops():
    rc = RcReceiver()
    assert said(rc) == (False, False, False)
    assert (rc.is_fitted, rc.is_held, rc.mode, rc.steer, rc.throttle) == (False, False, STOP, 0, 0)


def test_the_count_that_it_finds_at_first_is_no_frame():
    bench = Bench()
    for frames in (0, 7):
        fresh = RcReceiver()
        fresh.configure(params_with(rc_fitted=1, **PULSES))
        bench.board.rc_frames = frames
        fresh.step(bench.board, 0)
        assert said(fresh) == (False, False, False)
        fresh.step(bench.board, 10_000)
        assert said(fresh) == (False, False, False)
        bench.board.rc_frames = frames + 1
        fresh.step(bench.board, 20_000)
        assert said(fresh) == (True, True, False)


@pytest.mark.parametrize(("fitted", "wired"), [(0, 1), (1, 0), (0, 0)])
def test_a_receiver_that_is_not_fitted_or_not_wired_says_nothing(fitted, wired):
    bench = Bench(rc_fitted=fitted)
    bench.board.has_receiver = wired
    bench.frame()
    assert said(bench.frame(live_man=OPEN)) == (False, False, False)
    assert bench.rc.is_held is False


def test_each_new_frame_is_news_once(bench):
    assert said(bench.frame()) == (True, True, False)
    assert said(bench.step(10_000)) == (True, False, False)
    assert said(bench.frame()) == (True, True, False)


@pytest.mark.parametrize("start_us", [0, PERIOD - 60_000, PERIOD // 2 - 60_000])
def test_it_is_live_for_fifty_milliseconds_after_a_frame(start_us):
    bench = Bench(start_us)
    bench.frame(live_man=OPEN)
    assert bench.step(LOSS_US - 1).is_live
    assert bench.rc.is_held
    assert not bench.step(1).is_live
    assert bench.rc.is_held is False


def test_frames_that_say_failsafe_are_no_frames(bench):
    bench.frame(live_man=OPEN)
    bench.board.rc_failsafe = 1
    assert said(bench.frame()) == (True, False, False)
    assert said(bench.frame()) == (True, False, False)
    assert said(bench.frame()) == (False, False, False)
    bench.board.rc_failsafe = 0
    assert said(bench.frame()) == (True, True, False)


@pytest.mark.parametrize("channel", ["steering", "throttle", "live_man", "mode"])
@pytest.mark.parametrize(("pulse_us", "counts"), [(899, 0), (900, 1), (2100, 1), (2101, 0), (0, 0)])
def test_a_frame_with_a_pulse_that_none_can_be_is_no_frame(bench, channel, pulse_us, counts):
    assert bench.frame(**{channel: pulse_us}).has_news == counts
    assert bench.rc.is_live == counts


def test_a_channel_that_is_not_there_may_say_anything():
    values = {"rc_low_us": [2000, 1100, 1000, 0], "rc_centre_us": [1500, 1400, 1500, 0],
              "rc_high_us": [1000, 2000, 2000, 0]}  # fmt: skip
    bench = Bench(**values)
    assert bench.frame(mode=0).has_news
    assert (bench.rc.mode, bench.rc.is_live) == (MANUAL, True)


# --- what the pulses say


@pytest.mark.parametrize(
    ("pulse_us", "steer"),
    [(1000, 1000), (1250, 500), (1499, 2), (1500, 0), (1501, -2), (1750, -500), (2000, -1000),
     (900, 1000), (2100, -1000)],
)  # fmt: skip
def test_steering_is_left_positive_whichever_way_the_stick_is_wired(bench, pulse_us, steer):
    assert bench.frame(steering=pulse_us).steer == steer


@pytest.mark.parametrize(
    ("pulse_us", "throttle"),
    [(1100, -1000), (1250, -500), (1400, 0), (1700, 500), (2000, 1000), (2050, 1000), (950, -1000)],
)
def test_each_half_of_the_stick_is_full_at_its_own_end(bench, pulse_us, throttle):
    assert bench.frame(throttle=pulse_us).throttle == throttle


@pytest.mark.parametrize(
    ("pulse_us", "throttle"),
    [(1400, 0), (1460, 0), (1466, 11), (1700, 444), (2000, 1000), (1370, 0), (1364, -22),
     (1100, -1000)],
)  # fmt: skip
def test_around_the_centre_is_a_dead_band_and_beyond_it_begins_at_nothing(pulse_us, throttle):
    assert Bench(rc_dead_band=100).frame(throttle=pulse_us).throttle == throttle


@pytest.mark.parametrize(
    ("pulse_us", "is_held"), [(1000, 0), (1500, 0), (1666, 0), (1667, 1), (2000, 1)]
)
def test_the_live_man_is_held_from_a_third_beyond_the_middle_on(bench, pulse_us, is_held):
    assert bench.frame(live_man=pulse_us).is_held == is_held


@pytest.mark.parametrize(
    ("pulse_us", "mode"),
    [(1000, STOP), (1333, STOP), (1334, MANUAL), (1500, MANUAL), (1666, MANUAL), (1667, AUTONOMY),
     (2000, AUTONOMY)],
)  # fmt: skip
def test_the_mode_switch_has_three_positions(bench, pulse_us, mode):
    assert bench.frame(mode=pulse_us).mode == mode


@pytest.mark.parametrize(
    ("pulse_us", "value", "is_held", "mode"),
    [(1100, 0, 0, MANUAL), (1101, 1, 0, MANUAL), (1433, 333, 0, MANUAL), (1434, 334, 1, AUTONOMY)],
)
def test_the_long_way_of_a_stick_is_told_to_the_thousandth(pulse_us, value, is_held, mode):
    long = {"rc_low_us": [900] * 4, "rc_centre_us": [1100] * 4, "rc_high_us": [2100] * 4}
    rc = Bench(**long).frame(steering=pulse_us, throttle=pulse_us, live_man=pulse_us, mode=pulse_us)
    assert (rc.steer, rc.throttle, rc.is_held, rc.mode) == (value, value, is_held, mode)


@pytest.mark.parametrize(("pulse_us", "mode"), [(1567, MANUAL), (1566, STOP)])
def test_the_long_way_to_stop_is_a_third_too(pulse_us, mode):
    long = {"rc_low_us": [900] * 4, "rc_centre_us": [1900] * 4, "rc_high_us": [2100] * 4}
    assert Bench(**long).frame(steering=1900, throttle=1900, mode=pulse_us).mode == mode


def test_a_stick_that_is_not_there_is_in_the_middle():
    bench = Bench(rc_low_us=[0] * 4, rc_centre_us=[0] * 4, rc_high_us=[0] * 4)
    rc = bench.frame(steering=1800, throttle=1800, live_man=1800, mode=1800)
    assert (rc.steer, rc.throttle, rc.is_held, rc.mode) == (0, 0, False, MANUAL)


# --- the claim


def test_a_claim_is_of_the_boards_own_epoch_and_wants_all_that_the_source_may(bench):
    bench.frame(steering=1250, throttle=1700, live_man=OPEN)
    claim = bench.claim()
    assert (claim.epoch, claim.source, claim.mask, claim.lease_ms) == (77, 0, 15, 60)
    assert (claim.steer_urad, claim.speed_mm_s, claim.deadman) == (200_000, 2000, HELD)
    assert (claim.stamp_us, claim.input_count, claim.brake) == (bench.now_us, 1, 0)
    assert bench.claim(lease_max_ms=0).lease_ms == 1
    assert bench.claim(lease_max_ms=1).lease_ms == 1


def test_backwards_and_to_the_right_are_negative(bench):
    bench.frame(steering=2000, throttle=1100)
    claim = bench.claim()
    assert (claim.steer_urad, claim.speed_mm_s, claim.deadman) == (-400_000, -4000, 0)


@pytest.mark.parametrize(
    ("mode", "mask", "deadman"), [(LOW, 0, 0), (MIDDLE, 15, HELD), (HIGH, 0, HELD | PERMITS)]
)
def test_the_mode_says_what_the_live_man_is_for(bench, mode, mask, deadman):
    bench.frame(mode=mode, live_man=OPEN)
    assert (bench.claim().mask, bench.claim().deadman) == (mask, deadman)
    bench.frame(live_man=CLOSED)
    assert (bench.claim().mask, bench.claim().deadman) == (mask, 0)


def test_claims_are_numbered_across_the_wrap_and_count_the_receivers_frames(bench):
    bench.rc.claim.sequence = 65534
    bench.board.rc_frames = 65535
    assert [bench.claim().sequence for _ in range(3)] == [65535, 0, 1]
    bench.frame()
    assert bench.claim().input_count == 0
    bench.frame()
    assert bench.claim().input_count == 1
