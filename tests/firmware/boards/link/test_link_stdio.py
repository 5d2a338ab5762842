"""The REPL's stream block by block: how often it is asked, and where a read stops."""

import select
import sys

import pytest

from firmware.boards import link as link_module
from firmware.boards.link import RECEIVE_SIZE, StdioLink


class Poll:
    """Says so often that there is something to read; ``streams`` are what it watches."""

    def __init__(self):
        self.streams = []
        self.times = 100
        self.asked = 0

    def register(self, stream, event):
        self.streams.append((stream, event))

    def ipoll(self, timeout):
        assert timeout == 0
        self.asked += 1
        self.times -= 1
        return [0] if self.times >= 0 else []


class Stream:
    """All that is asked for is there, and then noise, which promises nothing."""

    def __init__(self, data=b""):
        self.data = bytearray(data)
        self.asked = []
        self.packets = []

    def readinto(self, into):
        self.asked.append(len(into))
        got = (self.data + b"n" * len(into))[: len(into)]
        into[:] = got
        del self.data[: len(got)]
        return len(got)

    def write(self, data):
        self.packets.append(bytes(data))


@pytest.fixture
def link(monkeypatch):
    monkeypatch.setattr(link_module, "_interrupt_by", lambda byte: None)
    monkeypatch.setattr(link_module.select, "poll", Poll)
    monkeypatch.setattr(link_module.os, "dupterm", lambda stream: None, raising=False)
    return StdioLink()


def reading(link, data=b"", held=0, times=1):
    """What it asks for in one pump, with so much of its queue taken."""
    link._reader = Stream(data)
    link._received.put(bytearray(held), held)
    link._readable.times = times
    link.listen()
    return link._reader.asked


def test_it_is_the_program_s_own_streams_that_it_reads_writes_and_watches(link):
    assert link._reader is sys.stdin.buffer
    assert link._writer is sys.stdout.buffer
    assert link._readable.streams == [(sys.stdin, select.POLLIN)]
    assert link._writable.streams == [(sys.stdout, select.POLLOUT)]


def test_of_what_promises_nothing_it_reads_eight_heads_in_a_pump(link):
    assert reading(link, times=100) == [2] * 8
    assert link._readable.asked == 8


def test_whatever_is_promised_is_read_at_once_be_it_one_byte(link):
    assert reading(link, b"\0\1\0\0\0") == [2, 1 + 2]


def test_it_reads_on_as_long_as_a_packet_has_room(link):
    assert reading(link, b"\0\5", held=RECEIVE_SIZE - 66) == [2, 5 + 2]


def test_and_no_longer(link):
    assert reading(link, b"\0\5", held=RECEIVE_SIZE - 65) == [2]


def test_what_promises_more_than_a_packet_is_read_by_the_packet(link):
    assert reading(link, b"\0\x3f" + b"n" * 62 + b"\0\0\0\0")[:2] == [2, 64]


class ReplStream(Stream):
    """Byte by byte; where there is none, from the second one."""

    def __init__(self, data, fillers):
        super().__init__(data)
        self._fillers = fillers

    def readinto(self, into):
        for at in range(len(into)):
            one = bytearray(1)
            if self.data:
                one[0] = self.data.pop(0)
            else:
                self._fillers[-1].readinto(one)
            into[at] = one[0]
        return len(into)


@pytest.mark.parametrize("came", [b"\0\5", b"\0\5a"])
def test_where_little_or_nothing_of_what_was_promised_came_nothing_is_added(link, came):
    fillers = []
    link._fill_from = fillers.append
    link._reader = ReplStream(came, fillers)
    link._readable.times = 1
    link.listen()
    taken = bytearray(20)
    assert bytes(taken[: link.receive_into(taken)]) == came


def test_a_stream_that_gives_nothing_at_all_gives_nothing(link):
    link._reader = Stream()
    link._reader.readinto = lambda into: None
    link._readable.times = 1
    link.listen()
    assert link.receive_into(bytearray(9)) == 0


def test_the_second_stream_is_there_for_the_time_of_a_read(link):
    filled_from = []
    link._fill_from = filled_from.append
    assert reading(link, b"\0\5abcd\0\0\0") == [2, 5 + 2]
    assert filled_from == [link._filler, None] * 2
