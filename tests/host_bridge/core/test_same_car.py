"""Whether a car is the one that it was: the table of what is compared, and its sentences."""

from __future__ import annotations

from dataclasses import replace

import pytest

from host_bridge.core import CarMatch, KnownCar, another_car_remedy, another_car_text, compare_cars

RED = KnownCar(b"\x01" * 8, "red", "f1tenth", b"abcd")


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({}, CarMatch.SAME),
        ({"name": "blue"}, CarMatch.SAME),
        ({"config_hash": b"efgh"}, CarMatch.RECONFIGURED),
        ({"vehicle": "nigel"}, CarMatch.REFITTED),
        ({"vehicle": "nigel", "config_hash": b"efgh"}, CarMatch.REFITTED),
        ({"board_id": b"\x02" * 8}, CarMatch.ANOTHER),
        ({"board_id": b"\x02" * 8, "vehicle": "nigel", "config_hash": b"efgh"}, CarMatch.ANOTHER),
        ({"vehicle": "", "config_hash": b""}, CarMatch.SAME),
        ({"vehicle": "", "config_hash": b"efgh"}, CarMatch.RECONFIGURED),
    ],
)
def test_the_board_counts_first_then_the_vehicle_then_the_configuration(changes, found):
    assert compare_cars(RED, replace(RED, **changes)) is found
    assert compare_cars(replace(RED, **changes), RED) is found


def test_both_are_named_and_the_remedy_is_a_persons_word():
    blue = KnownCar(b"\x02" * 8, "blue")
    assert another_car_text(RED, blue) == (
        "another car is there: red (f1tenth, board 0101010101010101) is meant, and this is "
        "blue (board 0202020202020202)"
    )
    assert another_car_remedy(RED, blue) == (
        "plug red in again; if blue is meant, end the program that serves red and begin it anew"
    )
    assert "write" not in another_car_text(RED, blue) + another_car_remedy(RED, blue)


def test_who_has_no_name_and_is_not_known_is_named_as_that():
    assert str(KnownCar(b"")) == "a car without a name"
    assert "the other one is meant" in another_car_remedy(KnownCar(b""), KnownCar(b"\x02" * 8))
