"""The link to the byte: what is scanned, queued, read in blocks and written in packets."""

import sys
from types import SimpleNamespace

import pytest
from bench import bench

from firmware.boards import link as link_module
from firmware.boards.link import (
    RECEIVE_SIZE,
    SEND_SIZE,
    ByteQueue,
    Link,
    StdioLink,
    UartLink,
    fill,
    make_firsts,
    scanned,
    take_zeros_out,
    written,
)

BEGUN, RUN, FIRST, STOP, HEARD = 1 << 8, 1 << 9, 1 << 14, 1 << 15, 1 << 16


@pytest.fixture(autouse=True)
def _bare_bench():
    bench.reset()


@pytest.mark.parametrize(
    ("data", "before", "after"),
    [
        (b"\0\1", 0, 1),  # an empty group: its delimiter or code comes next, no frame's first byte
        (b"\0\2", 0, 2 | FIRST),
        (b"\5", 1, 5),  # a code where one was promised
        (b"\xa6", 5 | FIRST, 4 | STOP),
        (b"\xa7", 5 | FIRST, 4),
        (b"\xa6", 5, 4),  # not the first byte
        (b"a", 3 | STOP, 2 | STOP),
        (b"\0", 3 | STOP, BEGUN | HEARD),
        (b"\0\0", 3 | STOP, BEGUN | HEARD),  # once
        (b"\0", 3, BEGUN),
        (b"", 5 | BEGUN | 7 * RUN | FIRST | STOP, 5 | BEGUN | 7 * RUN | FIRST | STOP),
        (b"\3", 15 * RUN, 16 * RUN),
        (b"\3", 14 * RUN, 15 * RUN),
        (b"a", 16 * RUN, 16 * RUN),  # once it was long enough it stays so
        (b"a", 15 * RUN, 0),
        (b"x\xa6\0", 0, BEGUN),
        (b"\xa6", BEGUN, 0xA6 | FIRST),
        (b"\0\x17\xa6", 0, 0x16 | STOP),
        (b"ab", 2, ord("b")),
    ],
)
def test_what_a_stream_leads_to(data, before, after):
    assert scanned(bytearray(data), len(data), before) == after


def test_what_is_behind_its_size_is_not_looked_at():
    assert scanned(bytearray(b"\0\5\0"), 2, 0) == 5 | FIRST


@pytest.mark.parametrize(("start", "end", "after"), [(2, 4, b"ab__ef"), (3, 3, b"abcdef"),
                                                     (0, 6, b"______")])  # fmt: skip
def test_what_is_filled_is_what_was_asked_for(start, end, after):
    data = bytearray(b"abcdef")
    assert fill(data, start, end, ord("_")) == end
    assert bytes(data) == after


@pytest.mark.parametrize(
    ("data", "size", "wrote"),
    [(b"ab\x77\x77", 4, 2), (b"\x77\x77", 2, 0), (b"ab", 2, 2), (b"a\x77b\x77", 4, 3),
     (b"abc", 2, 2), (b"", 0, 0)],
)  # fmt: skip
def test_what_was_written_ends_before_what_is_blank(data, size, wrote):
    assert written(bytearray(data), size) == wrote


@pytest.mark.parametrize(
    ("start", "size", "many", "left"),
    [(0, 6, 3, b"abc"), (0, 6, 2, b"abc\0"), (2, 6, 1, b"a\0bc\0"), (0, 6, 0, b"a\0b\0c\0"),
     (0, 6, 9, b"abc"), (0, 4, 9, b"ab"), (6, 6, 1, b"a\0b\0c\0")],
)  # fmt: skip
def test_as_many_zeros_are_taken_out_as_were_filled_in_from_there_on(start, size, many, left):
    data = bytearray(b"a\0b\0c\0")
    assert take_zeros_out(data, start, size, many) == len(left)
    assert bytes(data[: len(left)]) == left


def test_a_queue_knows_its_room_to_the_byte():
    queue = ByteQueue(4)
    out = bytearray(4)
    assert (queue.size, queue.room(), queue.take_into(out, 4)) == (0, 4, 0)
    assert queue.put(bytearray(b"abcd"), 4)
    assert (queue.size, queue.room()) == (4, 0)
    assert queue.put(bytearray(b"e"), 1) is False
    assert queue.peek_into(out, 2) == 2
    assert queue.take_into(out, 3) == 3
    assert bytes(out[:3]) == b"abc"
    assert (queue.size, queue.room()) == (1, 3)
    assert queue.put(bytearray(b"efg"), 3)
    assert queue.take_into(out, 4) == 4
    assert bytes(out) == b"defg"


