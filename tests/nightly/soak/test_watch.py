"""The watch itself can fail: broken cars are found, and so is a leak."""

import mmap

import pytest

from firmware.core import supervisor
from tests.firmware.worlds import world_of
from tests.nightly.soak.length import GROWTH_MAX_KB, SETTLED_MINUTES, Growth
from tests.nightly.soak.watch import WatchingHost

DRIVE = 1  # channel of the F1TENTH's ESC


def watched(**options) -> WatchingHost:
    return WatchingHost(world_of("f1tenth", **options))


def test_a_whole_car_passes():
    host = watched()
    host.take_the_wheel()
    host.drive(500, 1000)
    host.stop()
    host.rest(3000)


def test_a_car_that_ignores_its_stop_causes_is_found(monkeypatch):
    host = watched()
    host.take_the_wheel()
    monkeypatch.setattr(supervisor, "STOP", 0)
    host.stop()
    with pytest.raises(AssertionError, match=r"stop causes 10$"):
        host.drive(50, 1000)


def test_an_output_that_is_not_neutral_before_arming_is_found():
    host = watched()
    host.connect()
    stage = host.world.runner.app.output_stage
    stage.step = lambda effort, brake, steering: stage.values.__setitem__(DRIVE, 1_510_000)
    with pytest.raises(AssertionError, match="not neutral though not armed"):
        host.rest(20)


def test_an_output_beyond_its_calibrated_range_is_found():
    host = watched()
    host.take_the_wheel()
    stage = host.world.runner.app.output_stage
    stage.step = lambda effort, brake, steering: stage.values.__setitem__(DRIVE, 2_500_000)
    with pytest.raises(AssertionError, match="channel 1 is at 2500000"):
        host.drive(20)


def test_a_car_that_says_nothing_any_more_is_found():
    host = watched()
    host.connect()
    host.world.runner.app.telemetry.step = lambda now_us: None
    with pytest.raises(AssertionError, match="0 us from status to status"):
        host.rest(20)


def test_a_leak_is_found_once_all_has_settled():
    growth, size = Growth("self"), 4 * GROWTH_MAX_KB * 1024
    growth.look(SETTLED_MINUTES)
    with mmap.mmap(-1, size) as leak:  # of its own: an allocator might have as much to spare
        leak.write(b"\1" * size)
        with pytest.raises(AssertionError, match="kB more in minute 6"):
            growth.look(SETTLED_MINUTES + 1)
