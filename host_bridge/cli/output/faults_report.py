"""Formats the results of ``tandem faults``: lists, tables and the picture."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import JustifyMethod
from rich.markup import escape
from rich.table import Table

_SHOWN_FAILURES = 20  # lines: more of one cause tell nothing new, and --json has them all
_TO_THE_TENTH = 10.0  # at larger numbers hundredths are not shown
_COLUMNS: tuple[tuple[str, JustifyMethod], ...] = (
    ("case", "left"),
    ("outcome", "left"),
    ("drove ms", "right"),
    ("moved s", "right"),
    ("metres", "right"),
    ("held", "right"),
)
_COLOURS = ("#1b6ca8", "#e07a1f", "#3a7d44", "#8e44ad")
_WORDS = ((3600.0 * 1000, ">1000 h"), (3600.0, "{:.0f} h"), (60.0, "{:.0f} min"), (0.0, "{:.1f} s"))
_UNITS_S = {"{:.0f} h": 3600.0, "{:.0f} min": 60.0}


def case_list(cases: Sequence[Any]) -> str:
    """Return one line per case."""
    width = max(len(case.id) for case in cases)
    return "\n".join(
        f"{case.id:{width}}  {case.expects:16}  {case.title} ({case.source})" for case in cases
    )


def tables(cases: Sequence[Any], runs: Sequence[Any]) -> Iterator[Table]:
    """Yield a table per vehicle, at most 80 columns wide.

    It has the worst of each case's runs beside its limit, the farthest stop first.
    """
    for vehicle in sorted({run.vehicle for run in runs}):
        shown = Table(title=f"{vehicle}: worst/limit", title_style="bold", box=None)
        shown.padding = (0, 1, 0, 0)
        for name, justify in _COLUMNS:
            shown.add_column(name, justify=justify, no_wrap=True)
        rows = [(case, [run for run in runs if _is_of(run, case, vehicle)]) for case in cases]
        for case, own in sorted(rows, key=lambda row: -_farthest_m(row[1])):
            if own:
                shown.add_row(case.id, case.expects, *_numbers(own))
        yield shown


def _is_of(run: Any, case: Any, vehicle: str) -> bool:
    return bool(run.case == case.id and run.vehicle == vehicle)


def _farthest_m(own: Sequence[Any]) -> float:
    return max((run.distance_m for run in own if run.limit), default=-1.0)


def _numbers(own: Sequence[Any]) -> tuple[str, ...]:
    held = sum(bool(run.held) for run in own)
    verdict = f"[{'green' if held == len(own) else 'red'}]{held}/{len(own)}[/]"
    stops = [run for run in own if run.limit]
    if not stops:
        return "-", "-", "-", verdict
    reaction = max(stops, key=lambda run: run.reaction_s)
    slowest = max(stops, key=lambda run: run.stop_s / run.limit.stop_s)
    # a stop in place has no distance to be measured against
    farthest = max(stops, key=lambda run: run.distance_m / max(run.limit.distance_m, 0.001))
    return (
        f"{reaction.reaction_s * 1e3:.0f}/{reaction.limit.reaction_s * 1e3:.0f}",
        f"{_short(slowest.stop_s)}/{_short(slowest.limit.stop_s)}",
        f"{_short(farthest.distance_m)}/{_short(farthest.limit.distance_m)}",
        verdict,
    )


def _short(number: float) -> str:
    return f"{number:.2f}" if number < 10.0 else f"{number:.1f}"


def stops_tables(
    runs: Sequence[Any], words: Mapping[str, str], unaided: Mapping[str, str]
) -> Iterator[Table]:
    """Yield a table of stops per vehicle, and below it the text of ``unaided``; at most 80 columns.

    Each cause has its longest stop from its lower and from its higher speed, also as a multiple of
    v²/2μg, which is the distance that the floor allows four braked wheels; the farthest first. A
    car that has nothing to brake with "coasts".
    """
    for vehicle in sorted({run.vehicle for run in runs}):
        own = [run for run in runs if run.vehicle == vehicle]
        shown = Table(title=f"{vehicle}: stops", title_style="bold", box=None)
        shown.caption, shown.caption_justify = escape(unaided[vehicle]) or None, "left"
        shown.padding = (0, 1, 0, 0)
        shown.add_column("cause", no_wrap=True)
        for name in ("ms", "m/s", "goes, ×v²/2μg", "m/s", "goes, ×v²/2μg"):
            shown.add_column(name, justify="right", no_wrap=True)
        farthest = {case: _farthest_by_speed(own, case) for case in {run.case for run in own}}
        for case, pair in sorted(farthest.items(), key=lambda row: -row[1][-1].distance_m):
            slowest = max(run.reaction_s for run in pair)
            cells = [cell for run in pair for cell in _stop_cells(run)]
            shown.add_row(words[case], f"{slowest * 1e3:.0f}", *["-"] * (4 - len(cells)), *cells)
        yield shown


def _farthest_by_speed(runs: Sequence[Any], case: str) -> list[Any]:
    """Return the farthest run of one case from each speed: the usual one, if any, and the cap."""
    own = sorted((run for run in runs if run.case == case), key=lambda run: run.asked_mps)
    speeds = sorted({run.asked_mps for run in own})
    return [
        max((run for run in own if run.asked_mps == speed), key=lambda run: run.distance_m)
        for speed in speeds
    ]


def _stop_cells(run: Any) -> tuple[str, str]:
    # a car that stood has no distance to be measured against
    times = run.distance_m / max(run.friction_m, 1e-9)
    coasts = "coasts " if run.coasts else ""
    ratio = f"×{times:.1f}" if times < _TO_THE_TENTH else f"×{times:.0f}"
    return f"{run.speed_mps:.2f}", f"{coasts}{metres_text(run.distance_m)} {ratio}"


def metres_text(metres: float) -> str:
    """Format metres to three digits, as an odometer does."""
    digits = 2 if metres < _TO_THE_TENTH else 1 if metres < 10 * _TO_THE_TENTH else 0
    return f"{metres:.{digits}f} m"


def failures(runs: Sequence[Any]) -> Iterator[str]:
    """Yield each failed run with the seed that repeats it, and the count of all."""
    failed = [run for run in runs if not run.held]
    for run in failed[:_SHOWN_FAILURES]:
        yield f"{run.vehicle} {run.case}, seed {run.seed}: {'; '.join(run.wrong)}"
    if len(failed) > _SHOWN_FAILURES:
        yield f"and {len(failed) - _SHOWN_FAILURES} more"
    yield f"{len(runs) - len(failed)} of {len(runs)} runs held"


def spurious_table(rows: Sequence[Any]) -> Table:
    """Return the table of the mean time between spurious stops, by loss and by rate of claims."""
    rates = sorted({row.rate_hz for row in rows})
    title = "Computed: mean time between spurious stops, lease 120 ms"
    shown = Table("loss", "in bursts of", title=title, title_style="bold")
    for rate_hz in rates:
        shown.add_column(f"{rate_hz} Hz", justify="right")
    for burst_ms, share in dict.fromkeys((row.burst_ms, row.share) for row in rows):
        own = {r.rate_hz: r.seconds for r in rows if (r.burst_ms, r.share) == (burst_ms, share)}
        burst = f"{burst_ms:.0f} ms" if burst_ms else "single frames"
        shown.add_row(f"{share:.0%}", burst, *(_long(own[rate_hz]) for rate_hz in rates))
    return shown


def check_table(checks: Sequence[Any]) -> Table:
    """Return the table of the computed mean time beside the one measured with the car's program."""
    of = {f"{one.vehicle}, lease {one.lease_ms} ms" for one in checks}
    title = f"Checked: the complete program at high loss ({'; '.join(sorted(of))})"
    shown = Table("claims", "loss", "in bursts of", title=title, title_style="bold")
    for name in ("stops", "computed", "measured", "one sigma"):
        shown.add_column(name, justify="right")
    shown.add_column("verdict")
    for one in checks:
        times = (one.computed_s, one.measured_s, one.error_s)
        shown.add_row(
            f"{one.rate_hz} Hz",
            f"{one.share:.0%}",
            f"{one.burst_ms:.0f} ms" if one.burst_ms else "single frames",
            str(one.stops),
            *(f"{time_s:.2f} s" for time_s in times),
            "[green]held[/]" if one.held else "[red]failed[/]",
        )
    return shown


