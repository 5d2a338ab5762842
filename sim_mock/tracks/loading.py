"""Loading of tracks by name, and of maps by file."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path
from typing import Any

from sim_mock.files.documents import read_toml
from sim_mock.tracks.centre_line import centre_line_points, track_of
from sim_mock.tracks.driving_area import DrivingArea, Floats
from sim_mock.tracks.ros_map import load_map

_FOLDER = Path(__file__).parent


def track_names() -> list[str]:
    """Return the names of the tracks that come with the virtual car."""
    return sorted(path.stem for path in _FOLDER.glob("*.toml"))


def load_track(name: str) -> DrivingArea:
    """Load a track. Raises ValueError with the names that there are."""
    return track_of(_table(name))


def load_centre_line(name: str) -> Floats:
    """Return the centre line of a track, closed: rows of x and y. Raises ValueError."""
    return centre_line_points(_table(name))


def _table(name: str) -> dict[str, Any]:
    if name not in track_names():
        near = get_close_matches(Path(name).stem, track_names(), 1)
        meant = f"did you mean {near[0]}?" if near else f"there is {', '.join(track_names())}"
        as_map = "; a map's file is given as map=" if Path(name).suffix else ""
        raise ValueError(f"no track {name!r}; {meant}{as_map}")
    return read_toml(_FOLDER / f"{name}.toml").values


def load_area(track: str, map_file: str) -> DrivingArea | None:
    """Load the track or the map, whichever is given; None without either.

    Raises ValueError if both are given, and for what is wrong with one.
    """
    if track and map_file:
        raise ValueError("a car is on a track or on a map, not on both")
    if track:
        return load_track(track)
    return load_map(Path(map_file)) if map_file else None
