"""A fleet step by step: who is ready, what is said to whom, and what its numbers are made of."""

from __future__ import annotations

from dataclasses import replace

import pytest

from firmware.protocol import messages
from host_bridge.cars.acceptance import AcceptanceReport
from host_bridge.cars.actions import ActionResult
from host_bridge.cars.fleet import Fleet, is_ready
from host_bridge.cars.stop_source_heartbeat import FLEET, SEAT
from host_bridge.core import LONGEST_STEP_S, ActionReply, Claim, Profile, Refusal, Sender, State
from host_bridge.core.codes import Action
from host_bridge.link.protocol import wire
from tests.host_bridge.drive.drives import EPOCH, START_US, Drive, Rig, vehicle
from tests.support.evidence import some


def two(*, is_bound: bool = True) -> Drive:
    drive = Drive(Rig("a"), Rig("b", board_us=77_000_000, phase_us=4000, seed=2))
    drive.is_host_alive = False
    if is_bound:
        drive.bind()
    return drive


def claim(sequence: int = 7) -> Claim:
    return Claim(2, sequence, 3, 0.1, 0.5, 0.0, True, 0.1, START_US)


def sent_messages(drive: Drive, kind) -> list[list]:
    """What of this kind waits to go to each car."""
    found = []
    for rig in drive.rigs:
        data = rig.car.data_to_send()
        every = [
            wire.MessageDecoder().feed(b"\0" + it + b"\0")[0] for it in data.split(b"\0") if it
        ]
        found.append([message for message in every if isinstance(message, kind)])
    return found


# --- who is ready


@pytest.mark.parametrize(
    ("bound_us", "ready"), [(9_000, True), (9_001, False), (0, True), (None, False)]
)
def test_a_car_is_ready_when_its_clock_is_known_to_9_ms(bound_us, ready):
    drive = two()
    drive.rigs[0].car.connection.clock.bound_us = bound_us
    assert is_ready(drive.rigs[0].car) is ready


def test_a_car_that_is_not_bound_is_not_ready():
    drive = two()
    car = drive.rigs[0].car
    assert is_ready(car)
    car.closed(drive.now_us)
    car.connection.clock.bound_us = 0
    assert not is_ready(car)


def test_a_car_of_another_epoch_is_named_with_both():
    with pytest.raises(ValueError, match=f"a: expected epoch {EPOCH + 1}, got {EPOCH}"):
        Fleet([Rig("a").car], EPOCH + 1)


# --- claims


def test_sequences_count_from_1_and_wrap():
    fleet = Fleet([], EPOCH)
    assert [fleet.next_sequence() for _ in range(3)] == [1, 2, 3]
    fleet._sequence = 0xFFFE
    assert [fleet.next_sequence() for _ in range(3)] == [0xFFFF, 0, 1]


def test_claims_wait_until_all_are_ready_and_go_on_when_one_is_lost():
    drive = two()
    first, second = (rig.car for rig in drive.rigs)
    second.connection.clock.bound_us = None
    frame = drive.fleet.offer(claim())
    assert (drive.fleet.claims_sent, sent_messages(drive, messages.Claim)) == (0, [[], []])
    (message,) = wire.MessageDecoder().feed(frame)
    assert (message.epoch, message.sequence, message.source) == (EPOCH, 7, 2)
    second.connection.clock.bound_us = 500
    drive.fleet.offer(claim(8))
    assert [len(it) for it in sent_messages(drive, messages.Claim)] == [1, 1]
    first.connection.clock.bound_us = None
    drive.fleet.offer(claim(9))
    assert [len(it) for it in sent_messages(drive, messages.Claim)] == [1, 1], "it has begun"
    first.closed(drive.now_us)
    first.opened(drive.now_us)
    drive.fleet.offer(claim(10))
    assert [len(it) for it in sent_messages(drive, messages.Claim)] == [0, 1]
    assert drive.fleet.claims_sent == 3


class Noted:
    """In place of an agreement: how often it began and stepped."""

    differs_at = None

    def __init__(self) -> None:
        self.began: list[int] = []
        self.steps = 0

    def begin(self, sequence: int) -> None:
        self.began.append(sequence)

    def step(self) -> None:
        self.steps += 1


def test_what_the_cars_accept_is_compared_from_the_first_claim_on_and_at_each_step():
    drive = two()
    drive.fleet._agreements = [Noted()]
    for sequence in (7, 8):
        drive.fleet.offer(claim(sequence))
        drive.fleet.step(drive.now_us)
    (noted,) = drive.fleet._agreements
    assert (noted.began, noted.steps) == ([7], 2)


def test_a_fleet_begins_with_nothing_sent_and_nothing_compared():
    fleet = Fleet([Rig("a").car], EPOCH)
    assert (fleet.claims_sent, fleet.epoch, fleet.skew_us()) == (0, EPOCH, None)
    assert Fleet([], EPOCH).skew_us() is None
    agreement = fleet.agreement()
    assert (agreement.agreed, agreement.missed, agreement.differs_at) == (0, 0, None)
    assert agreement.is_equal()


# --- words


