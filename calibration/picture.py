"""A replay as a picture: the paths, and the errors over time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from calibration.replay import Replay
from calibration.twin import Poses

CAR, TWIN, UNTUNED = "#1b6ca8", "#e07a1f", "#8e8e8e"


def draw(shown: Replay, title: str, path: Path) -> None:
    """Writes a PNG (or what else the name's ending says)."""
    import matplotlib as mpl  # a second, which only a picture needs

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, panels = plt.subplot_mosaic(
        [["path", "position"], ["path", "yaw"]],
        figsize=(13, 6.5),
        width_ratios=[1.1, 1],
        layout="constrained",
    )
    _draw_paths(panels["path"], shown)
    _draw_errors(panels["position"], panels["yaw"], shown)
    figure.suptitle(title)
    figure.legend(*panels["path"].get_legend_handles_labels(), loc="outside lower left", ncols=3)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def _draw_paths(axes: Any, shown: Replay) -> None:
    o = shown.run.odometry
    axes.plot(o.x_m, o.y_m, "o", markersize=3, color=CAR, label="the car (odometry)")
    for poses, colour, label in _models(shown):
        axes.plot(poses.x_m, poses.y_m, color=colour, label=label)
        axes.plot(poses.x_m[-1], poses.y_m[-1], "s", color=colour, markersize=6)
    axes.plot(o.x_m[-1], o.y_m[-1], "s", color=CAR, markersize=6)
    axes.set(xlabel="x, m", ylabel="y, m", title="paths; squares where they end", aspect="equal")
    axes.grid(alpha=0.3)


def _draw_errors(position: Any, yaw: Any, shown: Replay) -> None:
    t_s = shown.run.odometry.t_s
    for poses, colour, label in _models(shown):
        errors = shown.errors(poses)
        position.semilogy(t_s, np.maximum(errors.position_m, 1e-3), color=colour, label=label)
        yaw.semilogy(t_s, np.maximum(np.abs(errors.yaw_rad), 1e-3), color=colour)
    for axes, name in ((position, "position error, m"), (yaw, "yaw error, rad")):
        axes.axvline(shown.run.commands.t_s[0], color="black", linewidth=1, linestyle=":")
        axes.set(ylabel=name)
        axes.grid(alpha=0.3, which="both")
    position.set_title("dotted: the first command; below 1e-3 drawn as 1e-3")
    yaw.set_xlabel("time, s")


def _models(shown: Replay) -> tuple[tuple[Poses, str, str], ...]:
    return (
        (shown.twin, TWIN, "the twin"),
        (shown.untuned, UNTUNED, "untuned: kinematic, published numbers"),
    )
