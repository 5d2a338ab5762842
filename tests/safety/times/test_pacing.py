"""At 1x, at 10x and with pauses: identical inputs at identical times give identical traces.

What a car is told on a drive is kept with its times, and told again to fresh cars that are run in
other portions, or paced by a clock; bytes out and wires each millisecond must be the same.
"""

import hashlib
import itertools
import random

import pytest

from sim_mock.world import World
from tests.safety.support.desk import Facts
from tests.safety.ways.ways import Race

STEP_US = 10_000


class Trace:
    """All that a world puts out."""

    def __init__(self, world: World) -> None:
        self.world = world
        self._wires, self._bytes = hashlib.sha256(), hashlib.sha256()
        world.observers.append(self._observe)

    def _observe(self, world: World) -> None:
        truth = world.plant.truth
        seen = (world.now_us, tuple(world.values), world.enable, truth.x_m, truth.vx_mps)
        self._wires.update(repr(seen).encode())

    def hear(self, sent: bytes) -> None:
        self._bytes.update(sent)

    def __str__(self) -> str:
        return self._wires.hexdigest() + self._bytes.hexdigest()


@pytest.fixture(scope="module")
def drive():
    """What the car is told and when, and when it all ends."""
    car = Race("f1tenth")
    told: list[tuple[int, bytes]] = []
    feed = car.world.feed

    def keep(data: bytes) -> None:
        told.append((car.world.now_us, data))
        feed(data)

    car.world.feed = keep
    car.begin()
    car.drive(800, 2000, 100_000)
    car.let_go(300)
    car.hold()
    car.drive(50, 0)
    car.drive(500, 1500)
    car.host.stop()
    car.rest(100)
    return told, car.world.now_us


def fresh() -> World:
    return World(Facts("f1tenth"), 1)


def run_in(portions_us, drive) -> str:
    """Advance by these portions, over and over; what is told comes at its time."""
    told, end_us = drive
    world = fresh()
    trace = Trace(world)
    rest = list(told)
    for portion_us in itertools.cycle(portions_us):
        until_us = min(world.now_us // 1000 * 1000 + portion_us, end_us)
        while rest and rest[0][0] <= until_us:
            at_us, data = rest.pop(0)
            trace.hear(world.advance(at_us))
            world.feed(data)
        trace.hear(world.advance(until_us))
        if world.now_us >= end_us:
            return str(trace)
    raise AssertionError


PORTIONS = {
    "milliseconds": (1_000,),
    "beats": (10_000,),
    "neither": (7_000, 13_000, 1_000),
    "seconds": (1_000_000,),
    "at once": (1 << 40,),
    "at random": tuple(random.Random(3).randrange(1, 90) * 1000 for _ in range(50)),
}


@pytest.fixture(scope="module")
def reference(drive):
    return run_in((1_000,), drive)


@pytest.mark.parametrize("portions", PORTIONS)
def test_the_trace_does_not_depend_on_the_portions_in_which_time_passes(drive, reference, portions):
    assert run_in(PORTIONS[portions], drive) == reference


class Clock:
    """A wall clock of our own, that is slept on."""

    def __init__(self) -> None:
        self.now_s = 1_000.0

    def sleep(self, for_s: float) -> None:
        self.now_s += max(for_s, 0.0)


def paced(drive, scale: float, pauses: dict[int, float]) -> str:
    """By a clock: each beat when it is due; a pause, in seconds, before some of them."""
    told, end_us = drive
    clock, world = Clock(), fresh()
    trace = Trace(world)
    rest = list(told)
    begun_s, paused_s = clock.now_s, 0.0
    for beat in range(end_us // STEP_US + 1):
        pause_s = pauses.get(beat, 0.0)
        clock.sleep(pause_s)
        paused_s += pause_s
        clock.sleep(begun_s + paused_s + beat * STEP_US * 1e-6 / scale - clock.now_s)
        virtual_us = round((clock.now_s - begun_s - paused_s) * scale * 1e6)
        while rest and rest[0][0] < virtual_us:
            world.feed(rest.pop(0)[1])
        trace.hear(world.beat(virtual_us))
    return str(trace)


@pytest.mark.parametrize(
    ("scale", "pauses"), [(1.0, {}), (10.0, {}), (0.1, {}), (1.0, {50: 3.0, 200: 600.0})]
)
def test_the_trace_does_not_depend_on_the_pace_nor_on_pauses(drive, reference, scale, pauses):
    assert paced(drive, scale, pauses) == reference


def test_a_frame_that_comes_a_beat_later_gives_another_trace(drive, reference):
    """The comparison can fail."""
    told, end_us = drive
    later = [(at_us + STEP_US * (at_us > 2_000_000), data) for at_us, data in told]
    assert run_in((1_000,), (later, end_us)) != reference
