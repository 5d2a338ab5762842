"""When beats are due: on time, late, after a stall, and where there is no hope."""

import pytest

from sim_mock.virtual_car.schedule import CATCH_UP_LIMIT_US, STALL_US, RealTimeSchedule

STEP_US = 10_000
BEGUN_US = 5_000_000


class Board:
    """One whose clock begins at a second."""

    interval_us = STEP_US
    now_us = 1_000_000


def late_by(*lates_us):
    """The schedule after beats that were so late, each, and the host's clock."""
    schedule, now_us = RealTimeSchedule(Board, BEGUN_US), BEGUN_US
    for late_us in lates_us:
        now_us = max(schedule.next_us(now_us), now_us) + late_us
    return schedule, now_us


def lost_us(schedule, now_us):
    return (now_us - BEGUN_US) - (schedule.car_us(now_us) - Board.now_us)


def test_a_board_on_time_has_a_beat_every_step():
    schedule, now_us = late_by(0, 0, 0)
    assert now_us == BEGUN_US + 3 * STEP_US
    assert schedule.next_us(now_us) == now_us + STEP_US
    assert lost_us(schedule, now_us) == 0


def test_a_beat_a_little_late_is_made_up_for_by_the_next():
    schedule, now_us = late_by(4_000)
    assert schedule.next_us(now_us) == now_us + STEP_US - 4_000


def test_missed_beats_are_missed_and_the_next_is_due_at_once():
    schedule, now_us = late_by(3 * STEP_US + 4_000)
    assert schedule.next_us(now_us) == now_us - 4_000
    assert schedule.next_us(now_us) == now_us + STEP_US - 4_000
    assert lost_us(schedule, now_us) == 0


@pytest.mark.parametrize(
    ("lates_us", "is_lost"),
    [
        ((STALL_US,), False),
        ((STALL_US + 2 * STEP_US,), True),
        ((CATCH_UP_LIMIT_US, CATCH_UP_LIMIT_US), False),  # so little is borne any number of times
        ((2 * CATCH_UP_LIMIT_US, CATCH_UP_LIMIT_US), False),  # it is catching up
        ((2 * CATCH_UP_LIMIT_US, 0, 2 * CATCH_UP_LIMIT_US), False),  # it had caught up
        ((2 * CATCH_UP_LIMIT_US, 3 * CATCH_UP_LIMIT_US), True),
    ],
)
def test_time_is_lost_where_it_cannot_be_made_up_for(lates_us, is_lost):
    schedule, now_us = late_by(*lates_us)
    due_us = schedule.next_us(now_us)
    assert (lost_us(schedule, now_us) > 0) == is_lost
    if is_lost:
        assert due_us == now_us
        assert lost_us(schedule, now_us) == pytest.approx(lates_us[-1], abs=STEP_US)
        assert schedule.next_us(now_us) == now_us + STEP_US  # and from here on it is on time
