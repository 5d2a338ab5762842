"""What every vehicle and every way of moving its wheels must keep: inherit it, and name the way.

The far end is the complete program in the virtual car: faults go in as bytes, pins and time, and
what is judged is the report on the wire and the wires themselves, each millisecond. Limits are
those of firmware/core/SAFETY.md, and of the vehicle file as it is written.
"""

import pytest

from firmware.protocol import codes, messages
from firmware.protocol.version import protocol_hash
from host_bridge.deploy.hil.host.small_host import TABLE
from tests.safety.support.facts import drive_is_neutral, facts_of
from tests.safety.support.hosts import host_of
from tests.safety.ways.ways import STAND

STARTING, STANDBY, ACTIVE, HOLD, STOPPING, STOPPED, FAULT = range(7)
STEP_US = 10_000
MEASURED_LATE_MS = 60  # speed is measured over 40 ms, and used on the step after
GUARD_US, HANG_US, WATCHDOG_US = 1_000, 100_000, 500_000
FROZEN_US = 200_000
(RUNSTOP_LOOP, STOP_REQUEST, FROZEN, SILENCE, CLOCK_STEP, CLOCK_UNSURE, CHARGER) = range(7)
STAND_OVER = 12
RESET_WATCHDOG, RESET_BROWN_OUT, RESET_SOFT = 1, 2, 3


def is_neutral(car) -> bool:
    return drive_is_neutral(car.vehicle, car.world.values)


def has_cause(car, cause: int) -> bool:
    return car.host.status.causes >> cause & 1 == 1


def until_it_leaves_active(car, beat) -> int:
    """Beat until it is not ACTIVE; how long that took."""
    begun_us = car.world.now_us
    while car.state == ACTIVE:
        beat()
        assert car.world.now_us - begun_us < 2_000_000
    return car.world.now_us - begun_us


def come_to_rest(car) -> None:
    """Commands go on; the car has its time to stop, and its drive opens."""
    timeout_s = facts_of(car.vehicle)["stop"]["timeout_s"]
    for _ in range(round(timeout_s * 100) + 20):
        car.beat()
        if car.state in (STOPPED, FAULT):
            return
    raise AssertionError(f"still in state {car.state}")


