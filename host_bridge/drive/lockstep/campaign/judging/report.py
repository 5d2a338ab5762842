"""The report of a campaign: one HTML page that asks the network for nothing, and a LaTeX table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from host_bridge.drive.lockstep.campaign.judging.analysis import JUDGED, Analysis, Cell
from host_bridge.drive.lockstep.campaign.judging.html import (
    STYLE,
    command_row,
    shown,
    table,
    table_row,
)
from host_bridge.drive.lockstep.campaign.judging.parts import (
    comparison_part,
    rare_part,
    rare_sentence,
    reproduce_part,
)
from host_bridge.drive.lockstep.campaign.judging.sensitivity import Index
from host_bridge.drive.lockstep.campaign.plan import Plan, varied_keys
from host_bridge.drive.lockstep.campaign.rare.splitting import ESTIMATED
from host_bridge.drive.lockstep.campaign.runners.keeping import log_of
from host_bridge.drive.lockstep.campaign.spec import CHANGES

# upper bound of a cell's share of failures, its class, and a mark for whoever sees no colours
_COLOURS = ((0.05, "good", "+"), (0.25, "fair", "o"), (1.0, "bad", "!"))


def html_of(plan: Plan, found: Analysis, folder: Path, code: str) -> str:
    """Return the page."""
    parts = [
        f"<h1>{escape(plan.title)}</h1>",
        f"<p>{escape(plan.note)}</p>" if plan.note else "",
        f"<p>{escape(summary(plan, found))}</p>",
        _cells_table(plan, found.cells),
        *rare_part(plan, found, folder),
        _impossible(plan, found),
        *comparison_part(plan, found),
        _worst(found, folder),
        _sampled(plan, found),
        *_indices(plan, found),
        _held(plan),
        reproduce_part(plan, found, folder, code),
    ]
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f"<title>{escape(plan.title)}</title><style>{STYLE}</style></head>\n<body><main>\n"
        + "\n".join(filter(None, parts))
        + "\n</main></body></html>\n"
    )


def summary(plan: Plan, found: Analysis) -> str:
    """Return the result in sentences: failures with interval, and what is in no denominator."""
    it, percent = found.overall, f"{plan.confidence:.0%}"
    text = f"{it.count} of {it.total} judged cases failed ({shown(it)} by Wilson at {percent}); "
    text += f"at most {it.most:.1%} at {percent}, exact and one-sided."
    if found.rare:
        text = f"{rare_sentence(plan, found.rare)} By chance: {text}"
    in_text = (*JUDGED, ESTIMATED)
    others = {name: n for name, n in found.outcomes.items() if name not in in_text}
    for name, count in sorted(others.items()):
        text += f" {count} {name.replace('_', ' ')}, in no denominator."
    if found.impure:
        text += (
            f" {found.impure} cases were driven by a ROS node in the time of the world: impure, "
        )
        text += "and run again they have other bits."
    return text + (f" {found.missing} cases are not run yet." if found.missing else "")


def _cells_table(plan: Plan, cells: Sequence[Cell]) -> str:
    head = [*plan.factors, "failed", "interval (Wilson)", "at most"]
    head += ["median m", "median m to rest", "left out"]
    caption = "Cells, coloured by the upper bound of their share of failures (+ up to 5 %, o to 25)"
    return table(caption, head, (_cell_row(plan, cell) for cell in cells))


def _cell_row(plan: Plan, cell: Cell) -> str:
    it = cell.failed
    kind, mark = next((kind, mark) for most, kind, mark in _COLOURS if it.high <= most)
    metres = ["" if it is None else f"{it:.2f}" for it in (cell.distance_m, cell.rest_m)]
    texts = [*(str(cell.levels[name]) for name in plan.factors), f"{mark} {it.count} / {it.total}"]
    texts += [shown(it), f"{it.most:.1%}", *metres, str(cell.left_out)]
    return f'<tr class="{kind}">' + "".join(f"<td>{escape(each)}</td>" for each in texts) + "</tr>"


def _impossible(plan: Plan, found: Analysis) -> str:
    rows = [
        table_row(*(cell.levels[name] for name in plan.factors), cell.why)
        for cell in found.cells
        if cell.why
    ]
    return table("Cells that no car can drive", (*plan.factors, "why"), rows) if rows else ""


def _worst(found: Analysis, folder: Path) -> str:
    if not found.worst:
        return ""
    rows = [
        command_row(
            f"tandem campaign show {folder} {row['case_id']}", row["why"], row["levels"]
        ).replace("</tr>", f"<td>{_log_link(folder, row['case_id'])}</td></tr>")
        for row in found.worst
    ]
    caption = "The worst, each with the command that runs it again (--station: and shows its drive)"
    return table(caption, ("why", "cell", "", "log"), rows)


def _log_link(folder: Path, case_id: str) -> str:
    log = log_of(folder, case_id)
    return f'<a href="{log.relative_to(folder)}">{log.name}</a>' if log.exists() else ""


def _sampled(plan: Plan, found: Analysis) -> str:
    if not found.sampled:
        return ""
    rows = [
        table_row(
            it.key,
            plan.uncertain[it.key].text,
            *("" if rho is None else f"{rho:+.2f}" for rho in (it.with_failure, it.with_distance)),
        )
        for it in found.sampled
    ]
    head = ("key", "distribution", "with failing", "with the distance")
    caption = f"Sampled ({plan.design}, {plan.repetitions}), and Spearman's rank correlations"
    return table(caption, head, rows)


def _indices(plan: Plan, found: Analysis) -> list[str]:
    head = ("key", "alone", "", "with its interactions", "")
    return [
        table(
            f"Sobol indices of {it.figure}: shares of its variance, with bootstrap intervals at "
            f"{plan.confidence:.0%}, from {it.sets} sets of runs; what no key explains is chance",
            head,
            (_row_of_indices(key, *pair) for key, pair in it.indices.items()),
        )
        for it in found.indices
    ]


def _row_of_indices(key: str, *indices: Index) -> str:
    cells = "".join(
        f"<td>{it.value:.2f} ({it.low:.2f} to {it.high:.2f})</td>"
        f'<td><meter min="0" max="1" value="{it.value:.3f}">{it.value:.0%}</meter></td>'
        for it in indices
    )
    return f"<tr><td>{escape(key)}</td>{cells}</tr>"


def _held(plan: Plan) -> str:
    held: Mapping[str, Any] = {**plan.case, **plan.case[CHANGES]}
    varied = {*varied_keys(plan), *plan.uncertain, CHANGES}
    rows = [table_row(key, held[key]) for key in held if key not in varied]
    return table("Not varied", ("key", "value"), rows)


_TEX = {"\\": r"\textbackslash{}", **{c: f"\\{c}" for c in "&%$#_{}"}, "~": r"\~{}", "^": r"\^{}"}


def _tex(text: object) -> str:
    return "".join(_TEX.get(letter, letter) for letter in str(text))


def latex_of(plan: Plan, found: Analysis, code: str) -> str:
    """Return a table in LaTeX (package booktabs)."""
    heads = " & ".join([*(_tex(name) for name in plan.factors), "failed", "interval"])
    lines = [r"\begin{table}", r"\centering", rf"\begin{{tabular}}{{{'l' * len(plan.factors)}rr}}"]
    lines += [r"\toprule", rf"{heads} \\", r"\midrule"]
    for cell in found.cells:
        levels = [_tex(cell.levels[name]) for name in plan.factors]
        it = cell.failed
        texts = [*levels, f"${it.count}/{it.total}$", _tex(shown(it))]
        lines.append(" & ".join(texts) + r" \\")
    caption = f"{plan.title} Wilson intervals at {plan.confidence:.0%}, code {code}."
    lines += [r"\bottomrule", r"\end{tabular}", rf"\caption{{{_tex(caption)}}}", r"\end{table}"]
    return "\n".join(lines) + "\n"
