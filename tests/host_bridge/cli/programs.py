"""The real ``tandem`` as processes, and cars for them to talk to."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from host_bridge.sharing.endpoints.served import served
from tests.support import patience

TANDEM = [sys.executable, "-m", "host_bridge.cli.main"]
PATIENCE_S = 45.0  # of an idle machine; only a failing test waits for it


def tandem(*words: str, within_s: float = PATIENCE_S) -> subprocess.CompletedProcess[str]:
    """Run a command to its end."""
    return patience.run([*TANDEM, *words], text=True, within_s=within_s)


def until(is_so: Callable[[], bool], what: str, within_s: float = PATIENCE_S) -> None:
    """Wait for another process. Raises patience.Hang naming what did not come."""
    patience.until(is_so, what, within_s)


@contextmanager
def program(*words: str, stdin: int = subprocess.PIPE) -> Iterator[subprocess.Popen[str]]:
    """A command in the background, ended as by Ctrl-C unless it has ended: in order, whatever the
    test was about."""
    process = subprocess.Popen(
        [*TANDEM, *words],
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGCONT)
            process.send_signal(signal.SIGINT)
        complaints = _ended(process)
        assert "Traceback" not in (complaints or ""), complaints


def _ended(process: subprocess.Popen[str]) -> str:
    """What it complained of; one that does not end is killed, so that nothing is left behind."""
    try:
        return patience.communicate(process, PATIENCE_S)[1]
    except patience.Hang:
        process.kill()
        process.communicate()
        raise


@contextmanager
def serving(uri: str, name: str, *words: str) -> Iterator[subprocess.Popen[str]]:
    """``tandem serve`` of a car, up and announced."""
    with program("serve", "--car", uri, "--name", name, *words) as process:

        def is_there() -> bool:
            assert process.poll() is None, process.communicate()
            return name in [car.name for car in served()]

        until(is_there, f"{uri} to be served")
        yield process


@contextmanager
def virtual_car(vehicle: str, link: Path, *words: str) -> Iterator[subprocess.Popen[str]]:
    """``tandem sim``: a car behind the serial port ``link``."""
    with program("sim", vehicle, "--link", str(link), *words) as process:
        until(link.exists, "the virtual car's port")
        yield process


@contextmanager
def terminal() -> Iterator[tuple[int, int]]:
    """A pseudo-terminal: the end that a person types into, and the one that a program reads."""
    typing, stdin = os.openpty()
    try:
        yield typing, stdin
    finally:
        os.close(typing)
        os.close(stdin)
