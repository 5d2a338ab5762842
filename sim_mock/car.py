"""A virtual car as a program: behind a pseudo-terminal, with a plant that outlives the host.

Started by ``sim_mock.process`` and by ``tandem sim``; reads its facts (JSON) from a file and prints
one line of JSON when it can be driven: the device to open and what runs the firmware. It takes
commands as lines on standard input: ``unplug``, ``plug``, ``deaf MS`` (what
is sent to it is lost for so long), ``runstop open``, ``runstop close``, ``quit``.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import select
import signal
import sys
import time
import tty
from pathlib import Path
from typing import TYPE_CHECKING

from sim_mock import micropython
from sim_mock.facts import CarFacts
from sim_mock.firmware_runner import Process

if TYPE_CHECKING:
    from sim_mock.world import World

_PTY_BUFFER = 4096  # what a pseudo-terminal takes before it refuses
_AT_REST_MPS = 0.01
_REST_US = 2_000_000
_PATIENCE_S = 3.0  # a program that is lost holds up the plant for so long, once


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
        # our own hold on the far end keeps the line open while no host has it
        self.master, self._slave = os.openpty()
        tty.setraw(self._slave)
        os.set_blocking(self.master, False)
        self.device = os.ttyname(self._slave)
        if self._link:
            self._link.unlink(missing_ok=True)
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


class Trace:
    """The truth, 100 times a second, as CSV with the machine's monotonic time."""

    COLUMNS = "monotonic_s,time_s,x_m,y_m,yaw_rad,speed_mps,steer_rad,enable,channel_drive"

    def __init__(self, path: str) -> None:
        self._file = open(path, "w", buffering=1)  # noqa: SIM115 - kept open for the car's life
        self._file.write(self.COLUMNS + "\n")

    def write(self, world: World) -> None:
        truth = world.plant.truth
        drive = next((v for v in reversed(world.values) if v), 0)
        self._file.write(
            f"{time.monotonic():.6f},{world.now_us * 1e-6:.6f},{truth.x_m:.6f},{truth.y_m:.6f},"
            f"{truth.yaw_rad:.6f},{truth.vx_mps:.6f},{world.plant.steer_rad:.6f},"
            f"{int(world.enable)},{drive}\n"
        )


class CarProgram:
    """The loop: bytes as they come, a beat every step, commands between."""

    def __init__(self, world: World, cable: Cable, trace: Trace | None, ends_alone: bool) -> None:
        self.world = world
        self.cable = cable
        self._trace = trace
        self._ends_alone = ends_alone
        self._commands: int | None = sys.stdin.fileno()
        self._typed = b""
        self._is_ending = False
        self._rested_us = 0
        self._deaf_until_us = 0

    def run(self) -> None:
        world = self.world
        begun_us = _now_us() - world.now_us
        beat_us = world.now_us
        while not self._has_ended():
            beat_us += world.step_us
            late_us = max(_now_us() - begun_us - beat_us, 0)
            beat_us += late_us // world.step_us * world.step_us  # what was missed is missed
            self._listen(begun_us + beat_us)
            self.cable.write(world.beat(_now_us() - begun_us))
            if self._trace:
                self._trace.write(world)

    def _listen(self, until_us: int) -> None:
        while (wait_us := until_us - _now_us()) > 0:
            files = [f for f in (self._commands, self._master()) if f is not None]
            ready, _, _ = select.select(files, [], [], wait_us * 1e-6)
            for file in ready:
                if file is self._commands:
                    self._read_commands()
                else:
                    self._hear(self.cable.read())

    def _hear(self, data: bytes) -> None:
        if _now_us() >= self._deaf_until_us:
            self.world.feed(data)

    def _master(self) -> int | None:
        return self.cable.master if self.cable.master >= 0 else None

    def _read_commands(self) -> None:
        """Not by ``readline``, which would keep the second of two lines to itself."""
        data = os.read(sys.stdin.fileno(), _PTY_BUFFER)
        *lines, self._typed = (self._typed + data).split(b"\n")
        for line in lines:
            self._command(line.decode().split())
        if not data:
            self._commands = None
            self._is_ending |= self._ends_alone

    def _command(self, words: list[str]) -> None:
        if words == ["unplug"]:
            self.cable.unplug()
        elif words == ["plug"]:
            self.cable.plug()
            print(json.dumps({"device": self.cable.device}), flush=True)
        elif words[:1] == ["deaf"]:
            self._deaf_until_us = _now_us() + int(words[1]) * 1000
        elif words[:1] == ["runstop"]:
            self.world.runstop_closed = words[1:] == ["close"]
        elif words == ["quit"]:
            self._is_ending = True
            self._rested_us = _REST_US

    def _has_ended(self) -> bool:
        """Alone, it goes on until it has come to rest: the plant outlives the host."""
        if abs(self.world.plant.truth.vx_mps) > _AT_REST_MPS:
            self._rested_us = 0
        elif self._is_ending:
            self._rested_us += self.world.step_us
        return self._is_ending and self._rested_us > _REST_US


def _now_us() -> int:
    return time.monotonic_ns() // 1000


def _runtime(wanted: str) -> tuple[list[str], str]:
    """The command that runs the firmware, and its name for people."""
    if wanted != "cpython":
        bits = 32 if wanted == "micropython32" else 64
        command = micropython.find(bits)
        if command:
            return command, f"MicroPython, {bits} bit"
        if wanted.startswith("micropython"):
            sys.exit(f"no {wanted} on this machine; `make setup` says how to have one")
    return [sys.executable], "CPython"


def main() -> None:
    """Run one car until it is told to end."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("facts")
    parser.add_argument("--runtime", default="auto")
    parser.add_argument("--trace")
    parser.add_argument("--link", type=Path)
    parser.add_argument("--ends-alone", action="store_true")
    arguments = parser.parse_args()
    command, runtime = _runtime(arguments.runtime)
    facts = CarFacts.from_json(Path(arguments.facts).read_text())
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the host; the car stops by itself
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # in order: its device goes away too

    def runner(board_id: bytes, image: bytes, seed: int) -> Process:
        return Process(command, board_id, image, seed, patience_s=_PATIENCE_S)

    world = facts.world(runner)
    cable = Cable(arguments.link)
    trace = Trace(arguments.trace) if arguments.trace else None
    print(json.dumps({"device": cable.device, "runtime": runtime, "pid": os.getpid()}), flush=True)
    try:
        CarProgram(world, cable, trace, arguments.ends_alone).run()
    finally:
        cable.unplug()
        world.close()


if __name__ == "__main__":
    main()
