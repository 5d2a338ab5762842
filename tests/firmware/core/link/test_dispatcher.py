"""What a car does with what it hears: its own receiver's claims, gestures, caps, stops."""

import pytest

from firmware.protocol.codec import decode_into, encode_into
from firmware.protocol.frame import FrameReader, FrameWriter, crc_table, crc_update
from firmware.protocol.messages import Act, Alive, Claim, Event, Leave, Stop, Sync
from tests.firmware.core.bare_car import (
    ACTIVE,
    CLOCK_STEP,
    FAULT,
    HOLD,
    OTHERS,
    SILENCE,
    STANDBY,
    STOP_REQUEST,
    STOP_SOURCE,
    STOPPED,
    STOPPING,
    US,
    Car,
)

OWN = 4
(STATE_CHANGED, STOP_LATCHED, FAULT_LATCHED, CLAIM_REFUSED, ACTION_TAKEN, ACTION_REFUSED,
 SOURCE_ENGAGED, SOURCE_SILENT, SESSION_BOUND, CLOCK_STEPPED, CONFIGURED, WINNER_CHANGED,
 SOURCE_LOST, STARTED, PROFILE, SPEED_CAP) = range(16)  # fmt: skip
ARM, CLEAR, DISARM, CAP = 1, 2, 3, 4
COMMAND = 4
TABLE = crc_table()
RC_SOURCE = {
    "rc_fitted": 1, "rc_dead_band": 0,
    "rc_low_us": [1000] * 4, "rc_centre_us": [1500] * 4, "rc_high_us": [2000] * 4,
    "source_mask": [15, 15, 15], "source_priority": [200, 120, 100],
    "source_lease_ms": [60, 500, 500], "source_cap_mm_s": [2000, 1000, 1500],
    "source_flags": [1, 3, 1],
}  # fmt: skip


class Hand:
    """A car with a receiver, and what its transmitter does: a frame on every other step."""

    def __init__(self, **values) -> None:
        self.car = Car(**{**RC_SOURCE, **values})
        self.car.board.has_receiver = 1
        self.said: list[bytes] = []
        self.set(steering=1500, throttle=1500, live_man=1000, mode=1500)
        self._reader = FrameReader(TABLE)

    def set(self, **pulses) -> None:
        for name, value in pulses.items():
            setattr(self.car.board, f"rc_{name}_us", value)

    def step(self, steps=1, has_frames=True) -> Car:
        for i in range(steps):
            if i % 2 == 0 and has_frames:
                self.car.board.rc_frames += 1
            self.car.step()
            self._listen()
        return self.car

    def _listen(self) -> None:
        data, at = self.car.board.sent[: self.car.board.sent_size], 0
        while at < len(data):
            at = self._reader.read(data, at, len(data)) + 1
            size = self._reader.payload_size()
            if size:
                self.said.append(bytes(self._reader.frame[:size]))

    def claims(self) -> list[bytes]:
        return [payload for payload in self.said if payload[0] == Claim.ID]

    def events(self) -> list[tuple[int, int, int]]:
        found = []
        for payload in self.said:
            event = Event()
            if payload[0] == Event.ID and not decode_into(event, bytearray(payload), len(payload)):
                found.append((event.code, event.a, event.b))
        return found

    def arm(self) -> Car:
        self.set(live_man=1000, throttle=1500)
        self.step(120)
        self.set(live_man=2000)
        return self.step(4)


@pytest.fixture
def hand():
    return Hand()


def decoded(payload: bytes) -> Claim:
    claim = Claim()
    assert decode_into(claim, bytearray(payload), len(payload)) == 0
    return claim


# --- its own receiver


def test_what_the_receiver_claims_is_said_and_is_in_the_boards_own_running_crc(hand):
    hand.step(40)
    own = hand.car.app.sessions.slots[OWN]
    claims = hand.claims()
    assert own.claim_count == len(claims) == 19  # the first count that it found is no frame
    crc = bytearray(4)
    for payload in claims:
        crc_update(crc, bytearray(payload), 0, len(payload), TABLE)
    assert (own.claim_crc, any(own.claim_crc)) == (crc, True)
    newest = decoded(claims[-1])
    assert (newest.epoch, newest.source, newest.sequence) == (own.epoch, 0, own.claim_sequence)


def test_a_claim_of_the_receiver_that_may_not_be_is_not_said_and_is_an_event():
    hand = Hand(source_mask=[0, 15, 15])
    hand.step(400)
    assert (hand.claims(), hand.car.app.sessions.slots[OWN].claim_count) == ([], 0)
    assert hand.car.app.arbiter.refused == 199
    refused = [event for event in hand.events() if event[0] == CLAIM_REFUSED]
    assert refused == [(CLAIM_REFUSED, 0, 2)] * 2  # the first, and every hundredth


