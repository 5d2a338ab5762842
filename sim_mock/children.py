"""Start this Python anew with a module, by a path on which the current folder never is.

``python -m`` and ``python -c`` put the current folder in front of all else, and anybody may have
put an ``argparse.py`` into a folder that all may write. Python 3.11 has ``-P`` against that, 3.10
nothing that keeps the caller's ``PYTHONPATH``. So each program of ours is started by these words,
and a pool by this function; ``tests/tools/children_rule.py`` refuses any other way.
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

_ROOT = str(Path(__file__).resolve().parents[1])  # where the packages are, installed or not
# ``sys`` is part of the interpreter: nothing is looked for before the current folder is off it
_RUN = (
    "import sys; sys.path[:1] = sys.argv[1:2] + [it for it in sys.path[:1] if it];"
    " del sys.argv[:2]; import runpy; runpy.run_module(sys.argv[0], None, '__main__', True)"
)


def module(name: str, *words: str) -> list[str]:
    """Return the command line that runs this module with these words. The caller's ``PYTHONPATH``
    counts, and the packages of this program come before it."""
    return [sys.executable, "-c", _RUN, _ROOT, name, *words]


@contextmanager
def pool(jobs: int) -> Iterator[ProcessPoolExecutor]:
    """Give a pool of so many processes, each of which gets this one's path.

    They are spawned: a fork would take a progress bar with it.
    """
    # Of all that is spawned, multiprocessing's own helper too; -I would drop PYTHONPATH, but what
    # is on this program's path is handed on to each worker
    place: Any = util
    before = place._args_from_interpreter_flags
    place._args_from_interpreter_flags = lambda: [*before(), "-I"]
    try:
        with ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn")) as workers:
            yield workers
    finally:
        place._args_from_interpreter_flags = before
