"""A virtual runstop box: its very program, a button and two ends of a radio, in virtual time."""

from collections.abc import Callable

from firmware.boards.virtual import CHANNELS, READINGS, RECEIVE_SIZE
from firmware.box import Box
from sim_mock.firmware_runner import FirmwareRunner, InProcess
from sim_mock.metal import TIME_MASK

STEP_US = 10_000
_BOARD_ID = b"runstop!"
_BUTTON = READINGS.index("runstop_closed")
_ROOM = READINGS.index("room")
_RADIO_ROOM = 256  # bytes that a UART's buffer takes


class VirtualBox:
    """``is_pressed`` is the button, ``leds`` what it shows; ``feed`` is what its radio hears."""

    def __init__(
        self, runner: Callable[[bytes, bytes, int], FirmwareRunner] | None = None, seed: int = 0
    ) -> None:
        make = runner or in_process
        self.runner = make(_BOARD_ID, b"", seed)
        self.is_pressed = False
        self.leds = 0
        self.step_us = STEP_US
        self._incoming = bytearray()

    def feed(self, data: bytes) -> None:
        self._incoming += data

    def beat(self, now_us: int) -> bytes:
        """One step; what its radio sends."""
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
    """A box's program in this very process."""
    return InProcess(board_id, image, seed, Box)
