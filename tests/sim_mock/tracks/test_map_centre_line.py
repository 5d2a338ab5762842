"""The centre line of a map: held against tracks whose middle is known."""

from math import cos, hypot, pi, sin

import numpy as np
import pytest
from scipy import ndimage

from sim_mock.tracks.driving_area import Pose
from sim_mock.tracks.loading import load_centre_line, load_track
from sim_mock.tracks.map_centre_line import centre_line_of_map
from sim_mock.tracks.ros_map import Grid
from tests.support.evidence import some

CELL_M = 0.05


ORIGIN = Pose(-9.5, -2.0, 0.0)


def drawn(name, origin=ORIGIN, size_m=(19.0, 16.0)):
    """A track as a SLAM would draw it: walls two cells thick, unknown behind them."""
    area = load_track(name)
    columns, rows = (round(size / CELL_M) for size in size_m)
    is_free = np.zeros((rows, columns), dtype=bool)
    for row in range(rows):
        for column in range(columns):
            x, y = (column + 0.5) * CELL_M, (row + 0.5) * CELL_M
            c, s = cos(origin.yaw_rad), sin(origin.yaw_rad)
            world = origin.x_m + c * x - s * y, origin.y_m + s * x + c * y
            is_free[row, column] = area.is_free(*world)
    is_wall = ndimage.binary_dilation(is_free, iterations=2) & ~is_free
    return Grid(is_wall, is_free, CELL_M, origin)


def worst_m(points, line):
    """How far the farthest point is from a line of dense points."""
    return max(float(np.hypot(*(line - point).T).min()) for point in points)


@pytest.fixture(scope="module")
def corridor():
    return drawn("corridor")


def test_it_is_the_centre_line_that_the_track_was_drawn_by(corridor):
    middle = centre_line_of_map(corridor)
    line = dense(load_centre_line("corridor"))
    assert worst_m(middle.points_m, line) < 0.06
    assert worst_m(line[::20], dense(middle.points_m)) < 0.06
    assert middle.half_width_m == pytest.approx(1.0, abs=2 * CELL_M)


def dense(line, step_m=0.01):
    along = np.concatenate(([0.0], np.cumsum(np.hypot(*np.diff(line, axis=0).T))))
    even = np.arange(0.0, along[-1], step_m)
    return np.stack([np.interp(even, along, axis) for axis in line.T], axis=1)


@pytest.mark.parametrize("yaw_rad", [0.0, pi])
def test_it_begins_where_the_car_stands_and_goes_where_it_looks(corridor, yaw_rad):
    points = centre_line_of_map(corridor, Pose(2.0, 0.1, yaw_rad)).points_m
    assert points[0] == pytest.approx((2.0, 0.0), abs=0.06)
    ahead = points[20] - points[0]
    assert ahead[0] * cos(yaw_rad) > 0.4
    assert abs(ahead[1]) < 0.05


def test_a_map_that_is_turned_in_the_world():
    origin = Pose(4.0, -4.5, 0.5 * pi)
    grid = drawn("oval", Pose(-2.5, -1.0, 0.0), (5.0, 4.0))
    turned = Grid(grid.is_wall, grid.is_free, CELL_M, origin)
    plain = centre_line_of_map(grid, Pose(0.0, 0.0, 0.0)).points_m
    moved = centre_line_of_map(turned, Pose(3.0, -2.0, 0.5 * pi)).points_m
    assert moved[0] == pytest.approx((3.0, -2.0), abs=0.06)
    back = np.stack((moved[:, 1] + 2.0, 3.0 - moved[:, 0]), axis=1)
    assert worst_m(back, dense(plain)) < 0.01


def test_a_box_on_the_floor_is_neither_side(corridor):
    boxed = Grid(corridor.is_wall.copy(), corridor.is_free.copy(), CELL_M, corridor.origin)
    row, column = round(2.5 / CELL_M), round(14.5 / CELL_M)  # (5, 0.5)
    boxed.is_free[row : row + 4, column : column + 4] = False
    points = centre_line_of_map(boxed).points_m
    assert worst_m(points, dense(load_centre_line("corridor"))) < 0.06


