"""Runs the cases of a campaign on Dask (``clusters.py``).

A task is a batch of specs for the case process of a Dask worker. Each row is spooled as it is made,
so a batch whose worker was killed is run again without what it had finished.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import socket
import threading
from collections.abc import Callable, Iterable
from contextlib import ExitStack, suppress
from itertools import islice
from pathlib import Path
from typing import Any

from host_bridge.core.errors import UsageFault
from host_bridge.core.system.atomic_file import write_atomically
from host_bridge.drive.lockstep.campaign.plan import Case
from host_bridge.drive.lockstep.campaign.runners.clusters import ClusterChoice, open_client
from host_bridge.drive.lockstep.campaign.runners.processes import (
    CaseProcess,
    Row,
    checked,
    head_of,
    runs_twice,
)
from host_bridge.drive.lockstep.campaign.spec import Spec, case_id, code_hash
from sim_mock.bodies import trust

# Cases of a task: some seconds, so that a killed worker costs little and Dask's bookkeeping less
_BATCH = 4
_IN_FLIGHT = 3  # batches for each worker, so that none waits for the next
_SPOOL = ".spool"
_OTHER = "other_sources"


class DaskRunner:
    """Computes cases on Dask; the interface is that of ``processes.CaseRunner``.

    ``place`` says on which cluster; one of its own has so many ``workers``. Rows are spooled in
    ``folder``, which workers of other machines see too, or do without.
    """

    def __init__(
        self,
        cases: Iterable[Case],
        code: str,
        workers: int,
        wall_s: float,
        place: ClusterChoice,
        folder: Path,
        *,
        is_all_twice: bool = False,
    ) -> None:
        self.stop = threading.Event()
        self.client: Any = None  # distributed.Client, while it runs
        self._todo = iter(cases)
        self._code = code
        self._workers = workers
        self._wall_s = wall_s
        self._place = place
        self._is_all_twice = is_all_twice
        self._folder = folder
        self._spool = (folder / _SPOOL).absolute()

    def run(self, put: Callable[[Row], None], each_second: Callable[[], None]) -> None:
        """``put`` each row from the calling thread, as batches end. What it raises ends all.

        Raises errors.TandemError without Dask, without a cluster, and for other sources there.
        """
        with ExitStack() as stack:
            self.client = open_client(self._place, self._workers, self._folder, stack)
            self._batches(put, each_second)
        self.client = None
        shutil.rmtree(self._spool, ignore_errors=True)  # all of it is in the rows

    def _batches(self, put: Callable[[Row], None], each_second: Callable[[], None]) -> None:
        from distributed import wait

        running: dict[Any, list[Case]] = {}
        while True:
            room = _IN_FLIGHT * max(len(self.client.nthreads()), 1) - len(running)
            while room > 0 and not self.stop.is_set() and (batch := self._take()):
                specs = [(dict(it.spec), runs_twice(it, self._is_all_twice)) for it in batch]
                future = self.client.submit(
                    compute,
                    specs,
                    self._code,
                    self._wall_s,
                    str(self._spool),
                    trust.options(),
                    pure=False,
                )
                running[future] = batch
                room -= 1
            if not running:
                return
            with suppress(TimeoutError, asyncio.TimeoutError):  # one error from Python 3.11 on
                wait(list(running), timeout=1.0, return_when="FIRST_COMPLETED")
            for future in [it for it in running if it.done()]:
                for row in _rows(future, running.pop(future), self._code):
                    put(row)
            if self.stop.is_set():
                self._cancel_waiting(running)
            each_second()

    def _take(self) -> list[Case]:
        return list(islice(self._todo, _BATCH))

    def _cancel_waiting(self, running: dict[Any, list[Case]]) -> None:
        """Drop the batches that no worker has begun: those in hand are finished."""
        begun = {key for keys in self.client.processing().values() for key in keys}
        for future in [it for it in running if it.key not in begun and not it.done()]:
            future.cancel()
            del running[future]


def _rows(future: Any, batch: list[Case], code: str) -> list[Row]:
    """Return the rows of a batch that is done; "not measured" if Dask gave it up.

    Raises errors.UsageFault if its worker has other sources.
    """
    if future.status == "finished":
        answers = future.result()
    else:
        why = f"{type(future.exception()).__name__}: {future.exception()}"
        answers = [{"outcome": "not_measured", "why": why}] * len(batch)
    for place, other in (it[_OTHER] for it in answers if _OTHER in it):
        raise UsageFault(
            "a worker has other sources than this program",
            where=place,
            expected=f"code {code}",
            got=other,
            remedy="install the same version there",
        )
    return [{**head_of(it, code), **row} for it, row in zip(batch, answers, strict=True)]


_process: CaseProcess | None = None  # of this Dask worker, which has one thread


def compute(
    specs: list[tuple[Spec, bool]], code: str, wall_s: float, spool: str, words: list[str]
) -> list[Row]:
    """Return the rows of a batch: those spooled before, and the others from the case process.

    Each spec says whether it is to run twice. A worker of other sources answers with its machine's
    name and their hash.
    """
    if code_hash() != code:
        return [{_OTHER: (socket.gethostname(), code_hash())}]
    global _process  # noqa: PLW0603 - a process is to outlive a task
    if _process is None or not _process.is_for(wall_s, words):
        if _process:  # of a campaign before, which may have trusted other code
            _process.end()
        _process = CaseProcess(wall_s, words)
    rows = []
    for spec, is_twice in specs:
        file = Path(spool) / code / f"{case_id(spec)}.json"
        row = _spooled(file)
        if row is None:
            row = checked(_process, spec, is_twice)
            _put_into_spool(file, row)
        rows.append(row)
    return rows


def _spooled(file: Path) -> Row | None:
    try:
        return dict(json.loads(file.read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return None


def _put_into_spool(file: Path, row: Row) -> None:
    if row["outcome"] == "not_measured":
        return
    with suppress(OSError):  # a worker without the folder: its batch is then run again as a whole
        file.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(file, json.dumps(row))
