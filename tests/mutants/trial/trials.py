"""Runs tests against one mutant at a time, each in a fork of its own.

The fork is taken before anything of ours is imported: an importer hands the mutated source
to whoever imports the module, so that nobody holds on to a part of the unchanged one.
"""

import ast
import contextlib
import functools
import importlib.abc
import importlib.machinery
import importlib.util
import os
import resource
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import pytest

KILLED, SURVIVED, TIMED_OUT = "killed", "survived", "timed out"
# 5: no tests were collected; anything else beside 0, 1 and 2 is a mistake of ours
_VERDICTS = {pytest.ExitCode.OK: SURVIVED, pytest.ExitCode.TESTS_FAILED: KILLED,
             pytest.ExitCode.INTERRUPTED: KILLED}  # fmt: skip
OURS = ("calibration", "firmware", "hardware", "host_bridge", "sim_mock")
BROKEN = 99
_WALL = 5  # times as long by the clock on the wall: a machine may be busy
PYTEST = ("-q", "-x", "-p", "no:cacheprovider", "--import-mode=importlib", "-o", "addopts=")
# what plug-ins import at each start takes ten times as long as the tests of one part
ENVIRONMENT = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}


class Importer(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Gives one module a source other than that of its file."""

    def __init__(self, name: str, tree: ast.Module) -> None:
        self._name = name
        self._file = Path(*name.split(".")).with_suffix(".py").absolute()  # some look beside it
        self._tree = tree

    def find_spec(
        self, name: str, path: object, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name != self._name:
            return None
        return importlib.util.spec_from_file_location(name, self._file, loader=self)

    def exec_module(self, module: ModuleType) -> None:
        exec(compile(self._tree, f"<mutant of {self._name}>", "exec"), module.__dict__)


def silence() -> None:
    """Nothing is read from the terminal, and nothing written to it."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nowhere, stream)


class Tier(NamedTuple):
    """Tests, and the processor time after which a mutant is taken to loop for ever."""

    tests: tuple[str, ...]
    cpu_s: int


def allow(cpu_s: int) -> None:
    """End this process after so much processor time, or five times that on the wall, less what it
    waited for a processor: a busy machine notices no mutant."""
    spent = resource.getrusage(resource.RUSAGE_SELF)
    limit = int(spent.ru_utime + spent.ru_stime) + 1 + cpu_s
    resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.RLIM_INFINITY))
    # whoever waits for what never comes takes no processor time
    until_s = time.monotonic() + cpu_s * _WALL - _withheld_s()
    signal.signal(signal.SIGALRM, lambda *_: _end_at(until_s))
    _end_at(until_s)


def _end_at(until_s: float) -> None:
    left_s = until_s + _withheld_s() - time.monotonic()
    if left_s > 0.0:
        signal.setitimer(signal.ITIMER_REAL, left_s)
    else:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGALRM)


def _withheld_s() -> float:
    """Return how long the threads of this process have waited for a processor (Linux)."""
    waited_ns = 0
    for path in Path("/proc/self/task").glob("*/schedstat"):
        with contextlib.suppress(OSError):  # a thread that has just ended
            waited_ns += int(path.read_text().split()[1])
    return waited_ns * 1e-9


def run_tests(tiers: Sequence[Tier]) -> int:
    """Each tier of tests until one fails; pytest's exit code."""
    os.environ.update(ENVIRONMENT)
    for tier in tiers:
        allow(tier.cpu_s)
        code = int(pytest.main([*PYTEST, *tier.tests]))
        if code:
            return code
    return 0


def _run_child(name: str, tree: ast.Module, tiers: Sequence[Tier]) -> int:
    silence()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sys.meta_path.insert(0, Importer(name, tree))
    return run_tests(tiers)


def start(name: str, tree: ast.Module, tiers: Sequence[Tier]) -> int:
    """Fork; returns the process."""
    assert not any(module.split(".")[0] in OURS for module in sys.modules)
    child = os.fork()
    if child == 0:
        code = BROKEN
        try:
            code = _run_child(name, tree, tiers)
        finally:
            os._exit(code)
    return child


def verdict_of(status: int) -> str:
    """From a process's wait status; raises RuntimeError if the tests did not run at all."""
    if os.WIFSIGNALED(status):
        return TIMED_OUT
    code = os.WEXITSTATUS(status)
    if code not in _VERDICTS:
        raise RuntimeError(f"the tests of a mutant ended with exit code {code}, expected 0, 1 or 2")
    return _VERDICTS[pytest.ExitCode(code)]


def trials(jobs: Iterable[Callable[[], int]], workers: int) -> Iterator[tuple[int, str]]:
    """Start the jobs in their order, ``workers`` at a time; yields (number of job, verdict)."""
    running: dict[int, int] = {}
    waiting = iter(enumerate(jobs))
    for number, job in waiting:
        running[job()] = number
        if len(running) == workers:
            break
    while running:
        process, status = os.wait()
        yield running.pop(process), verdict_of(status)
        for number, job in waiting:
            running[job()] = number
            break


@functools.cache
def source_of(root: Path, file: str) -> str:
    """As it was when it was first asked for: the numbers of mutants count on it."""
    return (root / file).read_text()
