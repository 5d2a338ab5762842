"""Parts of the report: a rare event, paired comparisons, and how to compute it all again."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path

from host_bridge.drive.lockstep.campaign.judging.analysis import WORST, Analysis
from host_bridge.drive.lockstep.campaign.judging.comparing import DIFFERENCES, Comparison
from host_bridge.drive.lockstep.campaign.judging.html import command_row, shown, table, table_row
from host_bridge.drive.lockstep.campaign.judging.intervals import Middle
from host_bridge.drive.lockstep.campaign.plan import Plan
from host_bridge.drive.lockstep.campaign.rare.estimate import RareEstimate
from host_bridge.drive.lockstep.campaign.spec import LINEAGE
from host_bridge.drive.lockstep.campaign.store import FILE

_MOST_CELLS = 40  # chosen: of the comparisons in cells, those with the smallest p values


def rare_sentence(plan: Plan, it: RareEstimate) -> str:
    """Return the estimate of a rare event, with its interval and what it took."""
    text = "By splitting it fails with a probability of "
    if it.low is None or it.high is None:
        text = "No replicate found the failure: what bounds it are the cases by chance"
    else:
        text += f"{it.share:.2g} ({it.low:.2g} to {it.high:.2g} at {plan.confidence:.0%})"
    text += f", from {it.replicates} replicates, {it.runs} runs and {it.virtual_s:.0f} s of driving"
    if it.cut:
        text += f"; {it.cut} of them came to the end of their runs, and are less exact"
    return f"{text}."


_METHOD = """\
Adaptive multilevel splitting (Brehier and others, Ann. Appl. Probab. 26, 2016): the branches that
came least near to the failure are killed and replaced by new branches of ones that came nearer, and
the shares that survive are multiplied; that is unbiased for every level. The estimate is the mean
of the independent replicates. Its interval is that times and over exp(w): w is the larger of the
normal quantile times the error that follows from the numbers killed, and of Student's times that of
the replicates among themselves. A run is one branch, driven to its end; what goes before it is not
driven again. Beside it are ordinary cases, each under a seed of its own."""


def rare_part(plan: Plan, found: Analysis, folder: Path) -> list[str]:
    """Return the part of a rare event: its estimate beside chance, and failures to look into."""
    it, settings = found.rare, plan.splitting
    if it is None or settings is None:
        return []
    shares = "not found" if it.low is None else f"{it.low:.3g} to {it.high:.3g}"
    rows = [
        table_row("splitting", f"{it.share:.3g}", shares, it.runs, f"{it.virtual_s:.0f}"),
        table_row(
            "chance",
            f"{found.overall.count} of {found.overall.total}",
            shown(found.overall) + f" (Wilson), at most {found.overall.most:.2%}",
            found.overall.total,
            f"{found.driven_s:.0f}",
        ),
    ]
    head = ("", "fails", f"interval at {plan.confidence:.0%}", "runs", "s of driving")
    text = f"A rare event, by the level {settings.level}: {it.replicates} replicates of "
    text += f"{settings.particles} branches; {it.extinct} did not find the failure"
    shown_ones = [
        command_row(
            f"tandem campaign show {folder} {row['case_id']}", row["why"], len(row["spec"][LINEAGE])
        )
        for row in it.failures[:WORST]
    ]
    parts = [table(text, head, rows), f"<p>{escape(_METHOD)}</p>"]
    if shown_ones:
        caption = "Branches that failed, each with the command that runs it again from power-up"
        parts.append(table(caption, ("why", "times split", ""), shown_ones))
    return parts


def comparison_part(plan: Plan, found: Analysis) -> list[str]:
    """Return the paired comparisons of all cells together, and of each cell apart."""
    if not found.comparisons:
        return []
    percent = f"{plan.confidence:.0%}"
    caption = f"Paired on common seeds: {plan.compare}. p by McNemar's exact test, and by Holm's "
    caption += f"correction; differences are medians of the second less the first ({percent}, by "
    parts = [_comparisons(f"{caption}order statistics)", (), found.comparisons)]
    if found.in_cells:
        first = sorted(found.in_cells, key=lambda it: (it.p_holm, it.result.p_value))
        seen = sum(it.p_holm <= 1.0 - plan.confidence for it in first)
        caption = f"The same in each cell: {seen} of {len(first)} differ at {percent} after Holm's "
        caption += f"correction; the first {min(len(first), _MOST_CELLS)}"
        names = [name for name in plan.factors if name != plan.compare]
        parts.append(_comparisons(caption, names, first[:_MOST_CELLS]))
    return parts


def _comparisons(caption: str, names: Sequence[str], found: Sequence[Comparison]) -> str:
    head = [*names, "first", "second", "pairs", "only first failed", "only second failed"]
    rows = [
        table_row(
            *(it.cell[name] for name in names),
            it.first,
            it.second,
            it.result.pairs,
            it.result.only_first,
            it.result.only_second,
            f"{it.result.p_value:.3g}",
            f"{it.p_holm:.3g}",
            *(_middle(it.differences[name]) for name in DIFFERENCES),
        )
        for it in found
    ]
    return table(caption, [*head, "p", "p (Holm)", *DIFFERENCES], rows)


def _middle(it: Middle | None) -> str:
    if it is None:
        return ""
    ends = "too few" if it.low is None or it.high is None else f"{it.low:+.3f} to {it.high:+.3f}"
    return f"{it.value:+.3f} ({ends}, of {it.count})"


def reproduce_part(plan: Plan, found: Analysis, folder: Path, code: str) -> str:
    """Return the commands, hashes and cost by which the result can be computed again."""
    rows = [
        command_row(f"tandem campaign run {folder}", "command"),
        table_row("seed", plan.seed),
        table_row("code", code),
        table_row(f"SHA-256 of {FILE}", plan.sha256),
        table_row("SHA-256 of all results", found.results_hash),
        table_row("core hours", f"{found.core_s / 3600:.2f}"),
        table_row("machine code", f"{found.compiled} of {sum(found.outcomes.values())} cases"),
        table_row("computed by", "; ".join(found.machines)),
    ]
    return "<h2>Reproduce</h2>" + table("Equal hashes of results are equal bits", ("", ""), rows)
