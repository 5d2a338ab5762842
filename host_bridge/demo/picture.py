"""The demo's picture: two cars by the same bytes on the left, every stop in metres on the right."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.patches import Circle

from host_bridge.demo.cars.baselines import BASELINES, BaselineStop
from host_bridge.demo.cars.demo_run import SPEED_MPS
from host_bridge.demo.cars.together import DriveResult
from host_bridge.demo.judging.verdict import Verdict
from host_bridge.demo.stops import StopCase

CAR_A, TWIN_B, OTHERS, FAILED = "#1b6ca8", "#e07a1f", "#9a9a9a", "#c1272d"
_NAMES = (
    "car A, the real firmware in a process of its own",
    "twin B, 1 kg heavier, on a slippery floor",
)
_SHOWN_S = 7.0  # longer than the slowest of these stops
_SHOWN_M = 14.0  # a longer bar is cut off and labelled with its length

Patches = Sequence[tuple[float, float, float, float]]  # x, y, radius in m; times the friction


def draw(
    drive: DriveResult,
    cases: list[StopCase],
    baseline_stops: list[BaselineStop],
    patches: Patches,
    path: Path,
) -> None:
    """Draw paths, speeds and stops into one PNG."""
    # Points, for a picture that is shown at half of its size
    with mpl.rc_context({"font.size": 11, "axes.spines.top": False, "axes.spines.right": False}):
        figure = plt.figure(figsize=(16, 8.6), layout="constrained")
        grid = figure.add_gridspec(1, 2, width_ratios=(1, 1.1))
        left, right = (figure.add_subfigure(grid[i]) for i in range(2))
        figure.suptitle(
            f"Tandem: two cars driven by the same bytes, and {len(cases)} ways to stop them",
            fontsize=19,
            fontweight="bold",
        )
        paths, speeds = left.subplots(2, 1, height_ratios=(1.35, 1))
        _draw_paths(paths, drive, patches)
        _draw_speeds(speeds, cases, baseline_stops)
        _draw_stops(right.subplots(), cases, baseline_stops)
        figure.savefig(path, dpi=110)
        plt.close(figure)


def _draw_paths(axes: Axes, drive: DriveResult, patches: Patches) -> None:
    for x_m, y_m, radius_m, _ in patches:
        axes.add_patch(Circle((x_m, y_m), radius_m, color="#bfe3f2", linewidth=0, zorder=0))
        # inside of the patch, above its middle
        axes.text(x_m, y_m + 0.35 * radius_m, "slippery for B", ha="center", color="#4c8ba5")
    styles = ((CAR_A, "-"), (TWIN_B, "--"))
    for name, points, (colour, style) in zip(_NAMES, drive.paths.values(), styles, strict=True):
        start_x, start_y = points[0] if points else (0.0, 0.0)
        xs = [x - start_x for x, _ in points]
        ys = [y - start_y for _, y in points]
        axes.plot(xs, ys, style, color=colour, label=name, linewidth=2.4)
        axes.plot(xs[-1:], ys[-1:], "o", color=colour, markersize=8)
    axes.set_aspect("equal", adjustable="datalim")
    axes.set_title(_same_bytes(drive), loc="left", fontweight="bold")
    axes.set(xlabel="x, m, by each car's own odometry", ylabel="y, m")
    axes.legend(loc="lower left", frameon=False)
    axes.grid(alpha=0.25)


def _same_bytes(drive: DriveResult) -> str:
    """Return the title: what the cars report of the bytes, and how far apart they came."""
    crcs = " = ".join(drive.crcs.values()) if len(set(drive.crcs.values())) == 1 else "differ"
    claims = " and ".join(dict.fromkeys(str(count) for count in drive.counts.values()))
    apart = f"load and floor took B {drive.path_m:.1f} m away from A: "
    alarm = f"alarm after {drive.alarm_s:.1f} s" if drive.alarms else "no alarm"
    return f"{claims} claims each, CRC {crcs}\n{apart}{alarm}"


def _draw_speeds(axes: Axes, cases: list[StopCase], baseline_stops: list[BaselineStop]) -> None:
    for case in cases:
        if case.stop:
            axes.plot(*zip(*case.stop.speeds, strict=True), color=_colour(case), linewidth=1.4)
    for baseline, baseline_stop in zip(BASELINES, baseline_stops, strict=True):
        shown = [point for point in baseline_stop.speeds if point[0] <= _SHOWN_S]
        axes.plot(*zip(*shown, strict=True), color=OTHERS, linewidth=1.8)
        # a little behind the middle, where the lines are apart
        seconds, mps = shown[len(shown) * 11 // 20]
        is_first = baseline is BASELINES[0]  # below its line: the next one is above it
        across, along = ("right", "top") if is_first else ("left", "bottom")
        axes.text(seconds, mps, f" {baseline.name} ", color="#6b6b6b", ha=across, va=along)
    # Beside the line of Tandem's stops, and below the others
    axes.text(1.15, 0.25, "Tandem", color=CAR_A, fontweight="bold")
    axes.set_title("What the speed does after the fault", loc="left", fontweight="bold")
    axes.set(xlabel="s since the fault", ylabel="m/s")
    axes.set(xlim=(0, _SHOWN_S), ylim=(0, 1.2 * SPEED_MPS))  # a fifth of room above
    axes.grid(alpha=0.25)


def _draw_stops(axes: Axes, cases: list[StopCase], baseline_stops: list[BaselineStop]) -> None:
    """Draw the stops, the nearest first, those of others' rules last."""
    shown = sorted((case for case in cases if case.stop), key=_metres)
    rows = [(case.name, _metres(case), _colour(case), _remark(case)) for case in shown]
    rows += [
        (f"others: {baseline.name}", baseline_stop.metres, OTHERS, "")
        for baseline, baseline_stop in zip(BASELINES, baseline_stops, strict=True)
    ]
    for at, (_, metres, colour, remark) in enumerate(rows):
        is_cut = metres > _SHOWN_M
        axes.barh(at, min(metres, _SHOWN_M), color=colour, height=0.7)
        label = f"{metres:.1f} m{remark}"
        if is_cut:
            # inside of the bar's end
            axes.text(_SHOWN_M - 0.2, at, f"{label}  >>", ha="right", va="center", color="white")
        else:
            axes.text(metres + 0.15, at, label, va="center")  # beside the bar's end
    axes.set_yticks(range(len(rows)), [name for name, *_ in rows])
    axes.tick_params(axis="y", length=0)
    axes.invert_yaxis()
    title = f"Metres from {SPEED_MPS:.0f} m/s to standstill, one virtual F1TENTH with a VESC"
    axes.set_title(title, loc="right", fontweight="bold")
    axes.set(xlabel="m", xlim=(0, _SHOWN_M))
    axes.grid(alpha=0.25, axis="x")
    axes.set_axisbelow(True)


def _metres(case: StopCase) -> float:
    return case.stop.metres if case.stop else 0.0


def _colour(case: StopCase) -> str:
    return FAILED if case.verdict is Verdict.FAIL else CAR_A


def _remark(case: StopCase) -> str:
    words = {Verdict.FAIL: ", FAIL", Verdict.NOT_SHOWN: ", not shown: this machine was late"}
    return words.get(case.verdict, "")
