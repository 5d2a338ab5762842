"""When beats are due: on time, late, after a stall, and where there is no hope."""

import pytest

from sim_mock.virtual_car.schedule import HOPE_US, STALL_US, Pace

STEP_US = 10_000
BEGUN_US = 5_000_000


class Board:
    """One whose clock begins at a second."""

    interval_us = STEP_US
    now_us = 1_000_000


def late_by(*lates_us):
    """Its pace after beats that were so late, each, and the host's clock."""
    pace, now_us = Pace(Board, BEGUN_US), BEGUN_US
    for late_us in lates_us:
        now_us = max(pace.next_us(now_us), now_us) + late_us
    return pace, now_us


def lost_us(pace, now_us):
    return (now_us - BEGUN_US) - (pace.car_us(now_us) - Board.now_us)


def test_a_board_on_time_has_a_beat_every_step():
    pace, now_us = late_by(0, 0, 0)
    assert now_us == BEGUN_US + 3 * STEP_US
    assert pace.next_us(now_us) == now_us + STEP_US
    assert lost_us(pace, now_us) == 0


def test_a_beat_a_little_late_is_made_up_for_by_the_next():
    pace, now_us = late_by(4_000)
    assert pace.next_us(now_us) == now_us + STEP_US - 4_000


def test_missed_beats_are_missed_and_the_next_is_due_at_once():
    pace, now_us = late_by(3 * STEP_US + 4_000)
    assert pace.next_us(now_us) == now_us - 4_000
    assert pace.next_us(now_us) == now_us + STEP_US - 4_000
    assert lost_us(pace, now_us) == 0


@pytest.mark.parametrize(
    ("lates_us", "is_lost"),
    [
        ((STALL_US,), False),
        ((STALL_US + 2 * STEP_US,), True),
        ((HOPE_US, HOPE_US), False),  # so little is borne any number of times
        ((2 * HOPE_US, HOPE_US), False),  # it is catching up
        ((2 * HOPE_US, 0, 2 * HOPE_US), False),  # it had caught up
        ((2 * HOPE_US, 3 * HOPE_US), True),
    ],
)
def test_time_is_lost_where_it_cannot_be_made_up_for(lates_us, is_lost):
    pace, now_us = late_by(*lates_us)
    due_us = pace.next_us(now_us)
    assert (lost_us(pace, now_us) > 0) == is_lost
    if is_lost:
        assert due_us == now_us
        assert lost_us(pace, now_us) == pytest.approx(lates_us[-1], abs=STEP_US)
        assert pace.next_us(now_us) == now_us + STEP_US  # and from here on it is on time
