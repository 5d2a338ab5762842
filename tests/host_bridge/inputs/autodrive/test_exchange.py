"""The simulator's side of an exchange: one frame for each answer, and none lost for ever."""

import json

import pytest

from host_bridge.inputs.autodrive.exchange import ScriptExchange
from sim_mock.autodrive import wire

KEYS = {"V1 Speed": "0.0000"}
COMMAND = {"V1 Throttle": "0.5", "V1 Steering": "-1"}


@pytest.fixture
def exchange():
    return ScriptExchange(0)


def due(exchange, now_us):
    return exchange.due_packets(now_us, lambda: KEYS)


def answer(exchange, now_us, keys=COMMAND):
    return exchange.take(wire.write_bridge(keys), now_us)


def test_the_first_frame_goes_out_at_once_and_the_next_when_it_is_answered(exchange):
    (frame,) = due(exchange, 0)
    assert json.loads(frame[2:]) == ["Bridge", KEYS]
    assert due(exchange, 10_000) == []
    answer(exchange, 500_000)
    assert len(due(exchange, 500_001)) == 1
    assert due(exchange, 500_002) == []


def test_what_was_decided_is_kept_with_when_it_was_heard(exchange):
    assert exchange.latest is None
    answer(exchange, 700)
    assert exchange.latest.heard_us == 700
    assert (exchange.latest.command.throttle, exchange.latest.command.steering) == (0.5, -1.0)


@pytest.mark.parametrize(
    "keys",
    [
        {},
        {"V1 Throttle": "0.5"},
        {"V1 Throttle": "nan", "V1 Steering": "0"},
        {"V1 Throttle": "inf", "V1 Steering": "0"},
        {"V1 Throttle": "full", "V1 Steering": "0"},
        {"V1 Throttle": "0.1 0.2", "V1 Steering": "0"},
        {"V1 Throttle": None, "V1 Steering": "0"},
        {"V2 Throttle": "0.5", "V2 Steering": "0"},
    ],
)
def test_an_answer_that_commands_nothing_decides_nothing_and_goes_on(exchange, keys):
    due(exchange, 0)
    answer(exchange, 100)
    due(exchange, 200)
    answer(exchange, 300, keys)
    assert exchange.latest.heard_us == 100
    assert (exchange.answers, exchange.unread) == (2, 1)
    assert len(due(exchange, 400)) == 1


def test_a_damaged_answer_is_answered_too(exchange):
    due(exchange, 0)
    exchange.take('42["Bridge",{"V1 Thr', 100)
    assert exchange.latest is None
    assert len(due(exchange, 200)) == 1


def test_a_script_whose_handler_raised_is_asked_again_ever_more_seldom(exchange):
    asked = [us // 1000 for us in range(0, 8_000_000, 1000) if due(exchange, us)]
    assert asked == [0, 1000, 3000, 7000]
    answer(exchange, 8_000_000)
    assert len(due(exchange, 8_000_000)) == 1
    assert due(exchange, 8_999_999) == []
    assert len(due(exchange, 9_000_000)) == 1


def test_it_pings_as_the_old_protocol_wants_and_answers_pings(exchange):
    due(exchange, 0)
    answer(exchange, 24_999_000)
    assert wire.PING not in due(exchange, 24_999_000)
    assert due(exchange, 25_000_000) == [wire.PING]
    assert due(exchange, 25_010_000) == []
    assert exchange.take("2probe", 0) == "3probe"
    for greeting in (*wire.opening("x"), "3"):
        assert exchange.take(greeting, 0) is None
