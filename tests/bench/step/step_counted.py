"""A car's steps under valgrind, which counts machine instructions: started by ``bench_step.py``.

Only MicroPython's unix port. A child of the process goes on from the very step that its parent is
at, and leaves after some of its parts; valgrind then says how many instructions it had carried out,
so that the difference of two children is a part. Each prints one line: its process, what it is.
With a file as its argument: only of the situations in it.
"""

import sys

import ffi

from tests.bench.step.step_scene import CASES, PARTS, scene_in, scene_of

STEPS = 8  # Status goes out in each, the rest of the telemetry within them

_c = ffi.open(None)
_fork, _pid = _c.func("i", "fork", ""), _c.func("i", "getpid", "")
_wait, _leave = _c.func("i", "waitpid", "ipi"), _c.func("v", "_exit", "i")


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


def count_situation(line):
    """A line of a file: its number, a configuration in hex (or a hyphen), a state, messages."""
    number, image, state, heard = line.split()
    scene = scene_in(b"" if image == "-" else bytes.fromhex(image), state, int(heard))
    for step in range(STEPS):
        scene.prepare()
        child(f"situation-{number} {step} begin", do_parts, scene, 0)
        child(f"situation-{number} {step} end", do_parts, scene, 0)
        child(f"situation-{number} {step} step", scene.app.step, scene.now_us)
        scene.app.step(scene.now_us)


if len(sys.argv) > 1:
    with open(sys.argv[1]) as file:
        for line in file:
            count_situation(line)
else:
    for number in range(len(CASES)):
        count_case(number)