def test_a_track_that_is_not_closed_is_refused(corridor):
    cut = Grid(corridor.is_wall, corridor.is_free.copy(), CELL_M, corridor.origin)
    column = round(14.5 / CELL_M)
    cut.is_free[: round(3.5 / CELL_M), column : column + 6] = False
    with pytest.raises(ValueError, match="not closed"):
        centre_line_of_map(cut)
    with pytest.raises(ValueError, match="no free place"):
        centre_line_of_map(corridor, Pose(100.0, 0.0, 0.0))
    nothing = np.zeros((4, 4), dtype=bool)
    with pytest.raises(ValueError, match="no free cells"):
        centre_line_of_map(Grid(nothing, nothing, CELL_M, Pose(0.0, 0.0, 0.0)))


def test_a_ring_that_reaches_the_rim_of_the_map():
    y, x = np.mgrid[-40:41, -40:41]
    ring = np.hypot(x, y) > 20
    points = centre_line_of_map(Grid(~ring, ring, CELL_M, Pose(0.0, 0.0, 0.0))).points_m
    radii_m = [hypot(px - 2.025, py - 2.025) for px, py in points]
    assert min(radii_m) > 1.4


def ring_of(x0, y0, inner, outer, shape=(120, 260)):
    """The cells between two circles, in cells."""
    y, x = np.mgrid[: shape[0], : shape[1]]
    apart = np.hypot(x - x0, y - y0)
    return (apart > inner) & (apart < outer)


def grid_of(is_free, is_wall=None):
    return Grid(~is_free if is_wall is None else is_wall, is_free, CELL_M, Pose(0.0, 0.0, 0.0))


def cell(column, row, yaw_rad=0.0):
    return Pose((column + 0.5) * CELL_M, (row + 0.5) * CELL_M, yaw_rad)


def radius_about(points, column, row):
    """The mean radius of a line about a cell, in cells."""
    x, y = points.T
    return float(np.hypot(x / CELL_M - column - 0.5, y / CELL_M - row - 0.5).mean())


def test_of_two_tracks_the_start_says_which():
    two = ring_of(60, 60, 20, 30) | ring_of(190, 60, 30, 50)
    with pytest.raises(ValueError, match=r"there are 2 tracks on the map; --start"):
        centre_line_of_map(grid_of(two))
    left = centre_line_of_map(grid_of(two), cell(60, 85)).points_m
    right = centre_line_of_map(grid_of(two), cell(190, 100)).points_m
    assert radius_about(left, 60, 60) == pytest.approx(25, abs=1)
    assert radius_about(right, 190, 60) == pytest.approx(40, abs=1)


def test_of_two_loops_of_one_track_the_start_says_which():
    """Two rings that touch: one floor, two inner sides."""
    eight = ring_of(70, 60, 30, 50) | ring_of(155, 60, 20, 40)
    with pytest.raises(ValueError, match=r"there are 2 loops on the map; --start"):
        centre_line_of_map(grid_of(eight))
    left = centre_line_of_map(grid_of(eight), cell(30, 60)).points_m
    right = centre_line_of_map(grid_of(eight), cell(185, 60)).points_m
    for points, place in some([(left, cell(30, 60)), (right, cell(185, 60))]):
        assert points[0] == pytest.approx(place[:2], abs=2 * CELL_M)
    assert radius_about(left, 70, 60) == pytest.approx(40, abs=2)
    assert radius_about(right, 155, 60) == pytest.approx(30, abs=2)


def test_a_start_in_a_wall_in_the_unknown_or_outside_is_refused():
    ring, shape = ring_of(60, 60, 20, 30), (120, 260)
    is_wall = ndimage.binary_dilation(ring, iterations=2) & ~ring
    y, x = np.mgrid[: shape[0], : shape[1]]
    outside = np.hypot(x - 60, y - 60) > 40  # free floor about the track, out to the rim
    rows = [
        (ring, cell(60, 60), "no free place of the map: it is unknown"),
        (ring, cell(60, 90), "no free place of the map: it is a wall"),
        (ring, cell(-5, 60), "no free place of the map: it is beyond its rim"),
        (ring | outside, cell(200, 60), "is outside the walls of the track"),
    ]
    for is_free, start, what in some(rows):
        with pytest.raises(ValueError, match=what):
            centre_line_of_map(grid_of(is_free, is_wall), start)


def test_a_line_outside_the_walls_is_not_taken_for_that_of_the_track():
    """The floor about the track is larger than the track, and surrounds something as well."""
    ring = ring_of(60, 60, 20, 30)
    y, x = np.mgrid[:120, :260]
    points = centre_line_of_map(grid_of(ring | (np.hypot(x - 60, y - 60) > 40))).points_m
    assert radius_about(points, 60, 60) == pytest.approx(25, abs=1)
