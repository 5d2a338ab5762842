"""S2 and S4 over sequences: what was confirmed is what is armed, and a nonce is good for one thing.

Of arm, clear, disarm, cap, commit, a program by the REPL and hardware in the loop one at most takes
effect in a step, and an open request refuses the others. ``make proof`` searches for what else
there might be; here are the sequences that once got through, and what each rule says, by hand.
"""

import itertools

import pytest

from firmware.protocol import codes, messages
from firmware.protocol.enter_hitl import EnterHitl
from firmware.protocol.to_board import Bind
from firmware.protocol.version import protocol_hash
from host_bridge.deploy.hil.host.small_host import TABLE
from tests.firmware.boards.doors import door_of
from tests.firmware.copies import copied
from tests.firmware.core.desk import parameters_of
from tests.safety.support.hosts import host_of
from tests.safety.ways.ways import STAND, TRACK, Rc, Way

STARTING, STANDBY, ACTIVE, HOLD, STOPPING, STOPPED, FAULT = range(7)
ARM, CLEAR, DISARM, CAP = range(1, 5)
NONCE, BUSY = 1 << codes.REFUSED_NONCE, 1 << codes.REFUSED_BUSY
SECOND_US = 1_000_000


class Car:
    """A car that stands by, a host that asks, and what came of it."""

    def __init__(self, vehicle: str = "f1tenth") -> None:
        self.way = Way(vehicle)
        self.way.begin()
        self.host = self.way.host
        self.app = self.way.world.runner.app
        self.way.let_go(1500)
        self.say(self.host, DISARM)
        self.way.let_go(300)
        assert self.state == STANDBY
        self.other = host_of(self.way.world, epoch=777)
        self.other.say(Bind, protocol_hash=bytes(protocol_hash(TABLE)))
        self.way.others.append(self.other)
        self.way.let_go(1000)

    @property
    def state(self) -> int:
        return self.host.status.state

    @property
    def reply(self):
        return self.host.latest["ActReply"]

    def say(self, host, action, value=TRACK, nonce=0, **changes) -> None:
        fields = {
            "action": action, "value": value, "nonce": nonce,
            "config_hash": bytes(self.app.configuration.config_hash), **changes,
        }  # fmt: skip
        host.say(messages.Act, **fields)

    def ask(self, action, value=TRACK, host=None, **changes) -> int:
        self.say(host or self.host, action, value, **changes)
        self.way.let_go(10)
        assert self.reply.refusals == 0, hex(self.reply.refusals)
        assert self.reply.nonce
        return self.reply.nonce

    def commit(self, host=None, **changes) -> None:
        fields = {
            "config_hash": bytes(self.app.configuration.config_hash),
            "car_name": bytes(self.app.configuration.car_name), **changes,
        }  # fmt: skip
        (host or self.host).say(messages.ConfigCommit, **fields)

    def stop(self) -> None:
        self.host.stop()
        self.way.let_go(500)
        assert self.state in (STANDBY, STOPPED)
        assert self.host.status.causes


@pytest.fixture
def car():
    return Car()


def test_a_confirmed_arm_alone_arms_what_was_confirmed(car):
    """Else nothing below would show anything."""
    nonce = car.ask(ARM, STAND)
    car.say(car.host, ARM, STAND, nonce)
    car.way.let_go(10)
    assert (car.state, car.host.status.profile) == (HOLD, STAND)
    assert car.app.fault_monitor.is_on_stand


@pytest.mark.parametrize("first", ["confirm", "commit"])
def test_an_arm_and_a_commit_on_one_step_arm_no_other_profile(car, first):
    """The commit once put the profile back to the vehicle's own, in a car that was just armed."""
    nonce = car.ask(ARM, STAND)
    says = {"confirm": lambda: car.say(car.host, ARM, STAND, nonce), "commit": car.commit}
    for name in sorted(says, key=lambda name: name != first):
        says[name]()
    car.way.let_go(10)
    if first == "confirm":
        assert (car.state, car.host.status.profile) == (HOLD, STAND)
        assert car.host.latest["Committed"].result == codes.PARAMETER_BUSY
    else:
        assert car.state == STANDBY
        assert car.host.latest["Committed"].result == codes.PARAMETER_BUSY
        assert car.reply.refusals == NONCE


