"""Several cars: the same bytes, armed together or not at all, compared by what they report."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from firmware.protocol import messages
from host_bridge.core import Sender, State
from host_bridge.link.protocol import wire
from tests.host_bridge.drive.drives import Drive, Rig
from tests.support.evidence import every


def two() -> Drive:
    return Drive(Rig("a"), Rig("b", board_us=77_000_000, phase_us=4000, seed=2))


def frames_of(data: bytes) -> list[bytes]:
    return [b"\0" + frame + b"\0" for frame in data.split(b"\0") if frame]


def message_in(frame: bytes) -> object:
    return wire.MessageDecoder().feed(frame)[0]


class Recorder:
    """Keeps the claims that pass on a line."""

    def __init__(self) -> None:
        self.claims: list[bytes] = []

    def __call__(self, data: bytes) -> bytes:
        for frame in frames_of(data):
            if isinstance(message_in(frame), messages.Claim):
                self.claims.append(frame)
        return data


def test_all_cars_get_the_very_same_frames_from_the_first_on():
    drive = two()
    a, b = Recorder(), Recorder()
    drive.rigs[0].down, drive.rigs[1].down = a, b
    drive.arm()
    drive.go()
    drive.advance(1.0)
    assert a.claims == b.claims
    assert len(a.claims) > 100
    assert len(set(a.claims)) == len(a.claims), "a claim is never sent again"


def test_both_cars_report_the_same_crc():
    drive = two()
    drive.arm()
    drive.go()
    drive.advance(2.0)
    agreement = drive.fleet.agreement()
    assert agreement.is_equal()
    assert agreement.missed == 0
    assert agreement.agreed > drive.fleet.claims_sent - 5


def test_a_byte_altered_on_the_way_to_one_car_is_found():
    drive = two()
    drive.arm()
    drive.go()
    drive.advance(0.5)
    altered = []

    def altering(data: bytes) -> bytes:
        for frame in frames_of(data):
            message = message_in(frame)
            if isinstance(message, messages.Claim) and not altered:
                message.steer_urad += 1
                altered.append(message.sequence)
                return data.replace(frame, wire.encode(message))
        return data

    drive.rigs[1].down = altering
    drive.advance(0.5)
    agreement = drive.fleet.agreement()
    assert not agreement.is_equal()
    assert 0 <= agreement.differs_at - altered[0] <= 2
    assert agreement.missed == 0


def test_lost_claims_are_counted_and_are_no_difference():
    rng = random.Random(5)
    drive = two()
    drive.arm()
    lost = []

    def losing(data: bytes) -> bytes:
        if rng.random() < 0.1 and any(
            isinstance(message_in(frame), messages.Claim) for frame in frames_of(data)
        ):
            lost.append(data)
            return b""
        return data

    drive.rigs[1].down = losing
    drive.advance(3.0)
    agreement = drive.fleet.agreement()
    assert agreement.is_equal()
    assert agreement.missed == len(lost) > 20
    assert agreement.agreed > 150


def test_cars_that_each_lose_another_claim_do_not_differ():
    drive = two()
    for at, rig in enumerate(drive.rigs):
        rig.down = losing_claim(at + 1)
    drive.arm()
    drive.advance(1.0)
    agreement = drive.fleet.agreement()
    assert agreement.is_equal()
    assert agreement.missed == 2
    assert agreement.agreed > 80


def losing_claim(number: int) -> Callable[[bytes], bytes]:
    seen = [0]

    def losing(data: bytes) -> bytes:
        kept = b""
        for frame in frames_of(data):
            seen[0] += isinstance(message_in(frame), messages.Claim)
            if seen[0] != number:
                kept += frame
        return kept

    return losing


def test_cars_apply_a_claim_within_a_step_of_each_other():
    drive = two()
    drive.arm()
    skews = []
    for _ in range(100):
        drive.advance(0.013)
        skews.append(drive.fleet.skew_us())
    assert None not in skews
    assert max(skews) < 10_000 + 1_500, "a step, and what the clocks may be wrong"
    # the boards beat 4 ms apart: what is reported must be that, or its complement to a step
    assert every(min(abs(skew - 4000), abs(skew - 6000)) < 1_500 for skew in skews)


def test_unless_all_would_arm_none_does():
    drive = two()
    drive.bind()
    drive.rigs[1].world.charger = True
    drive.advance(0.2)
    request = drive.finish(drive.fleet.arm(drive.now_us))
    assert not request.is_done()
    assert "b did not arm: a stop is locked" in str(request)
    assert "a charger is plugged in" in str(request)
    drive.advance(0.5)
    assert drive.rigs[0].car.status.state is State.STANDBY
    assert drive.rigs[0].car.status.causes == ()


def test_a_partial_arm_stops_all_and_says_which_car_did_not():
    drive = two()
    drive.bind()

    def without_second_step(data: bytes) -> bytes:
        kept = [frame for frame in frames_of(data) if not is_second_step(frame)]
        return b"".join(kept)

    def is_second_step(frame: bytes) -> bool:
        message = message_in(frame)
        return isinstance(message, messages.Act) and message.nonce != 0

    drive.rigs[1].down = without_second_step
    request = drive.fleet.arm(drive.now_us)
    drive.until(lambda: drive.rigs[0].car.status.state is State.HOLD, 0.2)
    drive.finish(request)
    assert str(request) == "b did not arm: it did not finish within 1 s."
    drive.until(lambda: drive.rigs[0].car.status.state is State.STOPPED, 0.2)
    assert drive.rigs[0].car.why_stopped() == (
        "Stopped because the fleet (partial arm) asked for a stop."
    )


def test_a_stop_stops_all():
    drive = two()
    drive.arm()
    drive.go()
    drive.advance(1.0)
    stops = drive.fleet.stop(Sender.SEAT, "x", drive.now_us)
    drive.until(lambda: every(stop.seen_us for stop in stops), 0.05)
    drive.until(lambda: drive.is_in(State.STOPPED))


def test_a_car_that_is_not_there_is_not_armed_and_neither_is_the_other():
    drive = two()
    drive.bind()
    drive.rigs[1].is_plugged = False
    drive.advance(0.3)
    request = drive.finish(drive.fleet.arm(drive.now_us))
    assert "b did not arm: it is not connected" in str(request)
    drive.advance(0.2)
    assert drive.rigs[0].car.status.state is State.STANDBY


def test_a_car_of_another_session_does_not_get_into_a_fleet():
    with pytest.raises(ValueError, match="epoch"):
        Drive(Rig("a", epoch=1))
