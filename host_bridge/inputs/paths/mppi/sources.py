"""Sources of plans: a planner in a process of its own, or in this one for virtual time."""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
from contextlib import suppress
from typing import Protocol

from host_bridge.core.errors import DeviceFault
from host_bridge.inputs.paths.mppi.planner import MppiPlan, Planner, PlannerTask, PlanRequest
from sim_mock.programs import children

_WORKER = "host_bridge.inputs.paths.mppi.worker"
_READY_S = 90.0  # to compile the kernel for the first time, on a busy machine; 10 s on an idle one
_ENDS_S = 1.0  # it ends with its stdin, unless it hangs


class PlanSource(Protocol):
    """A planner that is asked now and answers when it can."""

    def ask(self, request: PlanRequest) -> None:
        """Ask for a plan, unless an answer is due already. Never waits for it."""

    def newest(self) -> MppiPlan | None:
        """Return the newest plan; None before the first."""

    def fault(self) -> str:
        """Return why no plan will come any more; "" while one may."""

    def close(self) -> None:
        """End the planner, whatever it does."""


class InlinePlanner:
    """A planner in this process, which answers at once: virtual time waits for it."""

    def __init__(self, task: PlannerTask) -> None:
        self._planner = Planner(task)
        self._plan: MppiPlan | None = None

    def ask(self, request: PlanRequest) -> None:
        self._plan = self._planner.plan(request)

    def newest(self) -> MppiPlan | None:
        return self._plan

    def fault(self) -> str:
        return ""

    def close(self) -> None:
        pass


class PlannerProcess:
    """A planner in a process of its own, so that a long plan delays no claim and no stop."""

    def __init__(self, task: PlannerTask, first: PlanRequest) -> None:
        """Start it, and wait for the plan of ``first``, which compiles what it runs.

        Raises errors.DeviceFault if none comes.
        """
        self._process = subprocess.Popen(
            children.module(_WORKER),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C is the drive's, which closes it
        )
        assert self._process.stdout is not None
        self._heard = b""
        self._plan: MppiPlan | None = None
        self._is_asked = False
        self._why = ""
        try:
            track, car, *rest = task
            self._say([track.points.tolist(), track.is_loop, track.spacing_m])
            self._say([car, *rest])
            self.ask(first)
            self._wait()
        except BaseException:
            self.close()
            raise
        os.set_blocking(self._process.stdout.fileno(), False)

    @property
    def pid(self) -> int:
        return self._process.pid

    def ask(self, request: PlanRequest) -> None:
        if self._is_asked or self._why:
            return
        self._say(request)
        self._is_asked = True

    def newest(self) -> MppiPlan | None:
        stdout = self._process.stdout
        assert stdout is not None
        while not self._why:
            try:
                part = os.read(stdout.fileno(), 1 << 16)
            except BlockingIOError:
                break
            self._hear(part)
        return self._plan

    def fault(self) -> str:
        return self._why

    def close(self) -> None:
        stdin = self._process.stdin
        assert stdin is not None
        with suppress(BrokenPipeError):  # it was killed with a request in its pipe
            stdin.close()
        try:
            self._process.wait(_ENDS_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _say(self, row: object) -> None:
        """Write a line; one request at most is under way, so the pipe has room for it."""
        stdin = self._process.stdin
        assert stdin is not None
        try:
            stdin.write(json.dumps(row).encode() + b"\n")
            stdin.flush()
        except BrokenPipeError:
            self._end()

    def _hear(self, part: bytes) -> None:
        if not part:
            self._end()
            return
        *lines, self._heard = (self._heard + part).split(b"\n")
        for line in lines:
            begin_us, steer_rad, speed_mps = json.loads(line)
            self._plan = MppiPlan(begin_us, tuple(steer_rad), tuple(speed_mps))
            self._is_asked = False

    def _end(self) -> None:
        self._why = "The planner has ended"

    def _wait(self) -> None:
        """Wait for the first plan: its kernel is compiled meanwhile, once for all later drives."""
        stdout = self._process.stdout
        assert stdout is not None
        if sys.stderr.isatty():
            print("the planner is made ready ...", file=sys.stderr, flush=True)
        with selectors.DefaultSelector() as ready:
            ready.register(stdout, selectors.EVENT_READ)
            while self._plan is None and not self._why and ready.select(_READY_S):
                self._hear(os.read(stdout.fileno(), 1 << 16))
        if self._plan is None:
            raise DeviceFault(
                "the planner of law=mppi did not come up",
                expected=f"its first plan within {_READY_S:g} s",
                got=self._why or "silence",
                remedy="its own words are above; or law=lqr",
            )
