"""One car, thing by thing: what becomes of each thing that is heard, and what each call sends."""

from __future__ import annotations

from dataclasses import replace

import pytest

from firmware.protocol import messages
from host_bridge.cars.car import OWN_SLOT, ConnectedCar
from host_bridge.cars.stop_source_heartbeat import OWNER, StopSourceHeartbeat
from host_bridge.core import (
    ActionReply,
    CarEvent,
    CarIdentity,
    CarMotion,
    CarStatus,
    Cause,
    Claim,
    ClockReport,
    EventCode,
    Inputs,
    LinkCounters,
    Outputs,
    OwnClaim,
    Power,
    Profile,
    Second,
    Sender,
    State,
    VescState,
)
from host_bridge.core.codes import Action, Fault
from host_bridge.core.reports import StopSeen
from host_bridge.link.protocol import wire
from host_bridge.link.protocol.connection import Connection
from host_bridge.link.protocol.events import CarRestarted, LinkIdentified, LinkLost, LinkMismatched
from tests.host_bridge.drive.drives import EPOCH, START_US, Drive, Rig, vehicle

NOW_US = START_US + 5_000_000
STATUS = CarStatus(
    0, State.HOLD, (), None, (), Profile.TRACK, None, None, None, 0.1, 0.0, 0.0, 0.7, 2, 7, 3, 99,
    None,
)  # fmt: skip
INPUTS = Inputs(True, True, False, (), (), (), (), (), (), None, True, 0, 1.5, 2.5)
MOTION = CarMotion(1000, 0, 0, 0.0, 1.0, 2.0, 3.0, 0.4, 0.0, 0.0)
MISMATCH = LinkMismatched(b"\1\2\3\4", b"\5\6\7\x08")


def car(**given) -> ConnectedCar:
    """One that nobody has heard yet."""
    epoch = given.pop("epoch", EPOCH)
    of = given.pop("of", vehicle())
    made = ConnectedCar("a", Connection(wire.own_protocol_hash(), epoch), of, **given)
    made.opened(START_US)
    return made


def bound(**given) -> Rig:
    rig = Rig("a", **given)
    drive = Drive(rig)
    drive.is_host_alive = False
    drive.bind()
    rig.car.data_to_send()
    rig.now_us = drive.now_us
    return rig


def hear(made: ConnectedCar, *events) -> ConnectedCar:
    made._take(list(events), NOW_US)
    return made


def sent_messages(made: ConnectedCar, kind) -> list:
    found = []
    for frame in made.data_to_send().split(b"\0"):
        message = wire.MessageDecoder().feed(b"\0" + frame + b"\0")[0] if frame else None
        if isinstance(message, kind):
            found.append(message)
    return found


# --- what is heard


@pytest.mark.parametrize(
    ("kind", "name"),
    [(CarIdentity, "identity"), (CarStatus, "status"), (CarMotion, "motion"), (Inputs, "inputs"),
     (Power, "power"), (Outputs, "outputs"), (Second, "second"), (VescState, "vesc"),
     (LinkCounters, "counters"), (LinkMismatched, "mismatch")],
)  # fmt: skip
def test_the_last_of_each_kind_is_kept_and_there_is_none_before(kind, name):
    made = car()
    assert getattr(made, name) is None
    for _ in range(2):
        one = object.__new__(kind) if kind not in (CarStatus, CarMotion, Inputs) else {
            CarStatus: replace(STATUS), CarMotion: replace(MOTION), Inputs: replace(INPUTS),
        }[kind]  # fmt: skip
        hear(made, one)
        assert getattr(made, name) is one


def test_what_is_not_known_is_passed_on_and_nothing_else():
    made = car()
    found = [object(), STATUS]
    assert made._take(found, NOW_US) is found
    assert made.status is STATUS


def test_a_car_that_is_identified_is_no_mismatch_any_more():
    made = hear(car(), MISMATCH)
    assert made.mismatch is MISMATCH
    hear(made, LinkIdentified(object.__new__(CarIdentity)))
    assert made.mismatch is None


@pytest.mark.parametrize(("kind", "name"), [("events", "events"), ("samples", "samples")])
def test_the_last_256_are_kept(kind, name):
    made = car()
    assert getattr(made, name).maxlen == 256
    event = CarEvent(1, 2, EventCode.PROFILE, 3, 4)
    assert list(hear(made, event).events) == [event]


