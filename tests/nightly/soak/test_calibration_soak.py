"""Hundreds of made cars: intervals and bands hold as often as they say, and faults are seen.

$TANDEM_STUDY_CARS names a file of cars that `make studies` fitted: with the same sources they are
not fitted twice.
"""

import os
from pathlib import Path

import pytest

from tests.studies.calibration_cars import FAULTS
from tests.studies.calibration_study import Case, Kept, studies, summary

HOURS_S = 12 * 3600
pytestmark = [pytest.mark.soak, pytest.mark.timeout(HOURS_S)]
JOBS = os.cpu_count() or 1
CARS = Path(os.environ.get("TANDEM_STUDY_CARS") or os.devnull)


def fitted(wanted) -> list[Case]:
    kept = Kept(CARS).cases
    known = [kept[key] for key in wanted if key in kept]
    return [*known, *studies([key for key in wanted if key not in kept], JOBS)]


def test_intervals_of_five_hundred_sound_cars_hold():
    found = summary(fitted([(seed, "") for seed in range(500)]))
    assert found["cars"] == 500
    assert 0.87 <= found["sound"]["intervals_90_hold"].share <= 0.93
    assert 0.85 <= found["sound"]["unseen_runs_in_band"].share <= 0.95


def test_of_two_hundred_faulty_cars_lack_of_fit_is_flagged():
    wanted = [(seed, FAULTS[seed % len(FAULTS)]) for seed in range(200)]
    found = summary(fitted(wanted))
    assert found["faulty_cars"] == 200
    assert found["faulty"]["flagged"].share >= 0.95
    assert found["faulty"]["unseen_runs_in_band"].share >= 0.85
