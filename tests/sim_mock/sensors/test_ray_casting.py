"""Rays against walls: exact, at every angle, wherever walls meet."""

from math import cos, inf, pi, radians, sin, tau

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim_mock.sensors.ray_casting import Fan, RayCaster
from sim_mock.tracks.loading import load_track
from tests.support.evidence import some

SQUARE = np.array(
    [[-2.0, -2, 2, -2], [2, -2, 2, 2], [2.0, 2, -2, 2], [-2.0, 2, -2, -2]], dtype=float
)


def square_m(x, y, bearing):
    """From within the square to its side, by hand."""
    to_x = inf if cos(bearing) == 0 else ((2 if cos(bearing) > 0 else -2) - x) / cos(bearing)
    to_y = inf if sin(bearing) == 0 else ((2 if sin(bearing) > 0 else -2) - y) / sin(bearing)
    return min(to_x, to_y)


@given(st.floats(-1.99, 1.99), st.floats(-1.99, 1.99), st.floats(-20.0, 20.0), st.integers(2, 1081))
def test_ranges_in_a_square_are_those_of_geometry(x, y, first, count):
    ranges = RayCaster(SQUARE).cast(x, y, first, tau / count, count, 100.0)
    bearings = first + tau / count * np.arange(count)
    assert ranges == pytest.approx([square_m(x, y, b) for b in bearings], rel=1e-9)


def test_rays_into_corners_do_not_slip_through():
    bearings = [radians(45 + 90 * i) for i in range(4)]
    for bearing in some(bearings):
        ranges = RayCaster(SQUARE).cast(0.0, 0.0, bearing, 1.0, 1, 100.0)
        assert ranges == pytest.approx([8**0.5])


@pytest.mark.parametrize("name", ["autorally", "corridor", "oval"])
def test_every_ray_meets_the_nearest_of_all_walls(name):
    """Against every wall of a track one by one."""
    walls, random = load_track(name).walls, np.random.RandomState(2)
    for _ in range(20):
        x, y = random.uniform(-0.4, 0.4), random.uniform(-0.25, 0.25)
        first = random.uniform(-pi, pi)
        got = RayCaster(walls).cast(x, y, first, radians(0.25), 1081, 100.0)
        assert np.isfinite(got).all()
        assert got == pytest.approx(one_by_one(walls, x, y, first))


def one_by_one(walls, x, y, first):
    best = np.full(1081, inf)
    bearings = first + radians(0.25) * np.arange(1081)
    for x1, y1, x2, y2 in walls:
        normal = np.array([y2 - y1, x1 - x2])
        towards = np.cos(bearings) * normal[0] + np.sin(bearings) * normal[1]
        with np.errstate(divide="ignore", invalid="ignore"):
            distance = (normal[0] * (x1 - x) + normal[1] * (y1 - y)) / towards
            hit_x, hit_y = x + distance * np.cos(bearings), y + distance * np.sin(bearings)
            part = (hit_x - x1) * (x2 - x1) + (hit_y - y1) * (y2 - y1)
        inside = (distance >= 0) & (part >= -1e-9) & (part <= normal @ normal + 1e-9)
        best = np.where(inside & (distance < best), distance, best)
    return best


def test_a_round_wall_is_round_to_the_sag_of_its_chords():
    """In the middle of AutoRally's turn the outer wall is 7.75 m away in every direction."""
    walls = load_track("autorally").walls
    ranges = RayCaster(walls).cast(6.0, 6.1, radians(-89), radians(1), 179, 100.0)
    assert ranges == pytest.approx(np.full(179, 4.45), abs=0.001)  # the inner wall comes first


def test_beyond_its_reach_there_is_nothing():
    ranges = RayCaster(SQUARE).cast(0.0, 0.0, 0.0, radians(45), 2, 2.5)
    assert ranges.tolist() == [2.0, inf]
    assert RayCaster(SQUARE).cast(50.0, 0.0, 0.0, radians(45), 2, 2.5).tolist() == [inf, inf]


def test_a_wall_seen_along_its_length_hides_nothing_beside_it():
    edge = np.array([[1.0, 0.0, 2.0, 0.0], [3.0, -1.0, 3.0, 1.0]])
    ranges = RayCaster(edge).cast(0.0, 0.0, radians(-1), radians(1), 3, 10.0)
    assert ranges[[0, 2]] == pytest.approx([3.0 / cos(radians(1))] * 2)


def test_the_directions_are_products_of_cosines_that_are_not_numpys():
    step, first = radians(0.25), 1.234
    along, across = Fan(step, 1081).directions(first).tolist()
    c, s = cos(first), sin(first)
    for i in some(range(1081)):
        assert along[i] == cos(step * i) * c + -sin(step * i) * s
        assert across[i] == sin(step * i) * c + cos(step * i) * s
        assert (along[i], across[i]) == pytest.approx(
            (cos(first + step * i), sin(first + step * i))
        )


@pytest.mark.parametrize("first", [-2.4, 0.0, 1.0, 3.0])
def test_walls_that_move_are_met_like_those_that_stand(first):
    box = 0.5 + SQUARE / 10.0
    scan = 0.1, -0.2, first, radians(0.5), 540, 100.0
    standing, moving = RayCaster(SQUARE).cast(*scan), RayCaster(box).cast(*scan)
    both = RayCaster(SQUARE).cast(*scan, box)
    assert both.tolist() == np.minimum(standing, moving).tolist()
    assert np.isfinite(moving).any()
    assert RayCaster(SQUARE).cast(*scan, np.zeros((0, 4))).tolist() == standing.tolist()
