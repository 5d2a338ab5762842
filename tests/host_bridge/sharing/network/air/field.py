"""A served car on one host and its guest on another, as the commands that a person types there."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from host_bridge.sharing.network.tokens import PREFIX
from tests.host_bridge.sharing.network.air.hub import Host
from tests.support import patience

ROOT = Path(__file__).resolve().parents[5]
TANDEM = (sys.executable, "-m", "host_bridge.cli.main")
PATIENCE_S = 60.0  # of an idle machine; only what fails waits for it
ENDED_BY_CTRL_C = 130  # as shells say it


class Program:
    """A command on a host; its lines of output can be waited for."""

    def __init__(self, words: list[str], environment: Mapping[str, str]) -> None:
        self.words = words
        self.process = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env=environment,
        )
        self.lines: list[str] = []
        self.errors: list[str] = []
        self._news: queue.Queue[str] = queue.Queue()
        self._readers = [
            threading.Thread(target=self._read, args=(it, to), daemon=True)
            for it, to in ((self.process.stdout, self.lines), (self.process.stderr, self.errors))
        ]
        for reader in self._readers:
            reader.start()

    def _read(self, stream: Any, to: list[str]) -> None:
        for line in stream:
            to.append(line)
            if to is self.lines:
                self._news.put(line)

    def line_with(self, text: str, within_s: float = PATIENCE_S) -> str:
        """Wait for a line that was not waited for before. Raises patience.Hang."""
        deadline = patience.Deadline(within_s)
        while True:
            try:
                line = self._news.get(timeout=0.1)
            except queue.Empty:
                assert self.process.poll() is None or any(it.is_alive() for it in self._readers), (
                    f"{self.words} ended without {text!r}: {self.told()}"
                )
                deadline.check(f"{text!r} of {self.words[-6:]}: {self.told()}")
                continue
            if text in line:
                return line

    def told(self) -> str:
        return "".join(self.lines[-5:]) + "".join(self.errors[-20:])

    def wait(self, within_s: float = PATIENCE_S) -> int:
        """Wait until it ends by itself; return its exit code. Raises patience.Hang."""
        code = patience.wait(self.process, within_s)
        for reader in self._readers:
            reader.join()
        return code

    def end(self, within_s: float = PATIENCE_S) -> int:
        """End it as by Ctrl-C, unless it has ended; return its exit code. Raises patience.Hang."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        try:
            code = patience.wait(self.process, within_s)
        except patience.Hang:
            self.process.kill()
            raise
        for reader in self._readers:
            reader.join()
        return code


class Login:
    """A login of its own on a host: its folders are nobody else's."""

    def __init__(self, host: Host, folder: Path) -> None:
        self.host = host
        self.folder = folder
        self.environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
        for name in ("RUNTIME", "STOP", "DATA", "CONFIG"):
            its = folder / name.lower()
            its.mkdir(mode=0o700, parents=True)
            self.environment[f"TANDEM_{name}_DIR"] = str(its)

    def start(self, *words: str) -> Program:
        return Program(self.host.words(*TANDEM, *words), self.environment)

    def run(self, *words: str, data: str | None = None) -> subprocess.CompletedProcess[str]:
        """Run a command to its end."""
        return patience.run(
            self.host.words(*TANDEM, *words),
            within_s=PATIENCE_S,
            data=data,
            text=True,
            cwd=ROOT,
            env=self.environment,
        )

    def said(self, *words: str, data: str | None = None) -> str:
        """Run a command that has to succeed; return what it said."""
        done = self.run(*words, data=data)
        assert done.returncode == 0, (words, done.stdout, done.stderr)
        return done.stdout


@contextmanager
def served(login: Login, uri: str, name: str, *words: str) -> Iterator[str]:
    """A car that is served on a host and listens there; yields where guests reach it."""
    program = login.start("serve", "--car", uri, "--name", name, "--listen", *words)
    try:
        yield program.line_with("reached by the network as ").split()[-1]
    finally:
        code = program.end()
        assert code in (0, ENDED_BY_CTRL_C), (code, program.told())


def invite(owner: Login, guest: Login, name: str, role: str = "drive", *words: str) -> None:
    """Invite one login to another's car."""
    row = json.loads(owner.said("invite", name, "--role", role, "--json", *words))
    assert row["token"].startswith(PREFIX)
    guest.said("accept", data=row["token"])
