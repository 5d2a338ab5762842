"""A virtual board as a program: one beat per step of the wall clock, behind a pseudo-terminal.

It takes commands as lines on standard input: ``unplug``, ``plug``, ``deaf MS`` (what is sent to it
is lost for so long), ``quit``, and those of a subclass.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import sys
import time
import tty
from pathlib import Path
from typing import Protocol

from sim_mock.runtime import micropython
from sim_mock.virtual_car.schedule import RealTimeSchedule, ScheduledBoard

STEP_TIMEOUT_S = 3.0  # timeout of a step: a lost program blocks its world for so long, once
_PTY_BUFFER = 4096  # the size of a pseudo-terminal's buffer in bytes


class SerialBoard(ScheduledBoard, Protocol):
    """A board behind a serial line: takes bytes, and each beat returns the bytes it sends."""

    def feed(self, data: bytes) -> None: ...

    def beat(self, now_us: int) -> bytes: ...


class Cable:
    """A pseudo-terminal that can be pulled out and put back."""

    def __init__(self, link: Path | None) -> None:
        self.device = ""
        self.master = -1
        self._slave = -1
        self._link = link
        self.plug()

    def plug(self) -> None:
        if self.master >= 0:
            return
        # The slave end stays open here, so that the line is up while no host has it open.
        self.master, self._slave = os.openpty()
        tty.setraw(self._slave)
        os.set_blocking(self.master, False)
        self.device = os.ttyname(self._slave)
        if self._link:
            if self._link.is_symlink():  # a file of somebody's is in the way, and stays
                self._link.unlink()
            self._link.symlink_to(self.device)

    def unplug(self) -> None:
        if self.master >= 0:
            os.close(self.master)
            os.close(self._slave)
            self.master = self._slave = -1
            if self._link:
                self._link.unlink(missing_ok=True)

    def read(self) -> bytes:
        try:
            return os.read(self.master, _PTY_BUFFER)
        except (BlockingIOError, OSError):
            return b""

    def write(self, data: bytes) -> None:
        if self.master < 0:
            return
        with contextlib.suppress(BlockingIOError):  # nobody reads: full, as a UART would be
            os.write(self.master, data)


class RealTimeLoop:
    """The loop that runs a board in real time: bytes, commands, and a beat when it is due."""

    def __init__(self, board: SerialBoard, cable: Cable, ends_alone: bool) -> None:
        self.cable = cable
        self.is_ending = False
        self._board = board
        self._ends_alone = ends_alone
        self._commands: int | None = sys.stdin.fileno()
        self._typed = b""
        self._deaf_until_us = 0

    def command(self, words: list[str]) -> None:
        """Handle a command of a subclass."""

    def after_beat(self) -> None:
        """Run after each beat; for a subclass."""

    def quit(self) -> None:
        """React to ``quit``, at once; for a subclass."""

    def has_ended(self) -> bool:
        return self.is_ending

    def run(self) -> None:
        schedule = RealTimeSchedule(self._board, _now_us())
        while not self.has_ended():
            self._listen(schedule.next_us(_now_us()))
            self.cable.write(self._board.beat(schedule.car_us(_now_us())))
            self.after_beat()

    def _listen(self, until_us: int) -> None:
        """Serve cable and commands until then; at least once, however late the beat is.

        Nothing else reads the cable.
        """
        self._listen_once(until_us - _now_us())
        while (wait_us := until_us - _now_us()) > 0:
            self._listen_once(wait_us)

    def _listen_once(self, wait_us: int) -> None:
        files = [f for f in (self._commands, self._master()) if f is not None]
        ready, _, _ = select.select(files, [], [], max(wait_us, 0) * 1e-6)
        for file in ready:
            if file is self._commands:
                self._read_commands()
            else:
                self._hear(self.cable.read())

    def _hear(self, data: bytes) -> None:
        if _now_us() >= self._deaf_until_us:
            self._board.feed(data)

    def _master(self) -> int | None:
        return self.cable.master if self.cable.master >= 0 else None

    def _read_commands(self) -> None:
        """Read and run the commands that are there.

        ``readline`` is not used, as it would buffer the second of two lines out of ``select``'s
        sight.
        """
        data = os.read(sys.stdin.fileno(), _PTY_BUFFER)
        *lines, self._typed = (self._typed + data).split(b"\n")
        for line in lines:
            self._command(line.decode().split())
        if not data:
            self._commands = None
            self.is_ending |= self._ends_alone

    def _command(self, words: list[str]) -> None:
        if words == ["unplug"]:
            self.cable.unplug()
        elif words == ["plug"]:
            self.cable.plug()
            print(json.dumps({"device": self.cable.device}), flush=True)
        elif words[:1] == ["deaf"]:
            self._deaf_until_us = _now_us() + int(words[1]) * 1000
        elif words == ["quit"]:
            self.is_ending = True
            self.quit()
        else:
            self.command(words)


def _now_us() -> int:
    return time.monotonic_ns() // 1000


def runtime_command(wanted: str) -> tuple[list[str], str]:
    """Return the command that runs the firmware and its name for people.

    ``wanted`` is one of ``process.RUNTIMES``. Exits if it is a MicroPython that is not there.
    """
    if wanted != "cpython":
        bits = 32 if wanted == "micropython32" else 64  # bits of its whole numbers
        command = micropython.find(bits)
        if command:
            return command, f"MicroPython, {bits} bit"
        if wanted.startswith("micropython"):
            sys.exit(f"no {wanted} on this machine; `tandem doctor` says how to have one")
    return [sys.executable], "CPython"
