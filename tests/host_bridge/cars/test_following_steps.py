"""Following step by step: what a leader's state makes of its followers, and what goes to them."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from host_bridge.cars.acceptance import Acceptance, AcceptanceReport
from host_bridge.cars.actions import ActionResult
from host_bridge.cars.car import OWN_SLOT
from host_bridge.cars.divergence import MotionSample
from host_bridge.cars.following import Following
from host_bridge.cars.stop_source_heartbeat import FLEET
from host_bridge.core import Action, Cause, DivergenceLimits, OperatorAction, Profile, Sender, State
from host_bridge.core.commands import arm_action
from tests.host_bridge.drive.drives import vehicle

EPOCH = 4711
NOW_US = 1_000_000
ARMED = (State.ACTIVE, State.HOLD)
HALTED = (State.STOPPING, State.STOPPED, State.FAULT)


class Link:
    def __init__(self) -> None:
        self.epoch = EPOCH
        self.bound = True
        self.frames: list[bytes] = []

    def is_bound(self) -> bool:
        return self.bound

    def send_frame(self, frame: bytes) -> None:
        self.frames.append(frame)


class DeskCar:
    """A car that does nothing, and notes what it is asked for; its state is set by the test."""

    def __init__(self, name: str, limits: DivergenceLimits | None = None) -> None:
        self.name = name
        self.connection = Link()
        self.own_epoch = EPOCH
        self.compared_slot = None
        self.on_own_claim = None
        self.acceptance = Acceptance()
        self.samples: list[MotionSample] = []
        self.vehicle = replace(vehicle(), divergence=limits, stop_sources=()) if limits else None
        self.status = None
        self.is_online_now = True
        self.asked: list[object] = []
        self.requests: list[SimpleNamespace] = []

    def be(self, state: State, *causes: Cause, profile: Profile = Profile.RACE) -> None:
        self.status = SimpleNamespace(state=state, causes=causes, profile=profile)

    def is_online(self) -> bool:
        return self.is_online_now

    def disarm(self, now_us: int, sender: Sender) -> None:
        self.asked.append(("disarm", sender, now_us))

    def stop(self, sender: Sender, why: str, now_us: int) -> None:
        self.asked.append(("stop", sender, why, now_us))

    def request(self, operator_action: OperatorAction, now_us: int) -> SimpleNamespace:
        self.asked.append((operator_action, now_us))
        self.requests.append(SimpleNamespace(result=None))
        return self.requests[-1]

    def answer(self, *, is_done: bool = True) -> None:
        reasons = () if is_done else ("it will not",)
        result = ActionResult(self.name, Action.ARM, is_done, (), reasons)
        self.requests[-1].result = result


TELL = DivergenceLimits(0.05, 0.3, 0.3, 0.3)
CLEAR, ARM = OperatorAction(Action.CLEAR, Sender.FLEET), arm_action(Profile.RACE, Sender.FLEET)


class Desk:
    def __init__(self, followers: int = 1, limits: DivergenceLimits | None = TELL) -> None:
        self.leader = DeskCar("a leader by name", limits)
        self.cars = [DeskCar(f"twin {n}") for n in range(followers)]
        self.following = Following(self.leader, self.cars)
        self.now_us = NOW_US

    def be(self, leader: State, follower: State = State.STANDBY, *causes: Cause) -> None:
        self.leader.be(leader)
        for car in self.cars:
            car.be(follower, *causes)

    def step(self) -> list[object]:
        """What was asked of the first follower then."""
        self.cars[0].asked.clear()
        self.now_us += 10_000
        self.following.step(self.now_us)
        return [it[:-1] if it[0] in ("stop",) else it[0] for it in self.cars[0].asked]

    @property
    def follower(self):
        return self.following.followers[0]


# --- its beginning


def test_it_takes_the_leader_s_own_claims_and_compares_those():
    desk = Desk()
    assert desk.leader.compared_slot == OWN_SLOT
    assert desk.cars[0].compared_slot is None
    assert (desk.following.epoch, desk.following.forwarded) == (EPOCH, 0)
    assert desk.following.leader is desk.leader
    assert (desk.follower.notice, desk.follower.is_armed()) == ("", False)
    assert desk.follower.agreement._records == [desk.leader.acceptance, desk.cars[0].acceptance]


def test_a_car_that_is_bound_to_another_epoch_is_refused_by_name():
    leader, other = DeskCar("leader"), DeskCar("other")
    other.connection.epoch = 5
    with pytest.raises(ValueError, match=f"other: expected epoch {EPOCH}, got 5"):
        Following(leader, [DeskCar("fits"), other])


def test_a_leader_that_began_anew_is_a_new_one():
    desk = Desk()
    assert not desk.following.has_new_leader()
    desk.leader.own_epoch = 5
    assert desk.following.has_new_leader()


# --- frames


def test_each_frame_of_this_epoch_goes_to_every_car_that_is_bound():
    desk = Desk(followers=3)
    desk.cars[1].connection.bound = False
    for epoch, frame in ((EPOCH, b"one"), (5, b"other"), (EPOCH, b"two")):
        desk.leader.on_own_claim(SimpleNamespace(epoch=epoch, frame=frame))
    assert [car.connection.frames for car in desk.cars] == [[b"one", b"two"], [], [b"one", b"two"]]
    assert desk.following.forwarded == 2


# --- as the leader is


@pytest.mark.parametrize("before", [State.STANDBY, *HALTED])
@pytest.mark.parametrize("after", ARMED)
def test_it_is_armed_in_the_leader_s_profile_on_the_very_change(before, after):
    desk = Desk()
    desk.be(before)
    assert desk.step() == []
    desk.be(after)
    assert desk.step() == [ARM]
    assert desk.step() == [], "once"
    desk.cars[0].answer()
    assert desk.step() == []
    assert desk.follower.notice == ""


def test_a_leader_that_was_armed_before_arms_nobody():
    desk = Desk()
    desk.be(State.ACTIVE)
    assert [desk.step(), desk.step()] == [[], []]
    desk.be(State.HOLD)
    assert desk.step() == [], "it was armed and is"


def test_a_leader_that_says_nothing_changes_nothing_and_begins_anew():
    desk = Desk()
    assert desk.step() == []
    desk.be(State.ACTIVE)
    assert desk.step() == [], "it is the first word"
    desk.leader.status = None
    assert desk.step() == []
    desk.be(State.ACTIVE)
    assert desk.step() == []


@pytest.mark.parametrize(
    ("state", "causes"),
    [(it, ()) for it in HALTED] + [(State.STANDBY, (Cause.CHARGER,))],
)
def test_what_made_it_stop_before_is_forgotten_first(state, causes):
    desk = Desk()
    desk.be(State.STANDBY, state, *causes)
    desk.step()
    desk.be(State.ACTIVE, state, *causes)
    assert desk.step() == [CLEAR]
    assert desk.step() == [], "it waits for the answer"
    desk.cars[0].answer()
    assert desk.step() == [ARM]


def test_one_that_is_refused_says_why_and_is_asked_for_nothing_more():
    desk = Desk()
    desk.be(State.STANDBY, State.STOPPED)
    desk.step()
    desk.be(State.ACTIVE, State.STOPPED)
    desk.step()
    desk.cars[0].answer(is_done=False)
    assert [desk.step(), desk.step()] == [[], []]
    assert desk.follower.notice == "twin 0 did not arm: it will not."
    desk.be(State.STANDBY, State.STANDBY)
    desk.step()
    desk.be(State.ACTIVE, State.STANDBY)
    assert desk.step() == [ARM]
    assert desk.follower.notice == "", "it is asked anew"


@pytest.mark.parametrize("state", ARMED)
def test_one_that_is_armed_is_not_armed_again(state):
    desk = Desk()
    desk.be(State.STANDBY, state)
    desk.step()
    desk.be(State.ACTIVE, state)
    assert desk.step() == []
    assert desk.follower.is_armed()
    desk.cars[0].is_online_now = False
    assert not desk.follower.is_armed()


def test_one_that_has_said_nothing_is_armed_without_clearing():
    desk = Desk()
    desk.leader.be(State.STANDBY)
    desk.step()
    desk.leader.be(State.ACTIVE)
    assert desk.step() == [ARM]


def test_arming_asks_nothing_where_the_leader_says_nothing():
    desk = Desk()
    desk.follower.arm()
    assert desk.step() == []


@pytest.mark.parametrize("before", [State.STANDBY, *ARMED])
@pytest.mark.parametrize("after", HALTED)
def test_it_stops_with_its_leader_on_the_very_change(before, after):
    desk = Desk()
    desk.be(before, State.ACTIVE)
    desk.step()
    desk.be(after, State.ACTIVE)
    assert desk.step() == [("stop", Sender.FLEET, "a leader stopped")]
    assert desk.cars[0].asked[0][-1] == desk.now_us
    assert desk.step() == [], "once"
    desk.be(State.FAULT if after is not State.FAULT else State.STOPPED, State.ACTIVE)
    assert desk.step() == [], "it was halted and is"


def test_one_that_is_not_armed_is_neither_stopped_nor_disarmed():
    desk = Desk()
    for state in (State.ACTIVE, State.STOPPED, State.STANDBY):
        desk.be(state, State.STANDBY)
        desk.cars[0].requests.clear()
        assert [it for it in desk.step() if it != ARM] == []


@pytest.mark.parametrize("before", [*ARMED, *HALTED])
def test_it_is_disarmed_with_its_leader(before):
    desk = Desk()
    desk.be(before, State.HOLD)
    desk.step()
    desk.be(State.STANDBY, State.HOLD)
    assert desk.step() == ["disarm"]
    assert desk.cars[0].asked == [("disarm", Sender.FLEET, desk.now_us)]
    assert desk.step() == []


@pytest.mark.parametrize("then", [State.STOPPING, State.STANDBY])
def test_what_was_to_come_is_dropped_when_the_leader_ends(then):
    desk = Desk()
    desk.be(State.STANDBY, State.STOPPED)
    desk.step()
    desk.be(State.ACTIVE, State.STOPPED)
    assert desk.step() == [CLEAR]
    desk.be(then, State.STOPPED)
    desk.step()
    desk.cars[0].answer()
    assert desk.step() == [], "it would have been armed now"


def test_all_followers_are_told_and_at_the_end_none_is_left_armed():
    desk = Desk(followers=2)
    desk.be(State.STANDBY)
    desk.step()
    desk.be(State.ACTIVE)
    desk.step()
    assert [car.asked for car in desk.cars] == [[(ARM, desk.now_us)]] * 2
    desk.be(State.ACTIVE, State.ACTIVE)
    desk.cars[1].is_online_now = False
    for car in desk.cars:
        car.asked.clear()
    desk.following.end(77)
    assert [car.asked for car in desk.cars] == [
        [("stop", Sender.FLEET, "no more followed", 77)], [],
    ]  # fmt: skip


# --- how far apart


def sample(time_us: int, speed_mps: float = 0.0) -> MotionSample:
    return MotionSample(time_us, 0.0, speed_mps, 0.0, 0.0, 0.0, 0.0)


def drift(desk: Desk, steps: int = 40) -> None:
    """The twin is 1 m/s too fast."""
    for number in range(1, steps + 1):
        desk.leader.samples.append(sample(number * 10_000))
        for car in desk.cars:
            car.samples.append(sample(number * 10_000, 1.0))
        desk.step()


def test_each_is_compared_with_the_leader_and_what_was_compared_is_gone():
    desk = Desk(followers=2)
    desk.be(State.ACTIVE, State.ACTIVE)
    drift(desk)
    for follower in desk.following.followers:
        assert follower.divergence.compared == 40
        assert [it.what for it in follower.divergence.alarms()] == ["speed"]
    assert (desk.leader.samples, desk.cars[0].samples, desk.cars[1].samples) == ([], [], [])
    assert desk.leader.asked == [], "its limits only tell"


def test_where_the_limits_say_so_both_stop():
    desk = Desk(limits=replace(TELL, on_exceed="stop"))
    desk.be(State.ACTIVE, State.ACTIVE)
    drift(desk, 30)
    assert desk.leader.asked == []
    desk.leader.samples.append(sample(310_000))
    desk.cars[0].samples.append(sample(310_000, 1.0))
    desk.step()
    stop = ("stop", Sender.FLEET, "apart: speed", desk.now_us)
    assert stop in desk.leader.asked
    assert desk.cars[0].asked == [stop]


def test_one_that_is_not_armed_stops_nobody():
    desk = Desk(limits=replace(TELL, on_exceed="stop"))
    desk.be(State.ACTIVE, State.STANDBY)
    drift(desk)
    assert desk.follower.divergence.must_stop() == "speed"
    assert desk.leader.asked == []


def test_they_are_compared_anew_when_they_are_armed():
    desk = Desk()
    desk.be(State.STANDBY)
    drift(desk)
    assert desk.follower.divergence.alarms() != ()
    desk.be(State.ACTIVE)
    desk.step()
    assert desk.follower.divergence.differences == ()


def test_a_leader_without_a_file_is_compared_with_nobody():
    desk = Desk(limits=None)
    desk.be(State.STANDBY, State.ACTIVE)
    desk.cars[0].samples.append(sample(1))
    desk.leader.samples.append(sample(1))
    desk.step()
    desk.be(State.ACTIVE, State.STANDBY)
    assert desk.step() == [ARM]
    assert desk.follower.divergence is None
    assert desk.leader.samples == []


def test_the_fleet_s_word_is_said_at_each_step():
    desk, steps_us = Desk(), []
    assert desk.follower._heartbeat.name == FLEET
    desk.follower._heartbeat = SimpleNamespace(step=steps_us.append)
    desk.step()
    assert steps_us == [desk.now_us]


def test_what_both_accepted_is_compared_at_each_step():
    desk = Desk()
    desk.follower.agreement.begin(1)
    for record in (desk.leader.acceptance, desk.cars[0].acceptance):
        record.take(AcceptanceReport(1, 1, 7, None))
    desk.step()
    assert desk.follower.agreement.agreed == 1
