"""``machine`` and ``rp2`` of the drivers' tests, for the board files that import them; boards that
are booted, each with a world of its own."""

import pytest

from tests.firmware.boards.bench_world import PROGRAM, BenchWorld
from tests.firmware.boards.booted import BOARDS, pins_of
from tests.firmware.drivers import conftest as drivers

VIRTUAL = drivers.VIRTUAL


@pytest.fixture
def world_on(tmp_path):
    worlds = []

    def make(vehicle, runtime="cpython", program=PROGRAM, board=None, wiring=None, held=()):
        folder = tmp_path / str(len(worlds))
        folder.mkdir()
        pins = pins_of(wiring or vehicle, board or BOARDS.get(vehicle, "pico"))
        worlds.append(BenchWorld(vehicle, runtime, folder, pins, program, held))
        return worlds[-1]

    yield make
    for world in worlds:
        world.close()
