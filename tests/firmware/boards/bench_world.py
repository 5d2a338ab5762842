"""The virtual car's plant around a real board file on the virtual ``machine``: what
``sim_mock.world.World`` is around the process car, as far as ``tests.firmware.rig`` needs it.
"""

import os
import select
import struct
import subprocess
import sys
from pathlib import Path

from firmware.boards.store import Store
from host_bridge.config import load_vehicle
from sim_mock.world import board_id_of, plant_of, stored_image
from tests.firmware.worlds import micropython_command

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
PROGRAM = HERE / "bench_car.py"
PATHS = (ROOT, HERE / "pins", HERE.parent / "drivers" / "virtual")
HEAD, EVENT, REPLY = "<BiiiiiiBH", "<HBB", struct.Struct("<8iBBH")
HANGS, IS_DEAF = 1, 2
MASK = (1 << 30) - 1
MS_US = 1000
MOST_BYTES = 120  # a millisecond: what 921600 baud bring, and more
RC_FRAME_US = 20_000


class BoardProcess:
    """``bench_car.py`` under some Python; ``ms`` is one packet and its reply."""

    def __init__(self, command, program, vehicle, folder, chip_id):
        paths = os.pathsep.join([str(path) for path in PATHS])
        environment = {**os.environ, "MICROPYPATH": paths + os.pathsep + ".frozen"}
        self._process = subprocess.Popen(
            [*command, str(program), "pins_" + vehicle, str(folder), chip_id.hex()],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**environment, "PYTHONPATH": paths},
            bufsize=0,
        )

    def ms(self, packet):
        self._process.stdin.write(struct.pack("<H", len(packet)) + packet)
        head = self._read(REPLY.size)
        return head + self._read(REPLY.unpack(head)[-1])

    def _read(self, size):
        data = b""
        while len(data) < size:
            ready = select.select([self._process.stdout], [], [], 60)[0]
            more = os.read(self._process.stdout.fileno(), size - len(data)) if ready else b""
            if not more:
                self._process.kill()
                raise AssertionError(f"the board ended: {self._process.stderr.read().decode()}")
            data += more
        return data

    def close(self):
        self._process.stdin.close()
        self._process.wait(timeout=60)  # it ends with its input
        self._process.stdout.close()
        self._process.stderr.close()


class BenchWorld:
    def __init__(self, vehicle, runtime, folder, pins, program=PROGRAM):
        facts = load_vehicle(vehicle)
        self.pins = pins
        self.plant = plant_of(facts, 1)
        self.now_us = 0
        self.values, self.enable, self.resets = [0] * 8, False, 0
        self.flags = 0
        self.edges = []  # (time, enable, values) at each change
        self.hand = None  # the four pulses of a transmitter, in us
        self.broken_wire = None  # a channel of it
        chip_id = board_id_of(vehicle)
        store = Store((f"{folder}/config_a.bin", f"{folder}/config_b.bin"))
        image = stored_image(facts, chip_id, vehicle)
        assert store.save(bytearray(image), len(image))
        command = [sys.executable] if runtime == "cpython" else micropython_command(runtime)
        self.board = BoardProcess(command, program, vehicle, folder, chip_id)
        self._incoming = bytearray()
        self._events = []  # (time in us, gpio, level)
        self._rc_us = 0

    def feed(self, data):
        self._incoming += data

    def turn_loop(self, is_closed, after_us=0):
        """The runstop loop opens or closes, to the microsecond."""
        self._events.append((self.now_us + after_us, self.pins.RUNSTOP, int(is_closed)))

    def advance(self, until_us):
        sent = b""
        while self.now_us < until_us:
            sent += self._ms()
        return sent

    def _ms(self):
        self._wave()
        plant = self.plant
        due = sorted(e for e in self._events if e[0] < self.now_us + MS_US)
        self._events = [e for e in self._events if e not in due]
        size = min(len(self._incoming), MOST_BYTES)
        counts = [(count + (1 << 29) & MASK) - (1 << 29) for count in plant.counts()]
        felt = (plant.yaw_rate_mrad_s, plant.accel_x_mm_s2, plant.accel_y_mm_s2)
        packet = struct.pack(HEAD, self.flags, *counts, *felt, plant.battery_mv, len(due), size)
        for at_us, gpio, level in due:
            packet += struct.pack(EVENT, max(at_us - self.now_us, 0), gpio, level)
        reply = self.board.ms(packet + self._incoming[:size])
        del self._incoming[:size]
        *values, enable, self.resets, _ = REPLY.unpack_from(reply)
        self.now_us += MS_US
        if values != self.values or bool(enable) != self.enable:
            self.edges.append((self.now_us, bool(enable), values))
        self.values, self.enable = values, bool(enable)
        plant.step(MS_US * 1e-6, self.values, self.enable)
        return reply[REPLY.size :]

    def _wave(self):
        """The receiver's four wires, one frame after the other."""
        if self.hand is None or self.now_us < self._rc_us:
            return
        self._rc_us = self.now_us + RC_FRAME_US
        for channel, (gpio, pulse_us) in enumerate(zip(self.pins.RC[1], self.hand, strict=True)):
            if channel == self.broken_wire:
                continue
            self._events += [(self.now_us, gpio, 1), (self.now_us + pulse_us, gpio, 0)]

    def close(self):
        self.board.close()
