"""A bare board on the desk, without the board: the real board file, loop and start-up on the
virtual ``machine``, in real time, its UART a pseudo-terminal. Under CPython and MicroPython.

    bare_board.py FOLDER CHIP_ID_HEX

FOLDER has pins_car.py. Standard input and output are the terminal, non-blocking. What its metal
does is told to the file FOLDER/metal, a line each time that it changes: is the drive's relay
closed, what do the channels carry. The heap is locked in every step.
"""

import select
import sys
import time

from bench import bench
from bench_car import MASK, BenchCar, LockedApp

from firmware.boards import start
from tests.firmware.boards.doors import door_of

CHUNK = 256  # what a UART holds
WAIT_MS = 1
LOOK_US = 2000

try:
    from os import read, write

    def clock_us():
        return time.monotonic_ns() // 1000
except ImportError:  # MicroPython: its streams are the descriptors themselves

    def read(number, size):
        return sys.stdin.buffer.read(size) or b""

    def write(number, data):
        return sys.stdout.buffer.write(data) or 0

    def clock_us():
        return time.ticks_us()


class Desk:
    """``ticks_us`` is the board's clock: asked for it, the bench comes up to date."""

    def __init__(self, car, folder):
        self._car = car
        self._poller = select.poll()
        self._poller.register(0 if hasattr(time, "monotonic_ns") else sys.stdin, select.POLLIN)
        self._told = ""
        self._is_idle = False
        self._looked_us = 0
        self._metal = open(folder + "/metal", "w")  # noqa: SIM115 - for the process's life
        self._real_us = clock_us()

    def ticks_us(self):
        self._exchange()
        real_us = clock_us()
        passed_us = real_us - self._real_us & MASK
        self._real_us = real_us
        bench.advance(passed_us)
        if bench.now_us - self._looked_us > LOOK_US:
            self._looked_us = bench.now_us
            self._look()
        return bench.now_us & MASK

    def _exchange(self):
        """Only a board with nothing to do waits: it pumps a few bytes each time."""
        wire = self._car.wires[0]
        room = CHUNK - len(wire.incoming)  # what does not fit is still on the wire
        has_come = False
        for _ in self._poller.poll(WAIT_MS if self._is_idle else 0):
            if room:
                wire.incoming.extend(read(0, room))
                has_come = True
        self._is_idle = not (has_come or wire.incoming or wire.outgoing)
        if wire.outgoing:
            try:
                size = write(1, bytes(wire.outgoing))
            except BlockingIOError:  # nobody reads: full, and what does not fit is lost
                size = len(wire.outgoing)
            wire.outgoing[:] = wire.outgoing[size:]

    def _look(self):
        car = self._car
        car.metal.advance(bench.now_us)
        values = [car.value(row) for row in car.pins.CHANNELS]
        told = f"{int(car.is_relay_closed())} {values}\n"
        if told != self._told:
            self._told = told
            self._metal.write(told)
            self._metal.flush()


def main():
    _, folder, chip_id = sys.argv
    car = BenchCar(__import__("pins_car"), folder, bytes.fromhex(chip_id))
    desk = Desk(car, folder)
    start.make_app = LockedApp
    beat, door = start.Beat(car.board, car.app, desk.ticks_us, car.watchdog), door_of(car.app)
    while not door.is_asked and beat.turn():
        pass
    if door.is_asked:
        start.rehearse(start.leave(car.board, car.starts), desk.ticks_us, car.watchdog)


if __name__ == "__main__":
    main()