def test_its_sizes_are_those_that_others_reckon_with():
    assert (RECEIVE_SIZE, SEND_SIZE) == (512, 1024)
    link = UartLink(Uart())
    assert link.transmit(bytearray(SEND_SIZE), SEND_SIZE)
    assert not link.transmit(bytearray(1), 1)


def test_what_is_there_to_begin_with_is_nothing():
    link = UartLink(Uart())
    assert (link.asks_for_repl, link.hears_stop, link._scanned) == (False, False, 0)
    assert link.receive_into(bytearray(9)) == 0
    with pytest.raises(NotImplementedError):
        Link().listen()
    with pytest.raises(NotImplementedError):
        Link().send()
    assert Link().close() is None


def test_views_of_the_first_bytes_cost_nothing_later():
    firsts = make_firsts(bytearray(b"abc"))
    assert [bytes(view) for view in firsts] == [b"", b"a", b"ab", b"abc"]


class Uart:
    """Gives and takes so many bytes at once."""

    def __init__(self, gives=1, takes=1000):
        self.gives, self.takes = gives, takes
        self.incoming = bytearray()
        self.reads, self.writes = [], []

    def any(self):
        return min(len(self.incoming), self.gives)

    def readinto(self, into, size):
        self.reads.append(size)
        into[:size] = self.incoming[:size]
        del self.incoming[:size]
        return size

    def write(self, data):
        self.writes.append(bytes(data))
        return min(len(data), self.takes)


def test_a_pump_takes_eight_blocks_at_most_and_no_block_is_longer_than_its_buffer():
    uart = Uart(gives=1)
    link = UartLink(uart)
    uart.incoming += b"0123456789"
    link.pump()
    assert uart.reads == [1] * 8
    link.pump()
    assert uart.reads == [1] * 10
    taken = bytearray(20)
    assert link.receive_into(taken) == 10
    assert bytes(taken[:10]) == b"0123456789"
    uart.gives, uart.reads = 600, []
    uart.incoming += bytes(600)
    link.pump()
    assert uart.reads == [128] * 4  # all that there is room for
    assert len(uart.incoming) == 88


def test_a_uart_that_reads_nothing_at_all_is_none_that_read_something():
    uart = Uart(gives=5)
    uart.incoming += b"abcde"
    uart.readinto = lambda into, size: None
    link = UartLink(uart)
    link.listen()
    assert link.receive_into(bytearray(9)) == 0


def test_a_pump_writes_blocks_until_the_uart_takes_no_more():
    uart = Uart()
    link = UartLink(uart)
    link.send()
    assert uart.writes == []
    data = bytearray(n & 255 for n in range(SEND_SIZE))
    assert link.transmit(data, SEND_SIZE)
    link.pump()
    assert [len(block) for block in uart.writes] == [128] * 8
    assert b"".join(uart.writes) == bytes(data)
    uart.takes, uart.writes = 100, []
    link.transmit(data, 300)
    link.send()
    assert uart.writes == [bytes(data[:128])]
    link.send()
    assert uart.writes[1] == bytes(data[100:228])
    uart.write = lambda block: None
    link.send()
    uart.write = Uart.write.__get__(uart)
    link.send()
    assert uart.writes[2] == bytes(data[200:300])


def test_a_run_that_goes_on_over_blocks_asks_for_the_repl_until_it_is_forgotten():
    uart = Uart(gives=7)
    link = UartLink(uart)
    uart.incoming += b"\3" * 15
    link.pump()
    assert not link.asks_for_repl
    uart.incoming += b"\3"
    link.pump()
    assert link.asks_for_repl
    link.forget()
    uart.incoming += b"a"
    link.pump()
    assert not link.asks_for_repl


def test_what_came_is_kept_as_it_was_scanned_but_for_a_stop_that_was_heard():
    link = UartLink(Uart())
    link.take(bytearray(b"\0\5"), 2)
    assert link._scanned == 5 | FIRST
    link.take(bytearray(b"\xa6abc\0"), 5)
    assert (link._scanned, link.hears_stop) == (BEGUN, True)


def test_what_is_forgotten_is_the_run_and_nothing_else():
    link = UartLink(Uart())
    link._scanned = 0xFFFF
    link.asks_for_repl = True
    link.forget()
    assert (link._scanned, link.asks_for_repl) == (0xFFFF & ~(31 * RUN), False)


def test_which_byte_interrupts_is_told_to_the_interpreter(monkeypatch):
    told = []
    monkeypatch.setitem(sys.modules, "micropython", SimpleNamespace(kbd_intr=told.append))
    link_module._interrupt_by(3)
    assert told == [3]


# --- the REPL's stream


