"""Silence, at every phase of step and arrival: never later than limit and step, never earlier.

Virtual time in quarters of a millisecond against steps of 5, 10 and 20 ms, on the whole program;
claims and heartbeats come as bytes. Limits are restated here from the vehicle file.
"""

import pytest

from firmware.protocol import codes, messages
from host_bridge.deploy.hil.host.small_host import SCRIPT, framed
from tests.safety.support.desk import activate, by_link, known, program, step
from tests.support.evidence import some

BEGIN_US = 80_000_000
GRAIN_US = 250
BOUND_US = 200  # what the session's clock may be wrong by: a lease ends so much earlier
ACTIVE, STOPPING = 2, 4
SILENCE_BIT, STOP_SOURCE_SILENT_BIT = 1 << 3, 1 << 11
OURS, BOX = 101, 4
STEPS_US = (5_000, 10_000, 20_000)


class Car:
    """A program in ACTIVE, with steps at multiples of ``step_us`` and claims every 10 ms."""

    def __init__(self, step_us: int, start_us: int = BEGIN_US, **changes) -> None:
        self.step_us = step_us
        self.app = program("f1tenth", step_us=step_us, **changes)
        by_link(self.app, BOX)
        self.now_us = start_us
        self.sequence = 0
        step(self.app, start_us)
        slot = known(self.app, OURS, start_us, BOUND_US)
        self.app.faults.bits = 0
        activate(self.app, SCRIPT, slot, start_us)
        self.app.arbiter.sources[SCRIPT].lease.set(start_us, 120_000 - BOUND_US)

    def keep_clock(self) -> None:
        """Its bound as it was: no drift in this test."""
        session = self.app.sessions.slots[0]
        session._sampled_us = session.heard_us = self.now_us & (1 << 30) - 1

    def advance(self, received: bytes = b"") -> None:
        self.now_us += self.step_us
        self.keep_clock()
        step(self.app, self.now_us, received)

    def claim(self, stamp_us: int, lease_ms: int) -> bytes:
        self.sequence += 1
        claim = messages.Claim()
        claim.epoch, claim.source, claim.sequence = OURS, SCRIPT, self.sequence
        claim.mask, claim.deadman, claim.lease_ms = 3, codes.HELD, lease_ms
        claim.input_count, claim.stamp_us = self.sequence, stamp_us & (1 << 30) - 1
        return framed(claim)

    def alive(self, stamp_us: int) -> bytes:
        self.sequence += 1
        alive = messages.Alive()
        alive.epoch, alive.stop_source, alive.sequence = OURS, BOX, self.sequence
        alive.runs, alive.stamp_us = 1, stamp_us & (1 << 30) - 1
        return framed(alive)

    def until_it_stops(self, others=lambda: b"") -> int:
        """The time of the step on which it left ACTIVE."""
        for _ in range(200):
            if self.app.supervisor.state != ACTIVE:
                return self.now_us
            self.advance(others())
        raise AssertionError("it never stopped")


def phases(step_us: int):
    return range(0, step_us, GRAIN_US)


def is_in_time(stopped_us: int, last_us: int, limit_us: int, step_us: int) -> bool:
    after_us = stopped_us - last_us
    return limit_us - BOUND_US <= after_us < limit_us + step_us


