"""The floor under the cars on the page's map: a track or a map, paths, and where the cars began."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from host_bridge.core.errors import UsageFault
from host_bridge.inputs.paths.path import Pose, parse_pose
from host_bridge.inputs.paths.path_file import read_path
from sim_mock.tracks.driving_area import Floats
from sim_mock.tracks.loading import load_area, track_names

Line = list[list[float]]  # points of x and y in m
_ROUNDED = 3  # decimals of a metre: finer than a pixel at the nearest zoom


def floor_json(place: str, starts: Mapping[str, Pose], paths: Mapping[str, Path]) -> bytes:
    """Return the floor for the page, as JSON; ``null`` where there is nothing to draw.

    ``place`` is a track's name or the file of a ROS map, "" for an endless floor; ``starts`` are
    the poses at which cars began, "" for all that are not named; ``paths`` are the programs'.
    Raises errors.UsageFault for a place that cannot be read, errors.DataFileFault for a path.
    """
    if not place and not paths and not starts:
        return b"null"
    lines = {name: _rounded(read_path(file).points_m) for name, file in paths.items()}
    title, walls, is_track = _area(place)
    return json.dumps(
        {
            "title": title,
            "walls": walls,
            "is_track": is_track,
            "starts": {"": (0.0, 0.0, 0.0), **starts},
            "paths": lines,
        }
    ).encode()


def _area(place: str) -> tuple[str, list[Line], bool]:
    is_track = place in track_names()
    try:
        area = load_area(place if is_track else "", "" if is_track else place)
    except ValueError as error:
        raise UsageFault(
            "the page's map cannot be read",
            where=place,
            expected=f"a map's .yaml, or {', '.join(track_names())}",
            got=str(error),
        ) from None
    return (area.title, polylines(area.walls), is_track) if area else ("", [], False)


def polylines(walls: Floats) -> list[Line]:
    """Join segments of which each begins where the one before ends."""
    lines: list[Line] = []
    for x1, y1, x2, y2 in _rounded(walls):
        if not lines or lines[-1][-1] != [x1, y1]:
            lines.append([[x1, y1]])
        lines[-1].append([x2, y2])
    return lines


def parse_starts(words: Sequence[str]) -> dict[str, Pose]:
    """Read ``[CAR=]X,Y,YAW_DEG`` of each car; without a name it is for every other car.

    Raises errors.UsageFault.
    """
    found: dict[str, Pose] = {}
    for word in words:
        name, _, pose = word.rpartition("=")
        try:
            found[name] = parse_pose(pose)
        except ValueError as error:
            raise UsageFault(
                "a car's start is no pose",
                where=f"--start {word}",
                expected="[CAR=]X,Y,YAW_DEG, in m and degrees, as --start red=1.5,0,90",
                got=str(error),
            ) from None
    return found


def _rounded(rows: Iterable[Iterable[float]]) -> list[list[float]]:
    return [[round(float(it), _ROUNDED) for it in row] for row in rows]
