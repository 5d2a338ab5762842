"""Branches of a case, computed by ``fork``: whatever goes before a branch is computed once.

Where a drive rises to a new highest level, its process stays behind as a **snapshot** and a child
of it drives on. A snapshot waits for a seed, and its child then drives on from there with that
seed. The bits are those of running again from power-up (``branches.py``). A snapshot ends with its
connection, whoever closes that, once its children have ended: a kill leaves no process behind.
"""

from __future__ import annotations

import gc
import json
import os
import select
import signal
import socket
import sys
import tempfile
import time
import traceback
from collections.abc import Container
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from host_bridge.drive.lockstep.campaign.case import CaseInHand, Row, run_case
from host_bridge.drive.lockstep.campaign.rare.branches import (
    Branch,
    BranchesByRunning,
    Climb,
    Lineage,
    NeverBeganError,
    Place,
)
from host_bridge.drive.lockstep.campaign.spec import SPLITTING, Spec
from host_bridge.drive.lockstep.car import VehicleFiles

_MOST_KEPT = 128  # snapshots: 1 to 5 MB each of its own; what is dropped is run again
_READ = 1 << 16


class BranchLostError(Exception):
    """A process of a branch ended without its result, or took too long."""


class BranchesByFork:
    """Runs branches from snapshots, and from power-up where there is none.

    ``wall_s`` is the time that one branch may take.
    """

    def __init__(self, spec: Spec, files: VehicleFiles, wall_s: float) -> None:
        self._spec = spec
        self._files = files
        self._wall_s = wall_s
        self._again = BranchesByRunning(spec, files)
        self._kept: dict[Place, tuple[float, socket.socket]] = {}  # level, and the way to it
        self._folder = tempfile.TemporaryDirectory(prefix="tandem-")
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(Path(self._folder.name) / "s"))
        self._listener.listen(_MOST_KEPT)
        self._root = 0
        self.cpu_s = 0.0  # of all branches by fork

    @property
    def runs_again(self) -> int:
        """The number of branches run from power-up: their snapshot had been dropped."""
        return self._again.runs_again

    def begin(self) -> int:
        """Return when the case may drive, in us since power-up. Raises NeverBeganError.

        What comes before is computed here, and then never again.
        """
        self._root = os.fork()
        if not self._root:
            address = self._listener.getsockname()
            self._listener.close()
            _drive(self._spec, self._files, address, self._wall_s)
        driving = self._accepted()  # the process that drives, and then its first snapshot
        while not self._kept:
            found = self._heard(driving)
            if found is not None:
                raise NeverBeganError(found.row)
        driving.close()
        ((_, begins_us),) = self._kept
        return begins_us

    def run(self, lineage: Lineage) -> Branch:
        """Return the branch of a lineage. Raises BranchLostError."""
        *before, (at_us, seed) = lineage
        kept = self._kept.get((tuple(before), at_us))
        if kept is None:
            return self._again.run(lineage)
        try:
            kept[1].sendall(b"%d\n" % seed)
            with self._accepted(kept[1]) as driving:
                while (found := self._heard(driving)) is None:
                    self._drop_beyond(_MOST_KEPT)
        except OSError as error:
            raise BranchLostError(f"{type(error).__name__}: {error}") from None
        return found

    def keep(self, wanted: Container[Place]) -> None:
        """End the snapshots of all other places but the first one."""
        for place in [it for it in self._kept if it[0] and it not in wanted]:
            self._kept.pop(place)[1].close()

    def close(self) -> None:
        """End all processes."""
        for _, way in self._kept.values():
            way.close()
        self._kept.clear()
        self._listener.close()
        self._folder.cleanup()
        if self._root:
            os.waitpid(self._root, 0)

    def _drop_beyond(self, most: int) -> None:
        """End the lowest snapshots: their levels are the first that all branches leave behind."""
        while len(self._kept) > most:
            lowest = min((it for it in self._kept if it[0]), key=lambda it: self._kept[it][0])
            self._kept.pop(lowest)[1].close()

    def _accepted(self, beside: socket.socket | None = None) -> socket.socket:
        """Take the next connection. Raises BranchLostError if there is none or ``beside`` ends."""
        if self._ready(beside) is not self._listener:
            raise BranchLostError("its snapshot ended")
        way, _ = self._listener.accept()
        way.settimeout(self._wall_s)
        return way

    def _ready(self, way: socket.socket | None) -> socket.socket:
        """Return which says something: the listener first, for snapshots come before results."""
        ready, _, _ = select.select([self._listener, *([way] if way else [])], [], [], self._wall_s)
        if not ready:
            raise BranchLostError(f"no result within {self._wall_s:g} s")
        return self._listener if self._listener in ready else ready[0]

    def _heard(self, driving: socket.socket) -> Branch | None:
        """Take a new snapshot (None), or the result of the process that drives."""
        if self._ready(driving) is self._listener:
            way = self._accepted()
            report = _line_of(way)
            self._kept[_lineage_of(report["lineage"]), report["at_us"]] = report["level"], way
            return None
        report = _line_of(driving)
        if "error" in report:
            raise BranchLostError(report["error"])
        self.cpu_s += report["cpu_s"]
        crossings = tuple((level, at_us) for level, at_us in report["crossings"])
        return Branch(crossings, report["row"], report["ends_us"])


