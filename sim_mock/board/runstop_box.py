"""A virtual runstop box: its real program with a button, LEDs and a radio."""

from __future__ import annotations

from collections.abc import Callable

from firmware.boards.simulated.virtual import CHANNELS, READINGS, RECEIVE_SIZE
from firmware.box import GREEN, RED, YELLOW, Box
from sim_mock.board.firmware_runner import FirmwareRunner, FlashContents, InProcessRunner
from sim_mock.board.hardware import TIME_MASK

STEP_US = 10_000  # as in firmware/boards/start.py
BOARD_ID = b"runstop!"
_BUTTON = READINGS.index("runstop_closed")
_ROOM = READINGS.index("room")
LEDS = ((GREEN, "green"), (RED, "red"), (YELLOW, "yellow"))
_RADIO_ROOM = 256  # bytes that a UART's buffer takes


class VirtualRunstopBox:
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
        self.runner = make(BOARD_ID, FlashContents(b"", key), seed)
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


def in_process(board_id: bytes, image: bytes, seed: int) -> InProcessRunner:
    """Return a box's program in this process."""
    return InProcessRunner(board_id, image, seed, Box)
