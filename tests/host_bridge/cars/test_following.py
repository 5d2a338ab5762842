"""A twin follows a car that its own receiver drives: the very frames, by the leader's clock."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from firmware.protocol import codes, messages
from host_bridge.cars.following import Following
from host_bridge.cli.commands.follow import FollowLines
from host_bridge.core import Profile, Sender, State
from host_bridge.core.board_time import elapsed_us
from host_bridge.drive.control_task import TICK_US
from host_bridge.link.protocol import wire
from host_bridge.link.protocol.session_time import BoardTime
from sim_mock.board.transmitter import Transmitter
from tests.host_bridge.drive.drives import START_US, STEP_US, Rig


@dataclass
class Pair:
    """A leader with a transmitter in somebody's hand, and a twin behind it."""

    leader: Rig = field(default_factory=lambda: Rig("leader"))
    now_us: int = START_US
    twin: Rig | None = None
    following: Following | None = None

    def __post_init__(self) -> None:
        self.radio: Transmitter = self.leader.world.attach_rc()
        self.leader.car.opened(self.now_us)
        self.advance(1.5)
        session_time = BoardTime(self.leader.car.connection)
        epoch = self.leader.car.own_epoch
        self.twin = Rig("twin", board_us=77_000_000, phase_us=4000, epoch=epoch, seed=2)
        self.twin.car.connection.__init__(wire.own_protocol_hash(), epoch, session_time)
        self.twin.car.opened(self.now_us)
        self.following = Following(self.leader.car, [self.twin.car])
        self.advance(1.5)

    def advance(self, seconds: float) -> None:
        for _ in range(round(seconds * 1e6 / STEP_US)):
            self.now_us += STEP_US
            self.leader.advance(self.now_us)
            if self.twin is None:
                continue
            self.twin.advance(self.now_us)
            if self.now_us % TICK_US == 0:
                self.following.step(self.now_us)
            self.twin.flush()

    def gesture(self) -> None:
        """Let go and in neutral for a second, then held: arms, or clears."""
        self.radio.live_man = False
        self.radio.throttle = 0.0
        self.advance(1.2)
        self.radio.live_man = True
        self.advance(0.2)

    def states(self) -> tuple[State, State]:
        return self.leader.car.status.state, self.twin.car.status.state

    @property
    def follower(self):
        return self.following.followers[0]


@pytest.fixture
def pair() -> Pair:
    return Pair()


def test_a_twin_is_armed_by_the_gesture_and_drives_as_its_leader(pair):
    assert pair.states() == (State.STANDBY, State.STANDBY)
    pair.gesture()
    assert pair.states() == (State.ACTIVE, State.ACTIVE)
    pair.radio.throttle, pair.radio.steering = 0.4, 0.3
    pair.advance(2.0)
    leader, twin = pair.leader.car.status, pair.twin.car.status
    assert leader.speed_mps > 1.0
    assert twin.speed_mps == pytest.approx(leader.speed_mps, abs=0.2)
    assert twin.steer_rad == leader.steer_rad
    assert (twin.drive_source, twin.profile) == (0, Profile.TRACK)
    assert not pair.follower.divergence.alarms()
    assert pair.follower.divergence.compared > 50


def test_both_took_the_same_bytes_and_show_the_same_crc(pair):
    pair.gesture()
    pair.radio.throttle = 0.4
    pair.advance(2.0)
    agreement = pair.follower.agreement
    assert agreement.is_equal()
    assert agreement.missed == 0
    assert agreement.agreed > 150, "at 50 Hz"
    assert agreement.crcs[0] == agreement.crcs[1] != 0


def test_the_frames_are_the_leader_s_own(pair):
    sent, heard = [], []
    pair.leader.up = lambda data: sent.append(data) or data
    pair.twin.down = lambda data: heard.append(data) or data
    pair.gesture()
    frames = [f for f in b"".join(sent).split(b"\0") if _is_claim(f)]
    passed_on = [f for f in b"".join(heard).split(b"\0") if _is_claim(f)]
    assert passed_on == frames
    assert len(frames) > 50


