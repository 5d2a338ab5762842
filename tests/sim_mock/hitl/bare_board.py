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
from firmware.boards.hitl_door import Door

CHUNK = 256
WAIT_MS = 1

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
        self._metal = open(folder + "/metal", "w")  # noqa: SIM115 - for the process's life
        self._real_us = clock_us()

    def ticks_us(self):
        self._exchange()
        real_us = clock_us()
        passed_us = real_us - self._real_us & MASK
        self._real_us = real_us
        bench.advance(passed_us)
        self._look()
        return bench.now_us & MASK

    def _exchange(self):
        wire = self._car.wires[0]
        for _ in self._poller.poll(WAIT_MS if not wire.outgoing else 0):
            wire.incoming.extend(read(0, CHUNK))
        if wire.outgoing:
            try:
                size = write(1, bytes(wire.outgoing))
            except BlockingIOError:  # nobody reads: full, and what does not fit is lost
                size = len(wire.outgoing)
            wire.outgoing[:] = wire.outgoing[size:]

    def _look(self):
        car = self._car
        for pulses in car.pulses.values():
            pulses.advance(bench.now_us)
        car.life.advance(bench.now_us)
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
    start.App = LockedApp
    beat = start.Beat(car.board, car.app, desk.ticks_us, car.watchdog)
    if start._turn(beat, Door(car.app)):
        start.rehearse(car.board, car.starts, desk.ticks_us, car.watchdog)


if __name__ == "__main__":
    main()