def _line_of(way: socket.socket) -> Row:
    data = b""
    while not data.endswith(b"\n"):
        part = way.recv(_READ)
        if not part:
            raise BranchLostError("its process ended without a result")
        data += part
    return dict(json.loads(data))


def _lineage_of(moments: list[list[int]]) -> Lineage:
    return tuple((at_us, seed) for at_us, seed in moments)


def _drive(spec: Spec, files: VehicleFiles, address: str, wall_s: float) -> NoReturn:
    """Drive the case in this process; leave snapshots behind, and say how it ended."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for a branch that has ended
    signal.signal(signal.SIGALRM, signal.SIG_DFL)  # one that hangs ends by itself
    gc.freeze()  # else each collection writes to all pages that the processes share
    forking = _Forking(spec[SPLITTING]["level"], address, wall_s)
    report: Row
    try:
        bare = {key: value for key, value in spec.items() if key != SPLITTING}
        row = run_case(bare, files, forking.climb)
        report = {
            "crossings": forking.climb.crossings,
            "ends_us": forking.climb.ends_us,
            "row": row,
            "cpu_s": forking.cpu_s(),
        }
    except BaseException as error:  # noqa: BLE001 - told at the other end
        traceback.print_exc(file=sys.stderr)
        report = {"error": f"{type(error).__name__}: {error}"}
    try:
        _send(forking.result, report)
    finally:
        os._exit(0)


class _Forking:
    """Leaves a snapshot behind at each rise of a drive.

    ``result`` is the connection of the process that drives: if it ends, that process has ended.
    """

    def __init__(self, level: str, address: str, wall_s: float) -> None:
        self.climb = Climb(level, self._rises)
        self._address = address
        self._wall_s = wall_s
        self._spent_s = 0.0  # by the processes before this one, of the same branch
        self._since_s = time.process_time()
        self.result = self._connected()
        signal.setitimer(signal.ITIMER_REAL, wall_s)

    def cpu_s(self) -> float:
        """Return what the branch has taken, from its beginning."""
        return self._spent_s + time.process_time() - self._since_s

    def _rises(self, case: CaseInHand) -> None:
        """Return in a child that drives on; this process stays and forks branches from here."""
        signal.setitimer(signal.ITIMER_REAL, 0.0)  # a snapshot waits as long as it is wanted
        level = self.climb.crossings[-1][0]
        with self._connected() as way:
            _send(way, {"at_us": case.now_us, "level": level, "lineage": case.lineage})
            if case.lineage and not self._fork(self.cpu_s()):
                return  # the same branch, which goes on
            self.result.close()
            with way.makefile("rb") as seeds:
                for seed in seeds:
                    if not self._fork(0.0):
                        self.result = self._connected()
                        case.lineage.append((case.now_us, int(seed)))
                        return
        with suppress(ChildProcessError):  # none is left
            os.wait()
        os._exit(0)

    def _fork(self, spent_s: float) -> int:
        pid = os.fork()
        if not pid:
            self._spent_s, self._since_s = spent_s, time.process_time()
            signal.setitimer(signal.ITIMER_REAL, self._wall_s)
        return pid

    def _connected(self) -> socket.socket:
        way = socket.socket(socket.AF_UNIX)
        way.connect(self._address)
        return way


def _send(way: socket.socket, report: Row) -> None:
    way.sendall(json.dumps(report).encode() + b"\n")