def test_numbers_that_nobody_confirmed_are_not_armed(car):
    """Another cap is drafted, and its commit comes on the step of the confirmation."""
    params = parameters_of(car.app)
    at = params.index("profile_cap_mm_s") + TRACK
    values, kept = list(params.values), bytes(params.config_hash)
    params.values[at] -= 500
    changed = bytearray(4)
    params.hash_into(changed)
    drafted = params.values[at]
    params.values[:] = values
    nonce = car.ask(ARM)
    car.host.say(messages.ParameterWrite, index=at, value=drafted)
    car.say(car.host, ARM, TRACK, nonce)
    car.commit(config_hash=bytes(changed))
    car.way.let_go(10)
    assert (car.state, bytes(params.config_hash)) == (HOLD, kept)


def test_a_confirmation_and_a_gesture_on_one_step_arm_what_was_confirmed():
    """The gesture once overwrote the profile of a host's confirmation that came with it."""
    rc = resting_rc()
    config_hash = bytes(rc.world.runner.app.configuration.config_hash)
    act = {"action": ARM, "value": STAND, "config_hash": config_hash}
    rc.host.say(messages.Act, nonce=0, **act)
    rc.drive(10, 0)
    nonce = rc.host.latest["ActReply"].nonce
    assert nonce, hex(rc.host.latest["ActReply"].refusals)
    rc.deadman = codes.HELD
    met = False
    for beats in range(4):  # a frame comes every other step: one of these is the gesture's
        other = copied(rc)
        other.drive(10 * beats, 0)
        if other.state != STANDBY:
            break
        other.host.say(messages.Act, nonce=nonce, **act)
        other.drive(10, 0)
        app = other.world.runner.app
        met |= bool(app.rc.gesture)
        if other.state == STANDBY:  # the gesture was first, and ended the request
            continue
        assert (other.state, app.fault_monitor.is_on_stand) == (HOLD, True)
        assert (other.host.status.profile, app.stop_sources.profile) == (STAND, STAND)
    assert met


def test_a_nonce_lives_for_a_second_by_the_step_s_clock(car):
    for ms, refusals in ((990, 0), (1000, NONCE), (60_000, NONCE)):
        nonce = car.ask(ARM)
        car.way.let_go(ms - 10)
        car.say(car.host, ARM, TRACK, nonce)
        car.way.let_go(10)
        assert car.reply.refusals == refusals, ms
        assert car.state == (STANDBY if refusals else HOLD)
        if not refusals:
            car.say(car.host, DISARM)
            car.way.let_go(300)
            assert car.state == STANDBY


def test_two_confirmations_on_one_step_grant_one_thing(car):
    first, second = car.ask(ARM, STAND), None
    car.say(car.other, ARM, TRACK)
    car.way.let_go(10)
    reply = car.reply
    assert reply.refusals == BUSY
    second = reply.nonce
    car.say(car.host, ARM, STAND, first)
    car.say(car.other, ARM, TRACK, second or first)
    car.way.let_go(10)
    assert car.state == STANDBY


def stop_frame(car):
    car.host.stop()
    car.way.let_go(10)
    car.app.runstop.clear()  # as if somebody had cleared it, by whatever way


def loop(car):
    car.way.world.runstop_closed = False
    car.way.let_go(20)
    car.way.world.runstop_closed = True
    car.way.let_go(20)
    car.app.runstop.clear()


def stop_of_a_source(car):
    car.other.say(messages.Alive, stop_source=4, sequence=1, runs=0, stamp_us=0)
    car.way.let_go(20)
    car.app.runstop.clear()


def fault(car):
    car.app.faults.set(codes.FAULT_OVER_TEMPERATURE, True)
    car.way.let_go(20)
    car.way.let_go(20)
    car.app.faults.clear()
    car.app.supervisor.state = STANDBY


def commit(car):
    car.commit()
    car.way.let_go(20)


def cap(car):
    car.say(car.other, CAP, 2000)
    car.way.let_go(20)


def others_ask(car):
    car.say(car.other, ARM)
    car.way.let_go(20)


def others_confirm(car):
    car.say(car.other, ARM, TRACK, car.app.actions.nonce)
    car.way.let_go(20)


def own_other_ask(car):
    car.say(car.host, CLEAR)
    car.way.let_go(20)


def rebind(car):
    car.host.say(Bind, protocol_hash=bytes(protocol_hash(TABLE)))
    car.way.let_go(20)


ENDS = (stop_frame, loop, stop_of_a_source, fault, commit, cap, others_ask, others_confirm,
        own_other_ask, rebind)  # fmt: skip


