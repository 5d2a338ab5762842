"""The last stops that a station keeps by car: of which car, for how long, and their logs."""

from __future__ import annotations

import asyncio

import pytest

from host_bridge.core.errors import DataFileFault
from host_bridge.core.system.clock import ManualClock
from host_bridge.logs.reading import cars_in, facts
from host_bridge.sharing.owner.black_box import KeptStop
from host_bridge.sharing.owner.board_verification import DOWN, RelayedFrames
from host_bridge.sharing.owner.kept_stops import CARS_MAX, KeptStops, save_stop
from host_bridge.station.backend.watched_car import stop_rows

BOARD, OTHER = "0102", "0304"


def stop_at(at_us: int) -> KeptStop:
    frames = (RelayedFrames(DOWN, b"\0frame\0", at_us - 1_500_000),)
    return KeptStop(at_us, f"stop {at_us}", frames, lambda log: log.car("red", {"board_id": BOARD}))


def rows_of(kept: KeptStops, name: str) -> list[dict[str, object]]:
    return stop_rows(kept.all()[name], lambda at_us: f"at {at_us}")


def test_the_newest_stop_comes_first_with_its_moment_and_how_much_there_is_before_it():
    kept = KeptStops()
    kept.of("red", BOARD).extend([stop_at(2_000_000), stop_at(5_000_000)])
    assert [it["at_us"] for it in rows_of(kept, "red")] == [5_000_000, 2_000_000]
    assert rows_of(kept, "red")[0] == {
        "at_us": 5_000_000, "when": "at 5000000", "words": "stop 5000000", "before_s": 1.5,
        "file": "",
    }  # fmt: skip


def test_a_car_that_comes_back_finds_its_stops_and_another_board_has_none():
    kept = KeptStops()
    kept.of("red", BOARD).append(stop_at(2_000_000))
    assert len(kept.of("red", BOARD)) == 1
    assert kept.at("red", 2_000_000)
    assert len(kept.of("red", OTHER)) == 0
    assert rows_of(kept, "red") == []
    assert len(kept.of("red", BOARD)) == 0, "they went with the name"


def test_a_stop_is_found_by_its_car_and_its_moment_alone():
    kept = KeptStops()
    stop = stop_at(2_000_000)
    kept.of("red", BOARD).append(stop)
    kept.of("blue", OTHER)
    assert kept.at("red", 2_000_000) is stop
    for name, at_us in (("red", 2_000_001), ("blue", 2_000_000), ("green", 2_000_000), ("red", "")):
        assert kept.at(name, at_us) is None


def test_the_car_that_came_first_goes_when_there_are_too_many():
    kept = KeptStops()
    for n in range(CARS_MAX):
        kept.of(f"car-{n}", BOARD).append(stop_at(n + 1))
    kept.of("car-0", BOARD)  # it came again
    kept.of("one more", BOARD)
    assert kept.at("car-0", 1)
    assert kept.at("car-1", 2) is None
    assert len(kept.all()) == CARS_MAX


def test_a_saved_stop_names_its_file_and_one_that_was_not_written_does_not(tmp_path):
    stop, path = stop_at(2_000_000), tmp_path / "stop.mcap"
    asyncio.run(save_stop(stop, "red", path, ManualClock(9_000_000)))
    assert cars_in(facts(path))["red"]["board_id"] == BOARD
    assert stop.file == path
    other = stop_at(3_000_000)
    with pytest.raises(DataFileFault):
        asyncio.run(save_stop(other, "red", tmp_path / "none" / "it.mcap", ManualClock(9_000_000)))
    assert other.file is None
