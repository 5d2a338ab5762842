"""Starting of Python subprocesses with an import path that never holds the current folder.

``python -m`` and ``python -c`` put the current folder first, and anybody may have put an
``argparse.py`` into a folder that everyone can write. Python 3.11 has ``-P`` against that, 3.10 has
nothing that keeps the caller's ``PYTHONPATH``. So each program of ours is started by ``module``,
and a pool by ``pool``; ``tests/tools/rules/program/children_rule.py`` refuses any other way.
"""

from __future__ import annotations

import multiprocessing
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import util
from pathlib import Path
from typing import Any

_ROOT = str(Path(__file__).resolve().parents[2])  # where the packages are, installed or not
# ``sys`` is built in: nothing is searched for before the current folder is off the path.
_RUN = (
    "import sys; sys.path[:1] = sys.argv[1:2] + [it for it in sys.path[:1] if it];"
    " del sys.argv[:2]; import runpy; runpy.run_module(sys.argv[0], None, '__main__', True)"
)


def module(name: str, *words: str) -> list[str]:
    """Return the command line that runs this module with these arguments.

    The caller's ``PYTHONPATH`` counts, after the packages of this program.
    """
    return [sys.executable, "-c", _RUN, _ROOT, name, *words]


@contextmanager
def pool(jobs: int) -> Iterator[ProcessPoolExecutor]:
    """Yield a pool of ``jobs`` processes that have this process' import path.

    They are spawned: a fork would take a progress bar along.
    """
    # -I applies to everything that is spawned, multiprocessing's own helper included. It drops
    # PYTHONPATH, but multiprocessing hands this process' sys.path on to each worker.
    place: Any = util
    before = place._args_from_interpreter_flags
    place._args_from_interpreter_flags = lambda: [*before(), "-I"]
    try:
        with ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn")) as workers:
            yield workers
    finally:
        place._args_from_interpreter_flags = before