@pytest.mark.parametrize(("slot", "epoch"), [(OWN_SLOT, 77), (0, None), (3, None)])
def test_its_own_session_is_the_one_in_the_slot_of_its_own(slot, epoch):
    assert OWN_SLOT == 4
    assert hear(car(), ClockReport(77, slot, 0, None)).own_epoch == epoch


def test_what_its_own_receiver_claims_is_handed_to_who_asked_for_it():
    made, heard = car(), []
    claim = OwnClaim(1, object.__new__(Claim), b"frame")
    hear(made, claim)  # nobody has asked
    made.on_own_claim = heard.append
    hear(made, claim)
    assert heard == [claim]


@pytest.mark.parametrize(
    ("event", "words"),
    [(LinkLost(1), "the link was lost"), (CarRestarted(), "the car restarted")],
)
def test_what_is_asked_for_breaks_off_where_the_car_is_gone(event, words):
    rig = bound()
    request = rig.car.clear(rig.now_us, Sender.SEAT)
    assert request.result is None
    hear(rig.car, event)
    assert request.result.reasons == (words,)


# --- its claims, and where it was


def reported(made: ConnectedCar, **changes) -> None:
    hear(made, replace(STATUS, **changes))


def test_only_our_session_s_claims_are_compared():
    rig = bound()
    made, slot = rig.car, rig.car.connection.slot
    reported(made, claim_slot=slot + 1)
    reported(made, claim_slot=slot, claim_count=0)
    assert made.acceptance.latest is None
    reported(made, claim_slot=slot)
    latest = made.acceptance.latest
    assert (latest.sequence, latest.count, latest.crc, latest.applied_us) == (7, 3, 99, None)


def test_or_those_of_the_slot_that_was_named():
    made = bound().car
    made.compared_slot = OWN_SLOT
    reported(made, claim_slot=made.connection.slot)
    assert made.acceptance.latest is None
    reported(made, claim_slot=OWN_SLOT, claim_sequence=8)
    assert made.acceptance.latest.sequence == 8
    made.compared_slot = 0
    reported(made, claim_slot=0, claim_sequence=9)
    assert made.acceptance.latest.sequence == 9


def test_when_it_applied_one_is_told_in_the_host_s_time():
    rig = bound()
    made = rig.car
    made.step(rig.now_us)
    slot = made.connection.slot
    made._take([replace(STATUS, claim_slot=slot, applied_us=rig.world.now_us)], rig.now_us)
    assert made.acceptance.latest.applied_us == pytest.approx(rig.now_us, abs=2_000)
    made._take([replace(STATUS, claim_slot=slot, claim_sequence=9, applied_us=0)], rig.now_us)
    assert made.acceptance.latest.applied_us is not None


def test_a_sample_needs_a_clock_and_a_status():
    hear(made := car(), STATUS, MOTION)
    assert list(made.samples) == [], "its clock is not known"
    rig = bound()
    rig.car.status = None
    rig.car.samples.clear()
    hear(rig.car, MOTION)
    assert list(rig.car.samples) == []
    hear(rig.car, STATUS)
    rig.car._take([replace(MOTION, captured_us=rig.world.now_us)], rig.now_us)
    (sample,) = rig.car.samples
    assert sample.time_us == pytest.approx(rig.now_us, abs=2_000)
    assert (sample.steer_rad, sample.speed_mps) == (0.1, 0.7)
    assert (sample.yaw_rate_radps, sample.x_m, sample.y_m, sample.yaw_rad) == (0.4, 1.0, 2.0, 3.0)


# --- why it stands, and since when


def standing(**changes) -> CarStatus:
    given = {"state": State.STOPPED, "causes": (Cause.CHARGER,), "first_cause": Cause.CHARGER}
    return replace(STATUS, **{**given, **changes})


