"""A host's bytes become frames again before a line does things to them."""

import pytest

from sim_mock.faults.injector import HostWire
from sim_mock.faults.trial.wire import clean

FRAMES = b"\0one\0\0two\0\0three\0"


def heard(pieces, line=clean):
    arrived = []
    wire = HostWire(arrived.append, lambda: 0)
    wire.line = line
    for piece in pieces:
        wire.hear(piece)
    return arrived


@pytest.mark.parametrize(
    "pieces",
    [[FRAMES], [FRAMES[i : i + 1] for i in range(len(FRAMES))], [FRAMES[:7], FRAMES[7:]]],
    ids=["whole", "bytewise", "in two"],
)
def test_frames_are_the_same_however_their_bytes_come(pieces):
    assert heard(pieces) == [b"\0one\0", b"\0two\0", b"\0three\0"]


def test_a_line_loses_whole_frames():
    only_two = heard([FRAMES], lambda frame: [(0, frame)] if b"two" in frame else [])
    assert only_two == [b"\0two\0"]


def test_bytes_without_an_end_are_not_kept_for_ever():
    assert sum(map(len, heard([b"x" * 1000] * 10))) >= 5000


def test_a_host_that_is_stopped_says_nothing():
    arrived = []
    wire = HostWire(arrived.append, lambda: 0)
    wire.runs = False
    wire.hear(FRAMES)
    wire.runs = True
    wire.hear(FRAMES)
    assert arrived == [b"\0one\0", b"\0two\0", b"\0three\0"]


def test_what_is_late_comes_when_it_is_due():
    arrived, now_us = [], [0]
    wire = HostWire(arrived.append, lambda: now_us[0])
    wire.line = lambda frame: [(2000, frame)]
    wire.hear(b"\0one\0")
    for now_us[0], count in ((1999, 0), (2000, 1), (9000, 1)):
        wire.deliver_due()
        assert len(arrived) == count