def test_a_car_with_a_hand_alone_arms_by_its_gesture_and_drives(hand):
    car = hand.arm()
    assert car.state == ACTIVE
    hand.set(throttle=1750)
    hand.step(30)
    assert (car.app.drive.target_mm_s, car.app.arbiter.winners[1]) == (1000, 0)
    assert (PROFILE, 1, car.app.motion.cap_mm_s()) in hand.events()
    assert (ACTION_TAKEN, ARM, OWN) in hand.events()


def test_a_gesture_that_is_refused_says_why():
    hand = Hand(may_arm=0b11111)
    assert hand.arm().state == STANDBY
    assert (ACTION_REFUSED, ARM, 1 << 12) in hand.events()


def test_a_gesture_clears_and_the_next_one_arms(hand):
    hand.arm()
    hand.car.app.runstop.latch(STOP_REQUEST)
    hand.step(20)
    assert hand.car.state == STOPPED
    assert hand.arm().state == STANDBY
    assert (ACTION_TAKEN, CLEAR, OWN) in hand.events()
    assert hand.car.app.runstop.bits == 0
    assert hand.arm().state == ACTIVE


def test_a_radio_that_is_lost_is_silence_and_a_receiver_that_is_not_wired_no_source(hand):
    hand.arm()
    hand.step(12, has_frames=False)
    assert hand.car.app.runstop.first == 3
    other = Hand()
    other.car.board.has_receiver = 0
    assert other.arm().state == STANDBY
    assert other.claims() == []


@pytest.mark.parametrize(("fitted", "wired", "speaks"), [(1, 1, False), (0, 1, True), (1, 0, True)])
def test_others_speak_for_the_rc_only_where_there_is_no_receiver(fitted, wired, speaks):
    hand = Hand(rc_fitted=fitted)
    hand.car.board.has_receiver = wired
    hand.step(2)
    assert hand.car.app.arbiter.has_receiver is not speaks


# --- over the link


def put(car: Car, *messages) -> None:
    """Into what the car receives on its next step."""
    data = bytearray()
    for message in messages:
        writer = FrameWriter(TABLE)
        size = writer.wrap(encode_into(message, writer.payload))
        data += writer.out[:size]
    car.board.received[: len(data)] = data
    car.board.received_size = len(data)


def act(hand: Hand, action: int, value=1, nonce=0) -> Car:
    message = Act()
    message.epoch, message.action, message.sender = US, action, COMMAND
    message.value, message.nonce = value, nonce
    message.config_hash[:] = hand.car.app.configuration.config_hash
    put(hand.car, message)
    hand.step(1, has_frames=False)
    hand.car.board.received_size = 0
    return hand.car


def both_steps(hand: Hand, action: int, value=1) -> Car:
    act(hand, action, value)
    return act(hand, action, value, hand.car.app.actions.nonce)


def test_an_arm_over_the_link_says_its_profile_its_cap_and_its_session(hand):
    hand.step(120)
    assert both_steps(hand, ARM, value=1).state == HOLD
    hand.step(20)
    assert (PROFILE, 1, hand.car.app.motion.cap_mm_s()) in hand.events()
    assert (ACTION_TAKEN, ARM, 0) in hand.events()
    assert hand.car.app.arbiter.attended.is_open


@pytest.mark.parametrize(("profile", "on_stand"), [(0, True), (1, False), (2, False)])
def test_an_arm_on_the_stand_begins_its_time(hand, profile, on_stand):
    hand.step(120)
    both_steps(hand, ARM, value=profile)
    assert hand.car.app.fault_monitor.is_on_stand is on_stand


def test_a_cap_is_an_event_of_its_own(hand):
    hand.step(120)
    act(hand, CAP, value=321)
    hand.step(20)
    assert (SPEED_CAP, 321, 0) in hand.events()
    assert ACTION_TAKEN not in [event[0] for event in hand.events()]


def test_a_cap_that_is_refused_says_why(hand):
    hand.step(120)
    act(hand, CAP, value=321)
    both_steps(hand, ARM)
    act(hand, CAP, value=322)
    hand.step(20)
    assert (ACTION_REFUSED, CAP, 1 << 13) in hand.events()
    assert hand.car.app.actions.cap_mm_s == 321


