"""A slow board gives a car a longer beat than its vehicle file does."""

from dataclasses import replace

import pytest

from host_bridge.config import load_vehicle
from host_bridge.config.boards import (
    check,
    load_board,
    minor_of,
    on_board,
    on_known_boards,
    step_time,
)
from host_bridge.config.boards.measured import MeasuredSteps
from host_bridge.config.store.pairings import Pairing
from host_bridge.deploy.flash.board.control_period import with_control_period
from tests.support.evidence import holds_for

TIMED = MeasuredSteps(
    chip="rp2040", wiring="f1tenth", is_configured=True, is_paired=False, micropython="1.29.0",
    link="usb", model="", mhz=200, beat_us=10_000, state="driving", heard=1, steps=6000,
    mean_us=8000, median_us=8000, p99_us=9000, longest_us=9100, missed=0,
    program="0123456789abcdef", date="2026-11-26", how="a bench of this test",
)  # fmt: skip
WITH_KEY = replace(TIMED, is_paired=True, p99_us=9001)


@pytest.fixture
def timed(monkeypatch):
    """Put these rows into the place of the table."""
    monkeypatch.setattr(step_time, "read_measured", lambda: [TIMED, WITH_KEY])


@pytest.mark.parametrize("name", ["f1tenth", "autorally"])
def test_a_car_on_a_pico_has_twenty_milliseconds_and_on_a_pico_2_its_files(name):
    vehicle = load_vehicle(name)
    longer = on_board(vehicle, load_board("pico"))
    assert (longer.step_s, longer.parameters["step_us"]) == (0.02, [20_000])
    assert longer == load_vehicle(name, {"timing.step_s": 0.02})
    assert on_board(vehicle, load_board("pico2")) is vehicle


def test_a_file_with_a_longer_beat_than_the_boards_keeps_it():
    vehicle = load_vehicle("f1tenth", {"timing.step_s": 0.02})
    assert on_board(vehicle, replace(load_board("pico"), step_s=0.015)) is vehicle


def test_what_a_host_tries_when_it_meets_a_car_is_each_longer_beat_once():
    assert [it.step_s for it in on_known_boards(load_vehicle("f1tenth"))] == [0.02]
    assert not list(on_known_boards(load_vehicle("f1tenth", {"timing.step_s": 0.02})))


def test_the_check_of_a_wiring_is_by_the_beat_that_the_car_has_there():
    said = str(check("pico", "f1tenth"))
    assert "20 ms" in said


def test_a_car_keeps_its_own_beat_where_it_was_timed_and_held_it(timed):
    def check_case(why, name, release, is_paired, step_s):
        there = on_board(load_vehicle(name), load_board("pico"), release, is_paired=is_paired)
        assert there.step_s == step_s

    assert holds_for(
        [
            ("timed, and holds", "f1tenth", "1.29.0", False, 0.01),
            ("the same release, mended", "f1tenth", "1.29.4", False, 0.01),
            ("with a key it takes a microsecond too long", "f1tenth", "1.29.0", True, 0.02),
            ("a release that was not timed", "f1tenth", "1.28.0", False, 0.02),
            ("a later one neither", "f1tenth", "1.30.0", False, 0.02),
            ("nobody knows which", "f1tenth", "", False, 0.02),
            ("another car", "autorally", "1.29.0", False, 0.02),
        ],
        check_case,
    )


def test_the_slowest_model_of_a_chip_decides(monkeypatch):
    slow = replace(TIMED, model="auto", p99_us=9_500)
    monkeypatch.setattr(step_time, "read_measured", lambda: [TIMED, slow])
    assert on_board(load_vehicle("f1tenth"), load_board("pico"), "1.29.0").step_s == 0.02


def test_a_new_release_gives_a_known_car_the_beat_that_goes_with_it(timed):
    """There and back; what else the car was trimmed by stays."""
    file, board = load_vehicle("f1tenth"), load_board("pico")
    known = Pairing("00", "red", "f1tenth", "00", trim={"nm_per_count": [7]})
    slow = with_control_period(known, file, board, "1.28.0", is_paired=False)
    assert slow.of(file).step_s == 0.02
    quick = with_control_period(slow, file, board, "1.29.0", is_paired=False)
    assert quick.of(file).step_s == 0.01
    assert quick.trim == known.trim
    assert with_control_period(quick, file, board, "1.29.0", is_paired=True).of(file).step_s == 0.02


def test_the_release_that_decides_is_named_by_two_numbers():
    assert minor_of("1.29.0-preview") == minor_of("1.29.7") != minor_of("1.28.0")
    assert minor_of("") == ()


def test_the_check_says_under_which_release_a_shorter_beat_holds(monkeypatch):
    slow = replace(TIMED, micropython="1.28.0", beat_us=20_000, heard=2, p99_us=12_000)
    monkeypatch.setattr(step_time, "read_measured", lambda: [slow, TIMED, WITH_KEY])
    said = str(check("pico", "f1tenth"))
    assert "MicroPython 1.29.0 holds 10 ms, without a box's key" in said
    assert "1.28.0 holds" not in said
