"""Drives of hidden cars, each driven once for all tests."""

import pytest

from tests.calibration.hidden import HiddenCar, drive


@pytest.fixture(scope="session")
def driven(tmp_path_factory):
    """A function from a hidden car to its log and to what a camera saw of it."""
    known = {}

    def once(hidden: HiddenCar):
        if hidden not in known:
            known[hidden] = drive(hidden, tmp_path_factory.mktemp(hidden.vehicle))
        return known[hidden]

    return once
