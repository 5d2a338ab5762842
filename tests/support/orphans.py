"""Ends what a test run left behind: every program that it started dies with it, however it died.

A run that is killed closes no fixture. So a program of its own watches it, and once it is gone ends
each program whose environment bears the mark of the run, grandchildren included. A fork has no
environment of its own: a test that forks has the system end it (``safety/attackers/logins.py``).

Linux alone. Run by its path, it is the watching program.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
import time

_MARK = "TANDEM_TEST_RUN"
_AGAIN_S = 0.05  # what is ended may have been starting another one meanwhile
_QUIET_LOOKS = 4
_watching: dict[int, subprocess.Popen[bytes]] = {}


def watch() -> None:
    """Have this program's children ended once it is gone, from the first call on. A fork, as the
    mutants' driver makes them, has a watching program of its own."""
    pid = os.getpid()
    if pid in _watching or not hasattr(os, "pidfd_open"):
        return
    mark = f"{pid}.{os.urandom(8).hex()}"
    _watching[pid] = subprocess.Popen(
        [sys.executable, "-I", "-S", __file__, str(pid), mark],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # neither Ctrl-C nor the end of the run's group reaches it
    )
    os.environ[_MARK] = mark  # from here on: the watching program does not bear it


def main() -> None:
    """Wait for the end of a process, then end whatever bears this mark."""
    pid, mark = int(sys.argv[1]), sys.argv[2]
    with contextlib.suppress(ProcessLookupError):
        poll = select.poll()
        poll.register(os.pidfd_open(pid), select.POLLIN)
        poll.poll()
    quiet = 0
    while quiet < _QUIET_LOOKS:
        quiet = 0 if _end_all(f"{_MARK}={mark}".encode()) else quiet + 1
        time.sleep(_AGAIN_S)


def _end_all(mark: bytes) -> int:
    """Kill each process with this line in its environment; return how many there were."""
    found = 0
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            process = os.pidfd_open(int(name))  # before its environment is read: this very one
            try:
                with open(f"/proc/{name}/environ", "rb") as file:
                    if mark not in file.read().split(b"\0"):
                        continue
                signal.pidfd_send_signal(process, signal.SIGKILL)
                found += 1
            finally:
                os.close(process)
    return found


if __name__ == "__main__":
    main()