def test_since_when_it_stands_is_known_when_both_are_and_of_this_stop():
    made = car()
    assert made.stop_age_s() is None
    hear(made, standing())
    assert made.stop_age_s() is None
    hear(made, INPUTS)
    assert made.stop_age_s() == 1.5
    hear(made, standing())
    assert made.stop_age_s() == 1.5, "it is the same"
    hear(made, standing(first_cause=Cause.STOP_REQUEST))
    assert made.stop_age_s() is None
    hear(made, INPUTS)
    assert made.stop_age_s() == 1.5
    hear(made, standing(first_cause=Cause.STOP_REQUEST, faults=(Fault.RELAY,)))
    assert made.stop_age_s() is None


def test_inputs_alone_say_nothing_and_the_first_status_is_no_change():
    made = hear(car(), INPUTS)
    assert made.stop_age_s() is None
    hear(made, standing())
    assert made.stop_age_s() == 1.5


def test_why_it_stopped_says_when_only_where_that_is_asked_for():
    made = car()
    assert (made.why_stopped(), made.why_stopped(has_age=True)) == ("", "")
    hear(made, standing(), INPUTS)
    assert made.why_stopped() == "Stopped because a charger is plugged in."
    assert made.why_stopped(has_age=True) == "Stopped 1 s ago because a charger is plugged in."


def test_how_long_it_may_stay_on_its_stand_is_counted_from_its_arming():
    made = hear(car(), CarEvent(1, 1_000_000, EventCode.PROFILE, int(Profile.STAND), 0))
    assert made.stand_left_s() is None
    hear(made, replace(STATUS, profile=Profile.STAND, time_us=3_000_000))
    stand_s = vehicle().parameters["stand_ms"][0] * 1e-3
    assert made.stand_left_s() == pytest.approx(stand_s - 2.0)


def test_a_car_is_known_while_it_is_there():
    rig = bound()
    assert rig.car.is_online() is True
    rig.car.closed(rig.now_us)
    assert (rig.car.is_online(), car().is_online()) == (False, False)


# --- what is asked of it


def test_each_stop_has_a_token_of_its_own_and_needs_no_session():
    made = car(epoch=0xFFFE)
    stops = [made.stop(Sender.COMMAND, "me", START_US) for _ in range(3)]
    assert [stop.token for stop in stops] == [0xFFFF, 0, 1]
    assert [it.token for it in sent_messages(made, messages.Stop)] == [0xFFFF, 0, 1]
    assert car(epoch=None).stop(Sender.COMMAND, "me", START_US).token == 1


def test_a_stop_is_said_until_it_is_seen_and_then_forgotten():
    made = car()
    stop = made.stop(Sender.RUNSTOP_BOX, "left box", START_US)
    (message,) = sent_messages(made, messages.Stop)
    assert (message.sender, bytes(message.sender_name).rstrip(b"\0")) == (
        int(Sender.RUNSTOP_BOX), b"left box",
    )  # fmt: skip
    made.step(START_US + 20_000)
    assert len(sent_messages(made, messages.Stop)) == 1
    hear(made, StopSeen(stop.token, State.STOPPED, Sender.RUNSTOP_BOX, "left box"))
    assert stop.seen_us == NOW_US
    assert made._stops == [stop]
    made.step(START_US + 40_000)
    assert (sent_messages(made, messages.Stop), made._stops) == ([], [])


@pytest.mark.parametrize(
    ("ask", "action", "value"),
    [
        (lambda it, t: it.arm(t, Sender.OWNER), Action.ARM, int(Profile.RACE)),
        (lambda it, t: it.arm(t, Sender.OWNER, Profile.STAND), Action.ARM, int(Profile.STAND)),
        (lambda it, t: it.clear(t, Sender.OWNER), Action.CLEAR, 0),
        (lambda it, t: it.disarm(t, Sender.OWNER), Action.DISARM, 0),
    ],
)
def test_an_action_is_asked_for_at_once_by_who_asks(ask, action, value):
    rig = bound(of=replace(vehicle(), profile="race"))
    request = ask(rig.car, rig.now_us)
    (act,) = sent_messages(rig.car, messages.Act)
    assert (act.action, act.value, act.sender) == (int(action), value, int(Sender.OWNER))
    assert (act.epoch, act.nonce) == (EPOCH, 0)
    assert bytes(act.config_hash) == rig.car.identity.config_hash
    assert (request.result, request.may_proceed, rig.car._actions) == (None, True, [request])
    rig.car.step(rig.now_us + 99_999)
    assert sent_messages(rig.car, messages.Act) == []
    rig.car.step(rig.now_us + 100_000)
    assert len(sent_messages(rig.car, messages.Act)) == 1, "again, for it was not answered"
    request.abandon("enough")
    rig.car.step(rig.now_us + 1)
    assert rig.car._actions == []


