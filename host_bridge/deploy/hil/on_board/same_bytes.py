"""The car on a virtual board, with inputs and outputs over the REPL's line, step by step.

Sent by ``../same_bytes.py`` to a board at its raw REPL, with FOLDER, the slot whose program runs,
and CHANNELS put before it (a flashed program has its constants folded away). The packets are
unix.py's, with a letter before each; the heap is locked in every step. An answer begins with a
full stop; if it does not, the program has ended.
"""

# ruff: noqa: F821 - the host writes two names before this

import gc
import io
import struct
import sys
import time

import micropython

micropython.kbd_intr(-1)  # 0x03 is a byte like others
gc.threshold(8000)  # as firmware/boards/start.py: garbage is collected before the heap is in pieces
sys.path.insert(0, FOLDER)

from firmware.app import App
from firmware.boards.simulated.virtual import READINGS, VirtualBoard

STEP, NEW, IMAGE, ROOM, END = b"SNIRE"
IN = "<I%diH" % (len(READINGS) + CHANNELS)
OUT = "<%diiBBBHI" % (2 * CHANNELS)
reader, writer = sys.stdin.buffer, sys.stdout.buffer
packet = bytearray(struct.calcsize(IN))
answer = bytearray(1 + struct.calcsize(OUT))
answer[0] = ord(".")
mask = (1 << 30) - 1


def take(size):
    data = bytearray(size)
    reader.readinto(data)
    return data


def new():
    """Start the board anew, with the configuration that comes."""
    board_id, seed, size = struct.unpack("<8siH", take(14))  # bytes of the three: 8, 4 and 2
    board = VirtualBoard(board_id, bytes(take(size)), seed)
    app = App(board)
    writer.write(b".")
    return board, app


def step(board, app):
    reader.readinto(packet)
    fields = struct.unpack(IN, packet)
    for i in range(len(READINGS)):
        setattr(board, READINGS[i], fields[i + 1])
    for i in range(CHANNELS):
        board.read_back[i] = fields[len(READINGS) + 1 + i]
    size = fields[-1]
    if size:
        board.received[:size] = take(size)
    board.received_size = size
    micropython.heap_lock()
    try:
        begun_us = time.ticks_us()
        app.step(fields[0])
        took_us = time.ticks_diff(time.ticks_us(), begun_us) & mask
    finally:
        micropython.heap_unlock()
    struct.pack_into(
        OUT, answer, 1, *board.values, *board.fallbacks, board.beat_us, int(board.enable),
        board.lights, int(board.is_healthy), board.sent_size, took_us,
    )  # fmt: skip
    writer.write(answer)
    if board.sent_size:
        writer.write(memoryview(board.sent)[: board.sent_size])


def room():
    gc.collect()
    writer.write(b"." + struct.pack("<II", gc.mem_alloc(), gc.mem_free()))


def serve():
    board = app = None
    while True:
        asked = take(1)[0]
        if asked == STEP:
            step(board, app)
        elif asked == NEW:
            board = app = None  # its room is needed
            gc.collect()
            board, app = new()
        elif asked == IMAGE:
            writer.write(b"." + struct.pack("<H", len(board.image)) + board.image)
        elif asked == ROOM:
            room()
        elif asked == END:
            return


writer.write(b".")  # it listens
try:
    serve()
except Exception as error:
    text = io.StringIO()
    sys.print_exception(error, text)
    traceback = text.getvalue().encode()
    writer.write(b"!" + struct.pack("<H", len(traceback)) + traceback)
