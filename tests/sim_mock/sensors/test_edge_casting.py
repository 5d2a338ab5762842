"""Rays against the walls of maps: the same as against every side of every cell, at every angle."""

from math import cos, inf, pi, radians, sin, tau

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim_mock.sensors.edge_casting import EdgeCaster, caster_of
from sim_mock.sensors.ray_casting import RayCaster
from sim_mock.tracks.driving_area import DrivingArea, Pose
from sim_mock.tracks.loading import load_track
from sim_mock.tracks.ros_map import edges, in_world

CELL_M = 0.05
HERE = Pose(0.0, 0.0, 0.0)


def is_anywhere(x_m, y_m):
    return True


def mapped(is_wall, origin=HERE):
    corners = edges(np.asarray(is_wall, dtype=bool)).reshape(-1, 2) * CELL_M
    return DrivingArea("map", in_world(corners, origin).reshape(-1, 4), is_anywhere, origin)


def every_side(is_wall, origin=HERE):
    """Of each cell its own four, not joined and seen from both sides."""
    row, column = np.nonzero(is_wall)
    x, y = column * CELL_M, row * CELL_M
    across, up = x + CELL_M, y + CELL_M
    sides = ((x, y, across, y), (x, up, across, up), (x, y, x, up), (across, y, across, up))
    ends = np.concatenate([np.stack(side, axis=1) for side in sides]).reshape(-1, 2)
    return RayCaster(in_world(ends, origin).reshape(-1, 4))


def drawn(seed, share=0.03, size=60):
    """Cells at random, and none in the middle, where the sensor is."""
    cells = np.random.RandomState(seed).random_sample((size, size)) < share
    cells[size // 2 - 1 : size // 2 + 1, size // 2 - 1 : size // 2 + 1] = False
    return cells


@given(
    st.integers(0, 400),
    st.floats(-20.0, 20.0),
    st.floats(-4.0, 4.0),
    st.sampled_from([(1081, radians(0.25)), (360, tau / 360), (97, tau / 97)]),
)
def test_ranges_are_those_of_all_cells_sides(seed, first, yaw, fan):
    count, step = fan
    cells, origin = drawn(seed), Pose(0.3, -0.7, yaw)
    # by chance, for a ray along a wall or into a corner meets it or not by the last bit
    from_middle = np.random.RandomState(seed).uniform(-0.049, 0.049, (1, 2))
    ((x, y),) = in_world(1.5 + from_middle, origin)
    scan = x, y, first, step, count, 1.2
    got, all_m = caster_of(mapped(cells, origin)).cast(*scan), every_side(cells, origin).cast(*scan)
    assert np.isfinite(got).any()
    assert np.isfinite(got).tolist() == np.isfinite(all_m).tolist()
    assert got == pytest.approx(all_m, rel=1e-9)


@pytest.mark.parametrize("turn", range(8))
def test_rays_into_corners_and_along_walls_do_not_slip_through(turn):
    """A room of 8 by 8 cells around the sensor: its corners are at 45 degrees."""
    cells = np.zeros((10, 10), dtype=bool)
    cells[[0, -1], :] = cells[:, [0, -1]] = True
    caster = caster_of(mapped(cells))
    bearing = radians(45) * turn
    (range_m,) = caster.cast(0.25, 0.25, bearing, 1.0, 1, 10.0)
    assert range_m == pytest.approx(0.2 / max(abs(cos(bearing)), abs(sin(bearing))))


def test_cells_that_touch_at_a_corner_alone_let_no_ray_between_them():
    cells = np.zeros((40, 40), dtype=bool)
    cells[np.arange(40), np.arange(39, -1, -1)] = True  # a diagonal, from one corner to another
    ranges = caster_of(mapped(cells)).cast(0.3, 0.3, 0.0, radians(90) / 400, 401, 10.0)
    assert np.isfinite(ranges).all()


@pytest.mark.parametrize("first", [0.0, 1e-17, -1e-17, pi, -pi, tau, 3 * tau])
def test_a_wall_across_the_first_ray_is_seen_by_the_first_and_the_last(first):
    cells = np.zeros((21, 21), dtype=bool)
    cells[[0, -1], :] = cells[:, [0, -1]] = True
    ranges = caster_of(mapped(cells)).cast(0.525, 0.525, first, tau / 720, 720, 10.0)
    assert ranges[[0, 180, 360, 540, 719]] == pytest.approx([0.475] * 5, rel=1e-4)
    assert np.isfinite(ranges).all()


def test_beyond_its_reach_and_where_nothing_is_there_is_nothing():
    cells = np.zeros((4, 4), dtype=bool)
    assert caster_of(mapped(cells)).cast(0.0, 0.0, 0.0, 0.1, 9, 10.0).tolist() == [inf] * 9
    cells[1, 3] = True
    caster = caster_of(mapped(cells))
    assert caster.cast(0.0, 0.075, 0.0, 0.1, 1, 0.16) == pytest.approx([0.15])
    assert caster.cast(0.0, 0.075, 0.0, 0.1, 1, 0.14).tolist() == [inf]


def test_a_wall_seen_along_its_length_hides_nothing_beside_it():
    cells = np.zeros((8, 20), dtype=bool)
    cells[:4, 5:10] = True  # its upper side is at 0.2 m, as high as the sensor
    cells[:, 19] = True
    ranges = caster_of(mapped(cells)).cast(0.0, 0.2, radians(0.01), radians(1), 2, 10.0)
    assert ranges == pytest.approx([0.95, 0.95 / cos(radians(1.01))], rel=1e-6)


def test_a_track_has_walls_of_any_kind_and_a_map_has_edges():
    assert isinstance(caster_of(load_track("oval")), RayCaster)
    assert isinstance(caster_of(mapped(drawn(1))), EdgeCaster)


def test_walls_that_move_are_met_among_the_cells():
    caster, box = caster_of(mapped(drawn(3))), np.array([[1.7, 1.4, 1.7, 1.6]])
    scan = 1.5, 1.5, -0.5, radians(1.0), 60, 1.2
    both, alone = caster.cast(*scan, box), caster.cast(*scan)
    assert both.tolist() == np.minimum(alone, RayCaster(box).cast(*scan)).tolist()
    assert (both < alone).any()
