"""Rows and schemas: what a plot can read of what the host talks about."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from typing import get_args

import pytest

from host_bridge.core import commands, reports
from host_bridge.core.codes import Cause, State
from host_bridge.link.protocol.events import LinkEvent
from host_bridge.logs.rows import (
    TOPICS,
    from_row,
    plain_row,
    row_of,
    schema_of,
    schema_of_row,
    topic_of,
)

REPORTS = get_args(reports.Report)


class Colour(Enum):
    RED = 1


@dataclass(frozen=True)
class Inner:
    speed_mps: float


@dataclass(frozen=True)
class Probe:
    count: int
    is_held: bool
    colour: Colour
    data: bytes
    source: int | None
    many: tuple[Colour, ...]
    inner: Inner


def test_a_row_becomes_what_it_was_made_of():
    assert from_row(Probe, json.loads(json.dumps(row_of(PROBE)))) == PROBE


@pytest.mark.parametrize("row", [{}, {"count": "soon"}, {**{"colour": "PINK"}}])
def test_a_row_of_another_kind_is_refused(row):
    whole = {**row_of(PROBE), **row} if row else {}
    made = None
    with suppress(ValueError, KeyError, TypeError):
        made = from_row(Probe, whole)
    assert made is None or made.count is None  # a row may lack anything


PROBE = Probe(3, True, Colour.RED, b"\xab\x01", None, (Colour.RED,), Inner(0.5))


def test_a_row_says_names_and_digits_and_leaves_out_what_is_not_known():
    assert row_of(PROBE) == {
        "count": 3,
        "is_held": True,
        "colour": "RED",
        "data": "ab01",
        "many": ["RED"],
        "inner": {"speed_mps": 0.5},
    }


def test_a_schema_has_one_type_for_each_field():
    assert schema_of(Probe) == {
        "type": "object",
        "properties": {
            "count": {"type": "integer"},
            "is_held": {"type": "boolean"},
            "colour": {"type": "string"},
            "data": {"type": "string"},
            "source": {"type": "integer"},
            "many": {"type": "array", "items": {"type": "string"}},
            "inner": {"type": "object", "properties": {"speed_mps": {"type": "number"}}},
        },
    }


def test_a_mapping_gives_the_schema_of_its_values():
    row = {"skew_us": 12, "alarm": "speed", "limits": (0.5, 1.0), "who": Colour.RED, "gone": None}
    assert plain_row(row) == {
        "skew_us": 12,
        "alarm": "speed",
        "limits": [0.5, 1.0],
        "who": "RED",
    }
    assert schema_of_row(row)["properties"] == {
        "skew_us": {"type": "integer"},
        "alarm": {"type": "string"},
        "limits": {"type": "array", "items": {"type": "number"}},
        "who": {"type": "string"},
    }


def test_what_has_no_place_in_a_log_is_refused_by_name():
    with pytest.raises(TypeError, match="object has no place"):
        schema_of_row({"thing": object()})


@pytest.mark.parametrize("kind", REPORTS)
def test_every_report_of_a_car_has_a_topic_and_a_schema(kind):
    assert topic_of(kind).replace("_", "").isalpha()
    assert schema_of(kind)["properties"]


def test_topics_are_unique_and_short():
    topics = [topic_of(kind) for kind in REPORTS]
    assert len(set(topics)) == len(topics)
    assert {"status", "motion", "event", "link_counters"} <= set(topics)


# As logs have had them: whoever renames a class must not rename what is in people's files
IN_LOGS = [
    "claim",
    "identity",
    "status",
    "motion",
    "event",
    "events_lost",
    "stop_seen",
    "clock_report",
    "session_bound",
    "action_reply",
    "link_counters",
    "inputs",
    "power",
    "outputs",
    "own_claim",
    "second",
    "vesc_state",
    "parameter_reply",
    "committed",
    "link_identified",
    "link_mismatched",
    "link_stranger",
    "link_bound",
    "link_refused",
    "link_lost",
    "link_noisy",
    "restarted",
]


def test_the_topics_are_those_that_logs_have_always_had():
    assert [topic_of(kind) for kind in TOPICS] == IN_LOGS


def test_every_report_link_event_and_claim_has_a_topic():
    assert set(TOPICS) == {commands.Claim, *get_args(LinkEvent)}


def test_a_class_without_a_topic_is_refused_by_name():
    with pytest.raises(TypeError, match=r"Probe has no topic in a log; .* rows\.TOPICS"):
        topic_of(Probe)


def test_codes_go_by_name():
    assert plain_row({"state": State.HOLD, "cause": Cause.SILENCE}) == {
        "state": "HOLD",
        "cause": "SILENCE",
    }