def test_an_alive_that_says_stop_is_heard_by_the_stop_sources():
    hand = Hand(stop_source_kind=[1, 0, 0, 3])
    hand.arm()
    alive = Alive()
    alive.epoch, alive.stop_source, alive.runs, alive.sequence = US, 3, 0, 1
    put(hand.car, alive)
    hand.step()
    assert hand.car.has_cause(STOP_SOURCE)
    hand.car.board.received_size = 0
    hand.step(20)
    assert (STOP_LATCHED, STOP_SOURCE, 3) in hand.events()


def test_a_stop_and_a_clear_on_one_step_leave_the_stop_in_either_order(hand):
    clear, stop = Act(), Stop()
    clear.epoch, clear.action, clear.sender, clear.value = US, CLEAR, COMMAND, 1
    stop.sender = 3
    for first in (0, 1):
        hand.step(120)
        hand.car.app.runstop.latch(STOP_REQUEST)
        clear.config_hash[:] = hand.car.app.configuration.config_hash
        act(hand, CLEAR)
        clear.nonce = hand.car.app.actions.nonce
        put(hand.car, *((stop, clear) if first else (clear, stop)))
        hand.step()
        hand.car.board.received_size = 0
        assert hand.car.has_cause(STOP_REQUEST)


def test_a_fault_is_cleared_with_the_stops(hand):
    hand.step(120)
    hand.car.app.faults.latch(4)
    hand.step(2)
    assert hand.car.state == FAULT
    assert both_steps(hand, CLEAR).state == STANDBY
    assert hand.car.app.faults.bits == 0


def test_it_says_why_it_began(hand):
    hand.step(40)
    assert (STARTED, 0, 0) in hand.events()


@pytest.mark.parametrize(("epoch", "stops"), [(US, True), (OTHERS, False), (999, False)])
def test_who_leaves_while_driving_falls_silent_and_nobody_else_does(epoch, stops):
    car = Car()
    car.drive(speed_mm_s=500)
    leave = Leave()
    leave.epoch = epoch
    car.app.dispatcher._leave(leave, car.now_us)
    car.claims = {} if stops else car.claims
    car.step()
    assert (car.state, car.has_cause(SILENCE)) == ((STOPPING, True) if stops else (ACTIVE, False))
    assert (car.app.sessions.find(US) < 0) is stops


@pytest.mark.parametrize(("epoch", "is_open"), [(US, False), (OTHERS, True)])
def test_what_somebody_asked_for_who_leaves_is_not_confirmed_any_more(epoch, is_open):
    car = Car()
    car.step(12)
    car.app.actions.nonce, car.app.actions._epoch = 77, US
    leave = Leave()
    leave.epoch = epoch
    car.app.dispatcher._leave(leave, car.now_us)
    assert (car.app.actions.nonce != 0) is is_open


def synced(hand: Hand, epoch: int, ahead_us: int) -> None:
    """A Sync of this session, whose host is so far ahead of the board; heard on the next step."""
    sync, now_us = Sync(), hand.car.now_us
    sync.epoch, sync.board_us = epoch, now_us
    sync.received_us = sync.sent_us = now_us + ahead_us
    put(hand.car, sync)
    hand.step(has_frames=False)
    hand.car.board.received_size = 0


def test_whoever_says_nothing_but_syncs_is_heard():
    hand = Hand()
    for _ in range(80):
        synced(hand, OTHERS, 0)
        hand.step(4, has_frames=False)
    ours, others = hand.car.app.sessions.slots[:2]
    assert (ours.epoch, ours.is_stale) == (US, True)
    assert (others.epoch, others.is_stale) == (OTHERS, False)


@pytest.mark.parametrize(("epoch", "stops"), [(US, True), (OTHERS, False), (999, False)])
def test_a_clock_that_steps_stops_the_car_that_its_session_drives_and_no_other(epoch, stops):
    hand = Hand()
    hand.car.drive(speed_mm_s=500)
    hand.said.clear()
    synced(hand, epoch, 400_000)
    assert hand.car.has_cause(CLOCK_STEP) is stops
    assert hand.car.state == (STOPPING if stops else ACTIVE)
    hand.car.claims = {}
    hand.step(3, has_frames=False)
    told = [event for event in hand.events() if event[0] == CLOCK_STEPPED]
    slot = {US: 0, OTHERS: 1}.get(epoch)
    assert told == ([] if slot is None else [(CLOCK_STEPPED, slot, 400_000)])


def test_a_clock_that_steps_while_nobody_drives_stops_nothing():
    hand = Hand()
    hand.step(40)
    synced(hand, US, 400_000)
    assert hand.car.app.runstop.bits == 0
