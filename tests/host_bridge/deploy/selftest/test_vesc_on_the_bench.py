"""The runstop's check of a car with a VESC: its own board program on a virtual chip, a VESC that
speaks the real bytes, a person who opens and closes the loop. In virtual time."""

import asyncio

import pytest

from host_bridge.cars.car import ConnectedCar
from host_bridge.config import load_vehicle
from host_bridge.core.system.virtual_time import VirtualTimeLoop
from host_bridge.deploy.selftest import CHECKS, SelfTestBench
from host_bridge.link.protocol.connection import Connection
from host_bridge.link.protocol.wire import own_protocol_hash
from host_bridge.sharing.open_car import OpenCar
from tests.firmware.boards.bench_world import BenchWorld
from tests.firmware.boards.booted import pins_of

EPOCH = 77
STEP_US = 10_000
ALL = ("VESC kill switch", "VESC timeout", "VESC brake")


class CarOnTheBench:
    """An open car, as far as a self-test asks."""

    is_virtual = True
    name = "bench"
    until = OpenCar.until

    def __init__(self, world, clock):
        self.world, self.clock = world, clock
        self.vehicle = load_vehicle("f1tenth")
        self.car = ConnectedCar("bench", Connection(own_protocol_hash(), EPOCH), self.vehicle)

    async def run(self):
        self.car.opened(self.clock.now_us())
        while True:
            self.world.feed(self.car.data_to_send())
            await asyncio.sleep(STEP_US * 1e-6)
            said = self.world.advance(self.world.now_us + STEP_US)
            self.car.receive_data(said, self.clock.now_us())
            self.car.step(self.clock.now_us())


async def found(world, clock):
    """The rows of the check, by what was looked at."""
    opened = CarOnTheBench(world, clock)
    line = asyncio.ensure_future(opened.run())
    bench = SelfTestBench(opened, clock, lambda words: world.turn_loop("Close" in words))
    (runstop,) = [check for name, check, _ in CHECKS if name == "runstop"]
    await bench.until(opened.car.is_online, 5.0)
    async with bench.driven():
        await bench.arm()
        rows = [row async for row in runstop(bench)]
        await bench.disarm()
    line.cancel()
    return {row.what: row for row in rows}


@pytest.mark.process
@pytest.mark.parametrize(
    ("setup", "bad"),
    [
        ({}, []),
        ({"timeout_us": 1_000_000}, ["VESC timeout"]),
        ({"brake_a": 0.0}, ["VESC brake"]),
        ({"is_wired": False}, ["VESC kill switch"]),  # its timeout brakes it later
    ],
)
def test_a_vesc_that_stops_by_itself_is_good_and_each_thing_not_set_up_is_found(
    tmp_path, setup, bad
):
    world = BenchWorld("f1tenth_vesc", "cpython", tmp_path, pins_of("f1tenth_vesc", "pico2"))
    vars(world.vesc).update(setup)
    loop = VirtualTimeLoop()
    try:
        rows = loop.run_until_complete(found(world, loop))
    finally:
        loop.close()
        world.close()
    assert set(ALL) <= set(rows)
    assert [what for what, row in rows.items() if row.is_good is False] == bad


def test_a_person_is_told_again_and_again_how_long_there_is():
    loop, told = VirtualTimeLoop(), []

    async def main():
        bench = SelfTestBench(CarOnTheBench(None, loop), loop, told.append)
        seen = [await bench.ask("Press it.", lambda: False, 12.0)]
        return [*seen, await bench.ask("Again.", lambda: len(told) > 3, 30.0)]

    try:
        assert loop.run_until_complete(main()) == [False, True]
    finally:
        loop.close()
    assert told == [
        *(f"Press it. {left} s are left." for left in (12, 7, 2)),
        "Again. 30 s are left.",
    ]
