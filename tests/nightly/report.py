"""One report: what came of each part, what failed, and the command that runs just that again."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from tests.nightly import keeping
from tests.nightly.keeping import Verdict

NAME = "report"
_COUNTS = ("passed", "failed", "skipped", "not measured")


def written(verdicts: Sequence[Verdict], commit: str, folder: Path, is_of_studies: bool) -> str:
    """Write the report as Markdown and as JSON into the folder; returns the text."""
    text = _text(verdicts, commit, is_of_studies)
    (folder / f"{NAME}.md").write_text(text)
    rows = [asdict(verdict) for verdict in verdicts]
    whole = {"commit": commit, "hours": _hours(verdicts), "parts": rows}
    (folder / f"{NAME}.json").write_text(json.dumps(whole, indent=1))
    return text


def _hours(verdicts: Sequence[Verdict]) -> float:
    return round(sum(verdict.hours for verdict in verdicts), 3)


def _text(verdicts: Sequence[Verdict], commit: str, is_of_studies: bool) -> str:
    many = {
        name: sum(verdict.verdict == name for verdict in verdicts)
        for name in (keeping.PASSED, keeping.FAILED, keeping.NOT_MEASURED, keeping.NOT_FINISHED,
                     keeping.NOT_BEGUN)
    }  # fmt: skip
    said = ", ".join(f"{number} {name}" for name, number in many.items() if number)
    head = [
        f"# {'Studies' if is_of_studies else 'Nightly'} of {commit[:12]}", "",
        f"{len(verdicts)} parts in {_hours(verdicts):.2f} h: {said}", "",
        "| part | verdict | hours | passed | failed | skipped | not measured | |",
        "|---|---|---|---|---|---|---|---|",
    ]  # fmt: skip
    lines = [*head, *map(_row, verdicts)]
    for verdict in verdicts:
        if verdict.again or is_of_studies:
            lines += ["", f"## {verdict.part}: {verdict.verdict}", *_kept(verdict), ""]
            lines += [f"    {line}" for line in verdict.last]
            if verdict.again:
                lines += ["", "Again:", "", *(f"    {command}" for command in verdict.again)]
    return "\n".join(lines) + "\n"


def _kept(verdict: Verdict) -> list[str]:
    return ["", f"Of {verdict.commit[:12]}, {verdict.when}."] if verdict.when else []


def _row(verdict: Verdict) -> str:
    counts = " | ".join(str(verdict.counts.get(name, "")) for name in _COUNTS)
    return (
        f"| {verdict.part} | {verdict.verdict} | {verdict.hours:.2f} | {counts} | {verdict.note} |"
    )
