"""A board's life from one power-up on: its own /main.py, the slots' own programs, the virtual
``machine``; nothing else of the car's program can be found.

    micropython launched_board.py VIRTUAL ROOT MILLISECONDS

Time passes as the program asks for it; the link is standard input and output; standard error
says how it ended. Nobody arms it: whatever comes out of it besides neutral ends it.
"""

import sys

import micropython

VIRTUAL, ROOT = sys.argv[1:3]
POWER_OFF_US = int(sys.argv[3]) * 1000
_TOLERANCE_NS = 1000
_PUMP_US = 30_000  # what a charge pump holds without being fed
_LOOK_US = 500  # what passes between two looks at the clock
_MASK = (1 << 30) - 1
metal = []

sys.path[:] = [VIRTUAL, ".frozen"]
import machine  # noqa: E402
from attached import Attached  # noqa: E402
from bench import bench, outside  # noqa: E402


class Time:
    """What the program takes of ``time``."""

    @staticmethod
    def ticks_us():
        if not outside.is_locked:  # else an interrupt looks, and no time passes in it
            pass_time(_LOOK_US)
        if bench.now_us >= POWER_OFF_US:
            with outside:
                end(f"power off at {machine.freq() // 1_000_000} MHz")
        return bench.now_us & _MASK

    @staticmethod
    def sleep_ms(ms):
        bench.advance(ms * 1000)


class Micropython:
    """``micropython``: what stands for metal has to know when the program locks the heap."""

    heap_lock, heap_unlock = outside.lock, outside.unlock

    @staticmethod
    def kbd_intr(byte):
        micropython.kbd_intr(byte)


def pass_time(by_us):
    """The board is made before it first looks at the clock."""
    if not metal:
        metal.append(Attached(sys.modules["pins"]))
    bench.advance(by_us)
    metal[0].advance(bench.now_us)

    if not is_neutral():
        end("not neutral")


def is_neutral():
    pulses, life = metal[0].pulses, metal[0].life
    if life and 0 <= bench.now_us - life.fed_us <= _PUMP_US and life.fed_us > 0:
        return False
    for row in sys.modules["pins"].CHANNELS:
        if row[0] == "pio_pulse":
            pulse_ns = pulses[row[1]].pulse_ns
            if pulse_ns and abs(pulse_ns - row[4]) > _TOLERANCE_NS:
                return False
    return True


def end(how):
    print(how, file=sys.stderr)
    sys.exit()


def reset():
    pins = sys.modules["pins"]
    are_safe = not any(bench.levels[gpio] != level for gpio, level in pins.SAFE_LEVELS)
    end("reset" if are_safe else "outputs were not safe")


def main():
    sys.modules["time"] = Time
    sys.modules["micropython"] = Micropython
    machine.reset = reset
    names = {"__name__": "launcher"}
    sys.path.insert(0, ROOT)
    with open(ROOT + "/main.py") as file:
        exec(file.read(), names)
    sys.path.remove(ROOT)
    names["launch"](ROOT)
    end("REPL")


main()
