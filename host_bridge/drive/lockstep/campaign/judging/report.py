"""The report of a campaign: one HTML page that asks the network for nothing, and a LaTeX table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from host_bridge.drive.lockstep.campaign.judging.analysis import Analysis, Cell
from host_bridge.drive.lockstep.campaign.judging.intervals import Share
from host_bridge.drive.lockstep.campaign.judging.sensitivity import Index
from host_bridge.drive.lockstep.campaign.plan import Plan, varied_keys
from host_bridge.drive.lockstep.campaign.spec import CHANGES

# upper bound of a cell's share of failures, its class, and a mark for whoever sees no colours
_COLOURS = ((0.05, "good", "+"), (0.25, "fair", "o"), (1.0, "bad", "!"))
_STYLE = """
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
body { max-width: 70rem; margin: 2rem auto; padding: 0 1rem }
table { border-collapse: collapse; margin: 1rem 0 } caption { text-align: left; padding: .3rem 0 }
th, td { border: 1px solid #8888; padding: .25rem .6rem; text-align: left }
.good { background: #2a92 } .fair { background: #ca02 } .bad { background: #d332 }
code { overflow-wrap: anywhere }
"""


def html_of(plan: Plan, found: Analysis, folder: Path, code: str) -> str:
    """Return the page."""
    parts = [
        f"<h1>{escape(plan.title)}</h1>",
        f"<p>{escape(plan.note)}</p>" if plan.note else "",
        f"<p>{escape(summary(plan, found))}</p>",
        _cells_table(plan, found.cells),
        _impossible(plan, found),
        *_comparisons(plan, found),
        _worst(found, folder),
        _sampled(plan, found),
        *_indices(plan, found),
        _held(plan),
        f"<h2>Reproduce</h2><p><code>tandem campaign run {escape(str(folder))}</code>, "
        f"seed {plan.seed}, code {escape(code)}, {found.core_s / 3600:.2f} core hours, "
        f"{found.compiled} of {sum(found.outcomes.values())} cases as machine code.</p>",
    ]
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f"<title>{escape(plan.title)}</title><style>{_STYLE}</style></head>\n<body><main>\n"
        + "\n".join(filter(None, parts))
        + "\n</main></body></html>\n"
    )


def summary(plan: Plan, found: Analysis) -> str:
    """Return the result in sentences: failures with interval, and what is in no denominator."""
    it, percent = found.overall, f"{plan.confidence:.0%}"
    text = f"{it.count} of {it.total} judged cases failed ({shown(it)} by Wilson at {percent}); "
    text += f"at most {it.most:.1%} at {percent}, exact and one-sided."
    others = {name: n for name, n in found.outcomes.items() if name not in ("passed", "failed")}
    for name, count in sorted(others.items()):
        text += f" {count} {name.replace('_', ' ')}, in no denominator."
    return text + (f" {found.missing} cases are not run yet." if found.missing else "")


def shown(it: Share) -> str:
    """Return an interval in per cent; "nothing judged" without cases."""
    return f"{it.low:.1%} to {it.high:.1%}" if it.total else "nothing judged"


def _table(caption: str, head: Iterable[str], rows: Iterable[str]) -> str:
    heads = "".join(f'<th scope="col">{escape(each)}</th>' for each in head)
    return (
        f"<table><caption>{escape(caption)}</caption><thead><tr>{heads}</tr></thead><tbody>"
        + "\n".join(rows)
        + "</tbody></table>"
    )


def _cells_table(plan: Plan, cells: Sequence[Cell]) -> str:
    head = [*plan.factors, "failed", "interval (Wilson)", "at most"]
    head += ["median m", "median m to rest", "left out"]
    caption = "Cells, coloured by the upper bound of their share of failures (+ up to 5 %, o to 25)"
    return _table(caption, head, (_cell_row(plan, cell) for cell in cells))


def _cell_row(plan: Plan, cell: Cell) -> str:
    it = cell.failed
    kind, mark = next((kind, mark) for most, kind, mark in _COLOURS if it.high <= most)
    metres = ["" if it is None else f"{it:.2f}" for it in (cell.distance_m, cell.rest_m)]
    texts = [*(str(cell.levels[name]) for name in plan.factors), f"{mark} {it.count} / {it.total}"]
    texts += [shown(it), f"{it.most:.1%}", *metres, str(cell.left_out)]
    return f'<tr class="{kind}">' + "".join(f"<td>{escape(each)}</td>" for each in texts) + "</tr>"


def _impossible(plan: Plan, found: Analysis) -> str:
    rows = [
        _row(*(cell.levels[name] for name in plan.factors), cell.why)
        for cell in found.cells
        if cell.why
    ]
    return _table("Cells that no car can drive", (*plan.factors, "why"), rows) if rows else ""


def _comparisons(plan: Plan, found: Analysis) -> list[str]:
    if not found.comparisons:
        return []
    rows = [
        _row(
            it.first, it.second, it.result.pairs, it.result.only_first, it.result.only_second
        ).replace("</tr>", f"<td>{it.result.p_value:.3g}</td></tr>")
        for it in found.comparisons
    ]
    head = ("first", "second", "pairs", "only first failed", "only second failed", "p (McNemar)")
    return [_table(f"Paired on common seeds: {plan.compare}", head, rows)]


def _row(*values: Any) -> str:
    return "<tr>" + "".join(f"<td>{escape(str(value))}</td>" for value in values) + "</tr>"


def _worst(found: Analysis, folder: Path) -> str:
    if not found.worst:
        return ""
    rows = [
        f"<tr><td>{escape(row['why'])}</td><td>{escape(str(row['levels']))}</td>"
        f"<td><code>tandem campaign show {escape(str(folder))} {row['case_id']}</code></td></tr>"
        for row in found.worst
    ]
    return _table("The worst, each with the command that runs it again", ("why", "cell", ""), rows)


def _sampled(plan: Plan, found: Analysis) -> str:
    if not found.sampled:
        return ""
    rows = [
        _row(
            it.key,
            plan.uncertain[it.key].text,
            *("" if rho is None else f"{rho:+.2f}" for rho in (it.with_failure, it.with_distance)),
        )
        for it in found.sampled
    ]
    head = ("key", "distribution", "with failing", "with the distance")
    caption = f"Sampled ({plan.design}, {plan.repetitions}), and Spearman's rank correlations"
    return _table(caption, head, rows)


def _indices(plan: Plan, found: Analysis) -> list[str]:
    head = ("key", "alone", "", "with its interactions", "")
    return [
        _table(
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
    rows = [_row(key, held[key]) for key in held if key not in varied]
    return _table("Not varied", ("key", "value"), rows)


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
