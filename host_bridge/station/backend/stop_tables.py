"""The stopping distances of each car for every stop cause, computed beside the station.

``tandem faults --stops`` computes them with the virtual car of each vehicle file, as a separate
program at a low priority, so that neither a stop nor a hold waits for it.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from host_bridge.core import Vehicle, unaided_text
from host_bridge.station.backend.programs import start_command

_NICENESS = 5  # on a busy machine the cars' programs run first
_ASKED_FOR_MOST = ("runstop-opens", "program-ends")  # the stop button and a hang: shown in bold
_DONE = re.compile(r"(\d+) of (\d+) runs")
Row = dict[str, object]


class StopTables:
    """The stop tables of the vehicle files that were asked for, kept while the station runs."""

    def __init__(self) -> None:
        self._tables: dict[str, _DistanceTable] = {}

    def state(self, vehicle: Vehicle | None) -> Row:
        """Return the progress of a vehicle's table, and the note on its unaided stops."""
        if vehicle is None:
            return {"is_known": False, "is_ready": False, "unaided": ""}
        table = self._tables.get(vehicle.path)
        told = table.state() if table else {"is_known": True, "is_ready": False}
        return {**told, "unaided": unaided_text(vehicle, vehicle.profile)}

    def rows(self, vehicle: Vehicle | None) -> list[Row]:
        """Return the table, the farthest first; empty until it is complete."""
        table = self._tables.get(vehicle.path) if vehicle else None
        return table.rows if table else []

    def start(self, vehicle: Vehicle) -> None:
        """Begin to compute the table, unless that is running or done."""
        table = self._tables.get(vehicle.path)
        if table is None or table.fault:
            self._tables[vehicle.path] = _DistanceTable(vehicle.path)

    async def close(self) -> None:
        """End all computations with the station."""
        for table in self._tables.values():
            await table.close()


class _DistanceTable:
    def __init__(self, path: str) -> None:
        self.rows: list[Row] = []
        self.fault = ""
        self._path = path
        self._done = self._of = 0
        self._task = asyncio.create_task(self._run())

    def state(self) -> Row:
        return {
            "is_known": True,
            "is_ready": bool(self.rows),
            "is_going_on": not self._task.done(),
            "done": self._done,
            "of": self._of,
            "words": self.fault,
        }

    async def _run(self) -> None:
        words = ("faults", "--stops", "--vehicle", self._path, "--jobs", "1", "--json")
        process = await start_command(*words)
        try:
            with suppress(ProcessLookupError):
                os.setpriority(os.PRIO_PROCESS, process.pid, _NICENESS)
            assert process.stdout is not None, "a pipe"
            listening = asyncio.create_task(self._listen(process))
            out = await process.stdout.read()
            complaint = await listening
            code = await process.wait()
            self._take(out, code, complaint)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # its group: its workers end, too
            await process.wait()

    async def _listen(self, process: asyncio.subprocess.Process) -> str:
        """Read the progress; return all other lines of stderr."""
        assert process.stderr is not None, "a pipe"
        complaints = []
        while line := (await process.stderr.readline()).decode(errors="replace").strip():
            if told := _DONE.fullmatch(line):
                self._done, self._of = int(told[1]), int(told[2])
            else:
                complaints.append(line)
        return " ".join(complaints)

    def _take(self, out: bytes, code: int, complaint: str) -> None:
        with suppress(ValueError):
            self.rows = table(json.loads(out))
        if not self.rows:
            self.fault = complaint or f"tandem faults ended with {code}"
        elif code:
            self.fault = "not every row held: tandem faults --stops says which"

    async def close(self) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)


def table(runs: Sequence[dict[str, Any]]) -> list[Row]:
    """Return one row per cause, with its stop from each speed; the farthest first."""
    by_case: dict[str, list[dict[str, Any]]] = {}
    for run in sorted(runs, key=lambda run: run["asked_mps"]):
        by_case.setdefault(run["case"], []).append(run)
    return [
        {
            "words": own[0]["words"],
            "is_marked": own[0]["case"] in _ASKED_FOR_MOST,
            "reaction_ms": round(max(run["reaction_s"] for run in own) * 1e3),
            "from": [_stop(run) for run in own],
        }
        for own in sorted(by_case.values(), key=lambda own: -own[-1]["distance_m"])
    ]


def _stop(run: dict[str, Any]) -> Row:
    return {
        "speed_mps": run["speed_mps"],
        "metres": run["distance_m"],
        "coasts": run["coasts"],
        "times": run["distance_m"] / max(run["friction_m"], 1e-9),  # of v²/2μg
    }
