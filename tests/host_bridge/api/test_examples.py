"""The examples that a student begins with: each does what its first line says, and is short."""

from __future__ import annotations

from pathlib import Path

import pytest
import tandem
from tandem.examples import figure_eight, pid_lap, two_cars, wall_follower

from tests.support.evidence import some

FOLDER = Path(tandem.__file__).parent / "examples"
EXAMPLES = [path for path in FOLDER.glob("*.py") if path.stem != "__init__"]


def test_a_figure_eight_is_two_circles_that_meet_at_its_start():
    path = figure_eight.main()
    assert len(path) == 3000
    left, right = path[:1500], path[1500:]
    assert max(y for _, y in left) == pytest.approx(1.9, abs=0.1)
    assert min(y for _, y in right) == pytest.approx(-1.9, abs=0.1)
    assert path[-1] == pytest.approx((0.0, 0.0), abs=0.3)


def test_a_wall_follower_goes_round_bends_and_hits_nothing():
    distance_m, hits = wall_follower.main(15.0)
    assert hits == 0
    assert distance_m > 15.0  # the first bend is 6 m away, the one to the right 14 m


def test_a_pid_controller_drives_a_lap():
    laps = pid_lap.main()
    assert laps.count == 1
    assert 30.0 < laps.last_s == laps.best_s < 40.0  # 48 m at 1.5 m/s


def test_one_car_follows_the_other_at_its_distance():
    gap_m, way_m = two_cars.main(4.0)
    assert gap_m == pytest.approx(two_cars.GAP_M, abs=0.1)
    assert way_m > 2.0


@pytest.mark.parametrize("path", some(EXAMPLES), ids=lambda path: path.stem)
def test_an_example_is_read_at_a_glance(path):
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    assert len(lines) <= 45
