"""The table of all stops, as text."""

from __future__ import annotations

import sys

from rich.console import Console
from rich.table import Table

from host_bridge.core.system.printable import styled
from host_bridge.demo.cars.baselines import BASELINES, BaselineStop
from host_bridge.demo.cars.demo_run import SPEED_MPS
from host_bridge.demo.judging.verdict import Verdict
from host_bridge.demo.stops import StopCase


def print_table(cases: list[StopCase], baseline_stops: list[BaselineStop]) -> None:
    """Print all stops, and what others' rules give on the same plant."""
    table = Table(title=f"From {SPEED_MPS:.0f} m/s to standstill, on one plant", title_style="bold")
    table.add_column("what")
    for name in ("reacts\nafter ms", "stands\nafter ms", "metres"):
        table.add_column(name, justify="right")
    table.add_column("then")
    for case in cases:
        stop = case.stop
        numbers = _row(stop.reaction_s, stop.seconds, stop.metres) if stop else ("-", "-", "-")
        table.add_row(case.name, *numbers, _then(case))
    table.add_section()
    for baseline, baseline_stop in zip(BASELINES, baseline_stops, strict=True):
        numbers = _row(baseline.holds_s, baseline_stop.seconds, baseline_stop.metres)
        table.add_row(f"others: {baseline.name}", *numbers, baseline.source)
    Console(file=styled(sys.stdout)).print(table)


def _then(case: StopCase) -> str:
    """Return what came afterwards; a failure, or that nothing was shown, comes first."""
    words = {Verdict.FAIL: ["FAIL"], Verdict.NOT_SHOWN: ["not shown"]}
    return "; ".join([*words.get(case.verdict, []), *case.notes])


def _row(reaction_s: float, seconds: float, metres: float) -> tuple[str, str, str]:
    return (f"{reaction_s * 1000:.0f}", f"{seconds * 1000:.0f}", f"{metres:.2f}")
