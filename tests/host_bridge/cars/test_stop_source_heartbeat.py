"""What a program says as a stop source: without it a car that needs it does not move."""

from __future__ import annotations

import random

import pytest

from firmware.protocol import messages
from host_bridge.cars.stop_source_heartbeat import FLEET, OWNER, SEAT, StopSourceHeartbeat
from host_bridge.config import load_vehicle
from host_bridge.core import Profile, Refusal, Sender, State
from host_bridge.link.protocol import wire
from tests.host_bridge.cars.stop_sources import requiring
from tests.host_bridge.drive.drives import Drive, Rig
from tests.support.evidence import some


@pytest.fixture
def watched(tmp_path):
    return load_vehicle(str(requiring(tmp_path, "seat")))


def words(data: bytes) -> list[messages.Alive]:
    frames = [frame for frame in data.split(b"\0") if frame]
    found = (wire.MessageDecoder().feed(frame + b"\0")[0] for frame in frames)
    return [message for message in found if isinstance(message, messages.Alive)]


def test_a_car_that_needs_the_seat_is_not_armed_without_it_and_says_what_to_do(watched):
    rig = Rig("a", of=watched)
    drive = Drive(rig)
    drive.is_host_alive = False  # no ticks: nobody sits there
    drive.bind()
    request = rig.car.arm(drive.now_us, Sender.COMMAND)
    drive.until(lambda: request.result is not None)
    assert request.result.refusals == (Refusal.STOP_SOURCE,)
    assert "seat: tandem drive is the seat" in str(request.result)


def test_a_car_that_needs_the_seat_drives_with_it_and_stops_without_it(watched):
    rig = Rig("a", of=watched)
    drive = Drive(rig)
    drive.arm()
    drive.go(1.0)
    drive.advance(0.5)
    assert drive.is_in(State.ACTIVE)
    drive.is_host_alive = False
    took_s = drive.until(lambda: drive.is_in(State.STOPPING), 0.3)
    assert 0.17 <= took_s <= 0.22, "its silence of 0.2 s, less a word's age, and a step"
    drive.advance(0.1)
    assert "the driver's seat, which it needs, was silent" in rig.car.why_stopped()


def test_a_person_s_stop_is_said_again_and_again_until_they_say_otherwise(watched):
    rig = Rig("a", of=watched)
    drive = Drive(rig)
    drive.arm()
    drive.fleet.set_heartbeat(SEAT, runs=False)
    drive.until(lambda: drive.is_in(State.STOPPED))
    assert "the driver's seat says stop" in rig.car.why_stopped()
    refused = drive.finish(drive.fleet.clear(drive.now_us))
    assert "a cause to stop is still present" in str(refused)
    drive.fleet.set_heartbeat(SEAT, runs=True)
    assert not drive.fleet.are_heartbeats_heard(drive.now_us)
    drive.until(lambda: drive.fleet.are_heartbeats_heard(drive.now_us), 0.15)
    assert drive.finish(drive.fleet.clear(drive.now_us)).is_done()


def test_the_word_comes_fifty_times_a_second_each_with_its_own_number_and_time():
    rig = Rig("a")
    drive = Drive(rig)
    drive.bind()
    sent: list[messages.Alive] = []
    rig.down = lambda data: sent.extend(words(data)) or data
    drive.advance(1.0)
    assert 48 <= len(sent) <= 52
    assert len({word.sequence for word in sent}) == len({word.stamp_us for word in sent})
    assert {(word.stop_source, word.runs) for word in sent} == {(3, 1)}, "one car: only the seat"


def test_two_cars_hear_the_fleet_too():
    drive = Drive(Rig("a"), Rig("b", board_us=77_000_000, seed=2))
    drive.bind()
    drive.advance(0.5)
    for rig in some(drive.rigs):
        assert {3, 5} <= set(rig.car.inputs.stop_fresh)


def test_a_word_is_not_said_to_a_car_whose_file_does_not_know_it(tmp_path):
    path = requiring(tmp_path)
    text = path.read_text()
    begin = text.index("[stop.sources.fleet]")
    path.write_text(text[:begin] + text[text.index("[", begin + 1) :])
    rig = Rig("a", of=load_vehicle(str(path)))
    drive = Drive(rig)
    drive.bind()
    heartbeat = StopSourceHeartbeat(rig.car, FLEET)
    heartbeat.step(drive.now_us)
    assert words(rig.car.data_to_send()) == []
    assert heartbeat.is_heard(drive.now_us), "there is nothing to wait for"


def test_ten_in_a_hundred_words_lost_are_no_silence(watched):
    rng = random.Random(3)
    rig = Rig("a", of=watched)
    drive = Drive(rig)
    drive.arm()
    rig.down = lambda data: b"" if words(data) and rng.random() < 0.1 else data
    drive.go(1.0)
    drive.advance(10.0)
    assert drive.is_in(State.ACTIVE)


def test_the_owner_s_word_goes_with_the_link_not_with_the_ticks(tmp_path):
    rig = Rig("a", of=load_vehicle(str(requiring(tmp_path, "owner"))))
    rig.car.heartbeats.append(StopSourceHeartbeat(rig.car, OWNER))
    drive = Drive(rig)
    drive.is_host_alive = False
    drive.bind()
    drive.advance(0.3)
    request = rig.car.arm(drive.now_us, Sender.OWNER, Profile.TRACK)
    drive.until(lambda: request.result is not None)
    assert request.result.is_done


@pytest.mark.parametrize("profile", [Profile.STAND, Profile.TRACK])
def test_a_car_is_armed_in_the_profile_that_was_named(profile):
    rig = Rig("a")
    drive = Drive(rig)
    drive.bind()
    request = rig.car.arm(drive.now_us, Sender.SEAT, profile)
    drive.until(lambda: request.result is not None)
    assert request.result.is_done, str(request.result)
    drive.advance(0.2)
    assert rig.car.status.profile is profile
    left_s = rig.car.stand_left_s()
    assert left_s == pytest.approx(59.8, abs=0.3) if profile is Profile.STAND else left_s is None


def test_the_cap_is_lowered_at_any_time_and_raised_only_at_rest():
    rig = Rig("a")
    drive = Drive(rig)
    drive.arm()
    drive.go(2.0)
    drive.advance(1.0)
    assert drive.finish(drive.fleet.cap(drive.now_us, 0.8)).is_done()
    drive.advance(2.0)
    assert 0.3 < rig.car.status.speed_mps < 0.85
    assert rig.car.status.target_mps == 0.8
    assert rig.car.outputs.cap_mps == 0.8
    refused = drive.finish(drive.fleet.cap(drive.now_us, 1.0))
    assert "until it is parked its cap can only be lowered" in str(refused)


def test_a_cap_beyond_the_wire_is_refused_here():
    with pytest.raises(ValueError, match=r"0 to 65.535 m/s"):
        Drive(Rig("a")).fleet.cap(0, 70.0)


def test_all_that_is_said_to_a_car_fits_a_line_of_115200_baud():
    a, b = Rig("a"), Rig("b", board_us=77_000_000, seed=2)
    a.car.heartbeats.append(StopSourceHeartbeat(a.car, OWNER))
    drive = Drive(a, b)
    drive.arm()
    drive.go(1.0)
    before = a.car.connection.statistics.bytes_out
    drive.advance(2.0)
    said_per_s = (a.car.connection.statistics.bytes_out - before) / 2
    assert 5_000 < said_per_s < 0.9 * 11_520, "claims, three stop sources, the clock"