def assert_stays_where_it_is(car, state: int, ms: int) -> None:
    """No drive on any wire, whatever is said."""
    for _ in range(ms // 10):
        car.beat()
        assert car.state == state
        assert not car.world.enable
        assert is_neutral(car)


class SafetySuite:
    """``car`` is a way at cruising speed, ACTIVE; subclasses say in ``way`` which."""

    way: type

    def __init_subclass__(cls) -> None:
        """One worker has all tests of a way: it brings each of its cars to speed once."""
        cls.pytestmark = [pytest.mark.xdist_group(cls.__name__)]

    # --- it stops

    def test_silence_stops_it_within_the_lease_and_one_step(self, car):
        car.vanish()
        took_us = until_it_leaves_active(car, car.beat)
        assert took_us <= round(car.lease_s * 1e6) + STEP_US
        assert car.state == STOPPING
        assert has_cause(car, SILENCE)

    def test_a_stop_from_a_stranger_is_obeyed_on_the_next_step(self, car):
        host_of(car.world, epoch=31_337).stop()
        car.beat()
        assert car.state == STOPPING
        assert car.host.status.first_cause == STOP_REQUEST

    def test_an_open_loop_cuts_the_drive_within_a_millisecond(self, car):
        car.world.runstop_closed = False
        car.world.advance(car.world.now_us + GUARD_US)
        assert not car.world.enable
        assert is_neutral(car)
        car.world.advance(car.world.now_us + STEP_US - GUARD_US)
        car.beat()
        assert has_cause(car, RUNSTOP_LOOP)
        assert car.state in (STOPPING, STOPPED)
        assert not car.world.enable

    def test_a_charger_stops_it(self, car):
        car.world.charger = True
        car.beat()
        assert car.state == STOPPING
        assert has_cause(car, CHARGER)

    def test_a_frozen_input_stops_it_if_its_device_counts(self, car):
        """A device without a counter cannot be seen to freeze: its cap and lease stand for that."""
        car.is_frozen = True
        if car.has_counter:
            assert until_it_leaves_active(car, car.beat) <= FROZEN_US + STEP_US
            assert car.host.status.first_cause == FROZEN
        facts = facts_of(car.vehicle)
        source = facts["sources"][car.source]
        assert source["lease_s"] * source["speed_cap_mps"] <= facts["stop"]["blind_m"] + 1e-9

    # --- it holds, and drives on

    def test_a_released_deadman_brakes_into_hold_and_latches_nothing(self, car):
        car.let_go(40)
        assert car.state == HOLD
        assert car.host.status.causes == 0
        was_mps = car.world.plant.wheel_speed_mps
        car.let_go(1500)
        assert car.state == HOLD
        rolls = car.profile == STAND  # free wheels that nothing brakes run down by themselves
        assert abs(car.world.plant.wheel_speed_mps) < (was_mps if rolls else 0.05)
        assert is_neutral(car)

    def test_it_drives_on_only_from_neutral_or_a_fresh_permission(self, car):
        cruise = car.speed_mm_s
        car.let_go(100)
        if car.starts_from_neutral:
            car.hold()
            car.drive(200, cruise)
            assert car.state == HOLD
            car.drive(50, 0)
        else:
            car.hold()
            car.drive(50, cruise)
        assert car.state == ACTIVE

    def test_a_brake_only_ever_opposes_the_motion(self, car, limits):
        """S1: nothing that drives forward, and nothing against wheels that do not turn."""
        limits.watch(car)
        car.let_go(1500)
        assert limits.drives_on() == []
        assert limits.pushes_what_stands_ms() <= MEASURED_LATE_MS
        assert limits.slowest_mps() >= -0.02

    # --- it does not move again by itself

    def test_after_a_stop_it_never_moves_without_a_clear_and_an_arm(self, car):
        cruise = car.speed_mm_s
        car.host.stop()
        come_to_rest(car)
        assert_stays_where_it_is(car, STOPPED, 200)
        car.deadman = 0
        assert_stays_where_it_is(car, STOPPED, 300)
        car.hold()
        for speed in (0, cruise):
            car.speed_mm_s = speed
            assert_stays_where_it_is(car, STOPPED, 300)

    def test_a_clear_and_an_arm_let_it_drive_again(self, car):
        car.host.stop()
        come_to_rest(car)
        car.clear_and_arm()
        assert car.state == ACTIVE
        assert car.host.status.causes == 0

    def test_after_a_reset_it_is_neutral_and_never_armed(self, car):
        """The third start in a row that did not last stays in FAULT."""
        for cause, beats, states in (
            (RESET_WATCHDOG, 10, (STARTING,)),
            (RESET_BROWN_OUT, 110, (STARTING, STANDBY)),
            (RESET_SOFT, 10, (STARTING, FAULT)),
        ):
            car.world.restart(cause)
            car.world.advance(car.world.now_us + 1_000)
            assert not car.world.enable
            assert not any(car.world.values)  # no pulse at all, until the program has begun
            for _ in range(beats):
                car.beat()
                assert car.state in states
                assert not car.world.enable
                assert is_neutral(car)
        assert car.state == FAULT

    # --- it falls without its program

    def test_a_hung_program_leaves_the_drive_off_within_a_tenth_of_a_second(self, car):
        for interrupts_too in (False, True):
            hang(car, interrupts_too)
            assert not car.world.enable
            assert is_neutral(car)

    def test_the_watchdog_begins_anew_within_half_a_second_and_disarmed(self, car):
        car.world.hang(3_000_000)
        car.world.advance(car.world.now_us + WATCHDOG_US + STEP_US)
        assert car.world.reset_cause == RESET_WATCHDOG
        for _ in range(20):
            car.beat()
            assert car.state == STARTING
            assert not car.world.enable
            assert is_neutral(car)

    def test_the_loop_cuts_within_a_millisecond_while_the_program_hangs(self, car):
        car.world.hang(3_000_000)
        car.world.advance(car.world.now_us + 15_000)
        assert car.world.enable  # the guard still waits
        car.world.runstop_closed = False
        car.world.advance(car.world.now_us + GUARD_US)
        assert not car.world.enable
        assert is_neutral(car)

    def test_a_spike_on_the_loop_is_filtered_and_a_real_opening_never(self, car):
        for opened_us, lasts_us in ((100, 5), (990, 19), (300, 20)):
            glitch(car, opened_us, lasts_us)
            car.beat()
            assert car.state == ACTIVE
        glitch(car, 700, 201)
        car.beat()
        car.beat()
        assert car.state in (STOPPING, STOPPED)
        assert has_cause(car, RUNSTOP_LOOP)
        assert not car.world.enable

    # --- it stays within its limits

    def test_no_wire_and_no_target_leaves_its_limits(self, car, limits):
        limits.watch(car)
        limits.storm(car, seconds=2)
        assert limits.broken == []

    def test_an_operators_cap_lowers_at_once_and_never_rises_while_armed(self, car):
        operator = operator_of(car)
        half = car.cruise_mm_s // 2
        assert cap(car, operator, half) == 0
        assert cap(car, operator, half + 1) == 1 << codes.REFUSED_CAP
        car.drive(1000, car.cruise_mm_s)
        assert car.state == ACTIVE
        assert 0 <= car.host.status.target_mm_s <= half

    def test_reverse_comes_only_after_standstill_and_neutral(self, car, limits):
        limits.watch(car)
        car.drive(100, car.cruise_mm_s)
        for _ in range(16):
            car.drive(200, -car.cruise_mm_s)
            if limits.has_reversed():
                break
        assert limits.reverses_too_soon() == []
        turns = facts_of(car.vehicle)["limits"]["reverse_max_mps"] > 0
        brakes = car.claims.get("brake")
        assert limits.has_reversed() == (turns and not brakes)


def hang(car, interrupts_too: bool) -> None:
    """The loop, or the whole processor, for as long as it may go unnoticed."""
    car.world.hang(HANG_US * 2, interrupts_too)
    car.world.advance(car.world.now_us + HANG_US)


def glitch(car, opened_us: int, lasts_us: int) -> None:
    """The loop opens between two ticks, so many microseconds after the last one."""
    begun_us = car.world.now_us + opened_us
    car.world.hardware.glitch(begun_us, begun_us + lasts_us)


def operator_of(car):
    """Somebody else with a session: asks for a cap, and nothing more."""
    operator = host_of(car.world, epoch=4242)
    operator.say(messages.Identify, token=1)
    operator.say(messages.Bind, protocol_hash=bytes(protocol_hash(TABLE)))
    car.others.append(operator)
    for _ in range(10):
        car.beat()
    return operator


def cap(car, operator, cap_mm_s: int) -> int:
    """Ask for it; the refusals."""
    identity = car.host.latest["Identity"]
    config_hash = bytes(identity.config_hash)
    fields = {"action": codes.ACTION_CAP, "value": cap_mm_s, "nonce": 0}
    operator.say(messages.Act, config_hash=config_hash, **fields)
    car.beat()
    return car.host.latest["ActReply"].refusals


class StandSuite(SafetySuite):
    """The wheels are off the ground: besides, the time on the stand is limited."""

    def test_the_time_on_the_stand_ends_by_itself(self, car):
        assert car.profile == STAND
        stand_us = car.parameters["stand_ms"] * 1000
        assert until_stand_over(car) <= stand_us + STEP_US


def until_stand_over(car) -> int:
    """Drive on; how long after its arm it stopped, for that cause."""
    armed_us = next(t for t, code, *_ in reversed(car.host.events) if code == codes.EVENT_PROFILE)
    while car.state == ACTIVE:
        car.beat()
    assert car.host.status.first_cause == STAND_OVER
    return car.host.status.time_us - armed_us
