"""The framing of a client of 2014."""

import json

import pytest

from sim_mock.autodrive import wire


def test_the_greeting_is_engine_io_then_socket_io():
    hello, connected = wire.opening("abc")
    assert json.loads(hello[1:]) == {
        "sid": "abc", "upgrades": [], "pingInterval": 25000, "pingTimeout": 60000
    }  # fmt: skip
    assert (hello[0], connected) == ("0", "40")


@pytest.mark.parametrize(("text", "answer"), [("2", "3"), ("2probe", "3probe"), ("3", None),
                                              ("40", None), ("", None), ("41", None)])  # fmt: skip
def test_only_pings_get_a_pong(text, answer):
    assert wire.pong(text) == answer


@pytest.mark.parametrize("text", ['42["Bridge",{"a":"1"}]', '4217["Bridge", {"a":"1"}]',
                                  '42[ "Bridge" ,{"a":"1"}]'])  # fmt: skip
def test_a_bridge_event_is_read_with_and_without_a_number(text):
    assert wire.is_bridge(text)
    assert wire.read_bridge(text) == {"a": "1"}


@pytest.mark.parametrize("text", ['42["Bridge",', '42["Bridge",5]', '42["Bridge",null]',
                                  '42["Bridge",' + "[" * 100_000, '42["Bridge",{]'])  # fmt: skip
def test_a_damaged_event_is_still_one_to_answer(text):
    assert wire.is_bridge(text)
    assert wire.read_bridge(text) is None


@pytest.mark.parametrize("text", ["", "2", "40", '42["Other",{}]', '43["Bridge",{}]', "42", "{}"])
def test_nothing_else_is_one(text):
    assert not wire.is_bridge(text)


def test_what_is_written_can_be_stripped_as_the_oldest_peers_do():
    """MATLAB's API takes away 12 characters in front and one behind."""
    text = wire.write_bridge({"a": "1"})
    assert json.loads(text[12:-1]) == {"a": "1"}
