"""Run code of a test as another login of this machine: a fork that gives itself a numeric uid.

No account is made, and the other login needs no right to read this project's files: what it runs is
loaded before it becomes what it is.
"""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

from tests.support import patience

ATTACKER, STOPPER = 61_001, 61_002  # of no account
_PR_SET_PDEATHSIG = 1  # linux/prctl.h
WITHIN_S = 400.0
as_root = pytest.mark.skipif(
    os.getuid() != 0 or not shutil.which("setpriv"),
    reason="only root can be another login: run these tests as root",
)


class Work:
    """What runs as another login, and in the end its answer."""

    def __init__(self, pid: int, answer_fd: int) -> None:
        self.pid = pid
        self._answer_fd = answer_fd
        self._text = b""
        os.set_blocking(answer_fd, False)

    def is_running(self) -> bool:
        """Whether it has neither ended nor answered."""
        return not self._has_ended()

    def answer(self) -> Any:
        """Wait for what its function returned. Raises AssertionError with what it complained of."""
        patience.until(self._has_ended, f"the answer of process {self.pid}", WITHIN_S)
        said = json.loads(self._text or b'{"fault": "it ended without a word"}')
        assert "fault" not in said, said["fault"]
        return said["answer"]

    def end(self) -> None:
        """Kill it, if it still runs."""
        os.kill(self.pid, signal.SIGKILL)  # a zombie until it is waited for: so it is this one
        os.waitpid(self.pid, 0)
        os.close(self._answer_fd)

    def _has_ended(self) -> bool:
        try:
            while data := os.read(self._answer_fd, 65_536):
                self._text += data
        except BlockingIOError:
            return False
        return True


@contextmanager
def working(uid: int, does: Callable[..., Any], *args: Any) -> Iterator[Work]:
    """Have another login do this in a process of its own, which is killed in the end. What is
    returned has to be JSON."""
    ours, theirs = os.pipe()
    parent = os.getpid()
    pid = os.fork()
    if pid == 0:
        os.close(ours)
        _become(uid, parent, theirs, does, args)
    os.close(theirs)
    work = Work(pid, ours)
    try:
        yield work
    finally:
        work.end()


def _become(
    uid: int, parent: int, answer_fd: int, does: Callable[..., Any], args: Sequence[Any]
) -> None:
    """In the fork: never returns."""
    said: dict[str, Any] = {"fault": "it was ended"}
    try:
        os.setsid()
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
        _end_with(parent)
        said = {"answer": does(*args)}
    except BaseException:  # noqa: BLE001 - told to whoever waits for the answer
        said = {"fault": traceback.format_exc()}
    finally:
        os.write(answer_fd, json.dumps(said).encode())
        os._exit(0)


def _end_with(parent: int) -> None:
    """Have the system kill this process when its test is killed, which then cannot. After it has
    become another login: that takes the wish back."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def as_login(words: Sequence[str], uid: int) -> list[str]:
    """The command line by which root runs a program as another login, which may still read the
    folders of the interpreter, though they be root's own."""
    who = [f"--reuid={uid}", f"--regid={uid}", "--clear-groups"]
    looks = ["--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"]
    return ["setpriv", *who, *looks, *words]


def is_busy() -> bool:
    """Whether this machine has four programs or more that want to run, for each way of counting."""
    return os.getloadavg()[0] >= 4.0


def pause(seconds: float) -> None:
    """In another login's process alone: a test's own process waits by ``patience``."""
    time.sleep(seconds)


def say(text: str) -> None:
    """Tell it where pytest shows it (-s, or a failure)."""
    print(text, file=sys.stdout, flush=True)
