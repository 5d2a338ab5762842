"""The figures of a path, as ``tandem path`` prints them: length, bends, speeds, where it begins."""

from __future__ import annotations

from collections.abc import Iterator
from math import degrees
from typing import Any

import numpy as np

from host_bridge.inputs.paths import Path


def path_figures(path: Path) -> dict[str, Any]:
    """Return the figures of a path by name; metres, m/s, and degrees of the start's yaw."""
    x, y = path.at(0.0)
    # Curvature over 0.15 m to either side: a bend shorter than that is noise of the points. A
    # straight path counts as a radius of 1 km.
    bends = np.abs(path.curvatures(np.arange(0.0, path.length_m, 0.05), 0.15))
    speeds = path.speeds_mps
    return {
        "length_m": round(path.length_m, 3),
        "is_loop": path.is_loop,
        "points": len(path.points_m) - path.is_loop,
        "tightest_m": round(1.0 / max(float(bends.max()), 1e-3), 3),
        "start": [round(it, 3) + 0.0 for it in (x, y, degrees(path.yaw_at(0.0)))],
        "speeds_mps": None if speeds is None else [float(speeds.min()), float(speeds.max())],
    }


def figure_lines(figures: dict[str, Any]) -> Iterator[str]:
    """Yield the lines that tell these figures, and those of an area's path if they are there."""
    kind = "a loop" if figures["is_loop"] else "with two ends"
    yield f"{figures['length_m']:.2f} m, {kind}, {figures['points']} points"
    yield f"tightest bend {figures['tightest_m']:.2f} m"
    if "half_width_m" in figures:
        yield f"walls {figures['half_width_m']:.2f} m to either side where it is narrowest"
    if figures["speeds_mps"]:
        low, high = figures["speeds_mps"]
        yield f"asks for {low:.2f} to {high:.2f} m/s"
    yield from figures.get("notes", ())
    if "lap_s" in figures:
        centre_s = figures["centre_lap_s"]
        yield f"planned lap {figures['lap_s']:.2f} s; along the centre line {centre_s:.2f} s"
    yield "begins at start=" + ",".join(f"{value:g}" for value in figures["start"])
    if "drive" in figures:
        yield f"drive it: tandem drive CAR {figures['drive']}"
