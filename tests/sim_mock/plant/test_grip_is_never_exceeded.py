"""Nothing but tyres moves a car on a floor: no acceleration beyond their grip, at any speed."""

import pytest

from tests.sim_mock.plant.segments import CARS, MOST, worst_of


@pytest.mark.parametrize("name", CARS)
def test_an_imu_feels_no_more_than_the_tyres_can_give(name):
    assert 0.5 < worst_of(name, 60) <= MOST


@pytest.mark.soak
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("name", CARS)
def test_an_imu_feels_no_more_than_the_tyres_can_give_in_ten_thousand_segments(name):
    assert 0.5 < worst_of(name, 10_000) <= MOST
