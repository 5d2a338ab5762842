"""What pyproject.toml offers under a name is really there, once it is installed."""

from importlib.metadata import EntryPoint, distribution

import pytest

OFFERED = [
    point for point in distribution("tandem-cars").entry_points if point.group.startswith("tandem.")
]


@pytest.mark.parametrize("point", OFFERED, ids=[f"{p.group}:{p.name}" for p in OFFERED])
def test_what_is_offered_under_a_name_can_be_called(point: EntryPoint):
    assert callable(point.load())


def test_the_schemes_of_real_and_virtual_cars_are_offered():
    schemes = {point.name for point in OFFERED if point.group == "tandem.transports"}
    assert {"serial", "sim", "sim+process", "replay", "lossy"} <= schemes
