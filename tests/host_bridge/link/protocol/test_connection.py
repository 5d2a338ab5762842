"""The connection against the real firmware, in virtual time."""

from __future__ import annotations

import random

import pytest

from firmware.protocol import codes, messages
from host_bridge.core import CarEvent, CarStatus, EventCode, EventsLost, Sender, State
from host_bridge.link.protocol import wire
from host_bridge.link.protocol.connection import Connection
from host_bridge.link.protocol.events import (
    CarRestarted,
    LinkBound,
    LinkIdentified,
    LinkLost,
    LinkMismatched,
    LinkNoisy,
    LinkRefused,
)
from host_bridge.link.protocol.transitions import TRANSITIONS, LinkState, Trigger
from sim_mock.world import World
from tests.host_bridge.drive.drives import STEP_US, Drive, Rig, vehicle
from tests.support.evidence import every, some


def test_a_car_is_identified_and_bound_within_a_tenth_of_a_second():
    rig = Rig("a")
    assert Drive(rig).until(rig.car.connection.is_bound) <= 0.1
    assert rig.car.identity
    assert rig.car.identity.car_name == "a"
    assert rig.car.identity.board_id == rig.world.board_id
    assert len(rig.all_of(LinkIdentified)) == len(rig.all_of(LinkBound)) == 1


def test_nothing_is_believed_before_the_car_is_identified():
    rig = Rig("a")
    rig.down = lambda data: b""
    Drive(rig).advance(1.0)
    assert rig.heard == []
    assert rig.car.connection.state is LinkState.IDENTIFYING


def test_a_listener_hears_everything_and_takes_no_slot():
    rig = Rig("a", epoch=None)
    rig.car.opened(0)
    for step in range(1000):
        rig.advance(step * 1000)
    assert rig.car.status
    assert rig.car.connection.state is LinkState.IDENTIFIED
    assert EventCode.SESSION_BOUND not in [code for code, _, _ in rig.codes()]
    assert rig.all_of(LinkLost) == []


def test_the_bound_of_the_clock_gets_under_a_millisecond_and_stays_there():
    rig = Rig("a", board_us=(1 << 30) - 3_000_000)  # the board's time wraps on the way
    drive = Drive(rig)
    clock = rig.car.connection.clock
    drive.until(rig.car.connection.clock.is_good, 1.0)
    for _ in range(100):
        drive.advance(0.05)
        assert clock.bound_us is not None
        assert clock.bound_us <= 1500
        true_us = drive.now_us
        assert abs(clock.host_us(rig.world.now_us, true_us) - true_us) <= clock.bound_us


def test_the_board_trusts_no_clock_that_answers_from_far_away():
    """A wire of 30 ms each way: the bound is the truth, not a hope."""
    rig = Rig("a")
    delays: list[list[bytes]] = [[b""] * 30, [b""] * 30]
    drive = Drive(rig)
    connection = rig.car.connection
    for _ in range(2000):  # by hand, because the line is longer than a step
        drive.now_us += 1000
        delays[0].append(rig.world.advance(rig.world.now_us + 1000))
        connection.receive_data(delays[0].pop(0), drive.now_us)
        connection.step(drive.now_us)
        delays[1].append(connection.data_to_send())
        rig.world.feed(delays[1].pop(0))
    assert connection.clock.bound_us is not None
    assert 30_000 <= connection.clock.bound_us < 36_000


def test_an_unplugged_car_is_known_within_a_quarter_of_a_second():
    rig = Rig("a")
    drive = Drive(rig)
    drive.arm()
    rig.is_plugged = False
    assert drive.until(lambda: rig.all_of(LinkLost) != []) <= 0.25
    assert not rig.car.is_online()


def test_a_replugged_car_reports_within_two_seconds_and_is_not_armed():
    rig = Rig("a")
    drive = Drive(rig)
    drive.arm()
    drive.go()
    drive.advance(0.5)
    rig.is_plugged = False
    drive.advance(3.0)
    rig.is_plugged = True
    rig.heard.clear()
    assert drive.until(lambda: rig.all_of(CarStatus) != []) <= 0.3
    drive.advance(3.0)
    assert rig.car.connection.is_bound()
    assert {status.state for status in rig.all_of(CarStatus)} == {State.STOPPED}


def test_a_closed_transport_is_a_lost_link():
    rig = Rig("a")
    drive = Drive(rig)
    drive.bind()
    (lost,) = rig.car.closed(drive.now_us)
    assert isinstance(lost, LinkLost)
    assert rig.car.closed(drive.now_us) == []
    rig.car.stop(Sender.SEAT, "", drive.now_us)
    assert rig.car.data_to_send() == b""


