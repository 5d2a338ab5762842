"""Runs the cases of a campaign in case processes of this machine.

A process that dies or takes too long loses only the case in its hand. That case is tried once more,
in a new process; after that it is "not measured", which is no result.
"""

from __future__ import annotations

import json
import os
import queue
import selectors
import subprocess
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from host_bridge.core.errors import NotHeldFault
from host_bridge.drive.lockstep.campaign.plan import Case
from host_bridge.drive.lockstep.campaign.spec import (
    Spec,
    calls_code,
    calls_for_runs,
    case_id,
    is_impure,
)
from sim_mock.bodies import trust
from sim_mock.programs import children
from sim_mock.runtime import compiled

_TRIES = 2
_ONE_OF = 100  # of the cases of a function, besides the first of each cell: chosen, 1 % more work
_STARTS_S = 30.0  # imports on a busy machine, besides the time of the case itself
_WORKER = "host_bridge.drive.lockstep.campaign.runners.worker"
Row = dict[str, Any]


class _Lost(Exception):
    """The case process is gone, or had no answer in time; the text says which."""


class CaseProcess:
    """One case process; a lost one is begun anew for the next case."""

    def __init__(self, wall_s: float, words: Sequence[str]) -> None:
        """``words`` name the code that a person trusts: ``trust.options()``."""
        self._wall_s = wall_s
        self._words = tuple(words)
        self._process: subprocess.Popen[bytes] | None = None

    def is_for(self, wall_s: float, words: Sequence[str]) -> bool:
        """Return whether it was made with these."""
        return (self._wall_s, self._words) == (wall_s, tuple(words))

    def fresh(self) -> CaseProcess:
        """Return another one, which no case has been in."""
        return CaseProcess(self._wall_s, self._words)

    def ask(self, spec: Any) -> Row:
        """Return the row of a spec. Raises _Lost."""
        limit_s = self._wall_s * calls_for_runs(spec)
        if self._process is None:
            limit_s += _STARTS_S
            self._process = subprocess.Popen(
                children.module(_WORKER, *self._words),
                env=_environment(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                start_new_session=True,  # Ctrl-C is the campaign's: the case in hand is finished
            )
        try:
            return self._answer(self._process, spec, limit_s)
        except (_Lost, OSError) as error:
            self.end()
            raise _Lost(str(error)) from None

    def _answer(self, process: subprocess.Popen[bytes], spec: Any, limit_s: float) -> Row:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(spec).encode() + b"\n")
        process.stdin.flush()
        line = b""
        give_up_s = time.monotonic() + limit_s
        with selectors.DefaultSelector() as ready:
            ready.register(process.stdout, selectors.EVENT_READ)
            while not line.endswith(b"\n"):
                if not ready.select(max(give_up_s - time.monotonic(), 0.0)):
                    raise _Lost(f"no result within {limit_s:g} s")
                part = process.stdout.read1(1 << 16)  # type: ignore[attr-defined]
                if not part:
                    raise _Lost(f"its process ended with {process.wait()}")
                line += part
        return dict(json.loads(line))

    def end(self) -> None:
        """End the process, whatever it does."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


class CaseRunner:
    """Computes cases in ``workers`` processes, each of which has ``wall_s`` for one case.

    After ``stop`` no case is begun, and those in hand are finished.
    """

    def __init__(
        self,
        cases: Iterable[Case],
        code: str,
        workers: int,
        wall_s: float,
        *,
        is_all_twice: bool = False,
    ) -> None:
        """Take the cases; if ``is_all_twice`` each runs twice, else only some of functions."""
        self.stop = threading.Event()
        self._todo = iter(cases)
        self._code = code
        self._workers = workers
        self._wall_s = wall_s
        self._is_all_twice = is_all_twice
        self._lock = threading.Lock()
        self._done: queue.Queue[Row | BaseException | None] = queue.Queue()

    def run(self, put: Callable[[Row], None], each_second: Callable[[], None]) -> None:
        """``put`` each row from the calling thread, as cases end. What it raises ends all."""
        for _ in range(self._workers):
            threading.Thread(target=self._work, daemon=True).start()
        left = self._workers
        try:
            while left:
                found = self._next()
                if isinstance(found, BaseException):
                    raise found
                if isinstance(found, dict):
                    put(found)
                elif found is None:
                    left -= 1
                each_second()
        finally:
            self.stop.set()

    def _next(self) -> Row | BaseException | bool | None:
        """Return what a worker says next, or False if none does for a second."""
        try:
            return self._done.get(timeout=1.0)
        except queue.Empty:
            return False

    def _work(self) -> None:
        process = CaseProcess(self._wall_s, trust.options())
        try:
            while (case := self._take()) is not None:
                row = checked(process, case.spec, runs_twice(case, self._is_all_twice))
                self._done.put({**head_of(case, self._code), **row})
        except BaseException as error:  # noqa: BLE001 - raised by ``run``, in its thread
            self._done.put(error)
        finally:
            process.end()
            self._done.put(None)

    def _take(self) -> Case | None:
        with self._lock:
            return None if self.stop.is_set() else next(self._todo, None)


def _environment() -> dict[str, str]:
    """Return a case process' environment: machine code where it is built, the same to the bit."""
    environment = dict(os.environ)
    if compiled.is_built() and not environment.get(compiled.ASKED):
        environment[compiled.ASKED] = "1"  # TANDEM_FAST=0 leaves it out
    return environment


def head_of(case: Case, code: str) -> Row:
    """Return the part of a case's row that is known before it runs."""
    return {
        "case_id": case_id(case.spec),
        "code": code,
        "index": case.index,
        "repetition": case.repetition,
        "levels": dict(case.levels),
        "sample": dict(case.sample),
        "spec": case.spec,
    }


def runs_twice(case: Case, is_all: bool) -> bool:
    """Return whether the case is run twice, in two processes.

    A Python function may remember what another case did, or draw at random: of its cases the first
    of each cell runs twice, and one of a hundred by its hash.
    """
    if is_impure(case.spec):
        return False
    if is_all or not calls_code(case.spec):
        return is_all
    return (
        case.repetition == 0
        or int.from_bytes(bytes.fromhex(case_id(case.spec)), "big") % _ONE_OF == 0
    )


def checked(process: CaseProcess, spec: Spec, is_twice: bool) -> Row:
    """Return the row of a spec; ``differs`` is in it if a fresh process had another result."""
    row = tried(process, spec)
    if not is_twice or row["outcome"] == "not_measured":
        return row
    other = process.fresh()
    try:
        again = tried(other, spec)
    finally:
        other.end()
    if again["outcome"] == "not_measured" or again["result_hash"] == row["result_hash"]:
        return row
    first, second = (f"{it['outcome']} after {it.get('distance_m')} m" for it in (row, again))
    return {**row, "differs": f"{first}, then {second}"}


def refuse_impure(row: Row) -> None:
    """Raise errors.NotHeldFault for a case that was not the same when it was run again."""
    if "differs" in row:
        raise NotHeldFault(
            "this case is not decided by its spec: run in another process it ended differently",
            where=f"case {row['case_id']}, controller {row['spec']['controller']}",
            expected="the same result each time",
            got=row["differs"],
            remedy="a controller begins anew with each case: keep its state in a class, draw from "
            "random.Random(a number of your own)",
        )


def tried(process: CaseProcess, spec: Spec) -> Row:
    """Return the answer to a spec, asked twice at most; "not measured" if there is none."""
    why = ""
    for _ in range(_TRIES):
        try:
            return process.ask(spec)
        except _Lost as error:
            why = str(error)
    return {"outcome": "not_measured", "why": f"{why}, {_TRIES} times"}
