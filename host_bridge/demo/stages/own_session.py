"""A process session of its own for the measurements: Linux shares the processor by session first.

The cars of the demo are processes with sessions of their own, so each of them gets a full share.
The demo itself would run in the session of the shell that started it, and would have to divide one
share with all other programs of that shell. So it does its work in a child process with a session
of its own, and so does the probe that measures how much processor time the machine gave. Signals
are passed on.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from collections.abc import Callable

from host_bridge.core.errors import INTERRUPTED, TandemError

_PR_SET_PDEATHSIG = 1  # linux/prctl.h
_HANDED_ON = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def in_own_session(work: Callable[[], int]) -> int:
    """Run the work in a child process with a session of its own; return its exit code."""
    sys.stdout.flush()
    sys.stderr.flush()
    signal.pthread_sigmask(signal.SIG_BLOCK, _HANDED_ON)  # until the child is known
    child = os.fork()
    if not child:
        _work(work)
    for number in _HANDED_ON:
        signal.signal(number, lambda number, frame: os.kill(child, number))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _HANDED_ON)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _work(work: Callable[[], int]) -> None:
    """Run the work in the child and exit. Never returns, for what follows is the parent's."""
    os.setsid()
    _end_with_parent()
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _HANDED_ON)
    code = 1
    try:
        code = work()
    except TandemError as error:
        print(f"tandem: {error}", file=sys.stderr)
        code = error.exit_code
    except KeyboardInterrupt:
        code = INTERRUPTED
    except BaseException:  # noqa: BLE001 - told as any other; a child must not return
        sys.excepthook(*sys.exc_info())
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _end_with_parent() -> None:
    """Have Linux send SIGTERM when the parent is killed, for then it passes no signal on."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
