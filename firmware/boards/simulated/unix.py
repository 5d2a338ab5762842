"""The process car's board: a virtual board whose inputs and outputs come and go over a pipe.

Its clock is one of its peripherals: each packet on standard input is one beat, with the time in it.
That makes the process a car in lockstep: it can be run faster than time, or paced by it.
"""

import struct
import sys

from firmware.boards.keys import take_key
from firmware.boards.simulated.virtual import (
    CHANNELS,
    READINGS,
    RECEIVE_SIZE,
    SEND_SIZE,
    VirtualBoard,
)

# now_us, the readings, what the channels put out, how many bytes were received; then the bytes
IN = "<I%diH" % (len(READINGS) + CHANNELS)
KEY_FILE = ".key"  # of the file beside the configuration's
IN_SIZE = 4 + 4 * (len(READINGS) + CHANNELS) + 2 + RECEIVE_SIZE
# the channels, their fallbacks, the guard's time, enable, lights, healthy, how many bytes are
# sent; then the bytes
OUT = "<%diiBBBH" % (2 * CHANNELS)
OUT_SIZE = 4 * (2 * CHANNELS + 1) + 3 + 2 + SEND_SIZE


class UnixBoard(VirtualBoard):
    def __init__(self, board_id: bytes, image_path: str, seed: int) -> None:
        super().__init__(board_id, _stored(image_path), seed)
        take_key(self, _stored(image_path + KEY_FILE))
        self.now_us = 0
        self._path = image_path
        self._in = bytearray(IN_SIZE)
        self._out = bytearray(OUT_SIZE)
        self._reader = sys.stdin.buffer
        self._writer = sys.stdout.buffer

    def wait(self) -> bool:
        """Wait for the next beat's packet and take it; return False when the pipe has ended."""
        if self._reader.readinto(self._in) != IN_SIZE:
            return False
        fields = struct.unpack_from(IN, self._in, 0)
        self.now_us = fields[0]
        for i in range(len(READINGS)):
            setattr(self, READINGS[i], fields[i + 1])
        for i in range(CHANNELS):
            self.read_back[i] = fields[len(READINGS) + 1 + i]
        self.received_size = fields[-1]
        at = IN_SIZE - RECEIVE_SIZE
        for i in range(self.received_size):
            self.received[i] = self._in[at + i]
        return True

    def answer(self) -> None:
        """Write this beat's outputs to the pipe."""
        out = self._out
        struct.pack_into(
            OUT, out, 0, *self.values, *self.fallbacks, self.beat_us,
            1 if self.enable else 0, self.lights, 1 if self.is_healthy else 0, self.sent_size,
        )  # fmt: skip
        at = OUT_SIZE - SEND_SIZE
        for i in range(self.sent_size):
            out[at + i] = self.sent[i]
        self._writer.write(out)
        self._writer.flush()

    def save(self, pieces: "list[bytearray]") -> bool:
        super().save(pieces)
        try:
            with open(self._path, "wb") as file:
                file.write(self.image)
        except OSError:
            return False
        return True


def _stored(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            data: bytes = file.read()
            return data
    except OSError:
        return b""
