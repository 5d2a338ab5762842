"""Two things on one step of every vehicle's whole car, in every order: what stops always wins.

Frames come in the order in which they are sent; pins and silence have none: either order of them
is the same step. What must come of a pair is said by one rule, below.
"""

import itertools

import pytest

from firmware.protocol import codes, messages
from host_bridge.deploy.hil.host.small_host import HELD, RELEASED
from tests.firmware.copies import copied, saved
from tests.safety.support.facts import NAMES
from tests.safety.support.hosts import host_of
from tests.safety.ways.ways import BOX, Rc, Way
from tests.support.evidence import every

STARTING, STANDBY, ACTIVE, HOLD, STOPPING, STOPPED, FAULT = range(7)
ARMED = (ACTIVE, HOLD)
LOOP_BIT, REQUEST_BIT, SILENCE_BIT, CHARGER_BIT, SOURCE_BIT = 1, 2, 8, 1 << 6, 1 << 10


def stop(car):
    host_of(car.world, epoch=31_337).stop()


def loop(car):
    car.world.runstop_closed = False


def charger(car):
    car.world.charger = True


def box_stops(car):
    stranger = host_of(car.world, epoch=31_338)
    stranger.say(messages.Alive, stop_source=BOX, sequence=1, runs=0, stamp_us=0)


def silence(car):
    """Its lease runs out on this very step."""
    car.rest(10)


def release(car):
    car.host.claim(0, 0, RELEASED)


def hold(car):
    car.host.claim(0, 0, HELD)


def drive(car):
    car.host.claim(1000, 0, HELD)


def tool(car):
    """Somebody else reads what there is to read."""
    other = host_of(car.world, epoch=99)
    other.say(messages.Identify, token=3)
    other.say(messages.ParameterRead, index=3)


def act(car, action, nonce):
    car.host.say(
        messages.Act, action=action, nonce=nonce,
        config_hash=bytes(car.host.latest["Identity"].config_hash),
    )  # fmt: skip


def arm(car):
    act(car, codes.ACTION_ARM, car.nonce)


def clear(car):
    act(car, codes.ACTION_CLEAR, car.nonce)


def disarm(car):
    act(car, codes.ACTION_DISARM, 0)


STOPS = {stop: REQUEST_BIT, loop: LOOP_BIT, charger: CHARGER_BIT, box_stops: SOURCE_BIT}
FRAMES = (release, hold, drive, tool, disarm)
EVENTS = (silence, *STOPS, *FRAMES)
UNORDERED = {silence, loop, charger}


def active(car):
    car.drive(200, 1000)


def holding(car):
    car.let_go(300)


def standing_by(car):
    """Disarmed, and about to be armed: the board has handed out its nonce."""
    car.let_go(1500)
    disarm(car)
    car.beat()
    assert car.state == STANDBY
    car.let_go(200)  # the relay opens
    ask(car, codes.ACTION_ARM)


def stopped(car):
    car.host.stop()
    car.let_go(2000)
    assert car.state == STOPPED
    ask(car, codes.ACTION_CLEAR)


def ask(car, action):
    act(car, action, 0)
    car.beat()
    reply = car.host.latest["ActReply"]
    assert reply.refusals == 0
    car.nonce = reply.nonce


SITUATIONS = {active: (), holding: (), standing_by: (arm, clear), stopped: (clear, arm)}


@pytest.fixture(scope="module", params=NAMES)
def cars(request):
    """One in each situation, of each vehicle file."""
    driver = Way(request.param)
    driver.begin()
    found = {}
    for situation in SITUATIONS:
        car = copied(driver)
        situation(car)
        found[situation] = saved(car)
    return found


def orders(*pair):
    return [pair] if UNORDERED & {*pair} else itertools.permutations(pair)


def after(again, events) -> tuple[int, int]:
    """State and causes after the step on which these come; and nothing drives on by itself."""
    car = again()
    for event in sorted(events, key=lambda event: event is not silence):
        event(car)
    car.rest()
    state, causes = car.state, car.host.status.causes
    if state not in ARMED:
        car.rest(5)
        assert car.state not in ARMED
        assert not causes or car.host.status.causes
    return state, causes


@pytest.mark.parametrize("situation", SITUATIONS, ids=lambda s: s.__name__)
def test_whatever_comes_with_a_stop_on_one_step_in_any_order_it_stops(cars, situation):
    for pair in itertools.combinations((*EVENTS, *SITUATIONS[situation]), 2):
        if {*pair} <= {*FRAMES}:
            continue  # nothing of them stops, nothing grants
        outcomes = {after(cars[situation], order) for order in orders(*pair)}
        names = [event.__name__ for event in pair]
        expected = sum(STOPS.get(event, 0) for event in pair)
        for state, causes in outcomes:
            assert causes & expected == expected, names
            if expected:
                assert state not in ARMED, names
        if silence in pair and situation in (active, holding) and not {*pair} & {*FRAMES}:
            assert every(causes & SILENCE_BIT for _, causes in outcomes), names
        if expected:
            assert len({state for state, _ in outcomes}) == 1, names


@pytest.mark.parametrize("event", STOPS, ids=lambda event: event.__name__)
def test_an_arm_or_a_clear_on_the_step_of_a_stop_leaves_the_stop(cars, event):
    for situation, granted in ((standing_by, arm), (stopped, clear)):
        alone, _ = after(cars[situation], (granted,))
        assert alone == (HOLD if granted is arm else STANDBY)  # else this would show nothing
        for order in orders(granted, event):
            state, causes = after(cars[situation], order)
            assert state not in ARMED
            assert causes & STOPS[event]


@pytest.fixture(scope="module", params=[name for name in NAMES if Rc.fits(name)])
def rc_car(request):
    """About to be armed by the gesture of its transmitter."""
    car = Rc(request.param)
    car.take_up()
    car.deadman = RELEASED
    car.drive(1200, 0)
    assert car.state == STANDBY
    car.deadman = HELD
    return saved(car)


@pytest.mark.parametrize("event", STOPS, ids=lambda event: event.__name__)
def test_the_gesture_of_the_rc_on_the_step_of_a_stop_arms_nothing(rc_car, event):
    armed = False
    for beats in range(4):  # a frame comes every other step: one of these is the gesture's
        for is_stopped in (False, True):
            other = rc_car()
            other.drive(10 * beats, 0)
            was = other.state
            if is_stopped:
                event(other)
            other.drive(10, 0)
            if is_stopped:
                assert other.state not in ARMED
                assert other.host.status.causes & STOPS[event]
                other.drive(200, 0)
                assert other.state not in ARMED
            else:
                armed |= was == STANDBY and other.state in ARMED
    assert armed
