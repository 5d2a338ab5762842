"""A slow board gives a car a longer beat than its vehicle file does."""

from dataclasses import replace

import pytest

from host_bridge.config import load_vehicle
from host_bridge.config.boards import check, load_board, on_board, on_known_boards


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
