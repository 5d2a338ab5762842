"""The guests of stations: each is named, has what its invitation says, and is revoked alone."""

from __future__ import annotations

import hashlib

import pytest
from pymavlink.dialects.v20 import development as mavlink

from host_bridge.core import Cause, Sender, State
from host_bridge.sharing.network.guests import MAVLINK, SEALED, GuestBook, new_guest
from host_bridge.sharing.network.sealed.handshake import Role
from host_bridge.station.mavlink.driving.driver import NEEDS_KEY
from host_bridge.station.mavlink.messages.dialect import Decoder, signing_time
from tests.host_bridge.station.mavlink.rover import (
    AFAR,
    KEY,
    PASSPHRASE,
    UNIX_NS,
    Rover,
    StationEnd,
)
from tests.host_bridge.station.mavlink.test_drives import CAP_MPS, Ride
from tests.support.evidence import some

BOBS = "another passphrase of some length for tests"
BOB = ("192.0.2.8", 14_550)
BEAT = mavlink.MAVLink_heartbeat_message(6, 8, 0, 0, 4, 3)


def key_of(passphrase):
    return hashlib.sha256(passphrase.encode()).digest()


def two(**options):
    """A car with two guests, and both their stations, heard."""
    rover = Rover(has_guest=True, **options)
    bob = rover.invite("Bob", BOBS)
    ends = StationEnd(rover, AFAR, KEY), StationEnd(rover, BOB, key_of(BOBS))
    rover.advance(0.1)
    for end in ends:
        end.send(BEAT)
    rover.advance(2.0)
    return rover, bob, *ends


def names(rover):
    return {it.guest for it in rover.gateway.attached()}


def test_each_guest_is_named_where_it_is_shown_and_told():
    rover, _, ada, _ = two()
    assert names(rover) == {"Ada", "Bob"}
    assert "MAVLink Ada (255/190) at 192.0.2.7:14550, signed" in map(str, rover.gateway.attached())
    ada.disarm()
    assert rover.told[-1] == "station Ada, 255/190 at 192.0.2.7:14550 stops the car"
    assert {it[1] for it in rover.book.times.seen.values()} == {AFAR[0], BOB[0]}


def test_a_stop_that_somebody_sends_unsigned_in_a_guests_place_is_not_told_as_the_guests():
    rover, _, ada, _ = two()
    forged = StationEnd(rover, AFAR)
    rover.ends[AFAR] = ada
    forged.disarm()
    assert rover.told[-1] == "station 255/190 at 192.0.2.7:14550, unsigned, stops the car"


def test_each_is_answered_with_its_own_key():
    _, _, ada, bob = two()
    for end in (ada, bob):
        assert some(end.got)
        for passphrase, is_own in ((PASSPHRASE, end is ada), (BOBS, end is bob)):
            key = key_of(passphrase)
            frame = bytes(end.got[-1].get_msgbuf())
            assert (hashlib.sha256(key + frame[:-6]).digest()[:6] == frame[-6:]) is is_own


def test_a_station_that_was_never_heard_hears_a_heartbeat_by_each_key():
    rover = Rover(has_guest=True, to=AFAR)
    rover.invite("Bob", BOBS)
    listening = StationEnd(rover, AFAR)
    rover.advance(1.5)
    beats = some(listening.all_of("HEARTBEAT"))
    signed = {
        name
        for name in (PASSPHRASE, BOBS)
        for it in beats
        for frame in [bytes(it.get_msgbuf())]
        if hashlib.sha256(key_of(name) + frame[:-6]).digest()[:6] == frame[-6:]
    }
    assert signed == {PASSPHRASE, BOBS}


def test_one_is_revoked_alone_and_at_the_next_tick():
    rover, bob_id, ada, bob = two()
    rover.commands.revoke(bob_id)
    for end in (ada, bob):
        end.got.clear()
        end.send(BEAT)
    rover.advance(0.02)
    for end in (ada, bob):
        end.send(BEAT)
    rover.advance(2.0)
    assert ada.all_of("HEARTBEAT")
    assert len(bob.all_of("HEARTBEAT")) == 0
    assert names(rover) == {"Ada", ""}
    assert any("Bob" in it and "no guest any more" in it for it in rover.told)


