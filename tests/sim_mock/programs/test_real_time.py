"""What runs as a program of its own, where its machine is too slow for it."""

import subprocess
import sys

import pytest

from firmware.protocol import codes
from tests.sim_mock.programs.car_programs import host_of, until

SLOW_CAR = """
import time
from sim_mock.programs.car import VirtualCarProgram
from sim_mock.programs.real_time import Cable
from tests.firmware.worlds import world_of

world, cable = world_of(), Cable(None)
world.observers.append(lambda _: time.sleep(0.002))  # two seconds for one, at least
print(cable.device, flush=True)
VirtualCarProgram(world, cable, None, False).run()
print("ended", flush=True)
"""


@pytest.fixture
def slow_car():
    command = [sys.executable, "-c", SLOW_CAR]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, text=True, **pipes) as process:
        yield process
        process.kill()


@pytest.mark.process
def test_a_car_that_is_too_slow_hears_its_cable_and_its_commands(slow_car):
    with host_of(slow_car.stdout.readline().strip()) as host:
        host.connect()
        assert "Identity" in host.latest
        assert host.state == codes.STANDBY
        slow_car.stdin.write("runstop open\n")
        slow_car.stdin.flush()
        until(lambda: host.beat() or host.status.causes, "the opened loop")
        assert host.status.causes & 1 << codes.CAUSE_RUNSTOP_LOOP
        slow_car.stdin.write("quit\n")
        slow_car.stdin.flush()
        assert slow_car.stdout.readline() == "ended\n"
