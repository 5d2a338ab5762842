"""S13 on the chip: for the same inputs the board puts out the very bytes that CPython puts out.

The world, its plant and its faults run here; each step is taken by the program in this process and
by the one on the board, and the two are compared before the next step.
"""

from __future__ import annotations

import struct
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from firmware.boards.simulated.unix import IN
from firmware.boards.simulated.virtual import CHANNELS
from host_bridge.deploy.flash.program.flattening import text_for_board
from host_bridge.deploy.hil.host.full_storm import stormy_drive
from host_bridge.deploy.hil.report.limits import LIMITS
from host_bridge.deploy.hil.report.report import Measurement
from sim_mock.board.firmware_runner import InProcessRunner, StepOutputs

ON_BOARD = Path(__file__).with_name("on_board") / "same_bytes.py"
PATIENCE_S = 10.0  # a collection or a start of the program takes seconds at most on a real board
_IN = struct.Struct(IN)
_OUT = struct.Struct(f"<{2 * CHANNELS}iiBBBHI")
_SEEDS = 3  # storms: each takes half a minute on a board


def program(folder: str) -> str:
    """Return the text that the board has to run, on the program of this slot."""
    return f"FOLDER, CHANNELS = {folder!r}, {CHANNELS}\n{text_for_board(ON_BOARD.read_text())}"


class BytesDiffer(AssertionError):
    """Raised when the board put out something else, or nothing."""


class BoardRunner:
    """A ``FirmwareRunner`` at the far end of a serial line."""

    def __init__(self, line: Any, patience_s: float, took_us: list[int]) -> None:
        """Wait until the program listens.

        ``took_us`` gets each step's duration by the board's clock.

        Raises BytesDiffer.
        """
        self._line = line
        self._took_us = took_us
        line.timeout = patience_s
        self._begun()

    def _begun(self) -> None:
        """Wait until the program reports that it listens."""
        if self._line.read(1) != b".":
            raise BytesDiffer(f"the program on the board does not start: {self._rest()}")

    def _rest(self) -> str:
        self._line.timeout = 1.0
        output: bytes = self._line.read(2000)  # bytes: a traceback
        return output.decode(errors="replace").strip("\x04>\r\n") or "it says nothing"

    def ask(self, what: bytes, size: int) -> bytes:
        """Send a request; return the answer.

        Raises BytesDiffer with the board's text if it ended.
        """
        self._line.write(what)
        mark = self._line.read(1)
        if mark != b".":
            output = self._rest() if mark else "no answer in time"
            raise BytesDiffer(f"the program on the board ended: {output}")
        return self._read(size)

    def _read(self, size: int) -> bytes:
        data: bytes = self._line.read(size)
        if len(data) != size:
            raise BytesDiffer(f"the board's answer ends after {len(data)} of {size} bytes")
        return data

    def begin(self, board_id: bytes, image: bytes, seed: int) -> None:
        self.ask(b"N" + struct.pack("<8siH", board_id, seed, len(image)) + image, 0)

    def step(
        self, now_us: int, readings: Sequence[int], outputs: Sequence[int], received: bytes
    ) -> StepOutputs:
        packet = _IN.pack(now_us, *readings, *outputs, len(received)) + received
        fields = _OUT.unpack(self.ask(b"S" + packet, _OUT.size))
        *both, step_us, enable, lights, healthy, size, took_us = fields
        self._took_us.append(took_us)
        sent = self._read(size)
        values, fallbacks = both[:CHANNELS], both[CHANNELS:]
        return StepOutputs(values, bool(enable), sent, fallbacks, step_us, lights, bool(healthy))

    def image(self) -> bytes:
        (size,) = struct.unpack("<H", self.ask(b"I", 2))
        return self._read(size)

    def heap(self) -> tuple[int, int]:
        """Return the bytes in use and the bytes free, after a collection."""
        used, free = struct.unpack("<II", self.ask(b"R", 8))  # bytes: two numbers of four
        return used, free

    def end(self) -> None:
        self._line.write(b"E")


class ComparedRunner:
    """A ``FirmwareRunner`` made of two, the second of which has to match the first."""

    def __init__(
        self, here: InProcessRunner, board: BoardRunner, count: Callable[[int], None]
    ) -> None:
        self._here, self._board, self._count = here, board, count

    def step(
        self, now_us: int, readings: Sequence[int], outputs: Sequence[int], received: bytes
    ) -> StepOutputs:
        expected = self._here.step(now_us, readings, outputs, received)
        got = self._board.step(now_us, readings, outputs, received)
        for name, one, other in zip(StepOutputs._fields, expected, got, strict=True):
            same = one == other if isinstance(one, bytes) else _plain(one) == _plain(other)
            if not same:
                raise BytesDiffer(
                    f"at {now_us} us {name}: here {_shown(one)}, board {_shown(other)}"
                )
        self._count(len(received) + len(expected.sent))
        return expected

    def image(self) -> bytes:
        expected = self._here.image()
        if self._board.image() != expected:
            raise BytesDiffer("the stored configuration")
        return expected

    def close(self) -> None:
        """Leave the board's program running: a restarted car takes its place."""


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, Sequence) else value


def _shown(value: Any) -> str:
    return value.hex() if isinstance(value, bytes) else str(_plain(value))


def compare(
    line: Any,
    vehicle: str = "f1tenth",
    beats: int = 3500,  # steps: half a minute of 10 ms
    patience_s: float = PATIENCE_S,
    progress: Callable[[str], None] = lambda text: None,
) -> Measurement:
    """Run a stress test of so many steps on a board with ``on_board/same_bytes.py`` started."""
    count = StepCounter(progress)
    took_us: list[int] = []
    difference, room = "", (0, 0)
    timeout = line.timeout  # restored for the code that leads the board back to its REPL
    try:
        board = BoardRunner(line, patience_s, took_us)
        stormy_drive(vehicle, partial(_begun, board, count), beats, seed=_SEEDS)
        room = board.heap()
        board.end()
    except BytesDiffer as error:
        difference = str(error)
    finally:
        line.timeout = timeout
    took = sorted(took_us) or [0]
    return Measurement(
        LIMITS["same_bytes"].what,
        must="0 steps of 6000 differ",
        got=f"after {count.steps} steps: {difference}"
        if difference
        else f"0 of {count.steps} steps, {count.size} bytes of the link",
        how="a storm of commands, stops, faults and damaged frames on a virtual board, seed "
        f"{_SEEDS}, {vehicle}; the program of the slot, its heap locked in each step",
        # steps: a minute of them over all storms
        holds=not difference and count.steps >= min(beats, 6000),
        detail={
            "steps": count.steps,
            "link_bytes": count.size,
            "heap_used": room[0],
            "heap_free": room[1],
            "step_us": {"median": took[len(took) // 2], "max": took[-1]},
        },
    )


def _begun(
    board: BoardRunner, count: StepCounter, board_id: bytes, image: bytes, seed: int
) -> ComparedRunner:
    board.begin(board_id, image, seed)
    return ComparedRunner(InProcessRunner(board_id, image, seed), board, count)


class StepCounter:
    """A counter of steps that reports now and then."""

    def __init__(self, progress: Callable[[str], None]) -> None:
        self.steps = self.size = 0
        self._progress = progress
        self._begun_s = time.monotonic()

    def __call__(self, size: int) -> None:
        self.steps += 1
        self.size += size
        if self.steps % 250 == 0:  # steps: progress is told every few seconds
            self._progress(f"{self.steps} steps the same, {time.monotonic() - self._begun_s:.0f} s")
