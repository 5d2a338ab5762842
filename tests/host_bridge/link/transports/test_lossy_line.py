from __future__ import annotations

import random
from collections.abc import Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firmware.protocol.frame import FrameReader, FrameWriter, crc_table
from host_bridge.link.transports.lossy_line import HELD_BYTES, LineParameters, LossyLine

TABLE = crc_table()
PERFECT = LineParameters()


def frames_of(count: int, seed: int = 1) -> list[bytes]:
    """Frames as the car sends them, of random payloads; no two alike."""
    rng = random.Random(seed)
    writer = FrameWriter(TABLE)
    return [
        framed(writer, i.to_bytes(4, "big") + rng.randbytes(rng.randint(0, 40)))
        for i in range(count)
    ]


def framed(writer: FrameWriter, payload: bytes) -> bytes:
    writer.payload[: len(payload)] = payload
    return bytes(writer.out[: writer.wrap(len(payload))])


def passed(line: LossyLine, frames: Iterable[bytes], every_us: int = 10_000) -> list[bytes]:
    """What comes out of the line when a frame goes in every so often, all of it."""
    out, now_us = [], 0
    for frame in frames:
        line.pass_(frame, now_us)
        out += line.due(now_us)
        now_us += every_us
    return out + line.due(now_us + 60_000_000)


def receiver_of(data: bytearray) -> FrameReader:
    """The car's own receiver, after it has read everything."""
    reader = FrameReader(TABLE)
    at = 0
    while at < len(data):
        at = reader.read(data, at, len(data))
        if at < len(data):
            reader.payload_size()
            at += 1
    return reader


def test_a_line_that_does_nothing_changes_nothing() -> None:
    frames = frames_of(100)
    assert passed(LossyLine(PERFECT, 1), frames) == frames


@given(
    data=st.binary(max_size=2000), cuts=st.lists(st.integers(1, 50), min_size=1), seed=st.integers()
)
@settings(max_examples=200, deadline=None)
def test_what_a_perfect_line_passes_does_not_depend_on_where_it_was_cut(
    data: bytes, cuts: list[int], seed: int
) -> None:
    data += b"\1\0"  # ends a frame, so that nothing is held back
    line, at, out = LossyLine(PERFECT, seed), 0, b""
    while at < len(data):
        size = cuts[at % len(cuts)]
        line.pass_(data[at : at + size], 0)
        out += b"".join(line.due(0))
        at += size
    assert out == data


@pytest.mark.parametrize("byte", [b"\1", b"\0"])
def test_a_line_without_frames_is_not_held_back_for_ever(byte: bytes) -> None:
    line = LossyLine(PERFECT, 1)
    line.pass_(byte * 10 * HELD_BYTES, 0)
    assert b"".join(line.due(0)) == byte * 10 * HELD_BYTES


def test_one_seed_gives_one_drive_and_another_gives_another() -> None:
    bad = LineParameters(loss=0.1, corrupt=0.01, duplicate=0.1, delay_us=5000, jitter_us=20_000)
    frames = frames_of(500)
    same, again, other = (passed(LossyLine(bad, seed), frames) for seed in (3, 3, 4))
    assert same == again != other


def test_where_the_bytes_were_cut_does_not_change_what_happens_to_them() -> None:
    bad = LineParameters(loss=0.1, corrupt=0.01, duplicate=0.1)
    data = b"".join(frames_of(200))
    whole = passed(LossyLine(bad, 3), [data])
    bytewise = passed(LossyLine(bad, 3), [data[i : i + 1] for i in range(len(data))])
    assert whole == bytewise


@pytest.mark.parametrize("loss", [0.01, 0.1, 0.5])
def test_losses_are_as_many_as_asked_for_and_counted(loss: float) -> None:
    line = LossyLine(LineParameters(loss=loss), 1)
    count = 20_000
    out = passed(line, frames_of(count))
    assert line.counts.lost == count - len(out)
    deviation = (loss * (1 - loss) / count) ** 0.5
    assert abs(line.counts.lost / count - loss) < 5 * deviation


@pytest.mark.parametrize(("loss", "left"), [(0.0, 100), (1.0, 0)])
def test_the_ends_of_the_range_are_certain(loss: float, left: int) -> None:
    assert len(passed(LossyLine(LineParameters(loss=loss), 1), frames_of(100))) == left


def test_bursts_are_as_long_and_as_many_as_asked_for() -> None:
    begin, end, count = 0.02, 0.25, 50_000
    line = LossyLine(LineParameters(burst_begin=begin, burst_end=end), 1)
    frames = frames_of(count)
    arrived = set(passed(line, frames))
    marks = "".join("." if frame in arrived else "x" for frame in frames)
    bursts = [len(burst) for burst in marks.split(".") if burst]
    assert line.counts.lost == line.counts.lost_in_bursts == sum(bursts)
    assert sum(bursts) / len(bursts) == pytest.approx(1 / end, rel=0.1)
    assert sum(bursts) / count == pytest.approx(begin / (begin + end), rel=0.1)


