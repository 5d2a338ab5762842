"""Whether a car is the one that it was: the table of what is compared, and its sentences."""

from __future__ import annotations

from dataclasses import replace

import pytest

from host_bridge.core import KnownCar, Verdict, another_car, verdict, what_to_do

RED = KnownCar(b"\x01" * 8, "red", "f1tenth", b"abcd")


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({}, Verdict.SAME),
        ({"name": "blue"}, Verdict.SAME),
        ({"config_hash": b"efgh"}, Verdict.RECONFIGURED),
        ({"vehicle": "nigel"}, Verdict.REFITTED),
        ({"vehicle": "nigel", "config_hash": b"efgh"}, Verdict.REFITTED),
        ({"board_id": b"\x02" * 8}, Verdict.ANOTHER),
        ({"board_id": b"\x02" * 8, "vehicle": "nigel", "config_hash": b"efgh"}, Verdict.ANOTHER),
        ({"vehicle": "", "config_hash": b""}, Verdict.SAME),
        ({"vehicle": "", "config_hash": b"efgh"}, Verdict.RECONFIGURED),
    ],
)
def test_the_board_counts_first_then_the_vehicle_then_the_configuration(changes, found):
    assert verdict(RED, replace(RED, **changes)) is found
    assert verdict(replace(RED, **changes), RED) is found


def test_both_are_named_and_the_remedy_is_a_persons_word():
    blue = KnownCar(b"\x02" * 8, "blue")
    assert another_car(RED, blue) == (
        "another car is there: red (f1tenth, board 0101010101010101) is meant, and this is "
        "blue (board 0202020202020202)"
    )
    assert what_to_do(RED, blue) == (
        "plug red in again; if blue is meant, end the program that serves red and begin it anew"
    )
    assert "write" not in another_car(RED, blue) + what_to_do(RED, blue)


def test_who_has_no_name_and_is_not_known_is_named_as_that():
    assert str(KnownCar(b"")) == "a car without a name"
    assert "the other one is meant" in what_to_do(KnownCar(b""), KnownCar(b"\x02" * 8))
