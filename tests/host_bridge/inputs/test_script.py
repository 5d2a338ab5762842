"""Manoeuvres, and the deadman that they are played with."""

from __future__ import annotations

import math

import pytest

from host_bridge.core import NEUTRAL_US, OperatorRequest
from host_bridge.inputs.manoeuvres import Constant, ManoeuvreSequence, Slalom
from tests.host_bridge.inputs.made_inputs import DRIVING, RELEASED, STANDING, playing
from tests.support.evidence import every


def played(player, from_us, until_us, observed=DRIVING):
    return [(t, player.step(t, observed)) for t in range(from_us, until_us, 10_000)]


def test_before_the_start_everything_is_let_go():
    commands = played(playing(Constant(1.0, 1.0)), 0, 500_000, STANDING)
    assert every(not command.is_held and command.speed_mps == 0 for _, command in commands)


def test_it_begins_from_neutral_drives_its_time_and_lets_go():
    player = playing(Constant(1.0, 1.0, steer_rad=0.1))
    player.step(990_000, STANDING)
    commands = played(player, 1_000_000, 2_500_000)
    neutral = [t for t, command in commands if command.is_held and command.speed_mps == 0]
    driven = [t for t, command in commands if command.speed_mps]
    assert len(neutral) == NEUTRAL_US // 10_000
    assert len(driven) == 100
    assert max(neutral) < min(driven)
    assert player.is_over()
    assert not commands[-1][1].is_held
    assert [*player.requests(), *player.requests()] == [OperatorRequest.END]


def test_its_own_reads_are_the_counter():
    player = playing(Constant(1.0, 1.0))
    counts = [command.input_count for _, command in played(player, 0, 200_000)]
    assert counts == list(range(1, 21))


def test_a_released_deadman_halts_the_file_and_held_again_it_goes_on_from_neutral():
    player = playing(Slalom(1.0, 10.0, 0.3, 2.0))
    played(player, 0, 1_000_000)
    position_s = player.position_s
    assert position_s > 0.8
    released = played(player, 1_000_000, 3_000_000, RELEASED)
    assert every(not command.is_held and command.speed_mps == 0 for _, command in released)
    assert player.position_s == position_s
    again = played(player, 3_000_000, 3_200_000)
    assert [command.speed_mps for _, command in again] == [0.0] * 10 + [1.0] * 10
    steer_rad = again[0][1].steer_rad
    assert steer_rad == pytest.approx(player.manoeuvre.at(position_s)[0])


def test_a_stalled_host_skips_no_part_of_the_manoeuvre():
    player = playing(Constant(1.0, 1.0))
    played(player, 0, 300_000)
    before_s = player.position_s
    player.step(5_000_000, DRIVING)
    assert player.position_s - before_s == pytest.approx(0.05)


def test_a_slalom_begins_to_the_left_and_repeats():
    slalom = Slalom(3.0, 8.0, 0.2, 4.0)
    assert slalom.at(0.0) == (0.0, 3.0)
    assert slalom.at(1.0)[0] == pytest.approx(0.2)
    assert slalom.at(3.0)[0] == pytest.approx(-0.2)
    assert slalom.at(6.0)[0] == pytest.approx(slalom.at(2.0)[0], abs=1e-12)


def test_parts_come_in_turn():
    both = ManoeuvreSequence((Constant(1.0, 2.0), Constant(2.0, 3.0, 0.1)))
    assert both.duration_s == 5.0
    assert both.at(1.99) == (0.0, 1.0)
    assert both.at(2.0) == (0.1, 2.0)
    assert both.at(5.0) == (0.1, 2.0)
    assert math.isfinite(both.duration_s)
