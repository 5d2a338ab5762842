"""Inputs that lie: nothing moves on them, and nothing stays moving.

Frozen inputs, jumps of the host's clock, lying stamps, replayed claims and a busy second tool are
cases of the catalogue (sim_mock/faults) and of the suite; here is what else may be said.
"""

import copy

import pytest

from firmware.protocol import codes, messages
from firmware.protocol.codec import DECODED, decode_into
from firmware.protocol.frame import FrameReader
from firmware.protocol.version import protocol_hash
from host_bridge.deploy.hil.host.small_host import HELD, RELEASED, SEAT, TABLE
from tests.firmware.copies import saved
from tests.safety.support.hosts import host_of
from tests.safety.support.paired_box import PairedBox
from tests.safety.ways.ways import BOX, Autonomous, Race, Rc, SlowSeat, Way

STARTING, STANDBY, ACTIVE, HOLD, STOPPING, STOPPED, FAULT = range(7)
SILENCE_BIT, STOP_SOURCE_SILENT_BIT = 1 << 3, 1 << 11
BOX_SILENCE_US, STEP_US = 250_000, 10_000
REFUSED = codes.EVENT_CLAIM_REFUSED
SLOW_SEAT_ID, RC_ID = 5, 0


def at_speed(way):
    car = way("f1tenth")
    car.begin()
    car.come_to_speed()
    return car


@pytest.fixture(scope="module")
def cars():
    return {way: saved(at_speed(way)) for way in (Way, Race, Rc, Autonomous, SlowSeat)}


@pytest.fixture
def of(cars):
    return lambda way: cars[way]()


def until_it_stops(car) -> int:
    begun_us = car.world.now_us
    while car.state == ACTIVE:
        car.beat()
        assert car.world.now_us - begun_us < 1_000_000
    return car.world.now_us - begun_us


# --- heartbeats


def assert_falls_without_its_box(car, frame_of) -> None:
    """The box is gone; whatever is said in its place does not keep the car moving."""
    car.press_box = lambda runs: car.world.feed(frame_of())
    assert until_it_stops(car) <= BOX_SILENCE_US + STEP_US
    assert car.host.status.causes == STOP_SOURCE_SILENT_BIT


def test_replayed_signs_of_life_keep_nothing_moving(of):
    car = of(Race)
    said = [car.press_box(1) for _ in range(3)]
    car.beat()
    replay = iter(said * 100)
    assert_falls_without_its_box(car, lambda: next(replay))


@pytest.mark.parametrize("ahead_us", [-300_000, 300_000])
def test_signs_of_life_with_a_lying_age_keep_nothing_moving(of, ahead_us):
    """One that claims to be from before its challenge is no older than that; then it is silence."""
    car = of(Race)
    box = copy.copy(car.box)
    box.ahead_us = ahead_us
    box.listen = lambda: None if ahead_us < 0 else type(box).listen(box)
    assert_falls_without_its_box(car, lambda: box.word(1))


def test_a_session_s_signs_of_life_are_none_of_a_box(of):
    """An Alive is what a host's stop sources say, bound and with a good clock: no box is."""
    car = of(Race)
    host = car.host

    def lie():
        host.say(
            messages.Alive, stop_source=BOX, sequence=car.beats, runs=1, stamp_us=host.now_us()
        )
        return b""

    assert_falls_without_its_box(car, lie)


def test_a_box_of_another_key_cannot_speak_for_one_that_is_there(of):
    car = of(Race)
    other = PairedBox(car.host, key=b"another 16 bytes", epoch=888)
    other.listen = lambda: None
    other._heard = car.box._heard
    car.drive(200, 2000)
    other.say(1)
    car.beat()
    assert car.world.runner.app.pairing._boxes._epoch == car.box.epoch
    assert_falls_without_its_box(car, lambda: other.word(1))


# --- the receiver on the board


def test_nobody_speaks_for_a_receiver_that_is_on_the_board(of):
    car = of(Rc)
    car.let_go(500)
    assert car.state == HOLD
    liar = host_of(car.world, epoch=55, source=RC_ID)
    liar.say(messages.Bind, protocol_hash=bytes(protocol_hash(TABLE)))
    car.others.append(liar)
    for deadman in (RELEASED, HELD):
        for _ in range(30):
            liar.claim(0 if deadman else 500, 0, deadman, lease_ms=60)
            car.beat()
            assert car.state == HOLD
    assert car.host.has_event(REFUSED, RC_ID, codes.CLAIM_ON_BOARD)


