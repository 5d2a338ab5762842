"""Finds where a virtual car drives, by its URI, so that a log can draw its walls beside it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from host_bridge.core import Vehicle
from host_bridge.core.errors import TandemError
from host_bridge.link.transports.uri import Uri
from host_bridge.logs.foxglove_rows import ORIGIN, Place, start_in_map

_SCHEME = "sim"  # also of sim+process, lossy+sim


class CarPlace(NamedTuple):
    """The place where base_link began in the map, and the walls there: x1, y1, x2, y2 in m."""

    start: Place = ORIGIN
    walls: Sequence[Sequence[float]] = ()


def place_of(uri: str, vehicle: Vehicle | None) -> CarPlace:
    """Return the place of the car at this URI; the origin without walls where it says none.

    A URI whose track or start cannot be read is refused where the car is opened, and draws nothing.
    """
    if _SCHEME not in uri.partition("://")[0].split("+"):
        return CarPlace()
    # Here, since they bring numpy and the plant along, which no other car needs
    from sim_mock.tracks.loading import load_area
    from sim_mock.virtual_car.config import parse_start

    try:
        parsed = Uri.parse(uri)
        area = load_area(parsed.query.get("track", ""), parsed.query.get("map", ""))
        x_m, y_m, yaw_rad = parse_start(parsed.query.get("start", "0,0,0"))
    except (TandemError, ValueError, OSError):
        return CarPlace()
    centre = x_m, y_m, yaw_rad
    start = start_in_map(centre, vehicle) if vehicle else centre
    return CarPlace(start, area.walls.round(3).tolist() if area else ())
