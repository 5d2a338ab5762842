"""One car, from the desk: identify, arm, drive, hold, stop, clear, arm again."""

from __future__ import annotations

import pytest

from firmware.protocol import messages
from host_bridge.core import Cause, DriveCommand, Refusal, Sender, State
from host_bridge.link.protocol import wire
from tests.host_bridge.drive.drives import Drive, Rig

REPLY = dict.fromkeys((row[0] for row in messages.ActReply.FIELDS), 1)
REPLY_SIZE = len(wire.encode(wire.new(messages.ActReply, **REPLY))) - 2  # between delimiters


@pytest.fixture
def drive() -> Drive:
    return Drive(Rig("a"))


def only(drive: Drive) -> Rig:
    return drive.rigs[0]


def test_a_car_does_not_move_before_it_is_armed(drive):
    drive.bind()
    drive.hand.command = DriveCommand(is_held=True, speed_mps=2.0)
    drive.advance(1.0)
    assert drive.is_in(State.STANDBY)
    assert only(drive).car.motion.distance_m == 0.0


def test_identify_arm_drive_hold_drive_stop_clear_and_arm_again(drive):
    rig = only(drive)
    drive.arm()
    drive.go(2.0)
    drive.advance(2.0)
    assert rig.car.status.speed_mps == pytest.approx(2.0, abs=0.1)
    assert rig.car.status.drive_source == drive.control_task.source.id
    drive.let_go()
    drive.until(lambda: drive.is_in(State.HOLD), 0.05)
    drive.until(lambda: rig.car.status.speed_mps == 0.0)
    drive.advance(0.5)
    assert rig.car.why_stopped() == ""
    drive.go(1.0)
    drive.advance(1.0)
    drive.stop()
    drive.until(lambda: drive.is_in(State.STOPPING), 0.03)
    drive.until(lambda: drive.is_in(State.STOPPED))
    refused = rig.car.arm(drive.now_us, Sender.COMMAND)
    drive.until(lambda: refused.result is not None)
    assert not refused.result.is_done
    cleared = rig.car.clear(drive.now_us, Sender.COMMAND)
    drive.until(lambda: cleared.result is not None)
    assert cleared.result.is_done
    drive.let_go()
    drive.arm()
    drive.go(1.0)


def test_after_a_stop_nothing_moves_before_the_person_lets_go(drive):
    drive.arm()
    drive.go(1.0)
    drive.stop()
    drive.until(lambda: drive.is_in(State.STOPPED))
    drive.finish(drive.fleet.clear(drive.now_us))
    drive.arm()
    drive.advance(1.0)
    assert drive.is_in(State.HOLD)


def test_all_refusals_are_named_each_with_a_sentence(drive):
    rig = only(drive)
    drive.bind()
    rig.car.config_hash = b"\1\2\3\4"
    rig.world.runstop_closed = False
    drive.advance(0.2)
    request = rig.car.arm(drive.now_us, Sender.COMMAND)
    drive.until(lambda: request.result is not None)
    assert set(request.result.refusals) == {
        Refusal.STOP_CAUSE,
        Refusal.CAUSE_PRESENT,
        Refusal.CONFIGURATION,
    }
    text = str(request.result)
    for words in ("clear it first", "the stop loop was open", "01020304", "a did not arm"):
        assert words in text
    assert rig.car.identity.config_hash.hex() in text


def test_the_state_that_does_not_allow_it_is_named(drive):
    drive.arm()
    request = only(drive).car.clear(drive.now_us, Sender.COMMAND)
    drive.until(lambda: request.result is not None)
    assert "its state does not allow it (ARMED)" in str(request.result)


def test_who_asks_for_a_car_that_somebody_drives_is_told_who_drives_it(
    drive,
):
    drive.arm()
    drive.go(1.0)
    drive.advance(1.0)
    request = only(drive).car.arm(drive.now_us, Sender.COMMAND)
    drive.until(lambda: request.result is not None)
    assert {Refusal.STATE, Refusal.MOVING, Refusal.RELAY} <= set(request.result.refusals)
    text = str(request.result)
    assert "its state does not allow it (DRIVING): the program drives it" in text
    assert "moving" not in text
    assert "power switch" not in text


def test_a_disarmed_car_is_in_standby(drive):
    drive.arm()
    request = only(drive).car.disarm(drive.now_us, Sender.COMMAND)
    drive.until(lambda: request.result is not None)
    assert request.result.is_done
    drive.until(lambda: drive.is_in(State.STANDBY), 0.05)


def test_a_car_that_does_not_answer_fails_within_a_second(drive):
    drive.bind()
    only(drive).down = lambda data: b""
    request = only(drive).car.arm(drive.now_us, Sender.COMMAND)
    assert drive.until(lambda: request.result is not None) <= 1.05
    assert "no answer within 1 s" in str(request.result)


