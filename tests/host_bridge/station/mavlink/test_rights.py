"""Who may do what: anybody stops, and only who is authenticated moves."""

from __future__ import annotations

import hashlib

import pytest
from pymavlink.dialects.v20 import development as mavlink

from host_bridge.core import Cause, Sender, State
from host_bridge.core.errors import UsageFault
from host_bridge.station.mavlink.driving.driver import BY_A_PERSON, NEEDS_DEADMAN, NEEDS_KEY
from host_bridge.station.mavlink.endpoint import bind_address, parse_address
from host_bridge.station.mavlink.keys import StationKey
from host_bridge.station.mavlink.messages.dialect import Decoder, signing_time
from tests.host_bridge.station.mavlink.rover import AFAR, KEY, LOCAL, UNIX_NS, Rover, StationEnd
from tests.support.evidence import some

ARM = mavlink.MAV_CMD_COMPONENT_ARM_DISARM
TERMINATE = mavlink.MAV_CMD_DO_FLIGHTTERMINATION
ACCEPTED, DENIED = mavlink.MAV_RESULT_ACCEPTED, mavlink.MAV_RESULT_DENIED
ADAS = StationKey("ada", "Ada", True, None, KEY)
OTHER_KEY = hashlib.sha256(b"somebody else's passphrase of some length").digest()

STOPS = {
    "disarm": lambda station: station.disarm(),
    "forced": lambda station: station.disarm(is_forced=True),
    "terminate": lambda station: station.command(TERMINATE, 1),
    "as int": lambda station: station.send(
        mavlink.MAVLink_command_int_message(1, 1, 0, ARM, 0, 0, 0.0, 0.0, 0.0, 0.0, 0, 0, 0.0)
    ),
}
PEERS = {
    "local": (LOCAL, None),
    "afar unsigned": (AFAR, None),
    "afar with another key": (AFAR, OTHER_KEY),
    "afar signed": (AFAR, KEY),
}


@pytest.fixture(scope="module")
def real():
    """A real car, as the gateway treats one, with a key."""
    return Rover(has_guest=True, is_virtual=False)


@pytest.mark.parametrize("peer", PEERS)
@pytest.mark.parametrize("way", STOPS)
def test_anybody_stops_in_any_way_and_is_told_when_the_car_has_heard(real, way, peer):
    address, key = PEERS[peer]
    station = StationEnd(real, address, key)
    STOPS[way](station)
    number = TERMINATE if way == "terminate" else ARM
    real.until(lambda: station.acks(number) == [ACCEPTED], 0.2)
    assert real.car.status.first_cause is Cause.STOP_REQUEST
    assert real.told[-1].endswith("stops the car")


@pytest.mark.parametrize(("address", "sender"), [(LOCAL, Sender.COMMAND), (AFAR, Sender.GUEST)])
def test_the_car_tells_who_stopped_it(address, sender):
    rover = Rover()
    StationEnd(rover, address).disarm()
    rover.advance(0.1)
    latched = [it for it in rover.car.events if it.code.name == "STOP_LATCHED"]
    assert some(latched)[-1].b == sender


def test_a_stop_that_the_car_does_not_hear_is_told_as_failed():
    rover = Rover()
    station = StationEnd(rover)
    rover.rig.is_plugged = False
    station.disarm()
    rover.until(lambda: bool(station.acks(ARM)), 2.0)
    assert station.acks(ARM) == [mavlink.MAV_RESULT_FAILED]
    assert "runstop" in station.texts()


def test_a_thousand_stops_are_one_on_the_way():
    rover = Rover()
    station = StationEnd(rover)
    frame = station.frame(mavlink.MAVLink_command_long_message(1, 1, ARM, 0, *[0.0] * 7))
    for number in range(1000):
        rover.gateway.hear(frame, ("192.0.2.9", number + 1))
    assert sum("stops the car" in it for it in rover.told) == 1


def test_a_virtual_car_is_armed_by_a_station_of_this_machine():
    rover = Rover()
    station = StationEnd(rover)
    station.arm()
    station.arm()  # as a station that was not answered at once
    rover.until(lambda: ACCEPTED in station.acks(ARM))
    assert rover.state is State.HOLD
    assert station.acks(ARM) == [mavlink.MAV_RESULT_IN_PROGRESS, ACCEPTED]


