"""A car's steps at work, under whichever Python runs this: started by ``bench_step.py``.

Prints JSON: by case the microseconds of a step (least of the rounds) and, under CPython, how many
bytecode instructions it takes; and what one turn of a simple loop takes here.
"""

import json
import sys
import time

from firmware.app import App
from firmware.boards.virtual import VirtualBoard
from firmware.core.params import Params
from firmware.protocol import codes, messages
from firmware.protocol.codec import copy, encode_into
from firmware.protocol.frame import FrameWriter, crc_table
from firmware.protocol.version import protocol_hash

STEP_US = 10_000
STEPS = 100
ROUNDS = 5
TURNS = 20_000
EPOCH = 4711
BOARD_ID = bytes(range(8))
TABLE = crc_table()

if hasattr(time, "ticks_us"):
    ticks_us, ticks_diff = time.ticks_us, time.ticks_diff
else:

    def ticks_us():
        return time.perf_counter_ns() // 1000

    def ticks_diff(late, early):
        return late - early


def image_of(sources, stop_sources):
    """A car with so many sources and stop sources, all of them over the link."""
    params = Params(TABLE)
    given = {
        "board_id": [BOARD_ID[2 * i] | BOARD_ID[2 * i + 1] << 8 for i in range(4)],
        "start_ms": [0],
        "source_mask": [255] * sources,
        "source_priority": [10 * i for i in range(sources)],
        "source_lease_ms": [120] * sources,
        "source_cap_mm_s": [300] * sources,
        "source_flags": [3] * sources,
        "blind_mm": [1000],
        "stop_source_kind": [codes.STOP_SOURCE_LINK] * stop_sources,
        "stop_source_need": [0] * 16 + [codes.REQUIRED] * stop_sources,
        "profile_cap_mm_s": [300, 300, 300],
        "may_arm": [31],
        "channel_kind": [2, 1, 1, 1, 1],
        "channel_low": [1_000_000] * 5,
        "channel_neutral": [1_500_000] * 5,
        "channel_high": [2_000_000] * 5,
        "channel_curve": [1_500_000] * 72,
    }
    for name, values in given.items():
        at = params.index(name)
        params.values[at : at + len(values)] = values
    image = bytearray(params.image_size())
    params.write_image(image)
    return bytes(image)


class QuickBoard(VirtualBoard):
    """Its line costs nothing, as a UART's or a USB port's driver in C nearly does."""

    def transmit(self, data, size):
        return True

    def receive_into(self, buffer):
        size = min(self.received_size - self._taken, len(buffer))
        copy(self.received, self._taken, buffer, 0, size)
        self._taken += size
        return size


class Scene:
    def __init__(self, sources, stop_sources, says):
        self.board = QuickBoard(BOARD_ID, image_of(sources, stop_sources), 1)
        self.board.battery_mv = 12_000
        self.app = App(self.board)
        self.writer = FrameWriter(TABLE)
        self.now_us = 0
        self.sequence = 0
        self.sources, self.stop_sources, self.says = sources, stop_sources, says
        bind = messages.Bind()
        bind.epoch = EPOCH
        bind.protocol_hash[:] = protocol_hash(TABLE)
        self.heard = self.framed(bind)

    def framed(self, message):
        size = self.writer.wrap(encode_into(message, self.writer.payload))
        return bytes(self.writer.out[:size])

    def claim(self, source):
        claim = messages.Claim()
        claim.epoch, claim.source, claim.sequence = EPOCH, source, self.sequence
        claim.mask, claim.deadman, claim.lease_ms = 255, codes.HELD, 120
        claim.input_count = self.sequence
        claim.speed_mm_s, claim.steer_urad = self.speed_mm_s, 10_000 * source
        claim.stamp_us = self.now_us
        return self.framed(claim)

    def alive(self, stop_source):
        alive = messages.Alive()
        alive.epoch, alive.stop_source, alive.sequence = EPOCH, stop_source, self.sequence
        alive.runs, alive.stamp_us = 1, self.now_us
        return self.framed(alive)

    speed_mm_s = 0

    def prepare(self):
        """The bytes and readings of the next step; not a part of what is measured."""
        self.now_us += STEP_US
        self.sequence = self.sequence + 1 & 0xFFFF
        session = self.app.sessions.slots[0]
        session.bound_us = session._sampled_bound_us = 100
        session._sampled_us = self.now_us
        if self.says:
            turn = self.sequence % 4  # a line carries four claims a step, not sixteen
            for source in range(self.sources):
                if self.sources <= 4 or source % 4 == turn:
                    self.heard += self.claim(source)
            for stop_source in range(self.stop_sources):
                if self.stop_sources <= 4 or stop_source % 4 == turn:
                    self.heard += self.alive(stop_source)
        board = self.board
        board.received[: len(self.heard)] = self.heard
        board.received_size = len(self.heard)
        board.enable_contact = int(board.enable)
        board.read_back[:] = board.values
        self.heard = b""

    def run(self, steps):
        for _ in range(steps):
            self.prepare()
            self.app.step(self.now_us)

    def mean_us(self, steps):
        took = 0
        for _ in range(steps):
            self.prepare()
            begun = ticks_us()
            self.app.step(self.now_us)
            took += ticks_diff(ticks_us(), begun)
        return took / steps


