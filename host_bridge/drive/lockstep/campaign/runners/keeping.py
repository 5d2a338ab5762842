"""The logs that a campaign keeps: whole drives of its failures, and of a sample of the others.

A case is decided by its spec, so it is driven again for its log, and has to end as its row says.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from host_bridge.core.errors import DataFileFault, NotHeldFault
from host_bridge.core.files import Key, choice, integer, number
from host_bridge.drive.lockstep.campaign.case import CaseInHand, run_case
from host_bridge.drive.lockstep.campaign.spec import Spec, calls_code, described
from host_bridge.drive.lockstep.car import VehicleFiles
from host_bridge.logs.recorder import Recorder
from host_bridge.sharing.owner.recording import new_recorder

LOGS = "logs"  # the folder in a campaign's folder
NO_LOGS, FAILURES, ALL_LOGS = "none", "failures", "all"
KEEP: tuple[Key, ...] = (
    choice("logs", (NO_LOGS, FAILURES, ALL_LOGS), default=FAILURES),
    number("sample", 0.0, 1.0, default=0.01, meaning="share of the others, chosen by their hash"),
    described(integer("most", 0, 100_000, default=50), "logs, those of failures first"),
)
_BASE, _IDS = 16, 16.0**16  # of a case's id: 16 hexadecimal digits
_PART = ".part.mcap"
Row = Mapping[str, Any]


@dataclass(frozen=True)
class Kept:
    """The cases whose logs are kept, in order of their rows, and how many had no room."""

    rows: tuple[Row, ...]
    left_out: int


def chosen(rows: Sequence[Row], keep: Mapping[str, Any]) -> Kept:
    """Return the rows whose logs ``[keep]`` asks for."""
    if keep["logs"] == NO_LOGS:
        return Kept((), 0)
    driven = [
        row for row in rows if row["outcome"] in ("passed", "failed") and row.get("is_pure", True)
    ]
    failed = [row for row in driven if row["outcome"] == "failed"]
    others = [
        row
        for row in driven
        if row["outcome"] == "passed"
        and (keep["logs"] == ALL_LOGS or _is_sampled(row, keep["sample"]))
    ]
    wanted = [*failed, *others]
    return Kept(tuple(wanted[: keep["most"]]), max(len(wanted) - keep["most"], 0))


def _is_sampled(row: Row, share: float) -> bool:
    return int(row["case_id"], _BASE) < share * _IDS


def log_of(folder: Path, case_id: str) -> Path:
    """Return where the log of a case is, if it is kept."""
    return folder / LOGS / f"{case_id}.mcap"


def write_log(spec: Spec, files: VehicleFiles, path: Path) -> dict[str, Any]:
    """Drive a case once more, write its whole log, and return its row.

    Raises errors.DataFileFault if the log cannot be written, or is there already.
    """
    log: Recorder | None = None
    fault: DataFileFault | None = None  # it is the log's: a case would be refused for it

    def observe(hand: CaseInHand) -> None:
        nonlocal log, fault
        if log is None and fault is None:
            try:
                log = hand.car.log = new_recorder(path, hand.car.clock)
            except DataFileFault as error:
                fault = error

    try:
        row = run_case(spec, files, observe)
    finally:
        if log:
            log.close()
    fault = fault or (log.fault if log else None)
    if fault:
        raise fault
    return row


def keep_log(folder: Path, row: Row, files: VehicleFiles) -> Path:
    """Return the log of a row's case, written if it is not there yet.

    Raises errors.NotHeldFault if the case is not the same when it is driven again.
    """
    path = log_of(folder, row["case_id"])
    if path.exists():
        return path
    part = path.with_suffix(_PART)
    try:
        path.parent.mkdir(exist_ok=True)
        part.unlink(missing_ok=True)  # of a run that was killed
    except OSError as error:
        raise DataFileFault.unwritable("the log", path, error) from None
    again = write_log(row["spec"], files, part)
    if again["result_hash"] != row["result_hash"]:
        with suppress(OSError):
            part.unlink()
        raise NotHeldFault(
            "driven again for its log it is not the same",
            where=f"case {row['case_id']}",
            expected=f"{row['result_hash']}",
            got=f"{again['result_hash']}",
            remedy="a controller begins anew with each case" if calls_code(row["spec"]) else "",
        )
    try:
        part.replace(path)
    except OSError as error:
        raise DataFileFault.unwritable("the log", path, error) from None
    return path


def keep_logs(
    folder: Path, rows: Sequence[Row], keep: Mapping[str, Any], files: VehicleFiles
) -> None:
    """Write the logs that ``[keep]`` asks for and that are missing. Raises as ``keep_log``."""
    kept = chosen(rows, keep)
    missing = [row for row in kept.rows if not log_of(folder, row["case_id"]).exists()]
    for count, row in enumerate(missing, 1):
        keep_log(folder, row, files)
        print(f"log {count} of {len(missing)}: {row['case_id']}", file=sys.stderr)
    if kept.left_out:
        print(
            f"{kept.left_out} more cases would have a log but for keep.most; of any one: "
            f"tandem campaign show {folder} CASE --log FILE.mcap",
            file=sys.stderr,
        )
