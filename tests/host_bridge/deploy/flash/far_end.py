"""A board at its raw REPL behind a pseudo-terminal: MicroPython under Node, and its file system."""

import os
import shutil
import subprocess
import tty
from contextlib import contextmanager
from pathlib import Path

import pytest

from sim_mock.board.stored_image import board_id_of
from tests.support import patience

ROOT = Path(__file__).resolve().parents[4]
PACKAGE = ROOT / ".micropython/node/node_modules/@micropython/micropython-webassembly-pyscript"
SCRIPT = Path(__file__).with_name("board.mjs")
RESET = 42


def node():
    """The command, or a skip that says what is missing."""
    found = shutil.which("node")
    if found is None or not (PACKAGE / "micropython.mjs").exists():
        pytest.skip("no Node, or not what tests/tools/setup/package.json names: `make setup`")
    return found


@contextmanager
def repl_board(folder, called=None):
    """Its port; ``folder`` is its file system before, and after it was reset or has ended.

    ``called`` is the ``--board`` of the virtual car that is started in its place after the reset.
    """
    chip = {"CHIP_ID": board_id_of(called).hex()} if called else {}
    command = node()
    folder.mkdir(exist_ok=True)
    master, slave = os.openpty()
    tty.setraw(slave)
    process = subprocess.Popen(
        [command, str(SCRIPT), str(PACKAGE), str(folder)],
        stdin=master,
        stdout=master,
        env={**os.environ, **chip},
    )
    os.close(master)
    try:
        yield os.ttyname(slave), process
    finally:
        os.close(slave)  # a hang-up: it keeps its files and ends
        try:
            patience.wait(process, 20)
        except patience.Hang:
            process.kill()
            process.wait()