def test_gaps_have_a_heavy_tail_of_the_shape_and_the_least_that_were_asked_for() -> None:
    """Their lengths follow Pareto: of those longer than the least, 2 ** -shape last twice as long.

    By their mean alone they would be as Gilbert's bursts, whose long ones are far rarer.
    """
    shape, least_us, every_us = 1.5, 20_000, 1_000
    line = LossyLine(LineParameters(gap_begin=0.002, gap_least_us=least_us, gap_shape=shape), 1)
    marks = []
    for n in range(1_000_000):
        line.pass_(b"\0a\0", n * every_us)
        marks.append("." if line.due(n * every_us) else "x")
    gaps_us = [len(gap) * every_us for gap in "".join(marks).split(".") if gap]
    assert line.counts.lost == line.counts.lost_in_bursts == sum(gaps_us) // every_us
    assert len(gaps_us) > 1000
    assert min(gaps_us) >= least_us
    for times in (2, 4, 8):
        share = sum(it >= times * least_us for it in gaps_us) / len(gaps_us)
        assert share == pytest.approx(times**-shape, rel=0.2), times


def test_a_line_without_gaps_takes_the_same_chances_as_before_there_were_any() -> None:
    kept = LossyLine(LineParameters(loss=0.3), 7)
    for n in range(100):
        kept.pass_(b"\0a\0", n)
    assert kept.counts.lost == 35


def test_duplicates_are_the_same_frame_once_more_and_counted() -> None:
    line = LossyLine(LineParameters(duplicate=0.2), 1)
    frames = frames_of(1000)
    out = passed(line, frames)
    assert len(out) == 1000 + line.counts.duplicated
    assert sorted(set(out)) == sorted(frames)
    assert 130 < line.counts.duplicated < 270


def test_a_delayed_frame_comes_out_when_it_is_due_and_not_before() -> None:
    line = LossyLine(LineParameters(delay_us=5000), 1)
    (frame,) = frames_of(1)
    line.pass_(frame, 1000)
    assert line.next_due_us() == 6000
    assert line.due(5999) == []
    assert line.due(6000) == [frame]
    assert line.due(6000) == []
    assert line.next_due_us() is None


def test_jitter_stays_in_its_bounds_and_lets_frames_overtake() -> None:
    line = LossyLine(LineParameters(delay_us=5000, jitter_us=30_000), 1)
    frames = frames_of(1000)
    waits = []
    for frame in frames:
        line.pass_(frame, 0)
    while (due_us := line.next_due_us()) is not None:
        waits += [due_us] * len(line.due(due_us))
    assert 5000 <= min(waits) < 6000 < 34_000 < max(waits) <= 35_000


def test_overtaking_is_counted() -> None:
    line = LossyLine(LineParameters(jitter_us=30_000), 1)
    frames = frames_of(1000)
    order = [frames.index(frame) for frame in passed(line, frames)]
    late = sum(at < max(order[:i], default=-1) for i, at in enumerate(order))
    assert line.counts.overtaken == late > 0


def test_frames_without_jitter_keep_their_order() -> None:
    line = LossyLine(LineParameters(delay_us=30_000, duplicate=0.3, loss=0.3), 1)
    out = passed(line, frames_of(1000))
    assert out == sorted(out, key=frames_of(1000).index)
    assert line.counts.overtaken == 0


@pytest.mark.parametrize("corrupt", [0.0003, 0.003, 0.03, 0.3])
@pytest.mark.parametrize("seed", range(5))
def test_the_car_receives_and_rejects_exactly_what_the_line_says(corrupt: float, seed: int) -> None:
    bad = LineParameters(
        loss=0.05,
        corrupt=corrupt,
        duplicate=0.05,
        jitter_us=30_000,
        burst_begin=0.01,
        burst_end=0.2,
    )
    line = LossyLine(bad, seed)
    out = passed(line, frames_of(3000, seed))
    last = frames_of(1, seed + 100)
    receiver = receiver_of(bytearray().join(out + last))
    assert receiver.good == line.counts.intact_out + 1
    assert receiver.damaged + receiver.oversized == line.counts.rejects > 0


def test_flipped_bits_are_single_and_counted() -> None:
    line = LossyLine(LineParameters(corrupt=0.01), 1)
    frames = frames_of(1000)
    out = passed(line, frames)
    flips = [
        a ^ b
        for frame, other in zip(frames, out, strict=True)
        for a, b in zip(frame, other, strict=True)
    ]
    assert {flip.bit_count() for flip in flips} == {0, 1}
    assert line.counts.flipped_bits == sum(map(bool, flips))
    assert line.counts.corrupted == sum(a != b for a, b in zip(frames, out, strict=True))


@given(
    loss=st.floats(0, 1),
    duplicate=st.floats(0, 1),
    begin=st.floats(0, 1),
    end=st.floats(0.01, 1),
    jitter_us=st.integers(0, 100_000),
    seed=st.integers(0, 2**63),
)
@settings(max_examples=50, deadline=None)
def test_no_frame_is_unaccounted_for(
    loss: float, duplicate: float, begin: float, end: float, jitter_us: int, seed: int
) -> None:
    parameters = LineParameters(
        loss=loss, duplicate=duplicate, jitter_us=jitter_us, burst_begin=begin, burst_end=end
    )
    line = LossyLine(parameters, seed)
    out = passed(line, frames_of(100))
    counts = line.counts
    assert counts.frames_in == 100
    assert counts.frames_in + counts.duplicated == counts.lost + counts.frames_out
    assert counts.frames_out == counts.intact_out == len(out)


def test_a_cut_line_forgets_what_was_on_its_way() -> None:
    line = LossyLine(LineParameters(delay_us=5000), 1)
    (frame,) = frames_of(1)
    line.pass_(frame + frame[:5], 0)
    line.clear()
    line.pass_(frame, 0)
    assert line.due(5000) == [frame]
