"""Tracks that come with the virtual car, and what a track's file may say."""

from math import dist, pi

import numpy as np
import pytest

from sim_mock.tracks.centre_line import SAG_M, length_m, track_of
from sim_mock.tracks.contact import clearance_m
from sim_mock.tracks.loading import load_area, load_track, track_names
from tests.support.evidence import some

RING = {
    "title": "a ring",
    "width_m": 2.0,
    "centre_line": [{"radius_m": 5.0, "turn_deg": 180}, {"radius_m": 5.0, "turn_deg": 180}],
}
REFUSED = {
    "a track has the keys": {"walls": []},
    "width_m: width_m cannot be that; expected a number": {"width_m": "2"},
    "centre_line[0]: expected straight_m, or": {"centre_line": [{"radius_m": 5.0}]},
    "centre_line[1].turn_deg: turn_deg cannot be that; expected a number": {
        "centre_line": [{"straight_m": 1.0}, {"radius_m": 5.0, "turn_deg": 720}]
    },
    "centre_line: a turn of 0.5 m is tighter": {
        "centre_line": [{"radius_m": 0.5, "turn_deg": 360}]
    },
    "centre_line: ends at (1.0, 0.0, 0.0), not closed": {"centre_line": [{"straight_m": 1.0}]},
}


@pytest.mark.parametrize("message", REFUSED)
def test_what_is_wrong_is_refused_by_name(message):
    with pytest.raises(ValueError) as refusal:  # noqa: PT011 - the text is compared below
        track_of({**RING, **REFUSED[message]})
    assert str(refusal.value).startswith(message)


def test_a_ring_has_round_walls_to_a_millimetre():
    walls = track_of(RING).walls.reshape(-1, 2, 2)
    from_centre_m = np.hypot(walls[..., 0], walls[..., 1] - 5.0)
    assert set(from_centre_m.round(9).ravel()) == {4.0, 6.0}
    middle = walls.mean(axis=1)
    sag_m = from_centre_m[:, 0] - np.hypot(middle[:, 0], middle[:, 1] - 5.0)
    assert 0.0 < sag_m.max() <= SAG_M
    assert length_m(RING) == pytest.approx(2 * pi * 5.0)


def test_a_car_may_be_between_the_walls_and_nowhere_else():
    is_free = track_of(RING).is_free
    assert is_free(0.0, 0.0)
    assert is_free(5.9, 5.0)
    assert not is_free(6.1, 5.0)
    assert not is_free(0.0, 5.0)


def test_autorallys_track_has_the_published_size():
    track = load_track("autorally")
    points = track.walls.reshape(-1, 2)
    size_m = points.max(axis=0) - points.min(axis=0)
    assert size_m == pytest.approx((27.5, 15.5))
    straights_m = [dist(wall[:2], wall[2:]) for wall in track.walls]
    assert sorted(straights_m)[-2:] == pytest.approx([12.0, 12.0])  # 11.5 and what does not close


@pytest.mark.parametrize("name", track_names())
def test_all_along_the_centre_line_the_walls_are_half_a_width_away(name):
    table = {"autorally": 3.3, "corridor": 2.0, "oval": 0.6}
    track = load_track(name)
    x_m = np.linspace(-0.8, 0.8, 9)  # each begins in the middle of a straight
    for x in some(x_m):
        assert track.is_free(x, 0.0)
        assert clearance_m(x, 0.0, track.walls) == pytest.approx(table[name] / 2, abs=SAG_M)


def test_unknown_names_are_refused_with_those_that_there_are():
    with pytest.raises(ValueError, match="no track 'monza'; there is autorally, corridor, oval"):
        load_track("monza")
    with pytest.raises(ValueError, match="no track 'coridor'; did you mean corridor"):
        load_track("coridor")
    with pytest.raises(ValueError, match="oval; a map's file is given as map="):
        load_track("lab.yaml")
    with pytest.raises(ValueError, match="not on both"):
        load_area("oval", "map.yaml")
