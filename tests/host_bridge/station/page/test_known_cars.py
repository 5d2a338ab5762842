"""The numbers that a station gives to cars, and what it keeps of those that are gone."""

from __future__ import annotations

import pytest

from host_bridge.station.views.known_cars import MOST_GONE, CarNumbers, GoneCars

ROW = {"name": "red", "board": "01", "age_ms": 1500, "speed_mps": 1.2}


def test_a_car_has_one_number_from_before_its_board_is_known():
    numbers = CarNumbers()
    assert numbers.of("red", "") == numbers.of("red", "") == numbers.of("red", "01") == 1
    assert numbers.of("blue", "02") == 2
    assert numbers.of("red", "01") == 1


def test_a_number_is_the_boards_whatever_it_is_called():
    numbers = CarNumbers()
    assert numbers.of("red", "01") == 1
    assert numbers.of("crimson", "01") == 1
    assert numbers.of("red", "03") == 2, "another board is another car"
    assert numbers.of("red", "") == 2, "and the one that is called so now"


def test_a_car_that_is_gone_is_kept_as_it_was_with_its_growing_age():
    gone = GoneCars()
    gone.add(ROW, 10_000_000, "14:32:07")
    (row,) = gone.rows(12_000_000)
    assert row == {
        **ROW, "is_gone": True, "gone_s": 3.5, "age_ms": 3500, "heard_at": "14:32:07",
    }  # fmt: skip
    gone.drop("red")
    assert gone.rows(12_000_000) == []


@pytest.mark.parametrize("age", [{}, {"age_ms": None}])
def test_one_that_was_never_heard_leaves_nothing(age):
    gone = GoneCars()
    gone.add({"name": "red", **age}, 10_000_000, "")
    assert gone.rows(10_000_000) == []


def test_the_newest_of_many_are_kept():
    gone = GoneCars()
    for n in range(MOST_GONE + 2):
        gone.add({**ROW, "name": f"car{n}"}, 10_000_000, "")
    gone.add({**ROW, "name": "car2"}, 11_000_000, "")
    names = [row["name"] for row in gone.rows(11_000_000)]
    assert names == [*(f"car{n}" for n in range(3, MOST_GONE + 2)), "car2"]
