"""What a line does to frames: each a maker of a ``host.Line``, its chance seeded."""

from collections.abc import Sequence
from random import Random

from sim_mock.faults.wire import Line

MS = 1000
Pieces = Sequence[tuple[int, bytes]]


def dead() -> Line:
    """Nothing arrives."""
    return lambda _frame: []


def late(delay_ms: int) -> Line:
    """All arrives, later."""
    return lambda frame: [(delay_ms * MS, frame)]


def doubled() -> Line:
    """All arrives, and once more 3 ms later."""
    return lambda frame: [(0, frame), (3 * MS, frame)]


def lossy(random: Random, share: float) -> Line:
    """Each frame is lost by the same chance."""
    return lambda frame: [] if random.random() < share else [(0, frame)]


def flipped(random: Random, share: float) -> Line:
    """In a share of the frames one bit is the other way round."""

    def line(frame: bytes) -> Pieces:
        if random.random() >= share:
            return [(0, frame)]
        data = bytearray(frame)
        data[random.randrange(1, len(data) - 1)] ^= 1 << random.randrange(8)
        return [(0, bytes(data))]

    return line


def repeated() -> Line:
    """Something on the way keeps sending the first frame it had, in place of all others."""
    kept: list[bytes] = []

    def line(frame: bytes) -> Pieces:
        kept.append(frame)
        return [(0, kept[0])]

    return line


def reversed_in(count: int) -> Line:
    """Frames come in batches of ``count``, the last first."""
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
    """Of each frame only a beginning arrives."""
    return lambda frame: [(0, frame[: random.randrange(1, len(frame) - 1)])]


def in_two(random: Random) -> Line:
    """Each frame arrives in two parts, 5 ms apart."""

    def line(frame: bytes) -> Pieces:
        at = random.randrange(1, len(frame))
        return [(0, frame[:at]), (5 * MS, frame[at:])]

    return line


def among(random: Random, noise: bytes) -> Line:
    """Between frames there are other bytes: a random piece of ``noise``, and a delimiter."""

    def line(frame: bytes) -> Pieces:
        piece = noise[random.randrange(len(noise)) :][: random.randrange(1, 60)]
        return [(0, piece + b"\0" + frame + piece + b"\0")]

    return line


def inserted(random: Random, noise: bytes, share: float) -> Line:
    """Into a share of the frames one byte of ``noise`` gets in, at any position."""

    def line(frame: bytes) -> Pieces:
        if random.random() >= share:
            return [(0, frame)]
        at = random.randrange(1, len(frame) - 1)
        return [(0, frame[:at] + noise[random.randrange(len(noise)) :][:1] + frame[at:])]

    return line
