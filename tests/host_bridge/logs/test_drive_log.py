"""A real car's bytes, logged: decoded channels in SI units, and the same again out of ``read``."""

from __future__ import annotations

import pytest

from firmware.protocol import messages
from host_bridge.config import load_vehicle
from host_bridge.core.system.clock import ManualClock
from host_bridge.link.protocol.units import report_of
from host_bridge.link.protocol.wire import MessageDecoder, RejectedFrame, encode, new
from host_bridge.logs.reading import read
from host_bridge.logs.recorder import DOWN, UP, create
from sim_mock.world import World

STEP_US = 10_000
STEPS = 300


def new_decoder():
    decoder = MessageDecoder()

    def decode(data):
        found = (item for item in decoder.feed(data) if not isinstance(item, RejectedFrame))
        return [report_of(item) for item in found if type(item) in messages.TO_HOST]

    return decode


@pytest.fixture(scope="module")
def drive(tmp_path_factory):
    """Three seconds of a car that is asked who it is, and then stopped."""
    path = tmp_path_factory.mktemp("log") / "drive.mcap"
    clock = ManualClock()
    world = World(load_vehicle("nigel"), seed=1)
    recorder = create(path, clock, 0, {}, new_decoder)
    orders = {
        10: encode(new(messages.Identify, token=7, challenge=bytes(8))),
        200: encode(
            new(messages.Stop, token=8, sender=4, sender_name=b"pit wall".ljust(16, b"\0"))
        ),
    }
    heard = b""
    for step in range(STEPS):
        if step in orders:
            world.feed(orders[step])
            recorder.frame("nigel", UP, orders[step], clock.now_us())
        sent = world.advance(clock.now_us())
        heard += sent
        # a port cuts anywhere
        recorder.frame("nigel", DOWN, sent[:17], clock.now_us())
        recorder.frame("nigel", DOWN, sent[17:], clock.now_us())
        clock.advance(STEP_US)
    recorder.close()
    return list(read(path)), heard, orders


def values(records, topic: str) -> list:
    return [record.value for record in records if record.topic == topic]


def test_every_byte_is_there_in_both_directions(drive):
    records, heard, orders = drive
    assert b"".join(values(records, "down")) == heard
    assert values(records, "up") == list(orders.values())


def test_the_status_of_every_step_can_be_plotted(drive):
    records, _, _ = drive
    statuses = values(records, "status")
    assert len(statuses) == STEPS
    assert {"state", "speed_mps", "steer_rad", "causes"} <= statuses[0].keys()
    assert statuses[0]["causes"] == []
    assert statuses[-1]["first_cause"] == "STOP_REQUEST"


def test_answers_are_rows_at_the_moment_they_came(drive):
    records, _, _ = drive
    (identity,) = [record for record in records if record.topic == "identity"]
    assert identity.value["car_name"] == "nigel"
    assert 10 * STEP_US <= identity.time_us <= 12 * STEP_US
    (seen,) = values(records, "stop_seen")
    assert (seen["sender"], seen["sender_name"]) == ("COMMAND", "pit wall")


def test_motion_inputs_and_events_are_there_too(drive):
    records, _, _ = drive
    topics = {record.topic for record in records}
    assert {"motion", "inputs", "outputs", "power", "link_counters", "event"} <= topics
