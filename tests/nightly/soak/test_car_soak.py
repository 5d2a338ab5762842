"""Hours of driving with trouble, beat by beat under watch: in process and under MicroPython."""

import pytest

from firmware.protocol import codes
from sim_mock.board.firmware_runner import SubprocessRunner
from tests.firmware.worlds import HEAP_LOCKED, VEHICLES, world_of
from tests.nightly.soak.length import MINUTES, WALL_LIMIT_S, Growth
from tests.nightly.soak.watch import LongStorm, WatchingHost
from tests.support.evidence import every

MINUTE_US = 60_000_000
STORM_BEATS = 6000  # and what its troubles take besides
VISITED = (codes.STANDBY, codes.ACTIVE, codes.HOLD, codes.STOPPING, codes.STOPPED)
pytestmark = [pytest.mark.soak, pytest.mark.timeout(WALL_LIMIT_S)]


def drive_for_hours(world, seed: int) -> WatchingHost:
    """One storm after the other; in each the car has driven, and after it nothing has grown."""
    host = WatchingHost(world)
    host.take_the_wheel()
    storm = LongStorm(host, seed)
    own = [world.runner.pid] if isinstance(world.runner, SubprocessRunner) else []
    growth = Growth("self", *own)
    while world.now_us < MINUTES * MINUTE_US:
        host.begin_session()
        driven = host.states[codes.ACTIVE]
        storm.run(STORM_BEATS)
        host.forget()
        assert host.states[codes.ACTIVE] > driven, host.told("a storm without driving")
        growth.look(world.now_us // MINUTE_US)
    return host


def soaked(vehicle, runtime, seed, **options) -> None:
    world = world_of(vehicle, runtime, seed, **options)
    try:
        host = drive_for_hours(world, seed)
    finally:
        world.close()
    assert every(host.states[state] for state in VISITED), host.states
    assert host.latest["LinkCounters"].damaged > MINUTES


@pytest.mark.parametrize("vehicle", VEHICLES)
def test_hours_of_trouble_in_process_break_no_promise_and_take_no_memory(vehicle):
    soaked(vehicle, "in process", seed=101)


@pytest.mark.micropython
@pytest.mark.parametrize(("vehicle", "bits"), [("f1tenth", 32), ("nigel", 64)])
def test_hours_of_trouble_under_micropython_break_no_promise_with_the_heap_locked(vehicle, bits):
    soaked(vehicle, bits, seed=bits, program=HEAP_LOCKED)
