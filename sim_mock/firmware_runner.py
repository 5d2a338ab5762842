"""The car's program as the world sees it: readings and bytes in, outputs and bytes out.

``InProcess`` calls it in this Python, ``Process`` runs it in a process of its own, under a real
MicroPython or another CPython, over a pipe (``firmware/boards/unix.py``).
"""

import contextlib
import os
import struct
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from firmware.app import App
from firmware.boards import unix
from firmware.boards.virtual import CHANNELS, READINGS, RECEIVE_SIZE, VirtualBoard

ROOT = Path(__file__).resolve().parent.parent


class Beat(NamedTuple):
    """What one step put out."""

    values: Sequence[int]  # by channel: pulses in ns, duties in 1/10000
    enable: bool
    sent: bytes


class FirmwareRunner(Protocol):
    """``readings`` are in the order of ``firmware.boards.virtual.READINGS``."""

    def step(self, now_us: int, readings: Sequence[int], received: bytes) -> Beat: ...

    def close(self) -> None: ...


class InProcess:
    """The program in this very process."""

    def __init__(self, board_id: bytes, image: bytes, seed: int) -> None:
        self.board = VirtualBoard(board_id, image, seed)
        self.app = App(self.board)

    def step(self, now_us: int, readings: Sequence[int], received: bytes) -> Beat:
        board = self.board
        for name, value in zip(READINGS, readings, strict=True):
            setattr(board, name, value)
        board.received[: len(received)] = received
        board.received_size = len(received)
        self.app.step(now_us)
        return Beat(board.values, board.enable, bytes(board.sent[: board.sent_size]))

    def close(self) -> None:
        """Nothing to end."""


class Process:
    """The program in a process of its own; ``command`` is what runs Python files there."""

    def __init__(
        self,
        command: Sequence[str],
        board_id: bytes,
        image: bytes,
        seed: int,
        program: Path = ROOT / "firmware" / "main.py",
    ) -> None:
        self._header = struct.Struct(f"<I{len(READINGS)}iH")
        self._reply = struct.Struct(f"<{CHANNELS}iBH")
        self._folder = tempfile.TemporaryDirectory(prefix="tandem-car-")
        stored = Path(self._folder.name) / "configuration"
        stored.write_bytes(image)
        environment = {**os.environ, "MICROPYPATH": str(ROOT), "PYTHONPATH": str(ROOT)}
        self._process = subprocess.Popen(
            [*command, str(program), "unix", str(stored), board_id.hex(), str(seed)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            start_new_session=True,  # Ctrl-C is not for the car
        )

    @property
    def pid(self) -> int:
        return self._process.pid

    def step(self, now_us: int, readings: Sequence[int], received: bytes) -> Beat:
        """Raises RuntimeError if the program has ended."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        packet = self._header.pack(now_us, *readings, len(received))
        with contextlib.suppress(BrokenPipeError):  # the read below finds out why
            self._process.stdin.write(packet + received.ljust(RECEIVE_SIZE, b"\0"))
            self._process.stdin.flush()
        out = self._process.stdout.read(unix.OUT_SIZE)
        if len(out) != unix.OUT_SIZE:
            raise RuntimeError(f"the car's program ended with exit code {self._process.wait()}")
        *values, enable, size = self._reply.unpack_from(out)
        at = self._reply.size
        return Beat(values, bool(enable), out[at : at + size])

    def close(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait(timeout=5)
        self._folder.cleanup()
