"""The kinds of tests by their markers, and what is special about those that run in wall time.

Registered by ``tests/conftest.py``. A test that starts a program without saying so fails. One that
starts some has a bare process beside it (``tests/support/patience.py``); where the machine gave too
little to tell, its outcome is "not measured": neither passed nor failed, listed at the end, and
with an exit code of its own if nothing else is wrong. What it started dies with it
(``tests/support/orphans.py``).
"""

from __future__ import annotations

import functools
import gc
import multiprocessing.util
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from host_bridge.demo.judging import latency_probe
from tests.support import orphans, patience
from tests.support.patience import Hang, NotMeasured, TooLate

STARTERS = ("process", "browser", "ros", "micropython")
# All ways of this Python to start a program, or a copy of itself. They are wrapped: an audit hook
# would be called for each id() too, and a suite that copies cars takes thrice as long with one.
_WAYS = (
    (subprocess.Popen, "__init__"),
    (multiprocessing.util, "spawnv_passfds"),
    *((os, name) for name in ("fork", "forkpty", "posix_spawn", "system")),
)
# By which ctypes.util.find_library looks for SDL: they end at once, and none is of this project
_LOOKS_UP = {"ldconfig", "gcc", "cc", "ld", "objdump"}
# That of sysexits.h for "try again later". Nothing is wrong, and nothing is shown.
EXIT_NOT_MEASURED = 75
KEPT_AS = "cache/not_measured"  # in pytest's cache, for tests/tools/running/measured.py
ERRORS_KEPT_AS = "cache/not_measured_errors"  # by test: how it failed, without figures
_LEASE_S = 0.12  # a car that hears nothing for so long stops: firmware/core/SAFETY.md
MOST_LATE_S = _LEASE_S / 2  # its host is one of several programs on the way
_LOOKS_EVERY_S = 5.0
_TOLD = 300  # letters of an error: enough to tell one failure from another
_IS_TIMED = pytest.StashKey[bool]()