def test_another_protocol_is_named_with_both_hashes_and_the_remedy_and_can_be_stopped():
    rig = Rig("a", own_hash=b"\1\2\3\4")
    drive = Drive(rig)
    drive.until(lambda: rig.all_of(LinkMismatched) != [])
    drive.advance(2.0)
    (mismatch,) = rig.all_of(LinkMismatched)
    assert "01020304" in str(mismatch)
    assert wire.own_protocol_hash().hex() in str(mismatch)
    assert "Reflash" in str(mismatch)
    assert rig.car.status is None
    refused = rig.car.arm(drive.now_us, Sender.COMMAND).result
    assert refused
    assert "Reflash" in str(refused)
    stop = rig.car.stop(Sender.SEAT, "somebody", drive.now_us)
    drive.until(lambda: stop.seen_us is not None, 0.05)
    assert stop.seen
    assert stop.seen.sender_name == "somebody"


def test_a_host_whose_codes_mean_something_else_can_stop_the_car_and_nothing_else(monkeypatch):
    charger, silence = codes.CAUSE_CHARGER, codes.CAUSE_SILENCE
    monkeypatch.setattr(codes, "CAUSE_CHARGER", silence)
    monkeypatch.setattr(codes, "CAUSE_SILENCE", charger)
    other_hash = wire.own_protocol_hash()
    monkeypatch.undo()
    rig = Rig("a", own_hash=other_hash)
    drive = Drive(rig)
    drive.until(lambda: rig.all_of(LinkMismatched) != [])
    drive.advance(1.0)
    assert rig.car.status is None, "its codes would be read wrong"
    assert not rig.car.connection.is_bound()
    refused = rig.car.arm(drive.now_us, Sender.COMMAND).result
    assert refused
    assert "Reflash" in str(refused)
    stop = rig.car.stop(Sender.SEAT, "", drive.now_us)
    drive.until(lambda: stop.seen_us is not None, 0.05)


def test_noise_does_not_speak_tandem():
    rng = random.Random(1)
    connection = Connection(wire.own_protocol_hash(), 1)
    connection.opened(0)
    found = []
    for now_us in range(0, 2_500_000, 10_000):
        found += connection.receive_data(rng.randbytes(90), now_us)
        found += connection.step(now_us)
    assert [type(event) for event in found] == [LinkNoisy, LinkNoisy]
    assert "does not speak Tandem" in str(found[0])
    assert "baud" in str(found[0])


def test_silence_is_no_noise():
    connection = Connection(wire.own_protocol_hash(), 1)
    connection.opened(0)
    assert [e for t in range(0, 5_000_000, 10_000) for e in connection.step(t)] == []


@pytest.mark.parametrize("board_us", [1_000_000, 900_000_000])  # less, more than half the period
def test_a_restarted_car_is_noticed_and_bound_again(board_us):
    rig = Rig("a", board_us=board_us)
    drive = Drive(rig)
    drive.bind()
    drive.advance(3.0)
    rig.world = World(vehicle(), 2, name="a")
    assert drive.until(lambda: rig.all_of(CarRestarted) != []) < 0.05
    drive.advance(1.0)
    assert rig.all_of(LinkLost) == []
    drive.arm()


def test_a_stalled_host_takes_no_car_for_restarted():
    rig = Rig("a")
    drive = Drive(rig)
    drive.bind()
    held = b""
    for _ in range(3000):  # the host stops, the bytes pile up
        drive.now_us += 1000
        held += rig.world.advance(rig.world.now_us + 1000)
    rig.car.receive_data(held[:4000] + held[-4000:], drive.now_us)
    drive.advance(1.0)
    assert rig.all_of(CarRestarted) == []
    assert rig.car.is_online()


def test_events_come_once_and_in_order_whatever_is_lost():
    rng = random.Random(3)

    def losing(data: bytes) -> bytes:
        frames = [bytearray(frame) for frame in data.split(b"\0") if rng.random() < 0.7]
        for frame in frames:
            if frame and rng.random() < 0.1:
                frame[rng.randrange(len(frame))] ^= 1 << rng.randrange(8)
        return b"\0\0".join(frames)

    rig = Rig("a")
    rig.up = losing
    drive = Drive(rig)
    drive.bind()
    for _ in range(5):
        drive.finish(drive.fleet.clear(drive.now_us))
        drive.finish(drive.fleet.arm(drive.now_us))
        drive.stop()
        drive.advance(0.3)
    rig.up = bytes
    drive.advance(2.0)
    numbers = [event.number for event in rig.car.events]
    assert numbers == list(range(len(numbers)))
    assert len(numbers) > 30
    assert rig.all_of(EventsLost) == []
    assert rig.car.connection.statistics.missed_statuses > 50
    assert rig.car.connection.statistics.rejected.total() > 0


