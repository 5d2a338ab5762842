"""Runs a command beside programs that compute all the time: what a busy machine makes of it.

    python -m tests.tools.running.busy 8 make test   beside eight; its exit code is the command's

They are in the session of the command, for Linux shares the processor out by session first.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Iterator


@contextlib.contextmanager
def hogs(count: int) -> Iterator[None]:
    """So many programs that compute and do nothing else, gone at the end."""
    processes = [subprocess.Popen([sys.executable, "-c", "while 1: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def main(words: list[str]) -> int:
    """The command's exit code; 2 without a count and a command, 130 where it was interrupted."""
    if len(words) < 2 or not words[0].isdigit():
        print(__doc__, file=sys.stderr)
        return 2
    with hogs(int(words[0])):
        try:
            return subprocess.run(words[1:], check=False).returncode
        except KeyboardInterrupt:
            return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
