"""The words of a runstop topic, in virtual time."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from host_bridge.core import Cause, State
from host_bridge.ros2.node.stops import (
    STOP_QUEUE_DEPTH,
    PendingReplies,
    RunstopState,
    RunstopTopic,
    is_stopped,
)
from tests.host_bridge.core.test_domain import status

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
    word = RunstopState()
    word.hear(False, 0)
    word.hear(True, 100 * MS)
    assert word.stop_reason(300 * MS) == "says stop"
    assert word.stop_reason(301 * MS) == ""
    assert word.stop_reason(401 * MS) == "is silent"


@pytest.mark.parametrize(
    ("state", "causes", "told"),
    [
        (State.STOPPING, (Cause.STOP_REQUEST,), True),
        (State.STOPPED, (Cause.STOP_REQUEST,), True),
        (State.FAULT, (), True),
        (State.STANDBY, (Cause.STOP_REQUEST,), True),
        (State.STANDBY, (), False),
        (State.HOLD, (), False),
        (State.HOLD, (Cause.STOP_REQUEST,), False),
        (State.ACTIVE, (), False),
    ],
)
def test_a_stop_is_confirmed_by_the_cars_word_also_of_one_that_was_not_armed(state, causes, told):
    car = SimpleNamespace(status=status(state, causes))
    assert is_stopped(car) is told


def test_a_car_that_says_nothing_confirms_nothing():
    assert not is_stopped(SimpleNamespace(status=None))


# --- to the microsecond


def test_a_word_that_was_never_heard_keeps_nobody_from_running():
    assert RunstopState().stop_reason(10_000 * MS) == ""


def test_a_stop_holds_until_somebody_says_run():
    word = RunstopState()
    word.hear(False, 0)
    assert word.stop_reason(0) == "says stop"
    assert word.stop_reason(10_000 * MS) == "says stop"


def test_silence_begins_after_its_time_and_a_stop_ends_after_its_own():
    word = RunstopState()
    word.hear(True, 0)
    assert [word.stop_reason(us) for us in (300_000, 300_001)] == ["", "is silent"]
    word = RunstopState(silent_us=1_000_000)
    word.hear(False, 0)
    word.hear(True, 1)
    assert [word.stop_reason(us) for us in (300_000, 300_001)] == ["says stop", ""]
    assert [word.stop_reason(us) for us in (1_000_001, 1_000_002)] == ["", "is silent"]


def test_ten_words_of_one_moment_are_kept():
    assert STOP_QUEUE_DEPTH == 10


# --- whoever waits for an answer


def car(state: State, *, is_online: bool = True) -> SimpleNamespace:
    return SimpleNamespace(is_online=is_online, vehicle=None, status=status(state), stranger="")


def is_armed(it: SimpleNamespace) -> bool:
    return it.status.state is State.HOLD


def told(seen: SimpleNamespace, *steps_us: int) -> list[tuple[bool, str]]:
    """What somebody who asked at 7 us is told, by these steps."""
    replies: list[tuple[bool, str]] = []
    callers = PendingReplies()
    callers.wait(lambda is_done, words: replies.append((is_done, words)), 7, is_armed)
    for step_us in steps_us:
        callers.step(seen, step_us)
    return replies


def test_who_waits_is_told_once_that_it_is_done():
    assert told(car(State.HOLD), 8, 9, 10_000_000) == [(True, "Done.")]


def test_and_after_a_second_and_a_half_once_that_it_is_not():
    assert told(car(State.STARTING), 8, 1_500_006) == []
    ((is_done, words),) = told(car(State.STARTING), 1_500_007, 1_500_008)
    assert (is_done, words) == (False, "The car did not answer.")


@pytest.mark.parametrize("state", [State.HOLD, State.STARTING])
def test_what_the_car_says_of_itself_comes_first(state):
    seen = car(state, is_online=False)
    assert told(seen, 1_500_007) == [(state is State.HOLD, "The car is not heard.")]


def test_another_car_at_the_place_of_one_is_named():
    both = "another car is there: red is meant, and this is blue"
    seen = car(State.HOLD, is_online=False)
    seen.stranger = both
    assert told(seen, 1_500_007) == [(True, f"It is not heard: {both}.")]


def test_of_several_each_gets_an_answer_of_their_own():
    replies: list[str] = []
    callers = PendingReplies()
    callers.wait(lambda is_done, words: replies.append(f"first {is_done}"), 0, lambda car: False)
    callers.wait(lambda is_done, words: replies.append(f"second {is_done}"), 0, is_armed)
    callers.step(car(State.HOLD), 1)
    assert replies == ["second True"]
    callers.step(car(State.HOLD), 1_500_000)
    assert replies == ["second True", "first False"]
