"""Virtual cars as real programs behind real pseudo-terminals, and a host at the far end."""

import json
import subprocess
import sys
import time
from contextlib import contextmanager

import serial

from host_bridge.config import load_vehicle
from host_bridge.deploy.hil.host.small_host import SmallHost
from sim_mock.virtual_car.config import virtual_car_config
from tests.support import patience

PATIENCE_S = 45.0  # of an idle machine; only a failing test waits for it


def until(is_so, what, within_s=PATIENCE_S):
    """Wait for another process. Raises patience.Hang naming what did not come."""
    patience.until(is_so, what, within_s)


class Program:
    """``python -m sim_mock.programs.car``, started as anyone may start it."""

    def __init__(self, folder, *options, vehicle="f1tenth", runtime="cpython", **query):
        config = folder / "config.json"
        config.write_text(virtual_car_config(load_vehicle(vehicle), query).to_json())
        self.trace = folder / "trace.csv"
        command = [sys.executable, "-m", "sim_mock.programs.car", config, "--runtime", runtime]
        self.process = subprocess.Popen(
            [*map(str, command), "--trace", str(self.trace), *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.ready = self.line()
        self.device = self.ready["device"]

    def line(self):
        return json.loads(self.process.stdout.readline())

    def tell(self, *commands):
        """All in one write, as a program may do it."""
        self.process.stdin.write("".join(command + "\n" for command in commands))
        self.process.stdin.flush()

    def speed_mps(self):
        """The truth, from the last whole line of the trace."""
        return float(self.trace.read_text().split("\n")[-2].split(",")[5])

    def children(self):
        done = subprocess.run(
            ["ps", "-o", "pid=", "--ppid", str(self.process.pid)],
            capture_output=True,
            text=True,
            check=False,
        )
        return [int(word) for word in done.stdout.split()]


@contextmanager
def car_program(folder, *options, **config):
    program = Program(folder, *options, **config)
    try:
        yield program
    finally:
        with program.process as process:  # which closes its pipes
            process.kill()


class Line:
    """A serial port as the rig's ``SmallHost`` wants its world: a beat is what the car sent."""

    values, enable = (), False

    def __init__(self, device):
        self.port = serial.Serial(device, 921_600, timeout=0.05, exclusive=True)
        self.port.reset_input_buffer()

    @property
    def now_us(self):
        return time.monotonic_ns() // 1000

    def feed(self, data):
        self.port.write(data)

    def advance(self, until_us):
        """Returns at the first bytes: an answer has to leave at once to say anything of time."""
        first = self.port.read(1)
        return first + self.port.read(self.port.in_waiting)

    def close(self):
        self.port.close()


@contextmanager
def host_of(device, **host):
    line = Line(device)
    try:
        yield SmallHost(line, **host)
    finally:
        line.close()