def test_force_arming_passes_nothing_by():
    rover = Rover(is_virtual=False, has_guest=True, deadman=0)
    station = StationEnd(rover, key=KEY)
    station.command(ARM, 1, 21_196)
    rover.advance(0.1)
    assert station.acks(ARM) == [DENIED]
    assert BY_A_PERSON in station.texts()


@pytest.mark.parametrize("peer", ["local", "afar signed"])
def test_a_real_car_is_armed_by_no_station(peer):
    address, key = PEERS[peer]
    rover = Rover(is_virtual=False, has_guest=True, deadman=0)
    station = StationEnd(rover, address, key)
    station.arm()
    rover.until(lambda: bool(station.acks(ARM)))
    assert station.acks(ARM) == [DENIED]
    assert (BY_A_PERSON if key else NEEDS_KEY) in station.texts()
    assert rover.state is State.STANDBY


def test_a_guest_that_arms_a_virtual_car_is_judged_by_the_car():
    rover = Rover(has_guest=True)
    station = StationEnd(rover, AFAR, KEY)
    station.arm()
    rover.until(lambda: bool(station.acks(ARM)))
    assert station.acks(ARM) == [DENIED]
    assert rover.state is State.STANDBY
    assert "did not arm" in station.texts()


@pytest.mark.parametrize("peer", ["afar unsigned", "afar with another key"])
def test_who_is_not_authenticated_gets_no_report_and_no_answer_but_no(peer):
    address, key = PEERS[peer]
    rover = Rover(has_guest=True)
    station = StationEnd(rover, address, key)
    station.send(mavlink.MAVLink_heartbeat_message(6, 8, 0, 0, 4, 3))
    station.send(mavlink.MAVLink_param_request_list_message(1, 1))
    station.sticks(x=500)
    station.command(mavlink.MAV_CMD_SET_MESSAGE_INTERVAL, 30, 20_000)
    station.arm()
    rover.advance(2.0)
    assert {it.get_type() for it in some(station.got)} == {"COMMAND_ACK"}
    assert {it.result for it in station.got} == {DENIED}
    assert rover.state is State.STANDBY


def test_invented_addresses_neither_blind_a_guest_nor_fill_the_lines():
    rover = Rover(has_guest=True)
    guest = StationEnd(rover, AFAR, KEY)
    guest.send(mavlink.MAVLink_heartbeat_message(6, 8, 0, 0, 4, 3))
    plain = StationEnd(rover, ("192.0.2.8", 1))
    beat = plain.frame(mavlink.MAVLink_heartbeat_message(6, 8, 0, 0, 4, 3))
    for number in range(500):
        rover.gateway.hear(beat, ("192.0.2.9", number + 1))
        rover.gateway.hear(beat, AFAR)
    late = StationEnd(rover, ("192.0.2.10", 1), KEY, system=254)
    late.send(mavlink.MAVLink_heartbeat_message(6, 8, 0, 0, 4, 3))
    guest.got.clear()
    rover.advance(1.0)
    assert guest.all_of("HEARTBEAT")
    assert late.all_of("HEARTBEAT")
    assert sum("signs with no guest" in it for it in rover.told) == 1
    assert {it.who for it in rover.gateway.attached()} == {"255/190", "254/190"}


def test_reports_are_signed_and_go_to_who_signs():
    rover = Rover(has_guest=True)
    station = StationEnd(rover, AFAR, KEY)
    station.send(mavlink.MAVLink_heartbeat_message(6, 8, 0, 0, 4, 3))
    rover.advance(2.0)
    reader = Decoder(lambda: [ADAS], signing_time(UNIX_NS) - 1)
    heard = [reader.decode(bytes(it.get_msgbuf()))[0] for it in some(station.got)]
    assert {it.is_signed for it in heard} == {True}


def test_sticks_of_a_real_car_need_the_key_and_a_deadman():
    rover = Rover(is_virtual=False, has_guest=True)
    plain, signed = StationEnd(rover), StationEnd(rover, ("127.0.0.1", 9), KEY)
    plain.sticks(x=500)
    signed.sticks(x=500)
    assert NEEDS_KEY in plain.texts()
    assert NEEDS_DEADMAN in signed.texts()


