"""The control task: one claim a tick, none twice, none after a stall."""

from __future__ import annotations

import asyncio
import itertools
import math
from dataclasses import replace

import pytest

from firmware.protocol import messages
from host_bridge.cars.fleet import Fleet
from host_bridge.core import Claim, DriveCommand, State
from host_bridge.core.system.clock import ManualClock
from host_bridge.drive import control_task as module
from host_bridge.drive.control_task import TICK_US, ControlTask, next_tick_us, run
from host_bridge.inputs.manoeuvres import Constant
from host_bridge.link.protocol import wire
from tests.host_bridge.drive.drives import EPOCH, Drive, Hand, Rig, vehicle
from tests.host_bridge.inputs.made_inputs import DRIVING, STANDING, playing
from tests.support.evidence import every


def test_a_session_drives_a_car_and_a_released_deadman_holds_it():
    drive = Drive(Rig("a"))
    drive.arm()
    drive.go(1.0)
    drive.advance(1.0)
    assert drive.is_in(State.ACTIVE)
    drive.let_go()
    drive.until(lambda: drive.is_in(State.HOLD), 0.05)


def test_each_tick_makes_one_claim_of_that_moment():
    hand = Hand()
    control_task = ControlTask(Fleet([], EPOCH), vehicle().source("seat"), hand.read)
    claims = [control_task.tick(now_us) for now_us in (1000, 12_000, 20_500)]
    assert [claim.stamp_us for claim in claims] == [1000, 12_000, 20_500]
    assert [claim.sequence for claim in claims] == [1, 2, 3]
    assert {claim.lease_s for claim in claims} == {vehicle().source("seat").lease_s}
    assert {claim.mask for claim in claims} == {vehicle().source("seat").mask}


class Heard(Fleet):
    """A fleet without a car, and what was offered to it."""

    def __init__(self) -> None:
        super().__init__([], EPOCH)
        self.claims: list[Claim] = []

    def offer(self, claim):
        self.claims.append(claim)
        super().offer(claim)


@pytest.fixture
def guarded():
    """A program drives for as long as a person at the seat holds the deadman."""
    script, seat = vehicle().source("script"), vehicle().source("seat")
    program = Program()
    control_task = ControlTask(Heard(), script, lambda now_us: program.command, guardian=seat)
    control_task.program = program
    return control_task


class Program:
    """What it decides is set by the test."""

    command = DriveCommand(0.1, 1.5, 0.0, is_held=True, input_count=7)


def test_a_program_s_decision_is_as_old_as_it_is_and_the_deadman_is_of_now(guarded):
    guarded.program.command = replace(Program.command, heard_us=40_000)
    claim = guarded.tick(100_000)
    hand, own = guarded.fleet.claims
    assert (hand.source_id, hand.mask, hand.stamp_us) == (guarded.guardian.id, 0, 100_000)
    assert (hand.steer_rad, hand.speed_mps, hand.input_count) == (0.0, 0.0, 7)
    assert (hand.is_held, hand.permits_autonomy) == (True, True)
    assert (own.source_id, own.mask) == (guarded.source.id, guarded.source.mask)
    assert (own.stamp_us, own.steer_rad, own.speed_mps) == (40_000, 0.1, 1.5)
    assert (own.is_held, own.permits_autonomy) == (False, False)
    assert own.sequence == hand.sequence + 1
    assert claim is own is guarded.latest


@pytest.mark.parametrize("is_held", [True, False])
def test_the_person_s_deadman_permits_what_a_program_decides(guarded, is_held):
    guarded.program.command = replace(Program.command, is_held=is_held)
    hand = guarded.tick(100_000)
    assert (hand.is_held, hand.permits_autonomy) == (is_held, is_held)


def test_a_decision_that_is_too_old_leaves_the_deadman_to_be_said_alone(guarded):
    guarded.program.command = replace(Program.command, heard_us=0)
    assert guarded.tick(round(guarded.source.lease_s * 1e6)) is None
    assert [claim.source_id for claim in guarded.fleet.claims] == [guarded.guardian.id]


