"""A drive through a hall: the poses of its scans, the map, and the map's files."""

import numpy as np
import pytest

from host_bridge.core.errors import DataFileFault
from host_bridge.mapping import occupancy
from host_bridge.mapping.occupancy import FREE, OCCUPIED, UNKNOWN, occupancy_map, write_map
from host_bridge.mapping.planar import between
from host_bridge.mapping.pose_graph import PoseEdge, aligned_poses, optimised
from host_bridge.mapping.scan_points import LidarMount, key_scans
from sim_mock.tracks.ros_map import load_grid
from tests.host_bridge.mapping.rooms import HALL, drive, lap
from tests.support.evidence import every

MOUNT = LidarMount(0.0)


def silent(done, total):
    """No progress is shown."""


@pytest.fixture(scope="module")
def mapped():
    """The kept scans, their true poses, and those that were found."""
    way = lap()
    scans = key_scans(drive(way), MOUNT)
    true = np.array([way[round(it.sample.taken_s / 0.05)] for it in scans])
    poses, matches = aligned_poses(scans, silent)
    assert matches > len(scans)
    return scans, true, poses


def distances_m(points, walls):
    """The distance of each point from the nearest wall."""
    found = np.full(len(points), np.inf)
    for x1, y1, x2, y2 in walls:
        along = np.array((x2 - x1, y2 - y1))
        share = np.clip((points - (x1, y1)) @ along / (along @ along), 0.0, 1.0)
        found = np.minimum(found, np.hypot(*(points - (x1, y1) - share[:, None] * along).T))
    return found


def test_the_poses_are_better_than_the_odometry_by_far(mapped):
    scans, true, poses = mapped
    seen = np.array([between(true[0], it) for it in true])
    odometry = np.array([between(scans[0].sample.odometry, it.sample.odometry) for it in scans])
    found = np.array([between(poses[0], it) for it in poses])
    assert np.hypot(*(odometry - seen)[:, :2].T).max() > 0.5
    assert np.hypot(*(found - seen)[:, :2].T).max() < 0.06


def test_walls_are_where_they_are_and_what_was_seen_is_free(mapped):
    scans, true, poses = mapped
    seen = occupancy_map(scans, poses, MOUNT, 0.05)
    rows, columns = np.nonzero(seen.cells == OCCUPIED)
    centres = seen.corner_m + 0.05 * np.stack((columns + 0.5, rows + 0.5), axis=1)
    assert len(centres) > 500
    assert every(distances_m(centres, HALL) < 0.1)

    def cell_at(x, y):
        column, row = np.floor((np.array((x, y)) - seen.corner_m) / 0.05).astype(int)
        return seen.cells[row, column]

    assert every(cell_at(*pose[:2]) == FREE for pose in true)
    assert cell_at(5.0, 3.0) == UNKNOWN, "behind the walls"


def test_a_written_map_is_read_as_it_was(mapped, tmp_path):
    scans, _, poses = mapped
    seen = occupancy_map(scans, poses, MOUNT, 0.1)
    image = write_map(tmp_path / "hall.yaml", seen)
    grid = load_grid(tmp_path / "hall.yaml")
    assert (grid.is_wall == (seen.cells == OCCUPIED)).all()
    assert (grid.is_free == (seen.cells == FREE)).all()
    assert (grid.origin.x_m, grid.origin.y_m) == pytest.approx(tuple(seen.corner_m), abs=1e-4)
    before = image.read_bytes()
    with pytest.raises(DataFileFault, match="already"):
        write_map(tmp_path / "hall.yaml", seen)
    assert image.read_bytes() == before


def test_a_map_that_would_not_fit_in_memory_is_refused(mapped, monkeypatch):
    scans, _, poses = mapped
    monkeypatch.setattr(occupancy, "_CELLS_MAX", 1000)
    with pytest.raises(ValueError, match="too many"):
        occupancy_map(scans, poses, MOUNT, 0.05)


def test_one_edge_that_is_wrong_does_not_bend_the_others():
    true = np.array([(float(x), 0.0, 0.0) for x in range(6)])
    sure = np.diag((1e4, 1e4, 1e4))
    edges = [PoseEdge(i, i + 1, np.array((1.0, 0.0, 0.0)), sure) for i in range(5)]
    edges += [PoseEdge(i, i + 2, np.array((2.0, 0.0, 0.0)), sure) for i in range(4)]
    edges.append(PoseEdge(0, 5, np.array((4.0, 0.5, 0.0)), sure))
    assert optimised(true.copy(), edges) == pytest.approx(true, abs=0.1)
