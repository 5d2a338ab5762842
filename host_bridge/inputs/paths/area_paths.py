"""Paths of a track or a map: its centre line, and the racing line of a car."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from math import tan
from pathlib import Path as FilePath
from typing import Any

from host_bridge.core import Vehicle
from host_bridge.core.errors import DataFileFault, UsageFault
from host_bridge.core.files import raised_as
from host_bridge.inputs.paths.path import Floats, Path, resampled
from host_bridge.inputs.paths.racing_line import SpeedLimits, least_curvature, race_speeds
from sim_mock.tracks.driving_area import Pose
from sim_mock.tracks.loading import load_centre_line, load_track, track_names
from sim_mock.tracks.map_centre_line import centre_line_of_map
from sim_mock.tracks.room import room_beside
from sim_mock.tracks.ros_map import Grid, load_grid, walls_of

PathNotes = dict[str, Any]  # by name, as --json prints them
Tell = Callable[[str], None]

_SPACING_M = 0.1  # of the points, as the racing line has them
_BEND_M = 0.15  # to either side: a bend shorter than that is noise of the points


def _tell_nobody(step: str) -> None:
    """Keep the steps of the work to oneself."""


def centre_of_area(
    name: str, start: Pose | None, spacing_m: float, tell: Tell = _tell_nobody
) -> tuple[Path, PathNotes]:
    """Return the centre line of a map file or a track that comes with Tandem, and what to tell.

    ``tell`` is called with each step of the work as it begins. Raises errors.UsageFault for a start
    on a track, and errors.DataFileFault for a map without a closed track.
    """
    points, facts, _ = _centre(name, start, tell)
    return Path(resampled(points, spacing_m, is_loop=True), is_loop=True), facts


def race_of_area(
    name: str,
    start: Pose | None,
    vehicle: Vehicle,
    limits: SpeedLimits,
    margin_m: float,
    tell: Tell = _tell_nobody,
) -> tuple[Path, PathNotes]:
    """Return the line of least curvature of a vehicle with its speeds, and what to tell of it.

    ``margin_m`` is left to the walls beside the car. Raises as ``centre_of_area`` does, and
    errors.DataFileFault for a place that is too narrow.
    """
    centre, facts, grid = _centre(name, start, tell)
    tell("looking for the line of least curvature")
    walls = load_track(name).walls if grid is None else walls_of(grid)
    half_m = half_width_m(vehicle) + margin_m
    try:
        line = least_curvature(
            centre, half_m, lambda points, left: room_beside(points, left, walls)
        )
    except ValueError as fault:
        raise DataFileFault(
            "no racing line",
            where=name,
            expected="a track that is wider than the car and its margin",
            got=str(fault),
            remedy="give a smaller --margin",
        ) from None
    half_bend_m = max(vehicle.wheelbase_m / 2.0, _BEND_M)
    path, lap_s = race_speeds(line, limits, half_bend_m)
    middle = Path(resampled(centre, _SPACING_M, is_loop=True), is_loop=True)
    _, centre_s = race_speeds(middle, limits, half_bend_m)
    notes = list(facts.get("notes", ()))
    tightest_m = vehicle.wheelbase_m / tan(vehicle.steer_max_rad)
    if max(abs(path.curvatures(path.along_m, half_bend_m))) * tightest_m > 1.0:
        notes.append(
            f"it bends tighter than this car steers ({tightest_m:.2f} m): there it leaves the line"
        )
    laps = {"lap_s": round(lap_s, 2), "centre_lap_s": round(centre_s, 2)}
    return path, {**laps, **({"notes": notes} if notes else {})}


def race_limits(vehicle: Vehicle, top_mps: float | None, share: float) -> SpeedLimits:
    """Return this share of a vehicle file's accelerations; its speed cap unless one is given."""
    cap_mps = min(vehicle.profile_caps_mps[vehicle.profile], vehicle.speed_max_mps)
    lateral, accel, decel = (
        vehicle.parameters[name][0] * 1e-3
        for name in ("lateral_accel_mm_s2", "accel_mm_s2", "decel_mm_s2")
    )
    return SpeedLimits(top_mps or cap_mps, lateral, accel, decel).scaled(share)


def half_width_m(vehicle: Vehicle) -> float:
    """Return half of the car's width: its outline's, or without one the distance of its wheels."""
    outline = vehicle.plant.get("outline")
    width = outline.get("width_m") if isinstance(outline, Mapping) else None
    return float(width if width is not None else vehicle.track_m) / 2.0


def _centre(name: str, start: Pose | None, tell: Tell) -> tuple[Floats, PathNotes, Grid | None]:
    """Return the centre line, what to tell of it, and the cells of a map."""
    tracks = track_names()
    if name not in tracks:
        file = FilePath(name)
        if not file.suffix and not file.exists():
            raise _no_such_place(name, tracks)
        return _centre_of_map(name, start, tell)
    if start is not None:
        raise UsageFault(
            "--start is for maps: a track begins at the origin, along x",
            got=f"--start of {name}",
        )
    return load_centre_line(name)[:-1], {}, None


def _no_such_place(name: str, tracks: list[str]) -> DataFileFault:
    near = get_close_matches(name, tracks, 1)
    return DataFileFault(
        f"there is no track and no map {name}",
        expected=f"one of {', '.join(tracks)}, or the .yaml file of a map",
        got=name,
        remedy=f"did you mean {near[0]}?" if near else "is the map's file in this folder?",
    )


def _centre_of_map(file: str, start: Pose | None, tell: Tell) -> tuple[Floats, PathNotes, Grid]:
    tell("reading the map")
    with raised_as():
        grid = load_grid(FilePath(file))
    tell(
        f"looking for the middle between the walls, in {grid.is_wall.size * 1e-6:.1f} million cells"
    )
    try:
        middle = centre_line_of_map(grid, start)
    except ValueError as fault:
        raise DataFileFault(
            "no centre line of this map",
            where=file,
            expected=f"a closed track in a ROS map, or one of {', '.join(track_names())}",
            got="; ".join((str(fault), *grid.notes)),
            remedy="look at the map's image; or drive the track once, and tandem path record",
        ) from None
    facts: PathNotes = {"half_width_m": round(middle.half_width_m, 3)}
    if grid.notes:
        facts["notes"] = list(grid.notes)
    return middle.points_m, facts, grid