@pytest.mark.parametrize("lease_ms", [35, 60, 120])
@pytest.mark.parametrize("step_us", STEPS_US)
@pytest.mark.parametrize("start_us", [BEGIN_US, (1 << 30) - 60_000])
def test_a_source_is_silent_after_its_lease_at_every_phase(step_us, lease_ms, start_us):
    car = Car(step_us, start_us)
    slot = 0
    for phase_us in some(phases(step_us)):
        for delay_steps in range(0, (lease_ms * 1000 - phase_us - BOUND_US) // step_us, 2):
            activate(car.app, SCRIPT, slot, car.now_us & (1 << 30) - 1)
            car.app.arbiter.sources[SCRIPT].lease.set(car.now_us & (1 << 30) - 1, 900_000)
            car.app.runstop.bits = 0
            stamp_us = car.now_us + step_us - phase_us  # in the middle of a step of the board
            for _ in range(delay_steps):
                car.advance()
            car.advance(car.claim(stamp_us, lease_ms))
            stopped_us = car.until_it_stops()
            assert is_in_time(stopped_us, stamp_us, lease_ms * 1000, step_us)
            assert car.app.runstop.bits == SILENCE_BIT
            assert car.app.supervisor.state == STOPPING


@pytest.mark.parametrize("step_us", STEPS_US)
def test_claims_that_come_just_in_time_at_every_phase_never_stop_the_car(step_us):
    """Every interval from a step to the lease: the next claim is there before the lease is over."""
    for phase_us in some(phases(step_us)):
        car = Car(step_us)
        stamp_us = car.now_us
        for _ in range(5):
            due_us = stamp_us + 120_000 - BOUND_US - step_us - phase_us
            while car.now_us + car.step_us < due_us:
                car.advance()
            stamp_us = due_us
            car.advance(car.claim(stamp_us, 120))
            assert car.app.supervisor.state == ACTIVE


@pytest.mark.parametrize("step_us", STEPS_US)
@pytest.mark.parametrize("start_us", [BEGIN_US, (1 << 30) - 100_000])
def test_a_required_stop_source_is_silent_after_its_limit_at_every_phase(step_us, start_us):
    limit_us = 250_000  # hardware/vehicles/f1tenth.toml: runstop_box, race
    car = Car(step_us, start_us)
    car.app.stop_sources.profile = 2
    for phase_us in some(phases(step_us)):
        now_us = car.now_us & (1 << 30) - 1
        activate(car.app, SCRIPT, 0, now_us)
        car.app.arbiter.sources[SCRIPT].lease.set(now_us, 1)
        car.app.runstop.bits = 0
        said_us = car.now_us + step_us - phase_us
        car.advance(car.alive(said_us) + car.claim(said_us, 120))
        stopped_us = car.until_it_stops(lambda: car.claim(car.now_us, 120))
        assert is_in_time(stopped_us, said_us, limit_us, step_us)
        assert car.app.runstop.bits == STOP_SOURCE_SILENT_BIT


def set_frames(car, frames: int) -> None:
    """The receiver on the board: this many frames so far, sticks at rest, live-man held."""
    board = car.app.board
    board.has_receiver, board.rc_frames = 1, frames
    board.rc_steering_us = board.rc_throttle_us = board.rc_mode_us = 1500
    board.rc_live_man_us = 2000


@pytest.mark.parametrize("step_us", STEPS_US)
def test_the_receiver_is_silent_after_its_lease_at_every_phase_of_its_frames(step_us):
    """A frame counts from the step that sees it: frames of 20 ms against the steps."""
    lease_us = 60_000  # hardware/vehicles/f1tenth.toml: rc
    for phase_us in range(0, 20_000, GRAIN_US * 4):
        car = Car(step_us)
        set_frames(car, 1)
        car.advance()
        activate(car.app, codes.SOURCE_RC, 4, car.now_us)
        car.app.arbiter.sources[codes.SOURCE_RC].lease.set(car.now_us, 200_000)
        car.app.arbiter.sources[SCRIPT].is_fresh = False
        begin_us, frames = car.now_us + phase_us, 1
        while frames < 6:
            if car.now_us + step_us >= begin_us + frames * 20_000:
                frames += 1
                set_frames(car, frames)
                seen_us = car.now_us + step_us
            car.advance()
            assert car.app.supervisor.state == ACTIVE
        stopped_us = car.until_it_stops()
        assert lease_us <= stopped_us - seen_us < lease_us + step_us
        assert car.app.runstop.bits & SILENCE_BIT


def test_the_thresholds_are_seen_to_be_missed_by_a_step(monkeypatch):
    """The judgement above can fail: a lease that is judged one step late."""
    car = Car(10_000)
    real = car.app.arbiter.step
    monkeypatch.setattr(car.app.arbiter, "step", lambda now_us: real(now_us - 10_000))
    stamp_us = car.now_us + 7_000
    car.advance(car.claim(stamp_us, 120))
    assert not is_in_time(car.until_it_stops(), stamp_us, 120_000, 10_000)