@pytest.mark.parametrize("end", ENDS, ids=lambda end: end.__name__)
def test_a_nonce_dies_with_a_stop_a_change_and_any_other_request(car, end):
    nonce = car.ask(ARM)
    end(car)
    car.way.let_go(20)
    assert car.state == STANDBY
    car.say(car.host, ARM, TRACK, nonce)
    car.way.let_go(10)
    assert car.reply.refusals & NONCE
    assert car.state == STANDBY


def test_a_stop_and_somebody_s_clear_leave_no_open_arm(car):
    nonce = car.ask(ARM)
    car.stop()
    clear = car.ask(CLEAR, host=car.other)
    car.say(car.other, CLEAR, TRACK, clear)
    car.way.let_go(10)
    assert not car.host.status.causes
    car.say(car.host, ARM, TRACK, nonce)
    car.way.let_go(10)
    assert (car.state, car.reply.refusals) == (STANDBY, NONCE)


@pytest.mark.parametrize(
    "change", [{"value": STAND}, {"sender": codes.SENDER_SEAT}, {"config_hash": b"\1\2\3\4"}]
)
def test_a_confirmation_names_profile_asker_and_configuration(car, change):
    nonce = car.ask(ARM)
    car.say(car.host, ARM, **{"nonce": nonce, **change})
    car.way.let_go(10)
    assert car.reply.refusals
    car.say(car.host, ARM, TRACK, nonce)  # and it was used
    car.way.let_go(10)
    assert (car.state, car.reply.refusals) == (STANDBY, NONCE)


def arm_on_step(car, nonce):
    car.say(car.host, ARM, TRACK, nonce)


def cap_on_step(car, nonce):
    car.say(car.other, CAP, 2000)


def commit_on_step(car, nonce):
    car.commit(car.other)


def hitl_on_step(car, nonce):
    car.other.say(EnterHitl, board_id=bytes(car.way.world.board_id))


@pytest.mark.parametrize(
    "pair",
    list(itertools.permutations((arm_on_step, cap_on_step, commit_on_step, hitl_on_step), 2)),
    ids=lambda pair: " then ".join(act.__name__ for act in pair),
)
def test_of_two_on_one_step_one_takes_effect(car, pair):
    door = door_of(car.app)
    nonce = car.ask(ARM) if arm_on_step in pair else 0
    before = car.app.actions.cap_mm_s
    for act in pair:
        act(car, nonce)
    car.way.let_go(10)
    effects = (
        car.state == HOLD,
        car.app.actions.cap_mm_s != before,
        car.host.latest.get("Committed", None) is not None
        and car.host.latest["Committed"].result == codes.PARAMETER_OK,
        door.is_asked,
    )
    assert sum(effects) <= 1
    if pair[0] is arm_on_step or arm_on_step not in pair:
        assert sum(effects) == 1  # an open request refuses the others, and ends with them


def test_nothing_is_committed_while_the_wheels_turn(car):
    """A car that is pushed, or rolls out: its numbers stay until it stands."""
    car.app.odometry.step = lambda *_: setattr(car.app.odometry, "speed_mm_s", 2150)
    car.way.let_go(20)
    car.commit()
    car.way.let_go(10)
    assert car.host.latest["Committed"].result == codes.PARAMETER_MOVING
    del car.app.odometry.step
    car.way.let_go(500)
    car.commit()
    car.way.let_go(10)
    assert car.host.latest["Committed"].result == codes.PARAMETER_OK


def resting_rc():
    """Half of a gesture: let go, in neutral, for over a second. A host is bound as well."""
    rc = Rc("f1tenth")
    rc.take_up()
    rc.host.say(Bind, protocol_hash=bytes(protocol_hash(TABLE)))
    rc.deadman = 0
    rc.drive(1500, 0)
    assert rc.state == STANDBY
    return rc


def grips(rc) -> int:
    rc.deadman = codes.HELD
    rc.drive(60, 0)
    return rc.state


def test_a_gesture_outlives_no_stop_and_no_change():
    assert grips(resting_rc()) in (HOLD, ACTIVE)
    rc = resting_rc()
    rc.host.stop()
    rc.drive(20, 0)
    rc.world.runner.app.runstop.clear()
    rc.drive(500, 0)
    assert grips(rc) == STANDBY
    rc.deadman = 0
    rc.drive(1100, 0)
    assert grips(rc) in (HOLD, ACTIVE)
