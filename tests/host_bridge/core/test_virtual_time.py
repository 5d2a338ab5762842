"""A time that keeps pace with the world's, stands still, and goes on by steps."""

from __future__ import annotations

import asyncio

import pytest

from host_bridge.core.system.virtual_time import SteppedTimeLoop

BEAT_S = 0.01


class World:
    """The world's time; a selector that waits in it is told by reading it, so it just goes on."""

    now_s = 100.0

    def __call__(self):
        self.now_s += 0.002
        return self.now_s


@pytest.fixture
def loop():
    made = SteppedTimeLoop(monotonic_s=World())
    yield made
    made.close()


async def beats(loop, seen, count):
    for _ in range(count):
        await asyncio.sleep(BEAT_S)
        seen.append(loop.now_us())


def test_a_step_is_one_beat_to_the_microsecond(loop):
    seen, turns = [], []
    loop.pause()

    def meanwhile():
        turns.append((loop.now_us(), len(seen)))
        loop.advance(BEAT_S)

    loop.meanwhile = meanwhile
    loop.run_until_complete(beats(loop, seen, 50))
    assert seen == [1_000_000 + 10_000 * (i + 1) for i in range(50)]
    assert [now_us for now_us, _ in turns] == [1_000_000 + 10_000 * i for i in range(len(turns))]
    assert [count for _, count in turns] == list(range(len(turns)))


def test_nothing_happens_while_it_stands(loop):
    seen = []
    loop.pause()
    listened = iter(range(20))

    def meanwhile():
        assert seen == []
        if next(listened, None) is None:
            loop.resume()

    loop.meanwhile = meanwhile
    loop.run_until_complete(beats(loop, seen, 3))
    assert seen[0] == 1_010_000
    assert next(listened, None) is None


def test_a_step_that_ends_between_two_beats_makes_none(loop):
    seen, steps = [], []
    loop.pause()

    def meanwhile():
        steps.append(len(seen))
        loop.advance(BEAT_S / 2)

    loop.meanwhile = meanwhile
    loop.run_until_complete(beats(loop, seen, 3))
    assert steps[:5] == [0, 0, 1, 1, 2]


def test_it_keeps_pace_with_the_world(loop):
    world = loop._monotonic_s
    begun_s = world.now_s

    async def sleep():
        await asyncio.sleep(1.0)

    loop.run_until_complete(sleep())
    assert loop.now_us() == 2_000_000
    assert world.now_s - begun_s < 2.0  # and the selector has waited for what was left


def test_a_machine_that_is_too_slow_makes_its_time_slower(loop):
    world, seen = loop._monotonic_s, []

    async def slow():
        for _ in range(10):
            await asyncio.sleep(BEAT_S)
            world.now_s += 1.0  # each beat takes the world a second
            seen.append(loop.now_us())

    loop.run_until_complete(slow())
    assert seen == [1_000_000 + 10_000 * (i + 1) for i in range(10)]
