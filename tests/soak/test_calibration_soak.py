"""Hundreds of made cars: intervals and bands hold as often as they say, and faults are seen."""

import os

import pytest

from tests.bench.calibration_cars import FAULTS
from tests.bench.calibration_study import studies, summary

HOURS_S = 12 * 3600
pytestmark = [pytest.mark.soak, pytest.mark.timeout(HOURS_S)]
JOBS = os.cpu_count() or 1


def test_intervals_of_five_hundred_sound_cars_hold():
    found = summary([*studies([(seed, "") for seed in range(500)], JOBS)])
    assert found["cars"] == 500
    assert 0.85 <= found["sound"]["intervals_90_hold"].share <= 0.95
    assert found["sound"]["unseen_runs_in_band"].share >= 0.9


def test_of_two_hundred_faulty_cars_lack_of_fit_is_flagged():
    wanted = [(seed, FAULTS[seed % len(FAULTS)]) for seed in range(200)]
    found = summary([*studies(wanted, JOBS)])
    assert found["faulty_cars"] == 200
    assert found["faulty"]["flagged"].share >= 0.95
    assert found["faulty"]["unseen_runs_in_band"].share >= 0.9
