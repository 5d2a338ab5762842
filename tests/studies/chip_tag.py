"""What a runstop box costs a step of its car: ``python -m tests.studies.chip_tag [PORT]``.

At PORT a board that was flashed, at its REPL: the very modules of its slot, on its chip, at the
clock that a car has there. Without PORT this machine's MicroPythons, 64 and 32 bit, whose figures
are of use as ratios only. The heap is locked while it is timed. A car hears a word on each step of
20 ms, or each second one of 10; a challenge goes out every 40 ms. Both at once is the dearest step.
"""

from __future__ import annotations

import argparse
import ast
import os
import subprocess
import tempfile
from pathlib import Path

from host_bridge.deploy.flash.board.repl import raw_board
from host_bridge.deploy.flash.program.flattening import text_for_board
from sim_mock.runtime import micropython

ROOT = Path(__file__).resolve().parents[2]

# Prints a dictionary: what -> microseconds, of the median of many. It takes the program's public
# names only, since a board has short ones in place of the others
TIMED = """
import gc, micropython, sys, time
from firmware.boards.keys import take_key
from firmware.core.link.outbox import Outbox
from firmware.cipher import block_cipher
from firmware.core.stops.boxes import Boxes
from firmware.core.stops.pairing import PairedBox
from firmware.core.link.receiver import Receiver
from firmware.core.stops.runstop import StopSourceInput
from firmware.core.stops.tag import Tag
from firmware.protocol.boxes import BoxHeard, BoxWord
from firmware.protocol.codec import decode_into, encode_into
from firmware.protocol.frame import FrameWriter, crc_table

KEY = bytes(range(16))

class Board:
    board_id = b"12345678"
    def __init__(self):
        self.said = bytearray(64)
        self.size = 0
        take_key(self, KEY + self.board_id + bytes(16))
    def entropy(self):
        return 12345
    def transmit(self, data, size):
        self.size = size
        return True
    def receive_into(self, buffer):
        size, self.size = self.size, 0
        for i in range(size):
            buffer[i] = self.said[i]
        return size

class Sources:
    heard_mask = 0

table = crc_table()
board, sources = Board(), Sources()
sources.paired = StopSourceInput(4)
sources.paired.silence_us = 250000
receiver = Receiver(board, table)
outbox = Outbox(board, table)
pairing, boxes = PairedBox(board, sources, receiver, outbox), Boxes(board, outbox)
tag, cipher, mask, block = Tag(KEY), block_cipher(KEY), bytearray(16), bytearray(16)
payload = bytearray(64)
word, heard, writer = BoxWord(), BoxHeard(), FrameWriter(table)
word.says, word.epoch, word.sequence = 1, 77, 0
heard_size = encode_into(heard, payload)
times = [0] * 101

def timed(call, prepare):
    for i in range(len(times)):
        prepare(i)
        micropython.heap_lock()
        begun = time.ticks_us()
        call(i)
        times[i] = time.ticks_diff(time.ticks_us(), begun)
        micropython.heap_unlock()
    times.sort()
    return times[len(times) // 2], times[-1]

def nothing(i):
    pass

def forgotten(i):
    boxes.forget()

def frame():
    board.size = writer.wrap(24)
    for k in range(board.size):
        board.said[k] = writer.out[k]

def say(i):
    pairing.step(i * 40000)
    decode_into(heard, outbox.payload, heard_size)
    tag.begin(mask, heard.nonce)
    word.challenge = heard.challenge
    word.sequence += 1
    encode_into(word, writer.payload)
    tag.make(mask, writer.payload)
    for k in range(8):
        writer.payload[16 + k] = tag.block[k]
    frame()

def foreign(i):
    say(i)
    encode_into(word, writer.payload)
    frame()

encode_into(word, writer.payload)
frame()
receiver.step(0)  # a box that knows no challenge yet, so that one is sent
found = {}
found["nothing"] = timed(nothing, nothing)
found["one block, in place"] = timed(lambda i: cipher.encrypt(block, block), nothing)
found["a tag made"] = timed(lambda i: tag.make(mask, payload), nothing)
found["a word heard: frame, fields, tag"] = timed(lambda i: receiver.step(i * 40000), say)
taken = sources.paired.heard.is_open
found["a word of another key"] = timed(lambda i: receiver.step(i * 40000), foreign)
found["a challenge said: fields, tag, frame"] = timed(lambda i: boxes.step(True, i), forgotten)
print(repr((taken, found)))
"""
_SLOT = "sys.path.insert(0, _starts().folder)\n"


def main() -> None:
    """Print a table for each MicroPython that was asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("port", nargs="?", help="a board that was flashed")
    parser.add_argument("--clock", type=int, default=200, help="MHz of the chip, where it is set")
    arguments = parser.parse_args()
    if arguments.port:
        clock = f"import machine\nmachine.freq({arguments.clock * 1_000_000})\n"
        with raw_board(arguments.port) as board:
            _show(arguments.port, board.evaluate(_SLOT + clock + text_for_board(TIMED)))
        return
    for bits in (64, 32):
        command = micropython.find(bits)
        if command is None:
            print(f"no MicroPython of {bits} bit on this machine: make setup")
            continue
        _show(f"this machine, {bits} bit", timed_here(command, ROOT, TIMED))


def timed_here(command: list[str], program: Path, text: str) -> object:
    """Return what ``text`` prints under this machine's MicroPython, on the program in a folder."""
    with tempfile.NamedTemporaryFile("w", suffix=".py") as script:
        script.write(text)
        script.flush()
        environment = {**os.environ, "MICROPYPATH": str(program)}
        words = [*command, script.name]
        done = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)
    return ast.literal_eval(done.stdout)


def _show(where: str, answer: object) -> None:
    assert isinstance(answer, tuple)
    taken, found = answer
    assert taken, "the word was not believed: what was timed is a refusal"
    print(f"{where}: median and longest of 101, us")
    for what, (median, longest) in found.items():
        print(f"  {what:38} {median:6} {longest:6}")


if __name__ == "__main__":
    main()
