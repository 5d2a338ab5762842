"""A car's steps at work, under whichever Python runs this: started by ``bench_step.py``.

Prints JSON: by case the microseconds of a step and of each of its parts (least of the rounds) and,
under CPython, how many bytecode instructions and calls it takes.
"""

import json
import sys
import time

from tests.bench.step.step_scene import CASES, PARTS, scene_of

STEPS = 100
ROUNDS = 5  # the best counts: the others were disturbed

if hasattr(time, "ticks_us"):
    ticks_us, ticks_diff = time.ticks_us, time.ticks_diff
else:

    def ticks_us():
        return time.perf_counter_ns() // 1000

    def ticks_diff(late, early):
        return late - early


def mean_us(scene, steps):
    took = 0
    for _ in range(steps):
        scene.prepare()
        begun = ticks_us()
        scene.app.step(scene.now_us)
        took += ticks_diff(ticks_us(), begun)
    return took / steps


def parts_us(scene, steps):
    """The mean of each part."""
    took = [0] * len(PARTS)
    for _ in range(steps):
        scene.prepare()
        for i, (_, part) in enumerate(PARTS):
            begun = ticks_us()
            part(scene.app, scene.now_us)
            took[i] += ticks_diff(ticks_us(), begun)
    return [total / steps for total in took]


def counted(scene, steps=20):
    """Bytecode instructions and calls of CPython in a step, the most of a few."""
    count = {"opcode": 0, "call": 0}

    def trace(frame, event, argument):
        frame.f_trace_opcodes = True
        if event in count:
            count[event] += 1
        return trace

    most = [0, 0]
    for _ in range(steps):
        scene.prepare()
        count["opcode"] = count["call"] = 0
        sys.settrace(trace)
        scene.app.step(scene.now_us)
        sys.settrace(None)
        most = max(most, [count["opcode"], count["call"]])
    return most


def measured(case):
    scene = scene_of(case)
    row = {"mean_us": min(mean_us(scene, STEPS) for _ in range(ROUNDS))}
    rounds = [parts_us(scene, STEPS) for _ in range(ROUNDS)]
    row["parts_us"] = [min(found[i] for found in rounds) for i in range(len(PARTS))]
    if sys.implementation.name == "cpython":
        row["instructions"], row["calls"] = counted(scene)
    return row


print(json.dumps({case[0]: measured(case) for case in CASES}))
