"""A virtual runstop box: its real program, a button, and a radio that is a pseudo-terminal.

As a program (``tandem sim runstop_box``) it takes ``press`` and ``release`` as lines besides those
of ``real_time``.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from firmware.boards.simulated.virtual import CHANNELS, READINGS, RECEIVE_SIZE
from firmware.box import GREEN, RED, YELLOW, Box
from sim_mock.board.firmware_runner import FirmwareRunner, InProcess, Process, Stored
from sim_mock.board.hardware import TIME_MASK
from sim_mock.board.pairing_keys import read_key_file, stored_key
from sim_mock.programs.real_time import PATIENCE_S, Cable, RealTimeLoop, runtime_command

STEP_US = 10_000
BOARD_ID = b"runstop!"
_BUTTON = READINGS.index("runstop_closed")
_ROOM = READINGS.index("room")
LEDS = ((GREEN, "green"), (RED, "red"), (YELLOW, "yellow"))
_RADIO_ROOM = 256  # bytes that a UART's buffer takes


class VirtualBox:
    """A runstop box's program with its button, LEDs and radio.

    ``is_pressed`` is the button, ``leds`` what it shows; ``feed`` takes what its radio receives.
    ``key`` is what was stored when it was paired (firmware/boards/keys.py).
    """

    def __init__(
        self,
        runner: Callable[[bytes, bytes, int], FirmwareRunner] | None = None,
        seed: int = 0,
        key: bytes = b"",
    ) -> None:
        make = runner or in_process
        self.runner = make(BOARD_ID, Stored(b"", key), seed)
        self.is_pressed = False
        self.leds = 0
        self.interval_us = STEP_US
        self.now_us = 0
        self._incoming = bytearray()

    def feed(self, data: bytes) -> None:
        self._incoming += data

    def beat(self, now_us: int) -> bytes:
        """Run one step; return what its radio sends."""
        self.now_us = now_us
        readings = [0] * len(READINGS)
        readings[_BUTTON] = int(not self.is_pressed)
        readings[_ROOM] = _RADIO_ROOM
        received = bytes(self._incoming[:RECEIVE_SIZE])
        del self._incoming[:RECEIVE_SIZE]
        beat = self.runner.step(now_us & TIME_MASK, readings, [0] * CHANNELS, received)
        self.leds = beat.lights
        return beat.sent

    def close(self) -> None:
        self.runner.close()


def in_process(board_id: bytes, image: bytes, seed: int) -> InProcess:
    """Return a box's program in this process."""
    return InProcess(board_id, image, seed, Box)


class BoxProgram(RealTimeLoop):
    """A box whose button is pressed and released by lines."""

    def __init__(self, box: VirtualBox, cable: Cable, ends_alone: bool) -> None:
        super().__init__(box, cable, ends_alone)
        self._box = box
        self._shown = -1

    def command(self, words: list[str]) -> None:
        if words in (["press"], ["release"]):
            self._box.is_pressed = words == ["press"]

    def after_beat(self) -> None:
        if self._box.leds != self._shown:
            self._shown = self._box.leds
            lit = [name for bit, name in LEDS if self._shown & bit]
            print(json.dumps({"leds": lit}), flush=True)


def main() -> None:
    """Run one box until it is told to end."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runtime", default="auto")
    parser.add_argument("--link", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--key", help="a file of tandem pair --virtual")
    parser.add_argument("--ends-alone", action="store_true")
    arguments = parser.parse_args()
    command, runtime = runtime_command(arguments.runtime)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))

    def runner(board_id: bytes, image: bytes, seed: int) -> Process:
        return Process(command, board_id, image, seed, patience_s=PATIENCE_S, kind="unix-box")

    try:
        key = stored_key(read_key_file(arguments.key), BOARD_ID) if arguments.key else b""
    except ValueError as error:
        sys.exit(str(error))
    box = VirtualBox(runner, arguments.seed, key)
    cable = Cable(arguments.link)
    print(json.dumps({"device": cable.device, "runtime": runtime, "pid": os.getpid()}), flush=True)
    try:
        BoxProgram(box, cable, arguments.ends_alone).run()
    finally:
        cable.unplug()
        box.close()


if __name__ == "__main__":
    main()