def test_one_car_hears_the_seat_and_several_the_fleet_too():
    alone = Drive(Rig("a"))
    alone.is_host_alive = False
    alone.bind()
    ids = {it.name: it.id for it in vehicle().stop_sources}
    for drive, names in ((alone, (SEAT,)), (two(), (SEAT, FLEET))):
        sent_messages(drive, messages.Alive)
        drive.fleet.step(drive.now_us)
        for words in some(sent_messages(drive, messages.Alive)):
            assert [word.stop_source for word in words] == [ids[name] for name in names]


def test_a_word_is_changed_for_its_own_source_alone_and_has_to_be_heard_by_all():
    drive = two()
    ids = {it.name: it.id for it in vehicle().stop_sources}
    drive.fleet.step(drive.now_us)
    sent_messages(drive, messages.Alive)
    drive.fleet.set_heartbeat(FLEET, runs=False)
    assert not drive.fleet.are_heartbeats_heard(drive.now_us + 10_000_000)
    drive.fleet.step(drive.now_us + 10_000)
    for words in sent_messages(drive, messages.Alive):
        runs = {word.stop_source: word.runs for word in words}
        assert runs[ids[FLEET]] == 0
        assert runs.get(ids[SEAT], 1) == 1
    assert not drive.fleet.are_heartbeats_heard(drive.now_us + 109_999)
    assert drive.fleet.are_heartbeats_heard(drive.now_us + 110_000)


def test_a_stop_goes_to_every_car_and_each_has_its_own_request():
    drive = two()
    sent_messages(drive, messages.Stop)
    stops = drive.fleet.stop(Sender.COMMAND, "somebody", drive.now_us)
    assert [(it.sender, it.sender_name) for it in stops] == [(Sender.COMMAND, "somebody")] * 2
    assert [len(it) for it in sent_messages(drive, messages.Stop)] == [1, 1]


# --- actions


@pytest.mark.parametrize(
    ("ask", "action", "value"),
    [
        (lambda f, t: f.arm(t), Action.ARM, int(Profile.TRACK)),
        (lambda f, t: f.arm(t, Profile.STAND), Action.ARM, int(Profile.STAND)),
        (lambda f, t: f.arm(t, Profile.RACE), Action.ARM, int(Profile.RACE)),
        (lambda f, t: f.clear(t), Action.CLEAR, 0),
        (lambda f, t: f.disarm(t), Action.DISARM, 0),
        (lambda f, t: f.cap(t, 1.25), Action.CAP, 1250),
    ],
)
def test_an_action_is_asked_of_every_car_by_the_seat(ask, action, value):
    drive = two()
    sent_messages(drive, messages.Act)
    request = ask(drive.fleet, drive.now_us)
    for acts in sent_messages(drive, messages.Act):
        (act,) = acts
        assert (act.action, act.value, act.sender) == (int(action), value, int(Sender.SEAT))
        assert act.nonce == 0
    assert (request.results, request.is_done()) == (None, False)


def test_a_car_that_is_not_there_is_refused_at_once():
    drive = Drive(Rig("a"))
    request = drive.fleet.clear(drive.now_us)
    assert not request.is_done()
    assert "it is not connected" in str(request)


def test_each_is_armed_as_its_own_file_says():
    race = replace(vehicle(), profile="race")
    drive = Drive(Rig("a", of=race), Rig("b", board_us=77_000_000, seed=2))
    drive.is_host_alive = False
    drive.bind()
    sent_messages(drive, messages.Act)
    drive.fleet.arm(drive.now_us)
    (one,), (other,) = sent_messages(drive, messages.Act)
    assert (one.value, other.value) == (int(Profile.RACE), int(Profile.TRACK))


def test_all_are_asked_before_one_acts_and_then_all_do():
    drive = two()
    drive.is_host_alive = True
    cut = drive.rigs[1]
    cut.is_plugged = False
    request = drive.fleet.arm(drive.now_us)
    drive.advance(0.05)
    assert drive.rigs[0].car.status.state is State.STANDBY, "its nonce is there, and it waits"
    cut.is_plugged = True
    drive.finish(request)
    assert request.is_done()
    assert str(request) == "All cars: arm done."
    assert request.overrunning_cars() == []
    drive.until(lambda: drive.is_in(State.HOLD), 0.1)
    assert drive.fleet._requests == []
    results = request.results
    request.step(drive.now_us + 5_000_000)
    assert request.results is results


def answer(drive: Drive, at: int, nonce: int) -> None:
    """As a car does; without a nonce it has done it."""
    reply = ActionReply(EPOCH, Action.ARM, nonce, (), ())
    drive.rigs[at].car._take([reply], drive.now_us)


def test_the_second_steps_go_together_as_soon_as_the_last_nonce_is_there():
    drive = two()
    drive.fleet.arm(drive.now_us)
    sent_messages(drive, messages.Act)
    answer(drive, 1, 6)
    drive.fleet.step(drive.now_us)
    assert sent_messages(drive, messages.Act) == [[], []]
    answer(drive, 0, 5)
    drive.fleet.step(drive.now_us)
    assert [[it.nonce for it in acts] for acts in sent_messages(drive, messages.Act)] == [[5], [6]]