class Poll:
    def __init__(self, is_ready=True):
        self.is_ready = is_ready
        self.asked = 0

    def register(self, stream, event):
        pass

    def ipoll(self, timeout):
        assert timeout == 0
        self.asked += 1
        return [0] if self.is_ready else []


class Stream:
    """Of the REPL: what it is asked for, all of which is there."""

    def __init__(self, data=b""):
        self.data = bytearray(data)
        self.asked, self.packets = [], []

    def readinto(self, into):
        self.asked.append(len(into))
        got = self.data[: len(into)]
        into[: len(got)] = got
        del self.data[: len(got)]
        return len(got)

    def write(self, data):
        self.packets.append(bytes(data))


@pytest.fixture
def stdio(monkeypatch):
    interrupts = []
    monkeypatch.setattr(link_module, "_interrupt_by", interrupts.append)
    monkeypatch.setattr(link_module.select, "poll", Poll)
    monkeypatch.setattr(link_module.os, "dupterm", lambda stream: None, raising=False)
    link = StdioLink()
    link._reader = link._writer = link.stream = Stream()
    link.interrupts = interrupts
    return link


def test_it_goes_out_in_whole_packets_the_last_one_with_zeros(stdio):
    stdio.send()
    assert stdio.stream.packets == []
    data = bytearray(range(100))
    stdio.transmit(data, 100)
    stdio.send()
    assert stdio.stream.packets == [bytes(data[:64]), bytes(data[64:]) + bytes(28)]


def test_it_writes_eight_packets_at_most_and_only_where_there_is_room(stdio):
    data = bytearray(n % 250 + 1 for n in range(SEND_SIZE))
    stdio.transmit(data, SEND_SIZE)
    stdio._writable.is_ready = False
    stdio.send()
    assert stdio.stream.packets == []
    stdio._writable.is_ready = True
    stdio.send()
    assert b"".join(stdio.stream.packets) == bytes(data[: 8 * 64])


def test_it_asks_for_a_head_and_then_for_what_was_promised_and_the_next_head(stdio):
    first, second = b"\0\5abcd", b"\0\3ab"
    stdio.stream.data += first + second + b"\0\x09"
    polls = iter([True, False])
    stdio._readable.ipoll = lambda timeout: [0] if next(polls) else []
    stdio.listen()
    assert stdio.stream.asked[:3] == [2, 5 + 2, 2 + 2]
    taken = bytearray(64)
    assert stdio.receive_into(taken) == 12
    assert bytes(taken[:12]) == first + second + b"\0\x09"


def test_a_long_promise_is_read_by_the_packet(stdio):
    stdio.stream.data += b"\0\xf0" + bytes([7]) * 300
    polls = iter([True, False])
    stdio._readable.ipoll = lambda timeout: [0] if next(polls) else []
    stdio.listen()
    assert stdio.stream.asked[:5] == [2, 64, 64, 64, 50]


def test_without_a_second_stream_only_what_was_promised_is_waited_for(monkeypatch, stdio):
    monkeypatch.delattr(link_module.os, "dupterm", raising=False)
    link = StdioLink()
    link._reader = Stream(b"\0\5abcd\0\3ab")
    polls = iter([True, True, False])
    link._readable.ipoll = lambda timeout: [0] if next(polls) else []
    link.listen()
    assert link._reader.asked[:4] == [2, 5, 2, 2]


def test_it_stops_reading_where_a_packet_has_no_room(stdio):
    stdio._received.put(bytearray(RECEIVE_SIZE - 63), RECEIVE_SIZE - 63)
    stdio.listen()
    assert stdio.stream.asked == []
    stdio._received.drop(1)
    stdio._readable.is_ready = False
    stdio.listen()
    assert stdio.stream.asked == []
    stdio._readable.is_ready = True
    stdio.stream.data += bytes(9)
    stdio.listen()
    assert stdio.stream.asked


def test_0x03_interrupts_nothing_while_it_is_the_link_and_again_once_it_is_not(stdio):
    assert stdio.interrupts == [-1]
    stdio.close()
    assert stdio.interrupts == [-1, 3]


def test_a_filler_gives_zeros_and_knows_where_they_began():
    block = bytearray(b"ab\x77\x77")
    filler = link_module.Filler(block)
    assert (filler.filled, filler.first, filler.size) == (0, 0, 0)
    filler.size = 4
    one = bytearray(b"x")
    assert filler.readinto(one) == 1
    assert (bytes(one), filler.filled, filler.first) == (b"\0", 1, 2)
    block[2:] = b"cd"
    assert filler.readinto(one) == 1
    assert (filler.filled, filler.first) == (2, 2)
    assert filler.write(b"abc") == 3
    assert filler.ioctl(1, 2) == 0
