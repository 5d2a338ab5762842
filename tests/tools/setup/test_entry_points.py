"""What pyproject.toml offers under a name is really there, once it is installed."""

from importlib.metadata import EntryPoint, distribution

import pytest

from host_bridge.ros2.vocabularies.registry import GROUP

OFFERED = [
    point for point in distribution("tandem-cars").entry_points if point.group.startswith("tandem.")
]
CALLED = [point for point in OFFERED if point.group != GROUP]
VOCABULARIES = [point for point in OFFERED if point.group == GROUP]


@pytest.mark.parametrize("point", CALLED, ids=[f"{p.group}:{p.name}" for p in CALLED])
def test_what_is_offered_under_a_name_can_be_called(point: EntryPoint):
    assert callable(point.load())


@pytest.mark.parametrize("point", VOCABULARIES, ids=[p.name for p in VOCABULARIES])
def test_a_vocabulary_is_offered_under_its_own_name(point: EntryPoint):
    assert point.load().name == point.name


def test_the_schemes_of_real_and_virtual_cars_are_offered():
    schemes = {point.name for point in OFFERED if point.group == "tandem.transports"}
    assert {"serial", "sim", "sim+process", "replay", "lossy"} <= schemes
