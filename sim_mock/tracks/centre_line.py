"""A track made from its centre line: straights and arcs, with walls at half its width from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import pairwise
from math import acos, ceil, cos, dist, pi, radians, remainder, sin, tau
from typing import Any

import numpy as np

from sim_mock.files.plain_reading import as_number
from sim_mock.tracks.driving_area import DrivingArea, Floats, Pose, is_between

SAG_M = 0.001  # largest distance of a wall's chord from its arc
_GAP_M = 0.001  # largest gap of a centre line that counts as closed

Point = tuple[float, float]
# The keys of a piece of the centre line, and their ranges.
PIECES: dict[frozenset[str], dict[str, tuple[float, float]]] = {
    frozenset(("straight_m",)): {"straight_m": (0.01, 10_000.0)},
    frozenset(("radius_m", "turn_deg")): {"radius_m": (0.01, 10_000.0), "turn_deg": (-360, 360)},
}
_KEYS = {"title", "width_m", "centre_line"}


def track_of(table: Mapping[str, Any]) -> DrivingArea:
    """Return the area that a track's file describes; its centre line starts at 0, 0 along x.

    ``centre_line`` is a list of ``{straight_m}`` and ``{radius_m, turn_deg}`` (left is positive).
    Raises ValueError for a key that is unknown or missing, for a turn that is tighter than half the
    width, and for a line that does not close.
    """
    if set(table) != _KEYS:
        raise ValueError(f"a track has the keys {', '.join(sorted(_KEYS))}; got {sorted(table)}")
    # m: narrower than any car, wider than any hall
    half_m = as_number("width_m", table["width_m"], 0.05, 1000.0) / 2.0
    pieces = [_piece(i, piece) for i, piece in enumerate(table["centre_line"])]
    left, right = (_wall(pieces, offset_m) for offset_m in (half_m, -half_m))
    walls = np.array([(*a, *b) for wall in (left, right) for a, b in pairwise(wall)])
    return DrivingArea(str(table["title"]), walls, partial(is_between, walls))


def _piece(number: int, given: Mapping[str, Any]) -> dict[str, float]:
    path = f"centre_line[{number}]"
    rules = PIECES.get(frozenset(given))
    if rules is None:
        raise ValueError(f"{path}: expected straight_m, or radius_m and turn_deg; got {given}")
    return {key: as_number(f"{path}.{key}", given[key], *limits) for key, limits in rules.items()}


def _wall(pieces: Sequence[Mapping[str, float]], offset_m: float) -> list[Point]:
    """Return the points of the line that is ``offset_m`` to the left of the centre line.

    Raises ValueError if it does not close.
    """
    pose, points = Pose(0.0, 0.0, 0.0), [(0.0, offset_m)]
    for piece in pieces:
        if "straight_m" in piece:
            pose = _ahead(pose, piece["straight_m"])
            points.append(_beside(pose, offset_m))
        else:
            pose = _turn(pose, piece, offset_m, points)
    if dist(pose[:2], (0.0, 0.0)) > _GAP_M or abs(remainder(pose.yaw_rad, tau)) > _GAP_M:
        raise ValueError(f"centre_line: ends at {tuple(round(v, 3) for v in pose)}, not closed")
    return [*points[:-1], points[0]]


def _turn(pose: Pose, piece: Mapping[str, float], offset_m: float, points: list[Point]) -> Pose:
    radius_m, turn_rad = piece["radius_m"], radians(piece["turn_deg"])
    side = 1.0 if turn_rad > 0.0 else -1.0
    wall_m = radius_m - side * offset_m
    if wall_m < 0.0:
        raise ValueError(f"centre_line: a turn of {radius_m:g} m is tighter than half the width")
    centre = _beside(pose, side * radius_m)
    chord_rad = 2.0 * acos(max(1.0 - SAG_M / wall_m, 0.0)) if wall_m > SAG_M else pi
    count = ceil(abs(turn_rad) / chord_rad)
    for i in range(1, count + 1):
        yaw_rad = pose.yaw_rad + turn_rad * i / count
        points.append(_beside(Pose(*centre, yaw_rad), -side * wall_m))
    end_rad = pose.yaw_rad + turn_rad
    return Pose(*_beside(Pose(*centre, end_rad), -side * radius_m), end_rad)


def _ahead(pose: Pose, by_m: float) -> Pose:
    x_m, y_m = pose.x_m + by_m * cos(pose.yaw_rad), pose.y_m + by_m * sin(pose.yaw_rad)
    return Pose(x_m, y_m, pose.yaw_rad)


def _beside(pose: Pose, left_m: float) -> Point:
    return pose.x_m - left_m * sin(pose.yaw_rad), pose.y_m + left_m * cos(pose.yaw_rad)


def centre_line_points(table: Mapping[str, Any]) -> Floats:
    """Return the closed centre line: rows of x and y, arcs as chords. Raises ValueError."""
    track_of(table)  # for its checks
    pieces = [_piece(i, piece) for i, piece in enumerate(table["centre_line"])]
    return np.array(_wall(pieces, 0.0))


def length_m(table: Mapping[str, Any]) -> float:
    """Return the length of the centre line in m."""
    return float(
        sum(
            piece.get("straight_m", 0.0)
            + piece.get("radius_m", 0.0) * abs(radians(piece.get("turn_deg", 0.0)))
            for piece in table["centre_line"]
        )
    )