def test_a_program_that_has_not_decided_yet_leaves_the_deadman_to_be_said_alone(guarded):
    claim = guarded.tick(100_000)
    assert guarded.fleet.claims == [claim]
    assert (claim.source_id, claim.mask, guarded.latest) == (guarded.guardian.id, 0, claim)


def test_a_person_who_takes_over_drives_under_their_own_source_and_the_program_claims_nothing(
    guarded,
):
    guarded.program.command = replace(Program.command, heard_us=90_000, is_by_hand=True)
    claim = guarded.tick(100_000)
    assert guarded.fleet.claims == [claim]
    assert (claim.source_id, claim.mask) == (guarded.guardian.id, guarded.guardian.mask)
    assert (claim.steer_rad, claim.speed_mps, claim.stamp_us) == (0.1, 1.5, 100_000)
    assert (claim.is_held, claim.input_count) == (True, 7)


@pytest.mark.parametrize(
    ("is_attended", "permits", "claims_all"),
    [(True, True, False), (True, False, True), (False, True, True), (False, False, True)],
)
def test_a_person_who_lets_a_program_drive_claims_nothing_themselves(
    is_attended, permits, claims_all
):
    source = replace(vehicle().source("seat"), is_attended=is_attended)
    command = DriveCommand(0.1, 1.5, is_held=True, permits_autonomy=permits)
    claim = ControlTask(Heard(), source, lambda now_us: command).tick(100_000)
    assert claim.mask == (source.mask if claims_all else 0)


@pytest.mark.parametrize(
    ("heard_us", "is_by_hand", "is_claimed"),
    [(90_000, False, True), (None, False, False), (90_000, True, False), (-900_000, False, False)],
)
def test_between_ticks_a_programs_decision_is_claimed_and_the_deadman_waits_for_the_tick(
    guarded, heard_us, is_by_hand, is_claimed
):
    command = replace(Program.command, heard_us=heard_us, is_by_hand=is_by_hand)
    claim = guarded.claim_between_ticks(command, 100_000)
    assert (claim is not None) == is_claimed
    claims = [(it.source_id, it.mask, it.stamp_us, it.is_held) for it in guarded.fleet.claims]
    own = (guarded.source.id, guarded.source.mask, 90_000, False)
    assert claims == ([own] if is_claimed else [])


def test_between_ticks_a_source_without_guardian_claims_its_command():
    source = vehicle().source("seat")
    control_task = ControlTask(Heard(), source, Hand().read)
    claim = control_task.claim_between_ticks(DriveCommand(0.1, 1.5, is_held=True), 100_000)
    assert (claim.mask, claim.stamp_us, claim.is_held) == (source.mask, 100_000, True)
    assert (control_task.fleet.claims, control_task.ticks) == ([claim], 0)
    old = DriveCommand(0.1, 1.5, is_held=True, heard_us=0)
    assert control_task.claim_between_ticks(old, round(source.lease_s * 1e6)) is None


def test_it_counts_its_ticks_and_knows_the_newest_claim():
    control_task = ControlTask(Heard(), vehicle().source("seat"), Hand().read)
    assert (control_task.ticks, control_task.late, control_task.latest) == (0, 0, None)
    for count in (1, 2):
        assert control_task.latest is (control_task.fleet.claims[-1] if count > 1 else None)
        control_task.tick(1000 * count)
        assert control_task.ticks == count


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_what_is_not_a_number_ends_the_session(value):
    hand = Hand()
    hand.command = DriveCommand(speed_mps=value, is_held=True)
    with pytest.raises(ValueError, match="not finite"):
        ControlTask(Fleet([], EPOCH), vehicle().source("seat"), hand.read).tick(0)


def test_the_next_tick_stays_on_the_grid_and_leaves_out_what_is_late():
    assert next_tick_us(0, 300) == (TICK_US, 0)
    assert next_tick_us(0, 9_999) == (TICK_US, 0)
    assert next_tick_us(0, 10_001) == (20_000, 1)
    assert next_tick_us(10_000, 9_000) == (20_000, 0)  # early
    assert next_tick_us(0, 5_000_000) == (5_010_000, 500)


