"""Makers of faulty lines (``wire.Line``): what each does to frames, with seeded randomness."""

from collections.abc import Sequence
from random import Random

from sim_mock.faults.trial.wire import Line

MS = 1000  # us
Pieces = Sequence[tuple[int, bytes]]


def dead() -> Line:
    """Return a line on which nothing arrives."""
    return lambda _frame: []


def late(delay_ms: int) -> Line:
    """Return a line that delays all frames."""
    return lambda frame: [(delay_ms * MS, frame)]


def doubled() -> Line:
    """Return a line that repeats each frame 3 ms later."""
    return lambda frame: [(0, frame), (3 * MS, frame)]


def lossy(random: Random, share: float) -> Line:
    """Return a line that loses frames independently, with this probability."""
    return lambda frame: [] if random.random() < share else [(0, frame)]


def flipped(random: Random, share: float) -> Line:
    """Return a line that flips one bit in this share of the frames."""

    def line(frame: bytes) -> Pieces:
        if random.random() >= share:
            return [(0, frame)]
        data = bytearray(frame)
        data[random.randrange(1, len(data) - 1)] ^= 1 << random.randrange(8)  # bits of the byte
        return [(0, bytes(data))]

    return line


def repeated() -> Line:
    """Return a line that sends the first frame it had in place of all others."""
    kept: list[bytes] = []

    def line(frame: bytes) -> Pieces:
        kept.append(frame)
        return [(0, kept[0])]

    return line


def reversed_in(count: int) -> Line:
    """Return a line that delivers batches of ``count`` frames in reverse order."""
    batch: list[bytes] = []

    def line(frame: bytes) -> Pieces:
        batch.insert(0, frame)
        if len(batch) < count:
            return []
        pieces = [(0, held) for held in batch]
        batch.clear()
        return pieces

    return line


def cut_short(random: Random) -> Line:
    """Return a line that delivers only a beginning of each frame."""
    return lambda frame: [(0, frame[: random.randrange(1, len(frame) - 1)])]


def in_two(random: Random) -> Line:
    """Return a line that delivers each frame in two parts, 5 ms apart."""

    def line(frame: bytes) -> Pieces:
        at = random.randrange(1, len(frame))
        return [(0, frame[:at]), (5 * MS, frame[at:])]

    return line


def among(random: Random, noise: bytes) -> Line:
    """Return a line that puts a random piece of ``noise`` and delimiters between frames."""

    def line(frame: bytes) -> Pieces:
        # bytes: up to a frame's length
        piece = noise[random.randrange(len(noise)) :][: random.randrange(1, 60)]
        return [(0, piece + b"\0" + frame + piece + b"\0")]

    return line


def inserted(random: Random, noise: bytes, share: float) -> Line:
    """Return a line that inserts one byte of ``noise`` into this share of the frames."""

    def line(frame: bytes) -> Pieces:
        if random.random() >= share:
            return [(0, frame)]
        at = random.randrange(1, len(frame) - 1)
        return [(0, frame[:at] + noise[random.randrange(len(noise)) :][:1] + frame[at:])]

    return line
