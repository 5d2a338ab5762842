"""The wire to the host: whole or not at all, never waiting, and 0x03 is a byte like others."""

import os
import subprocess
from pathlib import Path

import machine
import pytest
from bench import bench

from firmware.boards import link as link_module
from firmware.boards.link import (
    RECEIVE_SIZE,
    SEND_SIZE,
    ByteQueue,
    StdioLink,
    UartLink,
    scanned,
    take_zeros_out,
)
from firmware.protocol.messages import TO_BOARD, Identify, Stop
from tests.firmware.protocol.streams import framed, payload_of
from tests.firmware.worlds import micropython_command
from tests.support import patience

HERE = Path(__file__).parent
ROOT = HERE.parents[3]


@pytest.fixture(autouse=True)
def _bare_bench():
    bench.reset()


def on_uart(**options):
    uart = machine.UART(0, 921_600, tx=machine.Pin(0), rx=machine.Pin(1), **options)
    return uart, UartLink(uart)


def between_zeros(data):
    return [piece for piece in data.split(b"\0") if piece]


def pumped(link, uart, rounds=100):
    sent = b""
    for _ in range(rounds):
        link.pump()
        sent += bytes(uart.outgoing)
        uart.outgoing.clear()
    return sent


def test_a_queue_takes_whole_or_refuses_whole():
    queue = ByteQueue(10)
    assert queue.put(bytearray(b"abcdef"), 6)
    assert not queue.put(bytearray(b"ghijk"), 5)
    assert queue.put(bytearray(b"ghij"), 4)
    out = bytearray(8)
    assert queue.peek_into(out, 8) == 8
    assert bytes(out) == b"abcdefgh"
    queue.drop(7)
    assert queue.peek_into(out, 8) == 3
    assert bytes(out[:3]) == b"hij"


def test_what_comes_arrives_in_order_and_nothing_waits():
    uart, link = on_uart(rxbuf=512)
    data = bytes(range(256))
    uart.incoming += data
    pumped(link, uart)
    buffer = bytearray(100)
    received = b""
    while size := link.receive_into(buffer):
        received += bytes(buffer[:size])
    assert received == data
    assert bench.waited_us == 0


def test_what_goes_leaves_in_order_however_little_the_uart_takes_at_once():
    uart, link = on_uart(txbuf=7)
    data = bytearray(range(200))
    assert link.transmit(data, 200)
    assert pumped(link, uart) == bytes(data)


def test_a_full_queue_refuses_the_whole_frame_and_goes_on_later():
    uart, link = on_uart()
    frame = bytearray(300)
    taken = 0
    while link.transmit(frame, 300):
        taken += 1
    assert taken == SEND_SIZE // 300
    pumped(link, uart)
    assert link.transmit(frame, 300)


def test_a_receive_queue_that_is_full_leaves_the_rest_with_the_uart():
    uart, link = on_uart(rxbuf=2048)
    uart.incoming += bytes(RECEIVE_SIZE + 50)
    pumped(link, uart)
    assert len(uart.incoming) == 50


@pytest.mark.parametrize(("run", "asked"), [(15, False), (16, True), (40, True)])
def test_sixteen_in_a_row_ask_for_the_repl(run, asked):
    uart, link = on_uart()
    uart.incoming += b"\x03" * 10 + b"\x00" + b"\x03" * run
    pumped(link, uart)
    assert link.asks_for_repl == asked
    link.forget()
    assert not link.asks_for_repl


@pytest.mark.micropython
@pytest.mark.parametrize("bits", [64, 32])
def test_over_stdio_each_byte_passes_and_0x03_interrupts_nothing_until_it_is_meant(bits):
    """But for zeros, which go out as many as a packet lacks: between frames they mean nothing."""
    every = bytes(range(256)) + b"\x03" * 15 + b"\x00\x03"
    process = subprocess.Popen(
        [*micropython_command(bits), str(HERE / "stdio_link.py")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "MICROPYPATH": f"{ROOT}{os.pathsep}.frozen"},
    )
    out, errors = patience.communicate(process, 60, every + b"\x03" * 15)
    assert out.endswith(b"REPL\n"), errors.decode()
    assert between_zeros(out.removesuffix(b"REPL\n")) == between_zeros(every + b"\x03" * 15)


FIRST = 1 << 14


