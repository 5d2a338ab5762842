"""``tandem vehicles --check``: checks whether a vehicle fits on a board, and what it uses of it."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict

from host_bridge.cli.output.columns import aligned
from host_bridge.cli.output.page_places import with_pages
from host_bridge.config import boards
from host_bridge.core import BudgetRow, WiringReport
from host_bridge.core.errors import VehicleFileFault
from host_bridge.sharing.services import Host


def check(args: argparse.Namespace, host: Host) -> int:
    """Print a report per board and vehicle.

    Return 5 if a combination that was asked for, or that is wired, is refused, else 0. Raises
    VehicleFileFault for a file that cannot be read.
    """
    reports = boards.check_all(args.board, args.name)
    if args.json:
        print(json.dumps([asdict(report) for report in reports]))
    else:
        print(with_pages("\n\n".join("\n".join(_shown(report)) for report in reports)))
    asked = bool(args.name and args.board)
    wrong = any(r.refusals and (r.is_wired or asked) for r in reports)
    return VehicleFileFault.exit_code if wrong else 0


def _shown(report: WiringReport) -> Iterator[str]:
    yield f"{report.vehicle} on {report.board} ({report.board_title}): {_verdict(report)}"
    yield from _budget(report)
    for refusal in report.refusals:
        text = f"refused: {refusal}" if report.is_wired else refusal
        yield from (f"  {line}" for line in text.splitlines())
    for text in report.lacks:
        yield f"  mind: {text}"


def _verdict(report: WiringReport) -> str:
    if report.is_wired:
        count = len(report.refusals)
        return f"{count} refused" if count else "the wiring is in order"
    return "not wired here" if report.fits else "does not fit"


def _budget(report: WiringReport) -> list[str]:
    if not report.budget:
        return []
    head = ("", "used", "there are", "" if report.is_wired else f"wired as on {report.wired_on}")
    return aligned([head, *map(_row, report.budget)])


def _row(row: BudgetRow) -> Sequence[str]:
    mark = "too many; " if row.used > row.available else ""
    return (row.what, str(row.used), str(row.available), f"{mark}{row.detail}".removesuffix("; "))
