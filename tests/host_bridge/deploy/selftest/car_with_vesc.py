"""A car with a VESC behind a pseudo-terminal, in real time: the board's own program on a virtual
chip, the plant, and a VESC that speaks the real bytes.

    python -m tests.host_bridge.deploy.selftest.car_with_vesc FOLDER [NAME=VALUE ...]

The names are attributes of the VESC that are to differ. The first line that it prints is its port;
``runstop open`` and ``runstop close`` on standard input are its button. It ends with its input.
"""

import ast
import os
import select
import sys
import time
import tty
from contextlib import suppress
from pathlib import Path

from tests.firmware.boards.bench_world import HERE, MS_US, PATHS, BenchWorld
from tests.firmware.boards.booted import pins_of


class OwnBoard:
    """The board's program in this very process: on a busy machine each process more is late."""

    def __init__(self, command, program, folder, chip_id, held):
        sys.path[:0] = [str(path) for path in (folder, HERE, *PATHS)]
        from bench_car import BenchCar

        car = BenchCar(__import__("pins_car"), str(folder), chip_id, held)
        self.ms = car.ms

    def close(self):
        pass


class Terminal:
    """``device`` is the port of whatever is at this end."""

    def __init__(self):
        self._master, self._slave = os.openpty()
        tty.setraw(self._slave)
        os.set_blocking(self._master, False)
        self.device = os.ttyname(self._slave)

    def received(self):
        with suppress(BlockingIOError):
            return os.read(self._master, 4096)
        return b""

    def send(self, data):
        with suppress(BlockingIOError):  # nobody reads it
            os.write(self._master, data)


def live(world, terminal):
    """Its clock is the real one: what has come it hears once it is up to date, never sooner."""
    begun_us = time.monotonic_ns() // 1000 - world.now_us
    while True:
        if select.select([sys.stdin], [], [], MS_US / 1e6)[0]:
            line = sys.stdin.readline()
            if not line:
                return
            world.turn_loop(line.split() == ["runstop", "close"])
        received = terminal.received()
        terminal.send(world.advance(time.monotonic_ns() // 1000 - begun_us))
        world.feed(received)


def main():
    folder, *changes = sys.argv[1:]
    pins = pins_of("f1tenth_vesc", "pico2")
    world = BenchWorld("f1tenth_vesc", "cpython", Path(folder), pins, board=OwnBoard)
    for change in changes:
        name, _, value = change.partition("=")
        setattr(world.vesc, name, ast.literal_eval(value))
    terminal = Terminal()
    print(terminal.device, flush=True)
    live(world, terminal)


if __name__ == "__main__":
    main()