@pytest.mark.parametrize(
    ("data", "before", "after"),
    [
        (b"\0\5", 0, 5 | FIRST),  # a delimiter and a code: four bytes, and what is behind them
        (b"abcd\0", 5, 256),  # the whole frame
        (b"abcd\4", 5, 4),  # another code
        (b"ab", 5, 3),  # a piece of it
        (b"\0", 5, 256),  # cut off
        (b"\0\0\7", 0, 7 | FIRST),
        (b"\7", 256, 7 | FIRST),  # the code comes alone
        (b"noise", 0, 0),
        (b"\xff", 256, 255 | FIRST),
        (b"\3\3", 0, 2 << 9),  # a run of what asks for the REPL
        (b"\3" * 20, 0, 16 << 9),
        (b"a\3", 5 << 9, 1 << 9),
    ],
)
def test_a_code_promises_what_it_stands_for_and_noise_promises_nothing(data, before, after):
    assert scanned(bytearray(data), len(data), before) == after


def test_zeros_that_were_filled_in_are_taken_out_again():
    data = bytearray(b"ab\0\0c\0")
    assert take_zeros_out(data, 2, 6, 2) == 4
    assert bytes(data[:4]) == b"abc\0"


class ReplStream:
    """The REPL's stream as a port reads it: byte by byte, where there is none from the second one;
    ``meanwhile`` are bytes that come while it is read, by how many it has read then."""

    def __init__(self) -> None:
        self.incoming = bytearray()
        self.meanwhile = {}
        self.filler = None

    def readinto(self, into):
        for at in range(len(into)):
            self.incoming += self.meanwhile.pop(at, b"")
            if self.incoming:
                into[at] = self.incoming.pop(0)
            else:
                one = bytearray(1)
                self.filler.readinto(one)
                into[at] = one[0]
        return len(into)

    def register(self, stream, event):
        pass

    def ipoll(self, timeout):
        return [0] if self.incoming else []


def on_repl_stream(monkeypatch):
    stream = ReplStream()
    monkeypatch.setattr(link_module.os, "dupterm", lambda it: setattr(stream, "filler", it), False)
    monkeypatch.setattr(link_module.select, "poll", lambda: stream)
    monkeypatch.setattr(link_module, "_interrupt_by", lambda byte: None)
    link = StdioLink()
    link._reader = stream
    return stream, link


def heard_of(link):
    buffer = bytearray(512)
    return bytes(buffer[: link.receive_into(buffer)])


@pytest.mark.parametrize("noise", [b"", b"\xfb\x14\x34", b"\x30\x89\x57", b"\xe7\xe7", b"w"])
def test_frames_behind_noise_keep_their_delimiters_whatever_it_promises(monkeypatch, noise):
    """Of the block that a code promised too much came the frames, and then what was filled in."""
    stream, link = on_repl_stream(monkeypatch)
    whole = b"\0" + noise + 2 * framed(payload_of(Identify()))
    stream.incoming += whole
    for _ in range(5):
        link.listen()
    assert heard_of(link) == whole


@pytest.mark.parametrize("held", [1, 2, 9])
def test_a_frame_that_goes_on_coming_while_it_is_read_is_whole(monkeypatch, held):
    stream, link = on_repl_stream(monkeypatch)
    frame = framed(payload_of(Identify()))
    stream.incoming += frame[:-held]
    stream.meanwhile = {len(frame) - held + 3 if held > 3 else len(frame) + 1: frame[-held:]}
    for _ in range(5):
        link.listen()
        stream.incoming += b"".join(stream.meanwhile.values())
        stream.meanwhile = {}
    assert heard_of(link) == frame


@pytest.mark.parametrize("chunk", [1, 2, 5, 64])
@pytest.mark.parametrize("message", TO_BOARD, ids=lambda kind: kind.__name__)
def test_a_stop_is_heard_as_soon_as_it_is_whole_and_nothing_else_is(message, chunk):
    uart, link = on_uart()
    frame = framed(payload_of(message()))
    for at in range(0, len(frame), chunk):
        assert not link.hears_stop
        uart.incoming += frame[at : at + chunk]
        pumped(link, uart)
    assert link.hears_stop is (message is Stop)


def test_a_stop_that_was_cut_off_is_none():
    uart, link = on_uart()
    uart.incoming += framed(payload_of(Stop()))[:-1]
    pumped(link, uart)
    assert not link.hears_stop
    uart.incoming += framed(payload_of(Identify()))[1:]
    pumped(link, uart)
    assert link.hears_stop  # it looks like one; the step finds that it is none