def test_an_unplugged_car_fails_at_once(drive):
    drive.bind()
    request = only(drive).car.arm(drive.now_us, Sender.COMMAND)
    only(drive).is_plugged = False
    assert drive.until(lambda: request.result is not None) <= 0.25
    assert "the link was lost" in str(request.result)
    assert "not connected" in str(only(drive).car.arm(drive.now_us, Sender.COMMAND).result)


@pytest.mark.parametrize("lost", [1, 2, 3])
def test_actions_succeed_though_answers_are_lost(drive, lost):
    """The car acts on a nonce once; the host learns from the car's state that it did."""
    rig = only(drive)
    drive.bind()
    seen = [0]

    def without_replies(data: bytes) -> bytes:
        frames = [f for f in data.split(b"\0") if f]
        kept = []
        for frame in frames:
            is_reply = len(frame) == REPLY_SIZE
            seen[0] += is_reply
            if not is_reply or seen[0] > lost:
                kept.append(frame)
        return b"".join(b"\0" + frame + b"\0" for frame in kept)

    rig.up = without_replies
    request = drive.finish(drive.fleet.arm(drive.now_us))
    assert request.is_done(), str(request)
    assert seen[0] >= lost
    drive.until(lambda: drive.is_in(State.HOLD), 0.05)


def test_a_stop_is_repeated_until_it_is_seen(drive):
    rig = only(drive)
    drive.arm()
    rig.down = lambda data: b""
    stop = rig.car.stop(Sender.RUNSTOP_BOX, "left box", drive.now_us)
    drive.advance(0.05)
    assert stop.seen_us is None
    rig.down = bytes
    drive.until(lambda: stop.seen_us is not None, 0.05)
    assert stop.seen.state in (State.STOPPING, State.STOPPED)


def test_why_it_stopped_names_the_silent_source_its_limit_and_the_deadman(drive):
    drive.arm()
    drive.go()
    drive.advance(1.0)
    drive.is_host_alive = False
    assert drive.until(lambda: drive.is_in(State.STOPPING)) <= 0.14
    drive.advance(0.1)
    assert only(drive).car.why_stopped() == (
        "Stopped because the program fell silent for more than 120 ms while it drove."
    )


def test_why_it_stopped_says_nothing_of_a_deadman_that_was_not_held(drive):
    drive.arm()
    drive.is_host_alive = False
    drive.advance(0.3)
    assert only(drive).car.why_stopped() == (
        "Stopped because the program fell silent for more than 120 ms."
    )


def test_why_it_stopped_names_who_asked(drive):
    drive.arm()
    drive.stop()
    drive.advance(0.1)
    text = "Stopped because the driver's seat (somebody) asked for a stop."
    assert only(drive).car.why_stopped() == text


def test_since_when_it_stands_is_the_board_s_count_and_that_of_this_stop(drive):
    car = only(drive).car
    drive.arm()
    assert car.stop_age_s() is None
    drive.stop()
    drive.until(lambda: drive.is_in(State.STOPPING), 0.03)
    drive.advance(5.3)
    assert car.stop_age_s() == pytest.approx(5.3, abs=0.15)
    assert car.why_stopped(has_age=True) == (
        "Stopped 5 s ago because the driver's seat (somebody) asked for a stop."
    )
    cleared = car.clear(drive.now_us, Sender.COMMAND)
    drive.until(lambda: cleared.result is not None)
    assert car.stop_age_s() is None
    drive.stop()
    drive.until(lambda: drive.is_in(State.STANDBY) and car.status.first_cause is not None, 0.1)
    assert (car.stop_age_s() or 0.0) < 0.15, "that of the stop before"


def test_why_it_stopped_names_the_frozen_device(drive):
    drive.arm()
    drive.go()
    drive.advance(0.5)
    drive.hand.is_alive = False
    drive.advance(0.3)
    text = "Stopped because the program kept repeating one value while it was held."
    assert only(drive).car.why_stopped() == text


def test_why_it_stopped_names_the_runstop_and_what_came_later(drive):
    rig = only(drive)
    drive.arm()
    rig.world.runstop_closed = False
    drive.advance(0.1)
    rig.world.charger = True
    drive.advance(0.1)
    assert rig.car.why_stopped() == (
        "Stopped because the stop loop was open; also, a charger is plugged in."
    )
    assert rig.car.status.causes == (Cause.RUNSTOP_LOOP, Cause.CHARGER)


def test_two_requests_of_one_session_do_not_end_in_a_wrong_nonce(drive):
    drive.bind()
    first = only(drive).car.arm(drive.now_us, Sender.COMMAND)
    second = only(drive).car.clear(drive.now_us, Sender.COMMAND)
    drive.until(lambda: first.result is not None and second.result is not None)
    assert first.result.is_done
    assert drive.is_in(State.HOLD)


def test_slow_values_are_kept(drive):
    drive.bind()
    drive.advance(0.2)
    car = only(drive).car
    assert car.inputs.is_runstop_closed
    assert car.power.battery_v > 9
    assert not car.outputs.is_enabled
    assert car.counters.damaged == 0
