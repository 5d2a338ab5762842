"""The words of a runstop topic, in virtual time."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from host_bridge.domain import Cause, State
from host_bridge.interfaces.ros2.stops import RunstopTopic, RunWord, is_stopped

MS = 1000


def test_a_topic_that_was_never_heard_stops_nothing():
    topic = RunstopTopic()
    assert topic.step(10_000 * MS) is False
    assert topic.must_stop is False


def test_a_word_and_a_silence_stop_once_each():
    topic = RunstopTopic()
    topic.hear(True, 0)
    assert topic.step(300 * MS) is False
    assert topic.step(301 * MS) is True
    assert topic.step(302 * MS) is False
    topic.hear(True, 303 * MS)
    assert topic.step(304 * MS) is topic.must_stop is False
    topic.hear(False, 305 * MS)
    assert topic.step(306 * MS) is True


@pytest.mark.parametrize("words", [(False, True), (True, False)])
def test_a_stop_counts_though_somebody_else_says_run_in_the_same_moment(words):
    topic = RunstopTopic()
    for at_ms in range(0, 1000, 50):
        for runs in words:
            topic.hear(runs, at_ms * MS)
        assert topic.step(at_ms * MS) is (at_ms == 0)
        assert topic.must_stop


def test_run_counts_again_when_nobody_has_said_stop_for_a_while():
    word = RunWord()
    word.hear(False, 0)
    word.hear(True, 100 * MS)
    assert word.why_not(300 * MS) == "says stop"
    assert word.why_not(301 * MS) == ""
    assert word.why_not(401 * MS) == "is silent"


@pytest.mark.parametrize(
    ("state", "causes", "told"),
    [
        (State.STOPPING, (Cause.STOP_REQUEST,), True),
        (State.STOPPED, (Cause.STOP_REQUEST,), True),
        (State.FAULT, (), True),
        (State.STANDBY, (Cause.STOP_REQUEST,), True),
        (State.STANDBY, (), False),
        (State.HOLD, (), False),
        (State.ACTIVE, (), False),
    ],
)
def test_a_stop_is_confirmed_by_the_cars_word_also_of_one_that_was_not_armed(state, causes, told):
    status = SimpleNamespace(state=state, causes=causes)
    assert is_stopped(SimpleNamespace(status=status)) is told


def test_a_car_that_says_nothing_confirms_nothing():
    assert not is_stopped(SimpleNamespace(status=None))