def test_a_log_that_begins_late_has_events_from_its_first_one_on():
    rig = Rig("a")
    drive = Drive(rig)
    drive.bind()
    found = {}
    for is_past in (True, False):
        late = Connection(wire.own_protocol_hash(), None, is_past=is_past)
        late.opened(drive.now_us)
        heard = found[is_past] = []

        def listen(data: bytes, late=late, heard=heard) -> bytes:
            heard.extend(late.receive_data(data, drive.now_us))
            return data  # and whatever it asks for reaches no car

        rig.up = listen
        rig.world.feed(wire.encode(wire.new(messages.Identify, token=1, challenge=bytes(8))))
        drive.advance(0.1)
        drive.stop()
        drive.advance(0.3)
        drive.finish(drive.fleet.clear(drive.now_us))
        heard[:] = [event.number for event in heard if isinstance(event, CarEvent)]
        found[is_past] = (rig.car.events[-1].number, heard)
    last, heard = found[True]
    assert len(heard) > 1
    assert heard[0] > 1
    assert heard == list(range(heard[0], last + 1))
    assert found[False][1] == []


def test_a_late_listener_hears_what_the_ring_still_holds():
    rig = Rig("a")
    drive = Drive(rig)
    drive.bind()
    for _ in range(20):
        drive.stop()
        drive.advance(0.2)
        drive.finish(drive.fleet.clear(drive.now_us))
    before = list(rig.car.events)
    late = Connection(wire.own_protocol_hash(), None)
    late.opened(drive.now_us)
    heard = []
    for _ in range(1500):
        drive.advance(0.001)
        rig.up = lambda data: heard.extend(late.receive_data(data, drive.now_us)) or data
        late.step(drive.now_us)
        rig.world.feed(late.data_to_send())
    found = [(event.number, event.time_us) for event in heard if isinstance(event, CarEvent)]
    assert found == [(event.number, event.time_us) for event in before[-64:]]
    assert list(rig.car.events) == before, "what was sent again for another is no news"


def test_the_same_bytes_tell_the_same_in_pieces_of_any_size():
    rig = Rig("a")
    stream: list[bytes] = []
    rig.up = lambda data: stream.append(data) or data
    drive = Drive(rig)
    drive.arm()
    reported = [event for _, event in rig.heard]
    again = Connection(wire.own_protocol_hash(), 4711)
    again.opened(0)
    heard = [e for data in stream for byte in data for e in again.receive_data(bytes([byte]), 0)]
    assert [e for e in heard if not isinstance(e, CarRestarted)] == reported


def test_a_fifth_session_is_refused_until_there_is_room():
    rig = Rig("a")
    Drive(rig)
    fifth = Connection(wire.own_protocol_hash(), 9)
    others = [Connection(wire.own_protocol_hash(), n) for n in (1, 2, 3, 4)]
    for connection in (*others, fifth):
        connection.opened(0)
    heard = []
    for now_us in range(0, 1_000_000, 1000):
        data = rig.world.advance(rig.world.now_us + 1000)
        if now_us >= 200_000:
            heard += fifth.receive_data(data, now_us) + fifth.step(now_us)
        for connection in others:
            connection.receive_data(data, now_us)
            connection.step(now_us)
        for connection in (*others, fifth):
            rig.world.feed(connection.data_to_send())
    assert every(connection.is_bound() for connection in others)
    assert not fifth.is_bound()
    assert any(isinstance(event, LinkRefused) for event in heard)


def test_what_is_not_in_the_table_does_not_happen():
    for state in some(LinkState):
        for trigger in some(Trigger):
            connection = Connection(b"1234", 1)
            connection.state = state
            moved = connection._move(trigger)
            assert moved == ((state, trigger) in TRANSITIONS)
            assert connection.state is TRANSITIONS.get((state, trigger), state)


def test_every_state_of_a_link_can_be_reached_and_left():
    assert set(TRANSITIONS.values()) == set(LinkState)
    assert {state for state, _ in TRANSITIONS} == set(LinkState)


def test_the_round_trip_is_measured():
    rig = Rig("a")
    Drive(rig).advance(10.0)
    statistics = rig.car.connection.statistics
    assert len(statistics._round_trips_us) >= 8
    assert 0 < statistics.round_trip_us(99) <= 20_000
    assert statistics.rates_hz["Status"] == 100.0


def test_commands_one_after_the_other_never_find_all_places_taken():
    """A car has places for four sessions; each is free as soon as its command ends."""
    rig = Rig("a")
    now_us = 0
    for epoch in range(1, 21):
        connection = Connection(wire.own_protocol_hash(), epoch)
        connection.opened(now_us)
        for _ in range(20):
            now_us += STEP_US
            reported = connection.receive_data(
                rig.world.advance(rig.world.now_us + STEP_US), now_us
            )
            assert not [event for event in reported if isinstance(event, LinkRefused)]
            connection.step(now_us)
            rig.world.feed(connection.data_to_send())
            if connection.is_bound():
                break
        assert connection.is_bound(), epoch
        connection.leave()
        rig.world.feed(connection.data_to_send())
