"""The floor under the cars: a track or a map, the ways of programs, and where cars began."""

from __future__ import annotations

import json
from itertools import pairwise
from math import radians

import pytest
from PIL import Image

from host_bridge.core.errors import DataFileFault, UsageFault
from host_bridge.station.views.floor import floor_json, parse_starts, polylines
from sim_mock.tracks.loading import load_track, track_names
from tests.support.evidence import every, some


def floor(place="", starts=None, paths=None):
    return json.loads(floor_json(place, starts or {}, paths or {}))


def test_without_anything_there_is_no_floor():
    assert floor() is None


def test_tracks_are_two_closed_walls_that_are_filled_between():
    for name in some(track_names()):
        told = floor(name)
        assert told["is_track"]
        assert told["title"] == load_track(name).title
        assert len(told["walls"]) == 2
        assert every(line[0] == line[-1] for line in told["walls"])
        assert told["starts"] == {"": [0.0, 0.0, 0.0]}


def test_no_segment_of_a_wall_is_lost():
    walls = load_track("oval").walls
    pairs = [[*one, *other] for line in polylines(walls) for one, other in pairwise(line)]
    assert pairs == [[round(float(it), 3) for it in row] for row in walls]


def test_a_ros_map_has_walls_and_is_not_filled(tmp_path):
    image = Image.new("L", (20, 10), 254)
    image.putpixel((5, 5), 0)
    image.save(tmp_path / "lab.png")
    (tmp_path / "lab.yaml").write_text(
        "image: lab.png\nresolution: 0.1\norigin: [-1.0, -0.5, 0.0]\nnegate: 0\n"
        "occupied_thresh: 0.65\nfree_thresh: 0.2\n"
    )
    told = floor(str(tmp_path / "lab.yaml"))
    assert not told["is_track"]
    points = [point for line in told["walls"] for point in line]
    assert {tuple(it) for it in points} == {(-0.5, -0.1), (-0.4, -0.1), (-0.4, 0.0), (-0.5, 0.0)}


def test_paths_are_drawn_without_any_map_too(tmp_path):
    line = tmp_path / "line.csv"
    line.write_text("x_m,y_m\n0,0\n1,0\n1,1\n")
    told = floor(paths={"path line": line})
    assert told["walls"] == []
    assert told["paths"] == {"path line": [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]]}


def test_starts_are_of_one_car_or_of_all_others():
    assert parse_starts([]) == {}
    assert parse_starts(["red=1.5,0,90", "0,-2,180"]) == {
        "red": (1.5, 0.0, radians(90)),
        "": (0.0, -2.0, radians(180)),
    }
    assert floor("oval", parse_starts(["0,-2,0"]))["starts"] == {"": [0.0, -2.0, 0.0]}


@pytest.mark.parametrize("word", ["", "red", "red=", "1,2", "1,2,3,4", "red=1,2,x", "1,2,nan"])
def test_what_is_no_start_is_refused_with_an_example(word):
    with pytest.raises(UsageFault, match=r"--start red=1\.5,0,90"):
        parse_starts([word])


def test_what_is_no_map_is_refused_with_the_tracks_that_there_are(tmp_path):
    with pytest.raises(UsageFault, match="corridor"):
        floor(str(tmp_path / "nowhere.yaml"))


def test_what_is_no_path_is_refused(tmp_path):
    (tmp_path / "line.csv").write_text("x_m,y_m\n0,zero\n")
    with pytest.raises(DataFileFault, match=r"line\.csv"):
        floor(paths={"path line": tmp_path / "line.csv"})