def test_who_is_revoked_while_it_drives_stops_the_car():
    it = Ride(is_virtual=False, address=AFAR, key=KEY, deadman=4)
    it.go_on(0.3)
    it.arm_beside()
    it.buttons = 1 << 4
    it.drive()
    assert it.rover.speed_mps > 0.9 * CAP_MPS
    it.rover.commands.revoke("all")
    assert it.stop_distance(it.turn) < 0.6
    assert it.rover.car.status.first_cause is Cause.STOP_REQUEST
    latched = [event for event in it.rover.car.events if event.code.name == "STOP_LATCHED"]
    assert some(latched)[-1].b == Sender.OWNER
    it.station.disarm()
    assert any("stops the car" in told for told in it.rover.told)


def test_an_invitation_that_is_over_by_its_date_ends_a_drive():
    rover = Rover()
    rover.invite("Ada", PASSPHRASE, for_s=3.0)
    station = StationEnd(rover, AFAR, KEY)
    rover.advance(1.1)
    for _ in range(5):
        station.send(BEAT)
        rover.advance(1.0)
    station.got.clear()
    station.send(BEAT)
    rover.advance(1.0)
    assert station.got == []


def test_who_is_invited_to_watch_drives_and_arms_nothing_real():
    rover = Rover(is_virtual=False, deadman=0)
    rover.invite("Ada", PASSPHRASE, Role.WATCH)
    for address in (AFAR, ("127.0.0.1", 9)):
        station = StationEnd(rover, address, KEY)
        rover.advance(1.1)
        station.sticks(x=500)
        station.arm()
        rover.advance(0.05)
        assert station.acks(mavlink.MAV_CMD_COMPONENT_ARM_DISARM) == [mavlink.MAV_RESULT_DENIED]
        assert NEEDS_KEY in station.texts()
    assert rover.state is State.STANDBY


@pytest.mark.parametrize("x", [980, -980])
def test_nobody_drives_faster_than_its_invitation_says(x):
    it = Ride()
    it.rover.invite("Ada", PASSPHRASE, cap=200)
    it.station = StationEnd(it.rover, key=KEY)
    it.rover.advance(1.1)
    it.arm()
    it.drive(x)
    assert 0.15 < abs(it.rover.speed_mps) < 0.25


def test_a_passphrase_is_no_token_and_a_token_no_passphrase(tmp_path):
    tmp_path.chmod(0o700)
    station, guest = (new_guest(Role.DRIVE, way, 60.0, way) for way in (MAVLINK, SEALED))
    for way, own in ((SEALED, guest), (MAVLINK, station)):
        book = GuestBook(bytes(8), tmp_path, way=way)
        book.keep(own)
    for way, own, other in ((SEALED, guest, station), (MAVLINK, station, guest)):
        book = GuestBook(bytes(8), tmp_path, way=way)
        assert book.live() == [own]
        assert book.find(bytes.fromhex(own.token_id)) == own
        assert book.find(bytes.fromhex(other.token_id)) is None


def test_the_time_served_ends_a_guest_too(tmp_path):
    tmp_path.chmod(0o700)
    book = GuestBook(bytes(8), tmp_path, way=MAVLINK)
    book.keep(new_guest(Role.WATCH, "Ada", 60.0, MAVLINK))
    book.pass_time(61.0)
    assert GuestBook(bytes(8), tmp_path, way=MAVLINK).live() == []


def test_reports_are_read_by_the_key_of_the_guest_alone():
    rover, _, ada, _ = two()
    ada.send(BEAT)
    rover.advance(1.0)
    reader = Decoder(list, signing_time(UNIX_NS) - 1)
    assert {reader.decode(bytes(it.get_msgbuf()))[0].is_signed for it in some(ada.got)} == {False}
