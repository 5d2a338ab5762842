"""The queue between driver and car: nothing early, nothing lost, nothing faster than the line."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibration.logs.run import Commands
from calibration.simulation.command_queue import (
    CommandChange,
    command_changes,
    departures_s,
    opening_s,
)
from tests.calibration.drives import messages

ARRIVALS = st.lists(st.floats(0.0, 10.0), min_size=1, max_size=300).map(sorted).map(np.array)


@given(ARRIVALS, st.floats(0.0, 2.0), st.floats(1e-5, 0.1))
def test_messages_leave_in_order_no_faster_than_the_line_and_never_early(arrivals, delay, each):
    left = departures_s(arrivals, delay, each)
    assert np.all(left >= arrivals + delay + each - 1e-9)
    assert np.all(np.diff(left) >= each - 1e-9)


@given(ARRIVALS, st.floats(1e-5, 0.1))
def test_the_line_never_rests_while_a_message_waits(arrivals, each):
    """Each leaves one service after it came, after the one before it, or after the opening."""
    left = departures_s(arrivals, 0.0, each)
    before = np.concatenate([[opening_s(arrivals)], left[:-1]])
    assert left == pytest.approx(np.maximum(arrivals, before) + each)


def test_without_a_queue_everything_only_comes_late():
    arrivals = np.array([0.0, 0.5, 0.5, 2.0])
    assert departures_s(arrivals, 0.25, 0.0) == pytest.approx(arrivals + 0.25)


def test_a_line_too_slow_stretches_the_drive_by_its_share():
    """2000 a second on a line for 1000: four seconds of driving take eight."""
    arrivals = np.arange(0.0, 4.0, 1 / 2000)
    left = departures_s(arrivals, 0.0, 1 / 1000)
    assert left[-1] - left[0] == pytest.approx(8.0, abs=0.01)


def test_the_road_opens_where_the_rate_jumps():
    assert opening_s(messages(0.2, slow_s=0.6).t_s) == pytest.approx(2.6, abs=0.1)
    assert opening_s(messages(0.2, slow_s=1.4).t_s) == pytest.approx(3.4, abs=0.1)


def test_without_a_jump_the_road_is_open_from_the_first_message_on():
    assert opening_s(np.arange(5.0, 6.0, 1 / 400)) == 5.0


def test_changes_are_told_once_and_hold_both_channels():
    is_steering = np.array([False, False, True, True, False, True])
    values = np.array([1.0, 1.0, 0.3, 0.3, 0.0, 0.0])
    commands = Commands("", "", np.arange(6.0), is_steering, values)
    assert command_changes(commands, commands.t_s + 1.0) == [
        CommandChange(1.0, 1.0, 0.0),
        CommandChange(3.0, 1.0, 0.3),
        CommandChange(5.0, 0.0, 0.3),
        CommandChange(6.0, 0.0, 0.0),
    ]
