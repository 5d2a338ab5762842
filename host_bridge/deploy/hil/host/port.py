"""A car at a serial port, as the far end of a ``SmallHost``; it advances by the steps of the car.

Each step reports when it began, in its Status or its Motion. So the host keeps the car's time,
whatever clock this machine has: a real board and an emulated one, which may be ten times slower,
are driven and measured alike. The host's own clock only decides when to give up, and ``patience``
stretches that.
"""

from __future__ import annotations

import time
from collections import deque
from typing import Any

import serial

from firmware.core.deadlines import elapsed_us
from firmware.protocol import messages
from firmware.protocol.codec import DECODED, decode_into
from firmware.protocol.frame import FrameReader, crc_table
from host_bridge.core.errors import DeviceFault
from sim_mock.board.hardware import TIME_MASK

BAUD = 921_600  # as everywhere in Tandem (host_bridge/link/transports/serial_port.py)
SILENT_S = 3.0  # a healthy car sends fifty messages in it
_STARTS_S = 6.0  # for a program just started at the REPL: an RP2040 needs 3.6 s to import it
_QUIET_S = 0.5  # so long one read waits at most
_IDLE = 3  # consecutive reads that find nothing
_SAME_STEP_US = 3_000  # a Status and a Motion closer than this belong to one step


class NoAnswer(DeviceFault):
    """Raised when no car's messages come from a port; other bytes may have come."""

    has_sent_bytes = False


class Port:
    """The port of a car.

    ``now_us`` is when the newest step began, ``car_us`` the same without wrap-around.
    """

    values: tuple[int, ...] = ()  # a Host hashes a virtual car's outputs; a port has none
    enable = False

    def __init__(
        self, path: str, baud: int = BAUD, patience: float = 1.0, line: Any = None
    ) -> None:
        self.path = path
        self.patience = patience
        self.now_us = self.car_us = 0
        self.received = self.sent = self.frames_sent = self.steps = 0
        self.intervals_us: list[int] = []
        self._line = line or serial.Serial(path, baud, exclusive=True)
        self._line.timeout = 0.05  # s: five steps of a car
        self._reader = FrameReader(crc_table())
        self._timed = {it.ID: it() for it in (messages.Status, messages.Motion)}
        self._held = b""  # bytes after the end of the last step's message
        self._raw = b""  # the newest bytes, for the message that nothing is understood
        self._came: deque[tuple[int, float]] = deque(maxlen=50)  # car time us, host time s

    now_s = staticmethod(time.monotonic)  # by this machine
    sleep = staticmethod(time.sleep)

    def us_per_s(self) -> float:
        """Return the car's time in us per second of this machine; a million for a real board."""
        (first_us, first_s), (last_us, last_s) = self._came[0], self._came[-1]
        # an arrival cannot be earlier than its sending
        if last_s - first_s < 1e-6 * (last_us - first_us):  # bytes had piled up here
            return 1e6
        return (last_us - first_us) / max(last_s - first_s, 1e-6)  # no division by 0

    def catch_up(self) -> None:
        """Drop old bytes that waited here, which would be taken for the car's present."""
        idle = 0
        while idle < _IDLE:
            idle = 0 if self._line.read(self._line.in_waiting) else idle + 1
            time.sleep(0.002)  # s: between two bytes of a slow line

    def feed(self, data: bytes) -> None:
        self._line.write(data)
        self.sent += len(data)
        self.frames_sent += 1

    def advance(self, until_us: int) -> bytes:
        """Return the bytes up to and including the next step's message. Raises NoAnswer."""
        come = bytearray()
        give_up_s = time.monotonic() + self._may_be_silent_s()
        while True:
            data = self._held or self._line.read(max(1, self._line.in_waiting))
            self._held = b""
            end = self._until_step(data)
            if end is not None:
                self._held = data[end:]
                return bytes(come + data[:end])
            come += data
            if time.monotonic() > give_up_s:
                raise self._silence()

    def _until_step(self, data: bytes) -> int | None:
        """Return where in ``data`` the first message of a new step ends; None if there is none."""
        if not data:
            return None
        self.received += len(data)
        self._raw = (self._raw + data)[-200:]
        buffer, at = bytearray(data), 0
        while at < len(buffer):
            at = self._reader.read(buffer, at, len(buffer))
            if at < len(buffer):
                at += 1
                size = self._reader.payload_size()
                if size and self._tick(size):
                    self.received -= len(data) - at  # counted later, when it is read
                    return at
        return None

    def _tick(self, size: int) -> bool:
        message: Any = self._timed.get(self._reader.frame[0])
        if message is None or decode_into(message, self._reader.frame, size) != DECODED:
            return False
        is_status = isinstance(message, messages.Status)
        time_us: int = message.time_us if is_status else message.captured_us
        since_us = elapsed_us(time_us, self.now_us)
        if self.steps and since_us < _SAME_STEP_US:
            return False
        if self.steps:
            self.car_us += since_us
            self.intervals_us.append(since_us)
        self.now_us = time_us & TIME_MASK
        self.steps += 1
        self._came.append((self.car_us, time.monotonic()))
        return True

    def _may_be_silent_s(self) -> float:
        return (SILENT_S if self.steps else _STARTS_S) * self.patience

    def _silence(self) -> NoAnswer:
        fault = NoAnswer(
            f"no step of a car was told of within {self._may_be_silent_s():g} s",
            where=self.path,
            expected="a car that runs, which speaks by itself",
            got=f"lastly {self._raw[-40:]!r}" if self._raw else "not a byte",
            remedy="is the program on the board (tandem flash), is this its port and not the "
            "REPL's, and does nothing else hold it? A slow, emulated board needs a greater "
            "--patience",
        )
        fault.has_sent_bytes = bool(self._raw)
        return fault

    def rest_of_line(self, end: bytes, within_s: float) -> bytes:
        """Return what comes until ``end`` came and nothing follows, or the time is over."""
        come = self._held
        self._line.timeout = _QUIET_S
        give_up_s = time.monotonic() + within_s * self.patience
        while time.monotonic() < give_up_s:
            data = self._line.read(max(1, self._line.in_waiting))
            come += data
            if not data and come.endswith(end):
                break
        return come

    def close(self) -> None:
        self._line.close()