class Kinds:
    """The plugin: what each test of this run started, and which were not measured."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._started: list[str] = []
        self._begun_s = 0.0
        self._unmeasured: dict[str, str] = {}
        self._errors: dict[str, str] = {}
        self._patch = pytest.MonkeyPatch()
        for owner, name in _WAYS:
            if hasattr(owner, name):  # not each system has each
                self._patch.setattr(owner, name, self._heard(name, getattr(owner, name)))

    def pytest_unconfigure(self) -> None:
        self._patch.undo()

    def _heard(self, way: str, start: Callable[..., Any]) -> Callable[..., Any]:
        """The same function, which says that it was called."""

        @functools.wraps(start)
        def told(*args: Any, **words: Any) -> Any:
            what = words.get("args", args[1] if len(args) > 1 else "")
            words_said = _words(what)
            name = os.path.basename(str(next(iter(words_said), "")))
            if name not in _LOOKS_UP and latency_probe.__file__ not in words_said:
                self._started.append(f"{way} {name}")
            return start(*args, **words)

        return told

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Of the cases of a test that is exhaustive, the first is a smoke test: one of them is in
        ``make test``, and the rest in ``make nightly``; of one that is so ``as_a_whole``, none."""
        cases: dict[tuple[Path, str], list[pytest.Item]] = {}
        for item in items:
            marker = item.get_closest_marker("exhaustive")
            if marker and not marker.kwargs.get("as_a_whole"):
                name = item.nodeid.partition("[")[0]
                cases.setdefault((item.path, name), []).append(item)
        for first, *others in cases.values():
            if others:
                first.add_marker("smoke")

    def pytest_collection_finish(self) -> None:
        """What is there by now stays to the end: to look through it for garbage again and again
        takes a twentieth of all the time."""
        gc.collect()
        gc.freeze()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        if _starts_programs(item):
            orphans.watch()
            patience.witness()
        self._started.clear()
        self._begun_s = time.monotonic()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Iterator[None]:
        report: pytest.TestReport = yield  # type: ignore[misc,assignment]
        why = self._machines_fault(item, call.excinfo.value) if call.excinfo else ""
        if why:
            report.outcome = "skipped"
            report.longrepr = (str(item.path), item.location[1] or 0, why)
            # by its own id: with the group that xdist adds nobody could ask for it again
            assert item.parent is not None
            told = [f"{item.parent.nodeid}::{item.name}", why, _without_figures(call.excinfo.value)]
            report.user_properties.append((KEPT_AS, told))
        elif call.when == "teardown" and self._started and not _starts_programs(item):
            report.outcome = "failed"
            report.longrepr = (
                f"{item.nodeid} starts a program ({self._started[0]}) and has none of the markers "
                f"{', '.join(STARTERS)}: it needs one, for such tests run in wall time"
            )
        return report  # type: ignore[return-value]

    def _machines_fault(self, item: pytest.Item, error: BaseException) -> str:
        """Why the machine is to blame for this error; empty where the code is."""
        if isinstance(error, NotMeasured):
            return str(error)
        markers = filter(None, map(item.get_closest_marker, STARTERS))
        drives = any(it.kwargs.get("drives") for it in markers)
        if not drives or isinstance(error, (Hang, TooLate)):
            return ""
        late_s = _late_within_a_lease_s(self._begun_s)
        if late_s <= MOST_LATE_S:
            return ""
        return (
            f"a car drives here in wall time, and a bare process was {late_s * 1e3:.0f} ms late "
            f"within {_LEASE_S * 1e3:.0f} ms: {type(error).__name__}: {str(error)[:200]}"
        )

    @pytest.hookimpl(tryfirst=True, optionalhook=True)
    def pytest_timeout_set_timer(self, item: pytest.Item, settings: Any) -> bool | None:
        """A test is ended after so many granted seconds, not after as many on the wall: a hang is
        red at any load, and a slow machine is none."""
        if item.config.getoption("usepdb") or not hasattr(signal, "setitimer"):
            return None  # as pytest-timeout does it
        deadline = patience.Deadline(settings.timeout)

        def look(number: int, frame: Any) -> None:
            if deadline.is_over():
                raise Hang(f"the test did not end: {deadline.told()}")

        signal.signal(signal.SIGALRM, look)
        signal.setitimer(signal.ITIMER_REAL, _LOOKS_EVERY_S, _LOOKS_EVERY_S)
        item.stash[_IS_TIMED] = True
        return True

    @pytest.hookimpl(tryfirst=True, optionalhook=True)
    def pytest_timeout_cancel_timer(self, item: pytest.Item) -> bool | None:
        if not item.stash.get(_IS_TIMED, False):
            return None
        signal.setitimer(signal.ITIMER_REAL, 0)
        return True

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        for name, told in report.user_properties:
            if name == KEPT_AS:
                test, why, error = told  # type: ignore[misc]
                self._unmeasured[test] = why
                self._errors[test] = error

    def pytest_report_teststatus(self, report: pytest.TestReport) -> tuple[str, str, str] | None:
        if any(name == KEPT_AS for name, _ in getattr(report, "user_properties", ())):
            is_told = report.outcome == "skipped"
            return ("not measured", "n", "NOT MEASURED") if is_told else None
        return None

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if self._unmeasured:
            terminalreporter.section("not measured: this machine gave too little")
            for test, why in self._unmeasured.items():
                terminalreporter.write_line(f"{test}: {why}")

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        patience.end()
        if hasattr(self._config, "workerinput"):
            return
        if getattr(self._config, "cache", None):
            self._config.cache.set(KEPT_AS, sorted(self._unmeasured))
            self._config.cache.set(ERRORS_KEPT_AS, self._errors)
        if exitstatus == pytest.ExitCode.OK and self._unmeasured:
            session.exitstatus = EXIT_NOT_MEASURED


def _without_figures(error: BaseException) -> str:
    """Say how a test failed, the same for two runs that differ in times and counts only.

    Empty for what says itself that the machine gave too little.
    """
    if isinstance(error, NotMeasured):
        return ""
    return re.sub(r"[0-9a-f]*\d[0-9a-f]*", "#", f"{type(error).__name__}: {error}")[:_TOLD]


def _words(what: Any) -> tuple[Any, ...]:
    return (what,) if isinstance(what, str | bytes | os.PathLike) else tuple(what)


def _starts_programs(item: pytest.Item) -> bool:
    return any(item.get_closest_marker(name) for name in STARTERS)


def _late_within_a_lease_s(begun_s: float) -> float:
    """By how much a bare process was late at worst within the lease of a car, since then."""
    rows = [row for row in patience.witness().rows() if row.ended_s >= begun_s]
    late_s = [row.late_s + _LEASE_S * (1.0 - 1.0 / row.slow) for row in rows]
    return max(late_s, default=0.0)
