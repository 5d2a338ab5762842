"""A car's steps under valgrind, which counts machine instructions: started by ``bench_step.py``.

Only MicroPython's unix port. A child of the process goes on from the very step that its parent is
at, and leaves after some of its parts; valgrind then says how many instructions it had carried out,
so that the difference of two children is a part. Each prints one line: its process, what it is.
The same goes for turns of what an RP2040 was timed at.
"""

import struct

import ffi
import micropython

from tests.bench.step_scene import CASES, PARTS, TURNS, scene_of

STEPS = 8  # Status goes out in each, the rest of the telemetry within them

_c = ffi.open(None)
_fork, _pid = _c.func("i", "fork", ""), _c.func("i", "getpid", "")
_wait, _leave = _c.func("i", "waitpid", "ipi"), _c.func("v", "_exit", "i")
buffer = bytearray(24)


def nothing():
    pass


def loop(turns):
    total = 0
    for i in range(turns):
        total += i & 3


@micropython.native
def native_loop(turns):
    total = 0
    for i in range(turns):
        total += i & 3


def call(turns):
    for _ in range(turns):
        nothing()


def pack(turns):
    for _ in range(turns):
        struct.pack_into("<4i4h", buffer, 0, 1, 2, 3, 4, 5, 6, 7, 8)


def child(name, work, *given):
    process = _fork()
    if process == 0:
        try:
            work(*given)
            print(_pid(), name)
        finally:
            _leave(0)
    _wait(process, None, 0)


def do_parts(scene, count):
    for _, part in PARTS[:count]:
        part(scene.app, scene.now_us)


def count_case(number):
    scene = scene_of(CASES[number])
    for step in range(STEPS):
        scene.prepare()
        for count in range(len(PARTS) + 1):
            child(f"{number} {step} {count}", do_parts, scene, count)
        child(f"{number} {step} step", scene.app.step, scene.now_us)
        child(f"{number} {step} end", do_parts, scene, 0)  # what its elder brothers cost
        scene.app.step(scene.now_us)


def count_turns(work):
    work(1)  # a first call may make something that stays
    for name, turns in (("begin", 0), ("end", 0), ("turns", TURNS)):
        child(f"{work.__name__} 0 {name}", work, turns)


for number in range(len(CASES)):
    count_case(number)
for work in (loop, native_loop, call, pack):
    count_turns(work)