def own_claims(car) -> list[bytes]:
    """The frames in which the board said what its receiver claims, as they were on the wire."""
    reader, found = FrameReader(TABLE), []
    for sent in car.host.received:
        for part in sent.split(b"\0"):
            frame = b"\0" + part + b"\0"
            data, at, claim = bytearray(frame), 0, messages.Claim()
            while at < len(data):
                at = reader.read(data, at, len(data)) + 1
                size = reader.payload_size()
                if size and reader.frame[0] == messages.Claim.ID:
                    assert decode_into(claim, reader.frame, size) == DECODED
                    found.append(frame)
    return found


def test_the_boards_own_claims_said_to_it_again_keep_nothing_moving(of):
    car = of(Rc)
    said = own_claims(car)
    assert len(said) > 50
    car.vanish()
    replay = iter(said * 10)
    begun_us = car.world.now_us
    while car.state == ACTIVE:
        car.world.feed(next(replay))
        car.rest()
    assert car.world.now_us - begun_us <= 70_000
    assert car.host.status.causes & SILENCE_BIT


def test_the_boards_own_session_is_nobody_elses(of):
    """Who knows its epoch from the wire cannot bind to it."""
    car = of(Rc)
    own_epoch = car.world.runner.app.sessions.slots[4].epoch
    thief = host_of(car.world, epoch=own_epoch)
    thief.say(messages.Bind, protocol_hash=bytes(protocol_hash(TABLE)))
    car.beat()
    assert car.host.latest["Bound"].result == codes.BIND_NO_SLOT


# --- sessions


def test_a_whole_session_said_again_arms_nothing():
    """From its Bind to its arm and its claims, at the same pace: the nonces are not the same."""
    car = Way("f1tenth")
    told, feed = [], car.world.feed

    def keep(data):
        told.append((car.world.now_us, data))
        feed(data)

    car.world.feed = keep
    car.begin()
    car.drive(300, 1500)
    car.world.feed = feed
    car.let_go(1000)
    car.host.say(
        messages.Act, action=codes.ACTION_DISARM, nonce=0,
        config_hash=bytes(car.host.latest["Identity"].config_hash),
    )  # fmt: skip
    car.rest(5)
    assert car.state == STANDBY
    begun_us = car.world.now_us
    for at_us, data in told:
        while car.world.now_us - begun_us < at_us:
            car.host.beat()
            assert car.state == STANDBY
            assert not car.world.enable
        car.world.feed(data)
    assert car.host.has_event(codes.EVENT_ACTION_REFUSED, codes.ACTION_ARM)


def test_no_stamp_makes_a_claim_last_longer_than_its_lease_after_it_came(of):
    """As far ahead as the clock's uncertainty lets it: from there on it is from the future."""
    for ahead_us in range(0, 20_000, 500):
        other = of(Way)
        other.host.claim(
            1000, stamp_us=other.host.now_us() + STEP_US + ahead_us & (1 << 30) - 1, lease_ms=120
        )
        assert until_silent(other) <= 120_000 + 2 * STEP_US


def until_silent(car) -> int:
    begun_us = car.world.now_us
    while car.state == ACTIVE:
        car.rest()
    return car.world.now_us - begun_us


# --- people and their devices


def test_a_key_that_is_stuck_drives_no_longer_than_it_may(of):
    """Autorepeat looks like a person; a car may ask for the deadman to be pressed anew."""

    class Pressed(SlowSeat):
        parameters = {"source_repress_ms": {SLOW_SEAT_ID: 2_000}}  # noqa: RUF012

    car = at_speed(Pressed)
    begun_us = car.world.now_us
    while car.state == ACTIVE:
        car.beat()
    assert car.world.now_us - begun_us <= 2_000_000
    assert car.state == HOLD
    car.drive(500, 200)
    car.drive(500, 0)
    assert car.state == HOLD
    car.let_go(50)
    car.hold()
    car.drive(50, 0)
    assert car.state == ACTIVE


def test_a_deadman_held_since_power_up_permits_no_program():
    """S4: the person has to have let go once, and then to permit anew."""
    car = Autonomous("f1tenth")
    car.take_up()
    car.drive(100, 0)
    assert car.arm() == 0
    car.drive(1000, 1000)
    assert car.state == HOLD


def test_a_person_who_comes_back_from_silence_permits_nothing_until_they_let_go():
    """A seat that may yield goes, the car holds; its held deadman comes back: nothing moves."""

    class Yields(Autonomous):
        parameters = {"source_on_silence": {SEAT: codes.ON_SILENCE_YIELD}}  # noqa: RUF012

    car = at_speed(Yields)
    claim = car.seat.claim
    car.seat.claim = lambda *_, **__: b""
    car.drive(300, 2000)
    assert car.state == HOLD
    car.seat.claim = claim
    car.drive(500, 2000)
    assert car.state == HOLD
    car.let_go(100)
    car.hold()
    car.drive(100, 2000)
    assert car.state == ACTIVE
