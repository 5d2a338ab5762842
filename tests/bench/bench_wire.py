"""Frames made and read per second: ``python tests/bench/bench_wire.py``.

The bridge's codec and the car's, beside pymavlink with messages of the very same fields.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

from firmware.protocol.codec import Message
from firmware.protocol.messages import Claim, Status
from host_bridge.link.protocol import wire
from sim_mock.board.firmware_runner import ROOT
from sim_mock.runtime import micropython
from tests.bench.support.mavlink import dialect
from tests.bench.support.sheet import Cell, Sheet, publish

FRAMES = 2000
ROUNDS = 7  # the best counts: the others were disturbed
CHUNK = 256  # bytes that arrive at once

Values = dict[str, Any]
# What drives a car, and what it says on every step, in the middle of a drive
MESSAGES: dict[type[Message], Values] = {
    Claim: {
        "epoch": 123_456_789,
        "source": 3,
        "sequence": 1000,
        "mask": 3,
        "steer_urad": -150_000,
        "speed_mm_s": 3000,
        "brake": 0,
        "lights": 0,
        "aux_1": 0,
        "aux_2": 0,
        "aux_3": 0,
        "aux_4": 0,
        "deadman": 1,
        "input_count": 1000,
        "lease_ms": 120,
        "stamp_us": 987_654_321,
    },
    Status: {
        "time_us": 987_654_321,
        "state": 2,
        "causes": 0,
        "first_cause": 255,
        "faults": 0,
        "profile": 1,
        "steering_source": 3,
        "drive_source": 3,
        "brake_source": 255,
        "steer_50urad": -2980,
        "target_mm_s": 3000,
        "brake": 0,
        "speed_mm_s": 2987,
        "claim_slot": 0,
        "claim_sequence": 1000,
        "claim_count": 1000,
        "claim_crc": b"\x12\x34\x56\x78",
        "applied_10us": 0,
    },
}
ON_BOARD = Path(__file__).parent / "support" / "wire_on_board.py"
BOARDS: dict[str, Callable[[], list[str] | None]] = {
    "car's, CPython": lambda: [sys.executable],
    "car's, MicroPython 64 bit": lambda: micropython.find(64),
    "car's, MicroPython 32 bit": lambda: micropython.find(32),
}


class Speed:
    """Of one codec with one message: microseconds a frame, and what its frame looks like."""

    def __init__(self, encode_us: float, decode_us: float, frame: bytes) -> None:
        self.encode_us = encode_us
        self.decode_us = decode_us
        self.frame = frame


def best_us(work: Callable[[], int]) -> float:
    """A frame's microseconds. ``work`` does FRAMES of them and counts those that came out."""
    best_s = float("inf")
    for _ in range(ROUNDS):
        began_s = perf_counter()
        done = work()
        best_s = min(best_s, perf_counter() - began_s)
        assert done == FRAMES, f"{done} of {FRAMES} frames"
    return 1e6 * best_s / FRAMES


def chunks(data: bytes) -> list[bytes]:
    return [data[at : at + CHUNK] for at in range(0, len(data), CHUNK)]


def bridge(kind: type[Message], values: Values) -> Speed:
    frame = wire.encode(wire.new(kind, **values))
    pieces = chunks(frame * FRAMES)

    def encode() -> int:
        return sum(bool(wire.encode(wire.new(kind, **values))) for _ in range(FRAMES))

    def decode() -> int:
        decoder = wire.MessageDecoder()
        return sum(isinstance(m, kind) for piece in pieces for m in decoder.feed(piece))

    return Speed(best_us(encode), best_us(decode), frame)


def mavlink(mav: Any, kind: type[Message], values: Values) -> Speed:
    name = kind.__name__.lower()
    values = {k: list(v) if isinstance(v, bytes) else v for k, v in values.items()}
    link = mav.MAVLink(None)
    make = getattr(link, f"{name}_encode")
    frame = make(**values).pack(link)
    pieces = chunks(frame * FRAMES)

    def encode() -> int:
        return sum(bool(make(**values).pack(link)) for _ in range(FRAMES))

    def decode() -> int:
        reader = mav.MAVLink(None)
        return sum(len(reader.parse_buffer(piece) or ()) for piece in pieces)

    return Speed(best_us(encode), best_us(decode), frame)


def on_board(command: list[str]) -> dict[str, Speed]:
    """The car's own codec in a process of its own. Raises CalledProcessError."""
    asked = {
        kind.__name__: {k: list(v) if isinstance(v, bytes) else v for k, v in values.items()}
        for kind, values in MESSAGES.items()
    }
    done = subprocess.run(
        [*command, str(ON_BOARD)],
        input=json.dumps(asked).encode(),  # MicroPython takes no argument over 255 bytes
        env={**os.environ, "MICROPYPATH": str(ROOT), "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        check=True,
    )
    found = json.loads(done.stdout)
    return {
        name: Speed(speed["encode_us"], speed["decode_us"], bytes.fromhex(speed["frame"]))
        for name, speed in found.items()
    }


def row(message: str, codec: str, speed: Speed, base: Speed) -> list[Cell]:
    rates = (1e6 / speed.encode_us, 1e6 / speed.decode_us)
    ratios = (base.encode_us / speed.encode_us, base.decode_us / speed.decode_us)
    return [message, codec, len(speed.frame), rates[0], ratios[0], rates[1], ratios[1]]


def measure() -> Iterator[Sheet]:
    mav = dialect(list(MESSAGES))
    commands = {name: find() for name, find in BOARDS.items()}
    boards = {name: on_board(command) for name, command in commands.items() if command}
    rows = []
    for kind, values in MESSAGES.items():
        name = kind.__name__
        base, own = mavlink(mav, kind, values), bridge(kind, values)
        rows.append(row(name, "pymavlink, CPython", base, base))
        rows.append(row(name, "bridge's, CPython", own, base))
        for codec, speeds in boards.items():
            assert speeds[name].frame == own.frame, f"{codec} makes another frame of {name}"
            rows.append(row(name, codec, speeds[name], base))
    columns = ("message", "codec", "bytes", "made/s", "ratio made", "read/s", "ratio read")
    missing = [f"{name}: none on this machine" for name, found in commands.items() if not found]
    notes = (
        "Ratios are to pymavlink: MAVLink 2, unsigned, a dialect of the same fields, with CRC-16.",
    )
    yield Sheet("Frames made and read: per second", columns, rows, (*notes, *missing))


if __name__ == "__main__":
    publish("wire", measure)