def test_its_state_answers_where_the_answer_was_lost():
    rig = bound()
    request = rig.car.clear(rig.now_us, Sender.SEAT)
    rig.car._take([ActionReply(EPOCH, Action.CLEAR, 77, (), ())], rig.now_us)
    assert request.result is None
    rig.car._take([replace(STATUS, state=State.STANDBY)], rig.now_us)
    assert request.result.is_done


def test_a_car_without_a_file_is_armed_for_the_track():
    assert (car(of=None).profile(), car().profile()) == (Profile.TRACK, Profile.TRACK)
    assert car(of=replace(vehicle(), profile="stand")).profile() is Profile.STAND


def test_the_configuration_that_it_has_to_have_is_the_one_that_was_named():
    rig = bound()
    rig.car.config_hash = b"\1\2\3\4"
    rig.car.clear(rig.now_us, Sender.SEAT)
    assert bytes(sent_messages(rig.car, messages.Act)[0].config_hash) == b"\1\2\3\4"
    rig.car.config_hash = rig.car.identity = None
    rig.car.clear(rig.now_us, Sender.SEAT)
    assert bytes(sent_messages(rig.car, messages.Act)[0].config_hash) == bytes(4)


def test_an_action_that_may_not_proceed_waits():
    rig = bound()
    operator_action = rig.car.clear(rig.now_us, Sender.SEAT)._operator_action
    assert rig.car.request(operator_action, rig.now_us, may_proceed=False).may_proceed is False


def test_of_a_car_that_is_not_bound_nothing_is_asked_and_it_says_why():
    made = car()
    request = made.arm(START_US, Sender.SEAT)
    reason = "it is not connected to this session (link identifying)"
    assert request.result.reasons == (reason,)
    assert sent_messages(made, messages.Act) == []
    hear(made, MISMATCH)
    (reason,) = made.arm(START_US, Sender.SEAT).result.reasons
    assert reason == str(MISMATCH).rstrip(".")
    made.step(START_US)
    assert made._actions == []


def test_a_listener_asks_for_nothing():
    rig = bound()
    rig.car.connection.epoch = None
    rig.car.clear(rig.now_us, Sender.SEAT)
    assert sent_messages(rig.car, messages.Act) == []


def test_its_refusals_are_explained_with_what_is_known_of_it():
    drive = Drive(Rig("a"))
    drive.arm()
    request = drive.rigs[0].car.clear(drive.now_us, Sender.SEAT)
    drive.until(lambda: request.result is not None)
    assert "its state does not allow it (ARMED)" in str(request.result)


# --- its link


def test_signs_go_with_its_link_and_it_is_left_with_a_word():
    rig = bound()
    rig.car.heartbeats.append(StopSourceHeartbeat(rig.car, OWNER))
    rig.car.step(rig.now_us + 1)
    assert len(sent_messages(rig.car, messages.Alive)) == 1
    rig.car.leave()
    assert len(sent_messages(rig.car, messages.Leave)) == 1


def test_who_asked_is_told_that_there_is_something_to_send():
    rig, outputs = bound(), []
    rig.car.on_output(lambda: outputs.append(1))
    rig.car.stop(Sender.SEAT, "", rig.now_us)
    assert outputs != []
    assert rig.car.next_due_us(rig.now_us) == rig.car.connection.next_due_us(rig.now_us)


def test_a_link_that_closes_is_told_and_breaks_off():
    rig = bound()
    request = rig.car.clear(rig.now_us, Sender.SEAT)
    (lost,) = rig.car.closed(rig.now_us)
    assert isinstance(lost, LinkLost)
    assert request.result.reasons == ("the link was lost",)


def test_it_is_called_by_its_name_until_somebody_says_otherwise():
    made = car()
    assert (made.name, made.cli_name, made.config_hash) == ("a", "a", None)
    assert (made.own_epoch, made.compared_slot, made.heartbeats) == (None, None, [])
    assert made.is_line_lossy is True
