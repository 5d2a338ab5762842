"""The line does to packets what it is told to, counts it, and does the same again; virtual time."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

from tests.ros.reaction.f1tenth_rules import TIMEOUT_S, VESC_SILENT_S, Arrival, Mux, driven
from tests.ros.reaction.impairment import CLEAR, CUT, Impairment, LineSettings
from tests.ros.reaction.measured import reaction
from tests.ros.reaction.running import VEHICLE
from tests.support.evidence import every

PACKETS = 5000
STEP_S = 0.01
LONG_S = 10.0


def passed(settings: LineSettings, seed: str = "1", packets_max: int = 10**6):
    """What came out of PACKETS at one each 10 ms: (when, which), and the line."""
    line = Impairment(seed, packets_max)
    line.settings = settings
    out = []
    for number in range(PACKETS):
        now_s = number * STEP_S
        line.take(b"%d" % number, now_s)
        out += [(now_s, int(packet)) for packet in line.due(now_s)]
    out += [(LONG_S + PACKETS * STEP_S, int(packet)) for packet in line.due(1e9)]
    counts = line.counts
    assert counts.taken == PACKETS == counts.lost + counts.refused + counts.delivered
    assert counts.delivered == len(out)
    return out, line


def test_a_clear_line_lets_all_through_in_order():
    out, line = passed(CLEAR)
    assert [number for _, number in out] == list(range(PACKETS))
    assert every(at_s == number * STEP_S for at_s, number in out)
    assert line.counts.reordered == line.counts.lost == 0


@pytest.mark.parametrize("loss", [0.05, 0.2, 0.6])
def test_it_loses_as_many_as_it_is_told(loss):
    _, line = passed(LineSettings(loss=loss))
    sigma = (PACKETS * loss * (1 - loss)) ** 0.5
    assert abs(line.counts.lost - PACKETS * loss) < 4 * sigma


def test_it_doubles_as_many_as_it_is_told_and_loses_what_is_too_long():
    line = Impairment("1", 10**6)
    line.settings = LineSettings(doubled=0.3, jitter_s=0.03, longest_bytes=100)
    for number in range(PACKETS):
        line.take(bytes(100 + number % 2), number * STEP_S)
    counts, kept = line.counts, PACKETS // 2
    assert len(line.due(1e9)) == counts.delivered == kept + counts.doubled
    assert counts.too_long == counts.lost == PACKETS - kept
    assert abs(counts.doubled - 0.3 * kept) < 4 * (kept * 0.3 * 0.7) ** 0.5


def test_a_line_that_is_cut_loses_all_and_what_was_on_its_way_arrives():
    line = Impairment("1", 10)
    line.settings = LineSettings(delay_s=0.5)
    line.take(b"before", 0.0)
    line.settings = CUT
    line.take(b"after", 0.1)
    assert line.due(0.4) == []
    assert line.next_s == pytest.approx(0.5)
    assert line.due(10.0) == [b"before"]
    assert line.counts.lost == 1


def test_late_means_late_by_that_much():
    out, line = passed(LineSettings(delay_s=0.05, jitter_s=0.1))
    ages_s = [at_s - number * STEP_S for at_s, number in out if at_s < PACKETS * STEP_S]
    assert min(ages_s) >= 0.05
    assert max(ages_s) <= 0.15 + STEP_S
    assert line.counts.delayed == PACKETS
    # Drawn apart, they overtake each other
    assert line.counts.reordered > PACKETS / 4


def test_some_are_held_back_and_overtaken():
    out, line = passed(LineSettings(held_back=0.1, hold_s=0.025))
    behind = [b for (_, a), (_, b) in pairwise(out) if b < a]
    assert abs(line.counts.held_back - PACKETS * 0.1) < 4 * (PACKETS * 0.09) ** 0.5
    assert len(behind) <= line.counts.reordered <= line.counts.held_back
    assert line.counts.reordered > 0.8 * line.counts.held_back


@pytest.mark.parametrize("is_gap", [False, True])
def test_a_stall_holds_or_loses_what_comes_meanwhile(is_gap):
    out, line = passed(LineSettings(every_s=1.0, stall_s=0.305, is_gap=is_gap))
    assert {round(at_s % 1.0, 3) for at_s, _ in out if at_s % 1.0 < 0.305 - 1e-6} == set()
    inside = line.counts.lost if is_gap else line.counts.stalled
    assert inside == pytest.approx(PACKETS * 0.31, abs=60)
    at_once = [number for at_s, number in out if at_s == pytest.approx(7.31)]
    assert len(at_once) == (1 if is_gap else 32)
    assert line.counts.reordered == 0


def test_the_same_seed_does_the_same_and_another_one_does_not():
    settings = LineSettings(0.2, 0.02, 0.04, 0.1, 0.05)
    (first, _), (again, _), (other, _) = (passed(settings, seed) for seed in ("1", "1", "2"))
    assert first == again != other


def test_what_one_packet_draws_is_no_matter_of_how_the_line_was():
    """So a line that was clear for so many packets loses the same later ones."""
    early, late = Impairment("3", 10**6), Impairment("3", 10**6)
    early.settings = late.settings = LineSettings(loss=0.5)
    late.settings = replace(late.settings, jitter_s=0.2, held_back=0.3, hold_s=0.1)
    for number in range(200):
        early.take(b"", number)
        late.take(b"", number)
    assert early.counts.lost == late.counts.lost > 0


def test_no_more_packets_than_its_bound():
    _, line = passed(CLEAR, packets_max=100)
    assert (line.counts.delivered, line.counts.refused) == (100, PACKETS - 100)


# --- f1tenth_system's rules


def commands(topic: str, hz: float, from_s: float, to_s: float, speed_mps: float):
    count = round((to_s - from_s) * hz)
    return [Arrival(from_s + number / hz, topic, speed_mps) for number in range(count)]


def test_their_mux_lets_the_lower_one_through_when_the_higher_falls_silent():
    mux = Mux()
    assert mux.passes(Arrival(0.0, "drive", 1.0))
    assert mux.passes(Arrival(0.1, "teleop", 1.0))
    assert not mux.passes(Arrival(0.1 + TIMEOUT_S - 0.01, "drive", 1.0))
    assert mux.passes(Arrival(0.1 + TIMEOUT_S + 0.01, "drive", 1.0))


def test_their_car_goes_on_for_the_vescs_second_and_then_rolls():
    moments = driven(commands("drive", 50, 0.0, 3.0, 1.5), 20.0, VEHICLE)
    found = reaction(moments, 3.0, 1.5)
    assert found.begins_ms is not None
    assert found.begins_ms == pytest.approx(1e3 * VESC_SILENT_S + 200, abs=150)
    assert found.way_m is not None
    assert 3.0 < found.way_m < 4.5  # 1.5 m blind, then it rolls out
    assert found.last_mps == 0.0


def test_their_car_goes_on_after_a_pause_that_was_shorter_than_the_vescs_time():
    pause = commands("drive", 50, 0.0, 2.0, 1.5) + commands("drive", 50, 2.6, 5.0, 1.5)
    found = reaction(driven(pause, 5.0, VEHICLE), 2.0, 1.5)
    assert found.stands_ms is None
    assert found.last_mps == pytest.approx(1.5, abs=0.05)
