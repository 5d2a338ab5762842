"""The table and the picture."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from rich.console import Console
from rich.table import Table

from host_bridge.demo.peers import PEERS, Roll
from host_bridge.demo.stops import SPEED_MPS, Case
from host_bridge.demo.together import Drive

_COLOURS = ("#1b6ca8", "#e07a1f")
_PEER_STYLES = (":", "-.", "--")
_SHOWN_S = 7.0


def print_table(cases: list[Case], rolls: list[Roll]) -> None:
    """All stops, and what others' rules give on the same plant."""
    table = Table(title=f"From {SPEED_MPS:.0f} m/s to standstill, on one plant", title_style="bold")
    for name, side in (("what", "left"), ("metres", "right"), ("ms", "right"), ("then", "left")):
        table.add_column(name, justify=side)  # type: ignore[arg-type]
    for case in cases:
        stop = case.stop
        numbers = (f"{stop.metres:.2f}", f"{stop.seconds * 1000:.0f}") if stop else ("-", "-")
        table.add_row(case.name, *numbers, "; ".join(case.notes))
    table.add_section()
    for peer, roll in zip(PEERS, rolls, strict=True):
        numbers = (f"{roll.metres:.2f}", f"{roll.seconds * 1000:.0f}")
        table.add_row(f"others: {peer.name}", *numbers, peer.source)
    Console().print(table)


def draw(drive: Drive, cases: list[Case], rolls: list[Roll], path: Path) -> None:
    """Paths, speeds and stops, as one PNG."""
    figure, (paths, speeds, stops) = plt.subplots(1, 3, figsize=(17, 5.2))
    figure.suptitle("Tandem: one frame, two cars; and seven ways to stop", fontsize=14)
    _draw_paths(paths, drive)
    _draw_speeds(speeds, drive)
    _draw_stops(stops, cases, rolls)
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    plt.close(figure)


def _draw_paths(axes: Axes, drive: Drive) -> None:
    for (name, points), colour in zip(drive.paths.items(), _COLOURS, strict=True):
        start_x, start_y = points[0]
        xs = [x - start_x for x, _ in points]
        ys = [y - start_y for _, y in points]
        axes.plot(xs, ys, color=colour, label=name)
    axes.set_aspect("equal", adjustable="datalim")
    axes.set(title="Paths: the same claims, another car", xlabel="x, m", ylabel="y, m")
    axes.legend()
    axes.grid(alpha=0.3)


def _draw_speeds(axes: Axes, drive: Drive) -> None:
    for (name, points), colour in zip(drive.speeds.items(), _COLOURS, strict=True):
        axes.plot(*zip(*points, strict=True), color=colour, label=name)
    axes.set(title="Speeds: slalom, then skidpad", xlabel="s", ylabel="m/s")
    axes.legend()
    axes.grid(alpha=0.3)


def _draw_stops(axes: Axes, cases: list[Case], rolls: list[Roll]) -> None:
    for case in cases:
        if case.stop:
            axes.plot(*zip(*case.stop.speeds, strict=True), label=case.name, linewidth=1.6)
    for peer, roll, style in zip(PEERS, rolls, _PEER_STYLES, strict=True):
        shown = [point for point in roll.speeds if point[0] <= _SHOWN_S]
        name = f"others: {peer.name} ({roll.metres:.1f} m)"
        axes.plot(*zip(*shown, strict=True), style, color="grey", label=name)
    axes.set(title="Stops: speed since the fault", xlabel="s", ylabel="m/s", xlim=(0, _SHOWN_S))
    axes.legend(fontsize=8)
    axes.grid(alpha=0.3)
