"""A replay as a picture: the paths with the band, speed and yaw rate, and the errors over time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from calibration.replay.replay import Replay, speed_and_yaw_rate
from calibration.simulation.poses import Poses

CAR, TWIN, UNTUNED = "#1b6ca8", "#e07a1f", "#8e8e8e"
BESIDE_S = 0.5  # standing time that is shown before and after the drive
MOVED_M = 0.02  # more than odometry's noise at rest: from then on it is a drive
HEADROOM = 1.6  # times the twin's errors and the band; the untuned model's leave the panel


def draw(shown: Replay, title: str, path: Path) -> None:
    """Write a PNG, or whatever format the name's ending says."""
    import matplotlib as mpl  # imported here, as it takes a second and only pictures need it

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, panels = plt.subplot_mosaic(
        [["path", "speed", "position"], ["path", "rate", "yaw"]],
        figsize=(16, 6.8),
        width_ratios=[1.15, 1, 1],
        layout="constrained",
    )
    _draw_paths(panels["path"], shown)
    _draw_motion(panels["speed"], panels["rate"], shown)
    _draw_errors(panels["position"], panels["yaw"], shown)
    begin_s, end_s = _driven_s(shown)
    for name in ("speed", "rate", "position", "yaw"):
        panels[name].set_xlim(begin_s, end_s)
        panels[name].grid(alpha=0.3)
        panels[name].axvline(shown.run.commands.t_s[0], color="black", linewidth=1, linestyle=":")
    panels["rate"].set_xlabel("time, s")
    panels["yaw"].set_xlabel("time, s")
    figure.suptitle(title)
    figure.legend(*panels["path"].get_legend_handles_labels(), loc="outside lower left", ncols=5)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def _driven_s(shown: Replay) -> tuple[float, float]:
    """Return from when to when the car or a model moves, plus ``BESIDE_S`` on either side."""
    t_s = shown.run.odometry.t_s
    moving = np.zeros(len(t_s), bool)
    for poses in (shown.car, shown.twin):
        from_start = np.hypot(poses.x_m - poses.x_m[0], poses.y_m - poses.y_m[0])
        from_end = np.hypot(poses.x_m - poses.x_m[-1], poses.y_m - poses.y_m[-1])
        moving |= (from_start > MOVED_M) & (from_end > MOVED_M)
    if not moving.any():
        return float(t_s[0]), float(t_s[-1])
    return float(t_s[moving][0]) - BESIDE_S, float(t_s[moving][-1]) + BESIDE_S


def _draw_paths(axes: Any, shown: Replay) -> None:
    o = shown.run.odometry
    if shown.band:
        _draw_band(axes, shown, shown.band.position_m)
    for poses, colour, label in _models(shown):
        axes.plot(poses.x_m, poses.y_m, color=colour, label=label)
        axes.plot(poses.x_m[-1], poses.y_m[-1], "s", color=colour, markersize=6)
    axes.plot(o.x_m, o.y_m, "o", markersize=3, color=CAR, label="the car (odometry, each sample)")
    axes.plot(o.x_m[-1], o.y_m[-1], "s", color=CAR, markersize=6)
    axes.set(xlabel="x, m", ylabel="y, m", title="paths; squares where they end", aspect="equal")
    axes.grid(alpha=0.3)


def _draw_band(axes: Any, shown: Replay, radius_m: Any) -> None:
    """Draw a circle around the twin at each sample: their union is where the car would be seen."""
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Circle

    places = zip(
        shown.twin.x_m[shown.first_sample :], shown.twin.y_m[shown.first_sample :], strict=True
    )
    circles = [Circle(place, r) for place, r in zip(places, radius_m, strict=True)]
    axes.add_collection(PatchCollection(circles, facecolor="#fbe3cd", edgecolor="none"))
    axes.fill([], [], color="#fbe3cd", label="band: 90 of 100 runs, all the way")


def _draw_motion(speed: Any, rate: Any, shown: Replay) -> None:
    t_s = shown.run.odometry.t_s
    car = speed_and_yaw_rate(t_s, shown.car)
    for axes, seen in zip((speed, rate), car, strict=True):
        axes.plot(t_s, seen, "o", markersize=3, color=CAR)
    for poses, colour, _ in _models(shown):
        for axes, made in zip((speed, rate), speed_and_yaw_rate(t_s, poses), strict=True):
            axes.plot(t_s, made, color=colour)
    speed.set(ylabel="speed, m/s", title="motion, from pose to pose")
    rate.set(ylabel="yaw rate, rad/s")


def _draw_errors(position: Any, yaw: Any, shown: Replay) -> None:
    t_s, errors = shown.run.odometry.t_s, shown.errors(shown.twin)
    for poses, colour, _ in reversed(_models(shown)):
        one = shown.errors(poses)
        position.plot(t_s, one.position_m, color=colour)
        yaw.plot(t_s, one.yaw_rad, color=colour)
    most_m, most_rad = errors.position_m.max(), np.abs(errors.yaw_rad).max()
    if shown.band:
        since_s = t_s[shown.first_sample :]
        position.fill_between(since_s, 0.0, shown.band.position_m, color="#fbe3cd", zorder=0)
        yaw.fill_between(
            since_s, -shown.band.yaw_rad, shown.band.yaw_rad, color="#fbe3cd", zorder=0
        )
        _mark_extrapolated(position, yaw, since_s, shown.band.is_extrapolated)
        most_m = max(most_m, shown.band.position_m.max())
        most_rad = max(most_rad, shown.band.yaw_rad.max())
    # m and rad: an empty panel has some height
    position.set(ylabel="position error, m", ylim=(0.0, HEADROOM * most_m + 1e-6))
    yaw.set(ylabel="yaw error, rad", ylim=(-HEADROOM * most_rad - 1e-6, HEADROOM * most_rad + 1e-6))
    position.set_title("errors; the untuned model leaves the panel")


def _mark_extrapolated(position: Any, yaw: Any, t_s: Any, is_extrapolated: Any) -> None:
    if not is_extrapolated.any():
        return
    for axes in (position, yaw):
        axes.axvspan(
            t_s[is_extrapolated][0], t_s[-1], facecolor="none", edgecolor="#e8cdb0", hatch="/"
        )
    position.annotate(
        "hatched: steering that no fitted run had",
        (0.02, 0.93),  # of the panel: its upper left corner
        xycoords="axes fraction",
        fontsize=9,
    )


def _models(shown: Replay) -> tuple[tuple[Poses, str, str], ...]:
    return (
        (shown.twin, TWIN, "the twin"),
        (shown.untuned, UNTUNED, "untuned: kinematic, published numbers"),
    )
