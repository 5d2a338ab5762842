"""The runners of a car's program: readings and bytes in, outputs and bytes out, step by step.

``InProcessRunner`` calls it in this Python, ``SubprocessRunner`` runs it in a process of its own,
under a real MicroPython or another CPython, over a pipe (``firmware/boards/simulated/unix.py``).
"""

from __future__ import annotations

import contextlib
import os
import select
import struct
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from firmware.app import App
from firmware.boards.keys import take_key
from firmware.boards.simulated import unix
from firmware.boards.simulated.virtual import CHANNELS, READINGS, RECEIVE_SIZE, VirtualBoard
from firmware.box import Box

STEP_TIMEOUT_S = 5.0  # timeout; a step takes 1 ms, the start of an interpreter some 100 ms
ROOT = Path(__file__).resolve().parents[2]


class StepOutputs(NamedTuple):
    """The outputs of one step of the program: channels, drive enable, lights, bytes to the host."""

    values: Sequence[int]  # by channel: pulses in ns, duties in 1/10000
    enable: bool
    sent: bytes
    fallbacks: Sequence[int] = (-1,) * CHANNELS  # by channel; -1: keep the present value
    step_us: int = 0  # the configured period of its steps; 0: not known
    lights: int = 0
    is_healthy: bool = False


class FlashContents(bytes):
    """The contents of a board's flash: its configuration, and its ``key`` if it has one."""

    key: bytes

    def __new__(cls, image: bytes, key: bytes = b"") -> FlashContents:
        """Make it; ``key`` is the whole stored record, as in firmware/boards/keys.py."""
        made = super().__new__(cls, image)
        made.key = key
        return made

    def __getnewargs__(self) -> tuple[bytes, bytes]:  # type: ignore[override]
        """Return the arguments for copying and pickling, so that a copy keeps its key."""
        return bytes(self), self.key


def key_record_in(image: bytes) -> bytes:
    """Return the key that is stored beside a configuration; empty if there is none."""
    return image.key if isinstance(image, FlashContents) else b""


class ProgramLost(RuntimeError):
    """The program no longer answers: it has ended, or it hangs."""


class FirmwareRunner(Protocol):
    """A runner of the car's program, one step at a time.

    ``readings`` are in the order of ``READINGS``; ``outputs`` are what each channel puts out,
    pulses in ns or duties in 1/10000; ``received`` are the bytes that came over the link.
    """

    def step(
        self, now_us: int, readings: Sequence[int], outputs: Sequence[int], received: bytes
    ) -> StepOutputs: ...

    def image(self) -> bytes: ...

    def close(self) -> None: ...


class InProcessRunner:
    """A runner of the program in this process.

    ``app`` is the car's program or the runstop box's; ``image`` is what its board has stored.
    """

    def __init__(
        self, board_id: bytes, image: bytes, seed: int, app: type[App] | type[Box] = App
    ) -> None:
        self.board = VirtualBoard(board_id, image, seed)
        self._key = key_record_in(image)
        take_key(self.board, self._key)
        self.app = app(self.board)

    def step(
        self, now_us: int, readings: Sequence[int], outputs: Sequence[int], received: bytes
    ) -> StepOutputs:
        board = self.board
        for name, value in zip(READINGS, readings, strict=True):
            setattr(board, name, value)
        board.read_back[:] = outputs
        board.received[: len(received)] = received
        board.received_size = len(received)
        self.app.step(now_us)
        return StepOutputs(
            board.values,
            board.enable,
            bytes(board.sent[: board.sent_size]),
            board.fallbacks,
            board.beat_us,
            board.lights,
            board.is_healthy,
        )

    def image(self) -> bytes:
        """Return the board's stored configuration and key."""
        return FlashContents(self.board.image, self._key)

    def close(self) -> None:
        """Do nothing: there is no process to end."""


class SubprocessRunner:
    """A runner of the program in a process of its own; ``command`` runs Python files there."""

    def __init__(
        self,
        command: Sequence[str],
        board_id: bytes,
        image: bytes,
        seed: int,
        program: Path = ROOT / "firmware" / "main.py",
        step_timeout_s: float = STEP_TIMEOUT_S,
        kind: str = "unix",
    ) -> None:
        self._timeout_s = STEP_TIMEOUT_S  # the timeout until the first answer; then ``_then_s``
        self._then_s = step_timeout_s
        self._header = struct.Struct(unix.IN)
        self._reply = struct.Struct(unix.OUT)
        self._folder = tempfile.TemporaryDirectory(prefix="tandem-car-")
        self._stored = Path(self._folder.name) / "configuration"
        self._stored.write_bytes(image)
        self._key = Path(f"{self._stored}{unix.KEY_FILE}")
        self._key.write_bytes(key_record_in(image))
        environment = {**os.environ, "MICROPYPATH": str(ROOT), "PYTHONPATH": str(ROOT)}
        self._process = subprocess.Popen(
            [*command, str(program), kind, str(self._stored), board_id.hex(), str(seed)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            start_new_session=True,  # Ctrl-C does not reach the car
        )

    @property
    def pid(self) -> int:
        return self._process.pid

    def step(
        self, now_us: int, readings: Sequence[int], outputs: Sequence[int], received: bytes
    ) -> StepOutputs:
        """Run one step. Raises ProgramLost if the program has ended or does not answer in time."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        packet = self._header.pack(now_us, *readings, *outputs, len(received))
        with contextlib.suppress(BrokenPipeError):  # the read below finds out why
            self._process.stdin.write(packet + received.ljust(RECEIVE_SIZE, b"\0"))
            self._process.stdin.flush()
        if not select.select([self._process.stdout], [], [], self._timeout_s)[0]:
            raise ProgramLost(f"the car's program does not answer for {self._timeout_s:g} s")
        out = self._process.stdout.read(unix.OUT_SIZE)
        if len(out) != unix.OUT_SIZE:
            raise ProgramLost(f"the car's program ended with exit code {self._process.wait()}")
        self._timeout_s = self._then_s
        *both, step_us, enable, lights, healthy, size = self._reply.unpack_from(out)
        at = self._reply.size
        values, fallbacks = both[:CHANNELS], both[CHANNELS:]
        sent = out[at : at + size]
        return StepOutputs(values, bool(enable), sent, fallbacks, step_us, lights, bool(healthy))

    def image(self) -> bytes:
        """Return the board's stored configuration and key."""
        return FlashContents(self._stored.read_bytes(), self._key.read_bytes())

    def close(self) -> None:
        """End the process: by closing its input, or by a kill if it does not end in time."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        self._process.stdout.close()
        try:
            self._process.wait(timeout=self._timeout_s)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._folder.cleanup()