def test_watch_only_watches_and_stops():
    rover = Rover(is_watch_only=True)
    station = StationEnd(rover)
    station.sticks(x=500)
    station.arm()
    station.command(mavlink.MAV_CMD_DO_SET_MODE, 1, 4)
    assert station.acks(ARM) == [DENIED]
    assert station.acks(mavlink.MAV_CMD_DO_SET_MODE) == [DENIED]
    station.disarm()
    rover.until(lambda: ACCEPTED in station.acks(ARM), 0.2)


# --- signatures


def signed_frame(stamp, key=KEY, link=0):
    library = mavlink.MAVLink(None, srcSystem=255, srcComponent=190)
    library.signing.secret_key, library.signing.sign_outgoing = key, True
    library.signing.timestamp, library.signing.link_id = stamp, link
    return bytes(mavlink.MAVLink_heartbeat_message(6, 8, 0, 0, 4, 3).pack(library))


def is_signed(decoder, frame):
    return [it.is_signed for it in decoder.decode(frame)]


def test_a_signature_counts_once_and_only_forward():
    decoder = Decoder(lambda: [ADAS], 1000)
    assert is_signed(decoder, signed_frame(2000)) == [True]
    assert is_signed(decoder, signed_frame(2000)) == [False]
    assert is_signed(decoder, signed_frame(1999)) == [False]
    assert is_signed(decoder, signed_frame(2001)) == [True]


def test_what_was_recorded_before_the_start_is_not_replayed():
    assert is_signed(Decoder(lambda: [ADAS], 1000), signed_frame(1000)) == [False]


def test_a_forged_frame_from_the_future_shuts_nobody_out():
    decoder = Decoder(lambda: [ADAS], 1000)
    assert is_signed(decoder, signed_frame(1 << 40, OTHER_KEY)) == [False]
    assert is_signed(decoder, signed_frame(2000)) == [True]


def test_each_bit_of_a_signed_frame_counts():
    frame = signed_frame(2000)
    for bit in range(len(frame) * 8):
        bent = bytearray(frame)
        bent[bit // 8] ^= 1 << bit % 8
        assert True not in is_signed(Decoder(lambda: [ADAS], 1000), bytes(bent)), bit


def test_without_a_guest_nothing_is_signed():
    assert is_signed(Decoder(list, 0), signed_frame(2000)) == [False]


def test_each_key_has_a_stream_of_its_own():
    bobs = StationKey("bob", "Bob", True, None, OTHER_KEY)
    decoder = Decoder(lambda: [ADAS, bobs], 1000)
    for stamp in (3000, 4000):
        assert [it.key for it in decoder.decode(signed_frame(stamp))] == [ADAS]
        assert [it.key for it in decoder.decode(signed_frame(stamp - 1500, OTHER_KEY))] == [bobs]
    assert is_signed(decoder, signed_frame(2500, OTHER_KEY)) == [False]


def test_one_guest_has_no_more_streams_than_stations_need():
    decoder = Decoder(lambda: [ADAS], 1000)
    found = [is_signed(decoder, signed_frame(2000, link=link))[0] for link in range(100)]
    assert found == [True] * 64 + [False] * 36
    assert is_signed(decoder, signed_frame(3000, link=5)) == [True]


# --- addresses


@pytest.mark.parametrize(
    ("to", "listen"),
    [(AFAR, None), (None, AFAR), (None, ("0.0.0.0", 14_550)), (LOCAL, ("::", 14_550))],
)
def test_beyond_this_machine_somebody_has_to_be_invited(to, listen):
    with pytest.raises(UsageFault, match="tandem invite"):
        bind_address(to, listen, has_guests=False)
    assert bind_address(to, listen, has_guests=True)


def test_a_station_here_is_told_from_a_loopback_port():
    assert bind_address(LOCAL, None, has_guests=False) == ("127.0.0.1", 0)
    assert bind_address(("::1", 14_550), None, has_guests=False) == ("::1", 0)
    assert bind_address(AFAR, None, has_guests=True) == ("0.0.0.0", 0)


@pytest.mark.parametrize("text", ["", "14550", "localhost:", "localhost:x", "localhost:65536"])
def test_what_is_no_address_is_refused_with_its_option(text):
    with pytest.raises(UsageFault, match="--to"):
        parse_address(text, "--to")