def _long(seconds: float) -> str:
    for least_s, words in _WORDS:
        if seconds >= least_s:
            return words.format(seconds / _UNITS_S.get(words, 1.0))
    return "-"


def draw_stops(cases: Sequence[Any], runs: Sequence[Any], path: Path) -> None:
    """Draw every stop as a dot, as a share of its limit in time and in distance."""
    import matplotlib as mpl  # takes a second to import, and only a picture needs it

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    # a stop in place has no bar
    stops = [run for run in runs if run.limit and run.limit.distance_m > 0.001]
    names = [case.id for case in cases if any(run.case == case.id for run in stops)]
    # Inches: 0.28 for each row of text of this size
    figure, panels = plt.subplots(1, 3, figsize=(16, 2.0 + 0.28 * len(names)), sharey=True)
    for axes, (title, measure) in zip(panels, _MEASURES.items(), strict=True):
        _draw_panel(axes, stops, names, measure)
        # The limit is 1: some room beside both ends
        axes.set(title=title, xlabel="share of the limit (red)", xlim=(-0.04, 1.15))
    panels[0].set_yticks(range(len(names)), names)
    # half a row of room above the first, and below the last
    panels[0].set_ylim(len(names) - 0.4, -0.6)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="upper left", ncols=4)
    figure.suptitle(f"Tandem: {len(stops)} stops, each beside its limit")
    figure.tight_layout(rect=(0.0, 0.0, 1.0, 0.995))  # room for the title above
    figure.savefig(path, dpi=110)
    plt.close(figure)


_MEASURES = {
    "time until nothing drives": lambda run: run.reaction_s / run.limit.reaction_s,
    "time until it stands": lambda run: run.stop_s / run.limit.stop_s,
    "distance until it stands": lambda run: run.distance_m / run.limit.distance_m,
}


def _draw_panel(axes: Any, stops: Sequence[Any], names: Sequence[str], measure: Any) -> None:
    vehicles = sorted({run.vehicle for run in stops})
    for i, vehicle in enumerate(vehicles):
        own = [run for run in stops if run.vehicle == vehicle]
        # rows are 1 apart: the vehicles of one stay together
        rows = [names.index(run.case) + 0.3 * (i - (len(vehicles) - 1) / 2) for run in own]
        colour = _COLOURS[i % len(_COLOURS)]
        axes.scatter([*map(measure, own)], rows, s=12, alpha=0.5, color=colour, label=vehicle)
    axes.axvline(1.0, color="red", linewidth=1)
    axes.grid(alpha=0.3)