def _is_claim(frame: bytes) -> bool:
    found = wire.MessageDecoder().feed(frame + b"\0") if frame else []
    return any(isinstance(message, messages.Claim) for message in found)


def test_an_altered_frame_is_found(pair):
    pair.gesture()
    frames = []

    def altering(data: bytes) -> bytes:
        for frame in data.split(b"\0"):
            if _is_claim(frame) and not frames:
                (message,) = wire.MessageDecoder().feed(frame + b"\0")
                message.steer_urad += 50
                frames.append(frame)
                return data.replace(b"\0" + frame + b"\0", wire.encode(message))
        return data

    pair.twin.down = altering
    pair.advance(0.5)
    assert frames
    assert not pair.follower.agreement.is_equal()


def test_the_bound_of_the_follower_s_clock_is_honest(pair):
    """True offset from the twin's time to the leader's, against what its board believes."""
    for _ in range(20):
        pair.advance(0.2)
        clock = pair.twin.car.connection.clock
        true_us = elapsed_us(pair.leader.world.now_us, pair.twin.world.now_us)
        assert clock.bound_us is not None
        assert abs(elapsed_us(clock.offset_us, true_us)) <= clock.bound_us
        assert clock.bound_us >= pair.leader.car.connection.clock.bound_us


@pytest.mark.parametrize("wrong_by", [-1.0, 1.0])
def test_the_bound_is_honest_though_the_host_is_as_wrong_as_it_may_be(monkeypatch, wrong_by):
    """The host's idea of the leader's time is off by its whole bound of 3 ms."""

    class WorstTime(BoardTime):
        bound_us = 3_000

        def session_us(self, host_us: int) -> int:
            return super().session_us(host_us) + round(wrong_by * self.bound_us)

    monkeypatch.setitem(globals(), "BoardTime", WorstTime)
    pair = Pair()
    pair.advance(2.0)
    clock = pair.twin.car.connection.clock
    true_us = elapsed_us(pair.leader.world.now_us, pair.twin.world.now_us)
    wrong_us = abs(elapsed_us(clock.offset_us, true_us))
    assert 1_500 < wrong_us <= clock.bound_us


def test_a_follower_stops_with_its_leader_and_is_armed_again_by_the_gesture(pair):
    pair.gesture()
    pair.radio.throttle = 0.4
    pair.advance(1.0)
    pair.radio.mode = "stop"
    pair.advance(0.1)
    assert pair.twin.car.status.state in (State.STOPPING, State.STOPPED)
    pair.advance(1.5)
    assert pair.states() == (State.STOPPED, State.STOPPED)
    assert pair.leader.car.why_stopped() == "Stopped because the transmitter says stop."
    assert "the fleet (leader stopped) asked for a stop" in pair.twin.car.why_stopped()
    pair.radio.mode = "manual"
    pair.gesture()
    assert pair.states() == (State.STANDBY, State.STOPPED), "the first gesture clears the leader"
    pair.gesture()
    assert pair.states() == (State.ACTIVE, State.ACTIVE)


def test_releasing_the_live_man_holds_both_and_holding_it_drives_both_on(pair):
    pair.gesture()
    pair.radio.live_man = False
    pair.advance(0.3)
    assert pair.states() == (State.HOLD, State.HOLD)
    pair.radio.live_man = True
    pair.advance(0.3)
    assert pair.states() == (State.ACTIVE, State.ACTIVE)


def test_a_follower_whose_leader_is_lost_stops_by_itself(pair):
    pair.gesture()
    pair.radio.throttle = 0.4
    pair.advance(1.0)
    pair.leader.is_plugged = False
    pair.advance(0.2)
    assert pair.states()[1] in (State.STOPPING, State.STOPPED)
    assert "the transmitter fell silent" in pair.twin.car.why_stopped()


