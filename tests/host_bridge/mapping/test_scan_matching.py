"""How one scan lies to another."""

import numpy as np
import pytest

from host_bridge.mapping.scan_matching import WallIndex
from host_bridge.mapping.scan_points import LidarMount, key_scans
from tests.host_bridge.mapping.rooms import scan_at, walls_of
from tests.support.evidence import some

MOUNT = LidarMount(0.0)
CORRIDOR = walls_of((-40, -1), (40, -1), (40, 1), (-40, 1))


def key_at(pose, **options):
    [scan] = key_scans([scan_at(pose, **options)], MOUNT)
    return scan


@pytest.mark.parametrize("seed", range(1, 6))
def test_a_displaced_scan_is_found_within_a_few_millimetres(seed):
    random = np.random.default_rng(seed)
    here, moved = (2.0, 0.1, 0.05), random.uniform((-0.3, -0.3, -0.15), (0.3, 0.3, 0.15))
    there = key_at(here + moved, seed=seed)
    fit = WallIndex(key_at(here, seed=seed + 50)).match(there, np.zeros(3))
    c, s = np.cos(here[2]), np.sin(here[2])
    true = np.array((c * moved[0] + s * moved[1], c * moved[1] - s * moved[0], moved[2]))
    assert fit is not None
    assert np.abs(fit.pose - true)[:2].max() < 0.015
    assert abs(fit.pose[2] - true[2]) < 0.003
    deviations = np.sqrt(np.diag(np.linalg.inv(fit.information)))
    assert np.all(np.abs(fit.pose - true) < 4.0 * deviations), "the information is no boast"


def test_along_a_corridor_the_guess_stands_and_nothing_is_claimed():
    guess = np.array((0.2, 0.0, 0.0))
    index = WallIndex(key_at((0.0, 0.0, 0.0), walls=CORRIDOR, noise_m=0.0))
    fit = index.match(key_at((0.4, 0.1, 0.0), walls=CORRIDOR, noise_m=0.0), guess)
    assert fit is not None
    assert fit.pose[0] == pytest.approx(0.2, abs=1e-3)
    assert fit.pose[1] == pytest.approx(0.1, abs=0.005)
    assert fit.information[0, 0] < 1e-3 * fit.information[1, 1]


def test_other_walls_are_no_match():
    there = key_at((0.0, 0.0, 0.0), walls=walls_of((-4, -4), (4, -4), (4, 4), (-4, 4)))
    assert WallIndex(key_at((0.0, 0.0, 0.0))).match(there, np.zeros(3)) is None


def test_a_scan_without_walls_matches_nothing():
    empty = key_at((0.0, 0.0, 0.0), walls=CORRIDOR * 100.0)  # all walls are out of range
    assert not len(empty.points_m)
    assert WallIndex(empty).match(key_at((0.0, 0.0, 0.0)), np.zeros(3)) is None
    assert WallIndex(key_at((0.0, 0.0, 0.0))).match(empty, np.zeros(3)) is None


def test_scans_are_kept_by_the_way_and_the_turn():
    scans = [scan_at((0.0, 0.0, 0.0)), scan_at((0.3, 0.0, 0.0)), scan_at((0.3, 0.0, 0.3)),
             scan_at((0.8, 0.0, 0.3))]  # fmt: skip
    kept = [it.sample.odometry[0] for it in some(key_scans(scans, MOUNT))]
    assert kept == [0.0, 0.3, 0.8]
