"""Bare boards as real processes, behind real pseudo-terminals."""

import os
import subprocess
import sys
import tty
from contextlib import contextmanager
from pathlib import Path

from firmware.boards.store import Store
from host_bridge.config import load_vehicle
from host_bridge.config.boards import pin_module
from sim_mock.board.stored_image import board_id_of, stored_image
from tests.firmware.boards.bench_world import HERE as BENCH
from tests.firmware.boards.bench_world import PATHS
from tests.firmware.worlds import micropython_command

PROGRAM = Path(__file__).with_name("bare_board.py")


def pins_on_a_uart(vehicle):
    """The module that a flashed Pico has, with the host on a UART: the virtual machine has no
    REPL."""
    text = pin_module("pico", vehicle)
    assert 'LINK = "usb"' in text
    text = text.replace('LINK = "usb"', 'LINK = "uart"')
    return text.replace("UARTS = (", 'UARTS = (("link", 0, 0, 1, 921_600),')


class BareBoard:
    """``device`` is its port; it holds the configuration of a real car of ``vehicle``."""

    def __init__(self, folder, vehicle="f1tenth", runtime="cpython"):
        self.folder = folder
        self.chip_id = board_id_of("a chip")
        folder.mkdir(exist_ok=True)
        (folder / "pins_car.py").write_text(pins_on_a_uart(vehicle))
        image = stored_image(load_vehicle(vehicle), self.chip_id, "real-" + vehicle)
        store = Store((f"{folder}/config_a.bin", f"{folder}/config_b.bin"))
        assert store.save([bytearray(image)])
        self._runtime = runtime
        self.master, self.slave = os.openpty()
        tty.setraw(self.slave)
        os.set_blocking(self.master, False)
        self.device = os.ttyname(self.slave)
        self.process = None
        self.power_up()

    def power_up(self):
        command = [sys.executable]
        if self._runtime != "cpython":
            command = micropython_command(self._runtime)
        paths = os.pathsep.join(str(path) for path in (self.folder, BENCH, *PATHS))
        environment = {**os.environ, "MICROPYPATH": paths + os.pathsep + ".frozen"}
        self.process = subprocess.Popen(
            [*command, str(PROGRAM), str(self.folder), self.chip_id.hex()],
            stdin=self.master,
            stdout=self.master,
            stderr=subprocess.PIPE,
            env={**environment, "PYTHONPATH": paths},
        )

    def metal(self):
        """(is the relay closed, what the channels carry), each time that it changed."""
        lines = (self.folder / "metal").read_text().splitlines()
        return [(line[0] == "1", line[2:]) for line in lines]

    def cut_power(self):
        if self.process.returncode is None:
            self.process.kill()
            self.process.communicate()

    def close(self):
        self.cut_power()
        os.close(self.master)
        os.close(self.slave)


@contextmanager
def bare_board(folder, **options):
    board = BareBoard(folder, **options)
    try:
        yield board
    finally:
        board.close()