def test_a_leader_that_was_armed_before_it_is_followed_arms_nobody():
    pair = Pair()
    pair.gesture()
    late = Following(pair.leader.car, [pair.twin.car])
    pair.twin.car.disarm(pair.now_us, Sender.COMMAND)
    pair.radio.live_man = False
    pair.following = late
    pair.twin.car.stop(Sender.COMMAND, "test", pair.now_us)
    pair.advance(1.0)
    assert pair.states()[0] is State.HOLD
    assert pair.states()[1] is State.STOPPED


def test_a_follower_that_may_not_be_armed_says_why(pair):
    pair.twin.world.charger = True
    pair.advance(0.2)
    pair.gesture()
    pair.advance(0.2)
    assert pair.states()[0] is State.ACTIVE
    assert "a charger is plugged in" in pair.follower.notice


def test_a_car_of_another_epoch_does_not_follow():
    leader, other = Rig("leader"), Rig("other")
    leader.car.own_epoch = 5
    with pytest.raises(ValueError, match="other: expected epoch 5"):
        Following(leader.car, [other.car])


def test_a_leader_that_begins_anew_is_followed_no_more(pair):
    """Its claims are of another epoch then, which no follower is bound to."""
    pair.gesture()
    pair.leader.world.restart(codes.RESET_WATCHDOG)
    pair.advance(1.5)
    assert pair.following.has_new_leader()
    assert pair.leader.car.status.state is State.STANDBY
    assert pair.twin.car.status.state is State.STOPPED
    before = pair.following.forwarded
    pair.advance(1.0)
    assert pair.following.forwarded == before, "though its receiver still claims"


def test_a_twin_that_drifts_apart_stops_both_where_the_vehicle_file_says_so(pair):
    """The twin's servo sticks; its leader turns."""
    pair.follower.divergence._limits = replace(pair.follower.divergence._limits, on_exceed="stop")
    pair.gesture()
    pair.twin.world.plant.is_steering_stuck = True
    pair.radio.throttle, pair.radio.steering = 0.3, 0.8
    view = FollowLines(Path("followed.mcap"))
    for _ in range(40):
        pair.advance(0.1)
        view.news(pair.following, pair.now_us)
    assert pair.states() == (State.STOPPED, State.STOPPED)
    for car in (pair.leader.car, pair.twin.car):
        assert "apart: " in car.why_stopped()
    shown = view.summary(pair.following, pair.now_us)  # at rest they are together again
    assert shown[-1].endswith(": tandem replay followed.mcap --car leader")


@pytest.mark.parametrize("which", ["leader", "twin"])
def test_another_board_at_the_place_of_either_leads_and_follows_nobody(pair, which):
    """Equal in all but the board; and somebody arms the one that comes, by its own transmitter."""
    pair.gesture()
    assert pair.states() == (State.ACTIVE, State.ACTIVE)
    rig = pair.leader if which == "leader" else pair.twin
    stranger = Rig(which, board="another", seed=5).world
    if which == "leader":
        pair.radio = stranger.attach_rc()
    rig.world = stranger
    rig.car.closed(pair.now_us)
    rig.car.opened(pair.now_us)
    pair.advance(1.5)
    claims = pair.following.forwarded
    pair.gesture()
    pair.radio.throttle = 0.4
    pair.advance(1.0)
    assert rig.car.why_stopped() == f"A{rig.car.stranger[1:]}; {rig.car.remedy}."
    assert stranger.board_id.hex() in rig.car.stranger
    if which == "leader":
        assert stranger.enable, "it drives, and is not ours"
        assert pair.following.forwarded == claims
        assert pair.states()[1] in (State.STOPPING, State.STOPPED)
    else:
        assert not stranger.enable
    assert f"{which} (f1tenth, board" in rig.car.stranger
