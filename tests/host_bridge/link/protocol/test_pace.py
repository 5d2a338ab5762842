"""How often a link wants to be called, and how long it takes a car's step to be."""

from host_bridge.link.protocol.clock_sync import ClockSync
from host_bridge.link.protocol.connection import Connection
from host_bridge.link.protocol.wire import own_protocol_hash


def test_a_link_that_only_listens_is_not_woken_for_answers_that_it_never_gives():
    listener = Connection(own_protocol_hash(), None)
    listener.opened(0)
    listener.clock.hear_status(1000, 2000)
    assert listener.clock.due_us is not None
    assert listener.next_due_us(1_000_000) > 1_000_000


def test_a_car_that_catches_up_does_not_spoil_what_its_step_is_taken_for():
    clock = ClockSync()
    stamp_us = 0
    for i in range(100):
        stamp_us += 1_000 if i % 10 == 5 else 10_000
        clock.hear_status(stamp_us, stamp_us)
    assert clock.step_us == 10_000


def test_a_faster_car_is_seen_to_be_one():
    clock = ClockSync()
    for i in range(20):
        clock.hear_status(i * 5_000, i * 5_000)
    assert clock.step_us == 5_000
