"""The table and the picture."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.patches import Circle
from rich.console import Console
from rich.table import Table

from host_bridge.demo.peers import PEERS, Roll
from host_bridge.demo.scene import SPEED_MPS
from host_bridge.demo.stops import Case
from host_bridge.demo.together import Drive
from host_bridge.printable import styled

_COLOURS = ("#1b6ca8", "#e07a1f")
_PEER_STYLES = (":", "-.", "--")
_SHOWN_S = 7.0
_NAMES = ("car A", "twin B")

Patches = Sequence[tuple[float, float, float, float]]  # x, y, radius in m; times the friction


def print_table(cases: list[Case], rolls: list[Roll]) -> None:
    """All stops, and what others' rules give on the same plant."""
    table = Table(title=f"From {SPEED_MPS:.0f} m/s to standstill, on one plant", title_style="bold")
    table.add_column("what")
    for name in ("reacts\nafter ms", "stands\nafter ms", "metres"):
        table.add_column(name, justify="right")
    table.add_column("then")
    for case in cases:
        stop = case.stop
        numbers = _row(stop.reaction_s, stop.seconds, stop.metres) if stop else ("-", "-", "-")
        table.add_row(case.name, *numbers, "; ".join(case.notes))
    table.add_section()
    for peer, roll in zip(PEERS, rolls, strict=True):
        numbers = _row(peer.holds_s, roll.seconds, roll.metres)
        table.add_row(f"others: {peer.name}", *numbers, peer.source)
    Console(file=styled(sys.stdout)).print(table)


def _row(reaction_s: float, seconds: float, metres: float) -> tuple[str, str, str]:
    return (f"{reaction_s * 1000:.0f}", f"{seconds * 1000:.0f}", f"{metres:.2f}")


def draw(drive: Drive, cases: list[Case], rolls: list[Roll], patches: Patches, path: Path) -> None:
    """Paths, speeds and stops, as one PNG."""
    figure, (paths, speeds, stops) = plt.subplots(1, 3, figsize=(18, 5.2), width_ratios=(1, 1, 1.3))
    figure.suptitle(f"Tandem: one frame, two cars; and {len(cases)} ways to stop", fontsize=14)
    _draw_paths(paths, drive, patches)
    _draw_speeds(speeds, drive)
    _draw_stops(stops, cases, rolls)
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    plt.close(figure)


def _draw_paths(axes: Axes, drive: Drive, patches: Patches) -> None:
    for x_m, y_m, radius_m, _ in patches:
        axes.add_patch(Circle((x_m, y_m), radius_m, color="grey", alpha=0.15, linewidth=0))
    for name, points, colour in zip(_NAMES, drive.paths.values(), _COLOURS, strict=True):
        start_x, start_y = points[0] if points else (0.0, 0.0)
        xs = [x - start_x for x, _ in points]
        ys = [y - start_y for _, y in points]
        axes.plot(xs, ys, color=colour, label=name)
    axes.set_aspect("equal", adjustable="datalim")
    title = "Paths by odometry: the same claims, another car"
    axes.set(title=title, xlabel="x, m (grey: slippery for twin B)", ylabel="y, m")
    axes.legend()
    axes.grid(alpha=0.3)


def _draw_speeds(axes: Axes, drive: Drive) -> None:
    for name, points, colour in zip(_NAMES, drive.speeds.values(), _COLOURS, strict=True):
        axes.plot([s for s, _ in points], [mps for _, mps in points], color=colour, label=name)
    axes.set(title="Speeds: slalom, then skidpad", xlabel="time, s", ylabel="speed, m/s")
    axes.legend()
    axes.grid(alpha=0.3)


def _draw_stops(axes: Axes, cases: list[Case], rolls: list[Roll]) -> None:
    for case in cases:
        if case.stop:
            label = f"{case.name} ({case.stop.metres:.1f} m)"
            axes.plot(*zip(*case.stop.speeds, strict=True), label=label, linewidth=1.6)
    for peer, roll, style in zip(PEERS, rolls, _PEER_STYLES, strict=True):
        shown = [point for point in roll.speeds if point[0] <= _SHOWN_S]
        name = f"others: {peer.name} ({roll.metres:.1f} m)"
        axes.plot(*zip(*shown, strict=True), style, color="grey", label=name)
    axes.set(title="Stops, and how far", xlabel="time since the fault, s", ylabel="speed, m/s")
    axes.set(xlim=(0, _SHOWN_S), ylim=(0, 1.55 * SPEED_MPS))  # the legend is above the lines
    axes.legend(fontsize=8, ncols=2, loc="upper center")
    axes.grid(alpha=0.3)
