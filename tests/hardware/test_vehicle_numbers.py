"""No number of a vehicle changes with a file that it is based on, unless it is kept so."""

from tests.hardware.vehicle_numbers import kept, rows


def test_the_numbers_of_all_vehicles_are_those_that_were_kept():
    now, before = set(map(tuple, rows())), set(map(tuple, kept()))
    changed, gone = sorted(now - before), sorted(before - now)
    assert (changed, gone) == ([], []), "if meant: python -m tests.hardware.vehicle_numbers --write"
    assert len(before) > 500
