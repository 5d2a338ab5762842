"""The course of a campaign: computes what is missing, tells of it, and writes the report."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from host_bridge.core import Input
from host_bridge.core.errors import DataFileFault, TandemError, UsageFault
from host_bridge.drive.lockstep.campaign.judging.analysis import Analysis, analyse
from host_bridge.drive.lockstep.campaign.judging.progress import Progress, Row
from host_bridge.drive.lockstep.campaign.judging.report import html_of, latex_of
from host_bridge.drive.lockstep.campaign.plan import Plan, read_plan
from host_bridge.drive.lockstep.campaign.runners.clusters import read_place
from host_bridge.drive.lockstep.campaign.runners.dask_runner import DaskRunner
from host_bridge.drive.lockstep.campaign.runners.keeping import keep_logs
from host_bridge.drive.lockstep.campaign.runners.processes import CaseRunner, head_of, refuse_impure
from host_bridge.drive.lockstep.campaign.spec import (
    CHANGES,
    Spec,
    canonical,
    case_id,
    code_hash,
    is_impure,
)
from host_bridge.drive.lockstep.campaign.store import (
    FILE,
    RowWriter,
    locked,
    no_campaign,
    read_rows,
)
from host_bridge.drive.lockstep.car import VehicleFiles

REPORT, TABLE = "report.html", "table.tex"
HERE = "processes"


def open_plan(folder: Path) -> Plan:
    """Return the plan of a campaign's folder. Raises errors.TandemError."""
    if not (folder / FILE).is_file():
        raise no_campaign(folder)
    return read_plan(folder / FILE)


def _impossible(plan: Plan, files: VehicleFiles) -> dict[str, str]:
    """Return why no car can drive a cell, by the cell's levels, for cells that none can.

    Its vehicle is refused, or its speed is above what the vehicle may do there. Raises
    errors.TandemError for the first one of them unless the plan lists them.
    """
    found: dict[str, str] = {}
    told: dict[str, str] = {}
    samples = plan.samples() if plan.uncertain else [{}]
    for cell in plan.cells():
        for sample in samples:
            values = plan.values({**cell, **sample})
            key = canonical({name: values[name] for name in ("vehicle", "speed_mps", CHANGES)})
            if key not in told:
                told[key] = _why_not(values, files, plan.lists_impossible)
            if told[key]:
                found[canonical(cell)] = told[key]
    return found


def _why_not(values: Mapping[str, Any], files: VehicleFiles, is_listed: bool) -> str:
    """Return why no car can drive so; "" if one can. Raises errors.TandemError unless listed."""
    try:
        vehicle = files.load(values["vehicle"], values[CHANGES] or None)
    except TandemError as error:
        if not is_listed:
            raise
        return f"no such car: {error}"
    caps = [source.speed_cap_mps for source in vehicle.sources if source.name == Input.source]
    most_mps = min([*caps, vehicle.speed_max_mps, vehicle.profile_caps_mps[vehicle.profile]])
    if is_listed and values["speed_mps"] > most_mps:
        return f"{values['speed_mps']:g} m/s: at most {most_mps:g} m/s with these leases and caps"
    return ""


def run_campaign(
    folder: Path,
    files: VehicleFiles,
    workers: int | None,
    tell: Callable[[Progress], None],
    on: str = HERE,
    *,
    is_all_twice: bool = False,
) -> bool:
    """Compute the cases that have no row yet; return False if it was interrupted.

    ``on`` says where: case processes of this machine, or a cluster of ``runners/clusters.py``.
    ``tell`` is called once a second. Ctrl-C lets the cases in hand end. Of functions some cases run
    twice, with ``is_all_twice`` all of everything; a difference ends it. Raises errors.TandemError.
    """
    place = None if on == HERE else read_place(on)
    plan, code = open_plan(folder), code_hash()
    impossible = _impossible(plan, files)
    with locked(folder):
        there = read_rows(folder, code)
        wanted = {id_ for id_, row in there.items() if row["outcome"] != "not_measured"}
        cases = [case for case in plan.cases() if case_id(case.spec) not in wanted]
        refused = [case for case in cases if canonical(case.levels) in impossible]
        cases = [case for case in cases if canonical(case.levels) not in impossible]
        progress = Progress(plan, _of_plan(plan, {id_: there[id_] for id_ in wanted}))
        count = workers or os.cpu_count() or 1
        if any(is_impure(plan.values(cell)) for cell in plan.cells()):
            refuse_many_nodes(workers, place is not None)
            count = 1
        runner: CaseRunner | DaskRunner = (
            CaseRunner(cases, code, count, plan.wall_s, is_all_twice=is_all_twice)
            if place is None
            else DaskRunner(
                cases, code, count, plan.wall_s, place, folder, is_all_twice=is_all_twice
            )
        )
        known = [
            {
                **head_of(case, code),
                "outcome": "refused",
                "why": impossible[canonical(case.levels)],
            }
            for case in refused
        ]
        _compute(folder, runner, progress, tell, known)
        is_whole = not _missing(folder, plan, code)
        try:
            if is_whole:
                keep_logs(folder, rows_of(folder, plan, code), plan.keep, files)
        finally:
            write_report(folder, plan)
    return is_whole


