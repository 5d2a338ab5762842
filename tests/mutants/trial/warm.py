"""Notices most mutants quickly: tests are imported once, and each mutant is a fork from there.

In the fork the mutated function's code takes the place of the unchanged one, and only the tests run
that run this function. One that fails there notices the mutant. One that passes shows nothing, for
what an import made from the unchanged source is still there: whatever is not noticed here, or is no
function's code (a table, a default), is left to trials.py, which imports the mutant from the start
and asks all tests.
"""

import ast
import functools
import gc
import inspect
import os
import pickle
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from types import CodeType, FrameType, FunctionType
from typing import NamedTuple

import pytest

from tests.mutants.mistakes.mutations import module_of
from tests.mutants.trial import trials

_TIMES = 10  # as long as the unchanged function's tests take, and a second: it loops for ever
Place = tuple[str, str, int]  # module, name and first line of a function's code


class Change(NamedTuple):
    """A mutant of ``file``, by its number in a list of the caller's."""

    number: int
    file: str
    source: str
    tree: Callable[[], ast.Module]


def codes_of(tree: ast.Module | str, module: str) -> dict[Place, tuple[Place, CodeType]]:
    """Each function's code, nested ones too, with the outermost function that it is in."""
    whole: CodeType = compile(tree, "<source>", "exec")
    return dict(_codes(whole, module, None))


def _codes(
    code: CodeType, module: str, outer: tuple[Place, CodeType] | None
) -> Iterator[tuple[Place, tuple[Place, CodeType]]]:
    for inner in code.co_consts:
        if not isinstance(inner, CodeType):
            continue
        place = (module, inner.co_name, inner.co_firstlineno)
        is_function = bool(inner.co_flags & inspect.CO_OPTIMIZED)
        around = outer or ((place, inner) if is_function else None)
        if around:
            yield place, around
        yield from _codes(inner, module, around)


@functools.cache
def _unchanged(source: str, file: str) -> dict[Place, tuple[Place, CodeType]]:
    return codes_of(source, module_of(file))


def changed(change: Change) -> tuple[Place, CodeType] | None:
    """The one outermost function whose code is another one; None if it is not as simple."""
    before = dict(_unchanged(change.source, change.file).values())
    after = dict(codes_of(change.tree(), module_of(change.file)).values())
    if before.keys() != after.keys():
        return None
    differ = [place for place in before if before[place] != after[place]]
    if len(differ) != 1 or before[differ[0]].co_freevars != after[differ[0]].co_freevars:
        return None
    return differ[0], after[differ[0]]


class _Recorder:
    """Which tests run which functions. What a fixture of many tests runs, all of them run."""

    def __init__(self) -> None:
        self.runs: dict[Place, set[int]] = {}
        self.by_all: set[Place] = set()
        self._current: set[Place] = set()
        self._shared = 0
        self._out = -1

    def begin(self, session: pytest.Session, out: int) -> None:
        self._out = out
        session.config.pluginmanager.register(self)
        threading.setprofile(self._call)
        sys.setprofile(self._call)

    def _call(self, frame: FrameType, event: str, _arg: object) -> None:
        if event != "call":
            return
        module = str(frame.f_globals.get("__name__", ""))
        if module.startswith(trials.OURS):
            place = (module, frame.f_code.co_name, frame.f_code.co_firstlineno)
            (self.by_all if self._shared else self._current).add(place)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[object]) -> Iterator[None]:
        self._shared += fixturedef.scope != "function"
        yield
        self._shared -= fixturedef.scope != "function"

    def ended(self, item: int, is_last: bool) -> None:
        for place in self._current:
            self.runs.setdefault(place, set()).add(item)
        self._current = set()
        if is_last:
            sys.setprofile(None)
            with os.fdopen(self._out, "wb") as out:
                pickle.dump((self.runs, self.by_all), out)

    def items(self, session: pytest.Session, places: set[Place]) -> list[pytest.Item]:
        """The tests that run one of these functions, in their order."""
        if places & self.by_all:
            return list(session.items)
        numbers = {number for place in places for number in self.runs.get(place, ())}
        return [session.items[number] for number in sorted(numbers)]