def test_who_has_done_it_already_is_no_failure():
    drive = two()
    request = drive.fleet.arm(drive.now_us)
    sent_messages(drive, messages.Act)
    answer(drive, 0, 0)
    answer(drive, 1, 6)
    drive.fleet.step(drive.now_us)
    assert [[it.nonce for it in acts] for acts in sent_messages(drive, messages.Act)] == [[], [6]]
    answer(drive, 1, 0)
    drive.fleet.step(drive.now_us)
    assert request.is_done()


def test_who_would_not_is_named_and_the_others_are_told_whose_fault_it_is():
    drive = two()
    drive.is_host_alive = True
    drive.rigs[1].world.charger = True
    drive.advance(0.2)
    request = drive.finish(drive.fleet.arm(drive.now_us))
    first, second = request.results
    assert (first.is_done, first.reasons) == (False, ("another car of the fleet did not",))
    assert Refusal.CAUSE_PRESENT in second.refusals
    assert str(request) == f"{first} {second}"
    drive.advance(0.1)
    first = drive.rigs[0].car.status
    assert (first.state, first.causes) == (State.STANDBY, ()), "it was not stopped for that"


@pytest.mark.parametrize(("name", "is_stopped"), [("arm", True), ("clear", False)])
def test_only_a_partial_arm_stops_all(name, is_stopped):
    drive = two()
    drive.is_host_alive = True
    if name == "clear":
        drive.stop()
        drive.advance(0.2)
    request = getattr(drive.fleet, name)(drive.now_us)
    drive.rigs[1].down = without_second_step
    drive.finish(request)
    assert not request.is_done()
    assert [it.is_done for it in request.results] == [True, False]
    drive.advance(0.1)
    first = drive.rigs[0].car
    assert first.status.state is (State.STOPPED if is_stopped else State.STANDBY)
    assert ("the fleet (partial arm)" in first.why_stopped()) is is_stopped


def without_second_step(data: bytes) -> bytes:
    kept = []
    for frame in (it for it in data.split(b"\0") if it):
        (message,) = wire.MessageDecoder().feed(b"\0" + frame + b"\0")
        if not isinstance(message, messages.Act) or message.nonce == 0:
            kept.append(b"\0" + frame + b"\0")
    return b"".join(kept)


def test_who_misses_its_beat_and_may_be_given_a_longer_one_is_named():
    drive = two()
    drive.advance(0.2)
    request = drive.fleet.arm(drive.now_us)
    assert request.overrunning_cars() == []
    off, other = (
        ActionResult(name, Action.ARM, False, (refusal,))
        for name, refusal in (("b", Refusal.OFF_BEAT), ("a", Refusal.STATE))
    )
    request.results = (other, off)
    assert request.overrunning_cars() == [], "its steps fit: it was busy for once"
    inputs = drive.rigs[1].car.inputs
    drive.rigs[1].car.inputs = replace(inputs, takes_us=inputs.beat_us)
    assert request.overrunning_cars() == [drive.rigs[1].car]
    drive.rigs[1].car.inputs = replace(inputs, takes_us=30_000, beat_us=round(LONGEST_STEP_S * 1e6))
    assert request.overrunning_cars() == [], "it has the longest there is"


# --- numbers


def applied(drive: Drive, *times_us: int | None, sequence: int = 5) -> int | None:
    for rig, time_us in zip(drive.rigs, times_us, strict=True):
        rig.car.acceptance.take(AcceptanceReport(sequence, 1, 0, time_us))
    return drive.fleet.skew_us()


def test_the_skew_is_between_the_first_and_the_last_to_apply_one_claim():
    drive = two(is_bound=False)
    assert drive.fleet.skew_us() is None
    assert applied(drive, 100, 350) == 250
    assert applied(two(is_bound=False), 350, 100) == 250
    assert applied(two(is_bound=False), 0, 0) == 0
    assert applied(two(is_bound=False), None, 100) is None
    assert applied(two(is_bound=False), None, None) is None


def test_of_three_cars_the_least_agreed_all_missed_and_the_first_difference_count():
    rigs = [Rig(name, seed=seed) for seed, name in enumerate("abcd", 1)]
    fleet = Fleet([rig.car for rig in rigs], EPOCH)
    for agreement, numbers in zip(
        fleet._agreements, ((7, 1, None), (5, 2, 40), (9, 4, 30)), strict=True
    ):
        agreement.agreed, agreement.missed, agreement.differs_at = numbers
    whole = fleet.agreement()
    assert (whole.agreed, whole.missed, whole.differs_at) == (5, 7, 40)
    assert not whole.is_equal()


def test_each_is_compared_with_the_first():
    rigs = [Rig(name, seed=seed) for seed, name in enumerate("abc", 1)]
    cars = [rig.car for rig in rigs]
    fleet = Fleet(cars, EPOCH)
    pairs = [it._records for it in fleet._agreements]
    assert pairs == [[cars[0].acceptance, car.acceptance] for car in cars[1:]]