def ticks_of(monkeypatch, sleeps_us):
    """Run the session on a clock that each sleep moves; returns when it ticked, and the session."""
    clock = ManualClock(1_000_000)
    ticked: list[int] = []

    class Watch(Hand):
        def read(self, now_us):
            ticked.append(now_us)
            return super().read(now_us)

    async def sleep(seconds):
        if not sleeps_us:
            raise asyncio.CancelledError
        clock.advance(max(round(seconds * 1e6), 0) + sleeps_us.pop(0))

    monkeypatch.setattr(module.asyncio, "sleep", sleep)
    control_task = ControlTask(Fleet([], EPOCH), vehicle().source("seat"), Watch().read)
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(run(control_task, clock))
    return ticked, control_task


def test_late_wake_ups_do_not_add_up(monkeypatch):
    ticked, control_task = ticks_of(monkeypatch, [700] * 200)
    assert every((t - 1_000_000) % TICK_US <= 700 for t in ticked)
    assert ticked[-1] - ticked[0] == 200 * TICK_US + 700
    assert control_task.late == 0


def test_after_a_stall_there_is_no_burst(monkeypatch):
    ticked, control_task = ticks_of(monkeypatch, [0, 0, 95_000, 0, 0])
    gaps = [b - a for a, b in itertools.pairwise(ticked)]
    assert gaps == [10_000, 10_000, 105_000, 5_000, 10_000]
    assert control_task.late == 9


def test_a_stalled_host_sends_nothing_old():
    drive = Drive(Rig("a"))
    drive.arm()
    drive.go(1.0)
    drive.advance(0.5)
    sent: list[messages.Claim] = []

    def watch(data: bytes) -> bytes:
        found = wire.MessageDecoder().feed(data)
        sent.extend(m for m in found if isinstance(m, messages.Claim))
        return data

    drive.rigs[0].down = watch
    drive.is_host_alive = False
    drive.advance(0.5)
    assert sent == []
    assert drive.is_in(State.STOPPED) or drive.is_in(State.STOPPING)
    drive.is_host_alive = True
    drive.advance(0.05)
    ages = {(drive.now_us - claim.stamp_us) & ((1 << 30) - 1) for claim in sent}
    assert sent
    assert max(ages) <= 60_000


def test_a_played_manoeuvre_drives_the_car_and_its_end_holds_it():
    drive = Drive(Rig("a"))
    player = playing(Constant(1.0, 2.0))
    drive.control_task._read_command = lambda now_us: player.step(now_us, seen[0])
    seen = [STANDING]
    drive.arm()
    seen[0] = DRIVING
    drive.until(lambda: drive.is_in(State.ACTIVE), 0.2)
    drive.until(player.is_over, 2.5)
    drive.until(lambda: drive.is_in(State.HOLD), 0.1)
    drive.advance(1.0)
    assert drive.rigs[0].car.motion.distance_m == pytest.approx(1.85, abs=0.3)


def test_a_wish_that_was_heard_longer_ago_than_its_lease_is_not_sent():
    hand = Hand()
    source = vehicle().source("seat")
    control_task = ControlTask(Fleet([], EPOCH), source, hand.read)
    lease_us = round(source.lease_s * 1e6)
    hand.command = DriveCommand(speed_mps=1.0, is_held=True, heard_us=1_000_000)
    assert control_task.tick(1_000_000 + lease_us - 1).stamp_us == 1_000_000
    assert control_task.tick(1_000_000 + lease_us) is None
    hand.command = DriveCommand(speed_mps=1.0, is_held=True)
    assert control_task.tick(9_000_000).stamp_us == 9_000_000


def test_an_input_that_falls_silent_stops_the_car_by_itself():
    drive = Drive(Rig("a"))
    drive.arm()
    drive.go(1.0)
    drive.advance(0.5)
    heard_us = drive.now_us
    before = drive.hand.command
    drive.hand.command = replace(before, heard_us=heard_us)
    drive.until(lambda: drive.is_in(State.STOPPING) or drive.is_in(State.STOPPED), 1.0)
    causes = drive.rigs[0].car.status.causes
    assert [cause.name for cause in causes] == ["SILENCE"]
