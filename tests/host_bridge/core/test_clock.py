from __future__ import annotations

import pytest

from host_bridge.core.system.clock import Clock, ManualClock, MonotonicClock


def test_a_manual_clock_stands_still_until_it_is_advanced() -> None:
    clock = ManualClock(5)
    assert clock.now_us() == clock.now_us() == 5
    clock.advance(10)
    assert clock.now_us() == 15


def test_a_clock_does_not_go_back() -> None:
    with pytest.raises(ValueError, match="0 us or more"):
        ManualClock().advance(-1)


def test_the_machines_clock_never_runs_backwards() -> None:
    clock: Clock = MonotonicClock()
    times = [clock.now_us() for _ in range(1000)]
    assert times == sorted(times)