class Plugin:
    """Takes the place of pytest's loop over the tests that it found."""

    def __init__(
        self, changes: Sequence[Change], cpu_s: int, workers: int, over_s: float | None, out: int
    ) -> None:
        self._changes = changes
        self._cpu_s = cpu_s
        self._workers = workers
        self._over_s = over_s
        self._out = out
        self._tried: list[int] = []
        self._passing: dict[Place, tuple[list[pytest.Item], int]] = {}

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        recorder = _learnt(session)
        jobs = self._jobs(session, recorder, _functions())
        for number, verdict in trials.trials(jobs, self._workers):
            os.write(self._out, f"{self._tried[number]} {verdict}\n".encode())
        return True

    def _jobs(
        self,
        session: pytest.Session,
        recorder: _Recorder,
        functions: dict[Place, list[FunctionType]],
    ) -> Iterator[Callable[[], int]]:
        for change in self._changes:
            if self._over_s is not None and time.monotonic() > self._over_s:
                return
            found = changed(change)
            if found is None or found[0] not in functions:
                continue
            outer, code = found
            items, cpu_s = self._items(session, recorder, change, outer)
            if items:
                self._tried.append(change.number)
                begin = functools.partial(_put, functions[outer], code, cpu_s)
                yield functools.partial(_forked, session, items, begin)

    def _items(
        self, session: pytest.Session, recorder: _Recorder, change: Change, outer: Place
    ) -> tuple[list[pytest.Item], int]:
        """What runs the function, if it passes without the other tests; how long it may take."""
        if outer not in self._passing:
            known = _unchanged(change.source, change.file).items()
            items = recorder.items(session, {place for place, (it, _) in known if it == outer})
            _, status, used = os.wait4(_forked(session, items, lambda: None), 0)
            cpu_s = 1 + int(_TIMES * (used.ru_utime + used.ru_stime))
            self._passing[outer] = ([] if status else items, min(cpu_s, self._cpu_s))
        return self._passing[outer]


def _learnt(session: pytest.Session) -> _Recorder:
    """In a fork, so that nothing of it is left behind here. Raises RuntimeError if a test fails."""
    read, write = os.pipe()
    recorder = _Recorder()
    child = _forked(session, session.items, functools.partial(recorder.begin, session, write),
                    recorder.ended)  # fmt: skip
    os.close(write)
    with os.fdopen(read, "rb") as file:
        told = file.read()
    if os.waitpid(child, 0)[1] or not told:
        raise RuntimeError("the tests do not pass while it is recorded what they run")
    recorder.runs, recorder.by_all = pickle.loads(told)
    return recorder


def _put(functions: Sequence[FunctionType], code: CodeType, cpu_s: int) -> None:
    for function in functions:
        function.__code__ = code
    trials.allow(cpu_s)


def _forked(
    session: pytest.Session,
    items: Sequence[pytest.Item],
    begin: Callable[[], None],
    ended: Callable[[int, bool], None] = lambda _item, _is_last: None,
) -> int:
    """Start these tests in a fork, after ``begin`` there; returns the process."""
    child = os.fork()
    if child == 0:
        code = trials.BROKEN
        try:
            begin()
            code = _run(session, items, ended)
        finally:
            os._exit(code)
    return child


def _run(
    session: pytest.Session, items: Sequence[pytest.Item], ended: Callable[[int, bool], None]
) -> int:
    """Until one fails; what ends the tests' process notices a mutant as well."""
    try:
        for i, item in enumerate(items):
            after = items[i + 1] if i + 1 < len(items) else None
            session.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
            ended(i, after is None)
            if session.testsfailed:
                return pytest.ExitCode.TESTS_FAILED
    except (KeyboardInterrupt, SystemExit, pytest.exit.Exception):
        return pytest.ExitCode.INTERRUPTED
    return pytest.ExitCode.OK


def _functions() -> dict[Place, list[FunctionType]]:
    """Those of ours that there are, by where their code is; a decorated one is found as well."""
    gc.unfreeze()  # what tests/support/kinds.py froze is none of the collector's objects
    found: defaultdict[Place, list[FunctionType]] = defaultdict(list)
    for it in gc.get_objects():
        if type(it) is FunctionType and it.__module__ and it.__module__.startswith(trials.OURS):
            found[it.__module__, it.__code__.co_name, it.__code__.co_firstlineno].append(it)
    return dict(found)


def noticed(
    changes: Sequence[Change], tier: trials.Tier, workers: int, over_s: float | None = None
) -> Iterator[tuple[int, str]]:
    """(number, verdict) of the changes that could be tried so, as each is known.

    Raises RuntimeError if the tests could not be run.
    """
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        code = trials.BROKEN
        try:
            os.close(read)
            trials.silence()
            os.environ.update(trials.ENVIRONMENT)
            plugin = Plugin(changes, tier.cpu_s, workers, over_s, write)
            code = pytest.main([*trials.PYTEST, *tier.tests], plugins=[plugin])
        finally:
            os._exit(code)
    os.close(write)
    with os.fdopen(read) as lines:
        for line in lines:
            number, _, verdict = line.strip().partition(" ")
            yield int(number), verdict
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code:
        raise RuntimeError(f"{', '.join(tier.tests)}: pytest ended with {code}, expected 0")
