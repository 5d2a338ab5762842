"""How often the clock is asked for: in a hurry until its bound is good, or gets no better."""

from __future__ import annotations

from host_bridge.core.reports import ClockReport
from host_bridge.link.protocol.clock_sync import ClockSync

STEP_US = 10_000


def answers_per_s(clock: ClockSync, bound_us: int, now_us: int, seconds: int) -> list[int]:
    """How many answers went out in each second of so many, while the board reports this bound."""
    found = []
    for second in range(seconds):
        count = 0
        for step in range(100):
            at_us = now_us + second * 1_000_000 + step * STEP_US
            clock.hear_status(at_us & 0x3FFF_FFFF, at_us)
            if clock.echo(at_us + STEP_US - 1):
                count += 1
                clock.hear_report(ClockReport(1, 0, 0, bound_us + second))
        found.append(count)
    return found


def test_a_long_path_is_not_asked_in_a_hurry_for_ever():
    counts = answers_per_s(ClockSync(), 21_000, 5_000_000, 6)
    assert counts[0] > 40
    assert counts[-1] <= 10, counts


def test_a_good_bound_ends_the_hurry_at_once():
    counts = answers_per_s(ClockSync(), 900, 5_000_000, 3)
    assert counts[1] <= 10, counts
