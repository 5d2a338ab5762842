"""The real ``tandem`` as processes, and cars for them to talk to."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from host_bridge.transports.served import served

TANDEM = [sys.executable, "-m", "host_bridge.cli"]
PATIENCE_S = 90.0  # only a failing test waits for it; a machine that does much else is slow


def tandem(*words: str, within_s: float = PATIENCE_S) -> subprocess.CompletedProcess[str]:
    """Run a command to its end."""
    return subprocess.run(
        [*TANDEM, *words], check=False, capture_output=True, text=True, timeout=within_s
    )


def until(is_so: Callable[[], bool], what: str, within_s: float = PATIENCE_S) -> None:
    """Wait for another process; AssertionError naming what did not come."""
    give_up_s = time.monotonic() + within_s
    while not is_so():
        assert time.monotonic() < give_up_s, f"waited in vain: {what}"
        time.sleep(0.01)


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
        return process.communicate(timeout=PATIENCE_S)[1]
    except subprocess.TimeoutExpired:
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
