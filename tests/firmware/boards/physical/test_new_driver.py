"""A new driver is its file, its row of PARTS and its test: nothing else of the tree is touched.

In a copy of the tree somebody adds a sensor. Its board file names it, the pins module asks for it,
each board of metal gets its file, and a car on the virtual chip drives with it.
"""

import os
import shutil
import sys
from pathlib import Path

import pytest

from tests.support import patience

pytestmark = pytest.mark.process

ROOT = Path(__file__).resolve().parents[4]
COPIED = ("calibration", "firmware", "hardware", "host_bridge", "sim_mock", "tests")
DRIVER = '''
"""A sensor that somebody made: it feels one acceleration, whatever the car does."""

from firmware.drivers.parts.mounting import Mounting
from firmware.drivers.ticks import SILENCE_US, Freshness


class Toy:
    def __init__(self, accel, mounting):
        self.freshness = Freshness(SILENCE_US)
        self.accel_x_mm_s2 = accel if mounting.forward > 0 else -accel
        self.yaw_rate_mrad_s = self.accel_y_mm_s2 = 0

    def step(self, now_us):
        self.freshness.hear(now_us)


def make(row, i2c, make_uart, pins):
    """Of its row in the pins module: acceleration, mounting."""
    return Toy(row[1], Mounting(*row[2]))
'''
ROW = """    "imu.toy": PartKind(
        keys=(Key("accel", "integer", 1, 999), _MOUNTING),
        row=lambda v: (v["accel"], tuple(v["mounting"])),
    ),
"""
TEST = """
from pathlib import Path

import pytest

from host_bridge.config.boards import pin_module
from host_bridge.config.boards.reading import FOLDER
from host_bridge.deploy.flash.program.program import sources_for
from tests.firmware.boards.booted import driving

MPU = 'imu = { kind = "mpu", sda = 20, scl = 21, address = 0x68, mounting = [1, 2, 3] }'
TOY = 'imu = { kind = "toy", accel = 77, mounting = [1, 2, 3] }'


@pytest.mark.process
def test_a_car_drives_with_it(world_on, tmp_path):
    board = tmp_path / "pico.toml"
    board.write_text((FOLDER / "pico.toml").read_text().replace(MPU, TOY))
    assert 'IMU = ("toy", 77, (1, 2, 3))' in pin_module(str(board), "f1tenth")
    for port in ("rp2", "stm32", "esp32"):
        assert "drivers/parts/toy.py" in sources_for(port)
    world = world_on("f1tenth", "cpython", board=str(board))
    host = driving(world)
    assert host.latest["Motion"].accel_x_mm_s2 == 77
"""


@pytest.fixture
def copy(tmp_path):
    unwanted = shutil.ignore_patterns("__pycache__", "*.pyc", "demo-out", ".*")
    for folder in COPIED:
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=unwanted)
    for file in ("pyproject.toml",):
        shutil.copy(ROOT / file, tmp_path / file)
    return tmp_path


def run_its_test(tree):
    """Run the new driver's own test in the copy."""
    test = tree / "tests" / "firmware" / "boards" / "test_toy.py"
    test.write_text(TEST)
    return patience.run(
        [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", str(test)],
        cwd=tree,
        env={**os.environ, "PYTHONPATH": str(tree)},
        text=True,
        within_s=120,
    )


def add_row(tree):
    schema = tree / "host_bridge" / "config" / "boards" / "schema.py"
    text = schema.read_text()
    assert text.count("\nPARTS = {\n") == 1
    schema.write_text(text.replace("\nPARTS = {\n", "\nPARTS = {\n" + ROW))


def test_a_driver_is_added_by_its_file_its_row_and_its_test(copy):
    add_row(copy)
    (copy / "firmware" / "drivers" / "parts" / "toy.py").write_text(DRIVER.lstrip())
    done = run_its_test(copy)
    assert done.returncode == 0, done.stdout + done.stderr


def test_its_row_alone_is_not_enough(copy):
    add_row(copy)
    done = run_its_test(copy)
    assert done.returncode == 1
    assert "drivers/parts/toy.py" in done.stdout