CASES = (
    # name, sources, stop sources, whether they speak, whether it drives
    ("stands by, nobody speaks", 1, 1, False, False),
    ("drives, 1 source at 100 Hz", 1, 1, True, True),
    ("drives, 4 sources and 4 stop sources at 100 Hz", 4, 4, True, True),
    ("drives, 16 sources and 16 stop sources at 25 Hz", 16, 16, True, True),
)


def scene_of(case):
    name, sources, stop_sources, says, drives = case
    scene = Scene(sources, stop_sources, says)
    scene.run(20)
    if drives:
        scene.app.stop_sources.profile = scene.app.actions.profile = codes.PROFILE_TRACK
        scene.app.supervisor.state = codes.HOLD  # arming is not what is measured here
        scene.app.arbiter.begin_from_neutral(scene.now_us)
        for source in scene.app.arbiter.sources:
            source.gate = 2
        scene.speed_mm_s = 0
        scene.run(8)
        assert scene.app.supervisor.state == codes.ACTIVE, (name, scene.app.runstop.bits)
    return scene


def instructions(scene, steps=20):
    """Bytecode instructions of CPython in a step, the most of a few."""
    count = [0]

    def trace(frame, event, argument):
        frame.f_trace_opcodes = True
        if event == "opcode":
            count[0] += 1
        return trace

    most = 0
    for _ in range(steps):
        scene.prepare()
        count[0] = 0
        sys.settrace(trace)
        scene.app.step(scene.now_us)
        sys.settrace(None)
        most = max(most, count[0])
    return most


def loop_us():
    """One turn of the loop that facts about chips are given for: bytecode, an addition."""
    least = 1 << 29
    for _ in range(ROUNDS):
        total = 0
        begun = ticks_us()
        for i in range(TURNS):
            total += i & 3
        least = min(least, ticks_diff(ticks_us(), begun))
    return least / TURNS


def nothing():
    pass


def call_us():
    """The same with an empty call in it."""
    least = 1 << 29
    for _ in range(ROUNDS):
        begun = ticks_us()
        for _ in range(TURNS):
            nothing()
        least = min(least, ticks_diff(ticks_us(), begun))
    return least / TURNS


def main():
    found = {}
    for case in CASES:
        scene = scene_of(case)
        mean = min(scene.mean_us(STEPS) for _ in range(ROUNDS))
        row = {"mean_us": mean, "state": scene.app.supervisor.state}
        if sys.implementation.name == "cpython":
            row["instructions"] = instructions(scene)
        found[case[0]] = row
    print(json.dumps({"cases": found, "loop_us": loop_us(), "call_us": call_us()}))


main()