def refuse_many_nodes(workers: int | None, is_elsewhere: bool) -> None:
    """Raise errors.UsageFault where one ROS node would drive several cars at once."""
    if is_elsewhere or (workers or 1) > 1:
        raise UsageFault(
            "a ROS node drives one case at a time, on this machine",
            expected="--workers 1, and no --on",
            got="--on" if is_elsewhere else f"--workers {workers}",
        )


def _compute(
    folder: Path,
    runner: CaseRunner | DaskRunner,
    progress: Progress,
    tell: Callable[[Progress], None],
    known: Sequence[dict[str, Any]],
) -> None:
    """Write the rows that are known without driving, then those of the runner."""
    writer = RowWriter(folder)
    told_s = time.monotonic()

    def put(row: dict[str, Any]) -> None:
        refuse_impure(row)
        writer.write(row)
        progress.add(row)

    def each_second() -> None:
        nonlocal told_s
        if time.monotonic() - told_s >= 1.0:
            told_s = time.monotonic()
            tell(progress)

    try:
        for row in known:
            put(row)
        with _interrupts_stop(runner):
            runner.run(put, each_second)
    except OSError as error:
        raise DataFileFault.unwritable("the campaign's rows", folder, error) from None
    finally:
        writer.close()
    tell(progress)


@contextmanager
def _interrupts_stop(runner: CaseRunner | DaskRunner) -> Iterator[None]:
    """Let the first Ctrl-C begin no further case; a second one is an ordinary interrupt."""

    def stop(number: int, frame: object) -> None:
        runner.stop.set()
        signal.signal(signal.SIGINT, before)

    before = signal.signal(signal.SIGINT, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _of_plan(plan: Plan, rows: Mapping[str, Any]) -> dict[str, Any]:
    """Return the rows of the plan's own cases: its file may have had others before."""
    ids = (case_id(case.spec) for case in plan.cases())
    return {id_: rows[id_] for id_ in ids if id_ in rows}


def _missing(folder: Path, plan: Plan, code: str) -> int:
    return plan.count() - len(_of_plan(plan, read_rows(folder, code)))


def newest_code(folder: Path) -> str:
    """Return the code of the last row, or this program's where there is none."""
    rows = list(read_rows(folder).values())
    return str(rows[-1]["code"]) if rows else code_hash()


def rows_of(folder: Path, plan: Plan, code: str) -> list[dict[str, Any]]:
    """Return what is there of the plan's cases, computed by one state of the code."""
    return list(_of_plan(plan, read_rows(folder, code)).values())


def analysis_of(folder: Path, plan: Plan, code: str) -> Analysis:
    """Judge what is there, computed by one state of the code."""
    return analyse(plan, rows_of(folder, plan, code))


def write_report(folder: Path, plan: Plan) -> Analysis:
    """Write the page and the table of the plan's cases by the newest code beside the rows.

    Returns what they were made of. Raises errors.DataFileFault.
    """
    code = newest_code(folder)
    found = analysis_of(folder, plan, code)
    try:
        (folder / REPORT).write_text(html_of(plan, found, folder, code), encoding="utf-8")
        (folder / TABLE).write_text(latex_of(plan, found, code), encoding="utf-8")
    except OSError as error:
        raise DataFileFault.unwritable("the report", folder, error) from None
    return found


def spec_named(folder: Path, plan: Plan, text: str) -> tuple[Spec, Row | None]:
    """Return the spec whose id begins so, and its row if it has been computed.

    Branches that failed in a replicate are found, too. Raises errors.UsageFault.
    """
    rows = read_rows(folder)
    specs = {case_id(case.spec): case.spec for case in plan.cases()}
    branches = {
        branch["case_id"]: {**branch, "code": row["code"]}
        for row in rows.values()
        for branch in row.get("branches", ())
    }
    specs.update((id_, branch["spec"]) for id_, branch in branches.items())
    found = [id_ for id_ in specs if id_.startswith(text)]
    if len(found) != 1:
        raise UsageFault(
            "no case of this campaign" if not found else "more than one case begins so",
            expected="the id of one case, as the report has it",
            got=text,
        )
    return specs[found[0]], rows.get(found[0], branches.get(found[0]))
