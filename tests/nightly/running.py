"""Runs one command: its output in a file, its time bounded, and nothing of it left behind."""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

INTERRUPTED_S = 10  # in which a program may end in order before it is killed
# Runs a command beside a guard in its group, which reads a pipe that only the parent holds open:
# however that one ends, the group is killed. Both at once, so that no moment is without it; and in
# two brackets, so that the guard is no child of the command's.
_GUARDED = """exec 3<&0 </dev/null
( (read -r _ <&3; kill -KILL 0) & )
exec 3<&-
exec "$@"
"""


class Ended(NamedTuple):
    """An exit code, or none where its time was over; seconds, and all that it said."""

    code: int | None
    seconds: float
    text: str


def run(
    command: Sequence[str], log: Path, limit_s: float, says: Callable[[float], None], root: Path
) -> Ended:
    """Run it below ``root`` for so long at most; ``says`` is told about once a second since when.

    Its process group ends with it, and with this program, even if that is killed.
    """
    environment = {key: value for key, value in os.environ.items() if key != "TANDEM_FAST"}
    begun_s = time.monotonic()
    with log.open("wb") as out:
        child = subprocess.Popen(
            ["sh", "-c", _GUARDED, "sh", *command], cwd=root, stdout=out, stderr=subprocess.STDOUT,
            env={**environment, "PYTHONUNBUFFERED": "1"}, stdin=subprocess.PIPE,
            start_new_session=True,
        )  # fmt: skip
        try:
            code = _awaited(child, begun_s, limit_s, says)
        finally:
            _end(child)
    return Ended(code, time.monotonic() - begun_s, log.read_text(errors="replace"))


def _awaited(
    child: subprocess.Popen[bytes], begun_s: float, limit_s: float, says: Callable[[float], None]
) -> int | None:
    while (passed_s := time.monotonic() - begun_s) < limit_s:
        says(passed_s)
        with contextlib.suppress(subprocess.TimeoutExpired):
            return child.wait(timeout=min(1.0, limit_s - passed_s))
    return None


def _end(child: subprocess.Popen[bytes]) -> None:
    """Interrupt it, if it runs, and kill what of its group is left."""
    with contextlib.suppress(ProcessLookupError):
        if child.poll() is None:
            os.killpg(child.pid, signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(timeout=INTERRUPTED_S)
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()
