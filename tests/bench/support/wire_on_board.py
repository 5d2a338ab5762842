"""The car's codec at work, under whichever Python runs this: started by ``bench_wire.py``.

Reads {message: {field: value}} as JSON from its input and prints, as JSON too,
{message: {frame, encode_us, decode_us}}.
"""

import json
import sys
import time

from firmware.protocol import messages
from firmware.protocol.codec import DECODED, decode_into, encode_into
from firmware.protocol.frame import FrameReader, FrameWriter, crc_table

FRAMES = 500
ROUNDS = 5  # the best counts: the others were disturbed

if hasattr(time, "ticks_us"):
    ticks_us, ticks_diff = time.ticks_us, time.ticks_diff
else:

    def ticks_us():
        return time.perf_counter_ns() // 1000

    def ticks_diff(late, early):
        return late - early


def filled(name, fields):
    message = getattr(messages, name)()
    for field, value in fields.items():
        if isinstance(value, list):
            getattr(message, field)[:] = bytes(value)
        else:
            setattr(message, field, value)
    return message


def encode(message, writer):
    size = 0
    for _ in range(FRAMES):
        size = writer.wrap(encode_into(message, writer.payload))
    return size


def decode(message, reader, data):
    """As the car's receiver does; how many good ones there were."""
    at, size, good = 0, len(data), 0
    while at < size:
        at = reader.read(data, at, size)
        if at < size:
            at += 1
            payload_size = reader.payload_size()
            if payload_size and decode_into(message, reader.frame, payload_size) == DECODED:
                good += 1
    return good


def best_us(work, *arguments):
    """Microseconds a frame, and what the work gave."""
    best, result = None, None
    for _ in range(ROUNDS):
        began = ticks_us()
        result = work(*arguments)
        us = ticks_diff(ticks_us(), began) / FRAMES
        best = us if best is None or us < best else best
    return best, result


def measured(message, table):
    writer, reader = FrameWriter(table), FrameReader(table)
    encode_us, size = best_us(encode, message, writer)
    frame = bytes(writer.out[:size])
    decode_us, good = best_us(decode, message, reader, bytearray(frame * FRAMES))
    assert good == FRAMES
    return {"frame": frame.hex(), "encode_us": encode_us, "decode_us": decode_us}


asked = json.loads(sys.stdin.read())
table = crc_table()
print(json.dumps({name: measured(filled(name, asked[name]), table) for name in asked}))
