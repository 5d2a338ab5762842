"""``tandem ros`` on a line that loses, delays, reorders and holds: it stops in time and near.

The table is ``python -m tests.ros.reaction``; here a part of it is played, with ``-m soak`` all.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest

from tests.ros.reaction.line import why_not
from tests.ros.reaction.scenarios import SCENARIOS, SPEED_MPS, Event, Scenario
from tests.ros.real_ros import NEEDS_ROS, ROOT
from tests.support import patience

LEASE_S = 0.12  # hardware/vehicles: what a silent source of an F1TENTH has
BRAKES_S = 0.55  # from 1.5 m/s to rest, the report at 50 Hz included
BRAKES_M = 0.30
BUSY_S = 0.5  # what a machine that is busy with other tests may add

pytestmark = [
    pytest.mark.ros(drives=True),
    NEEDS_ROS,
    pytest.mark.skipif(bool(why_not()), reason=f"no line between namespaces here: {why_not()}"),
    pytest.mark.xdist_group("wall clock"),
]

BY_NAME = {scenario.name: scenario for scenario in SCENARIOS}


def table(*words: str) -> list[dict[str, Any]]:
    played = patience.run(
        [sys.executable, "-m", "tests.ros.reaction", "--json", *words],
        cwd=ROOT,
        text=True,
        within_s=1500,
    )
    assert played.returncode == 0, played.stderr[-2000:]
    rows = json.loads(played.stdout)
    assert rows
    return rows


def hold(row: dict[str, Any]) -> None:
    scenario = BY_NAME[row["scenario"]]
    it_counts_what_it_does(row, scenario)
    tandem, theirs = row["tandem"], row["theirs"]
    # Whatever happens it stops, at the latest one lease after the last command, and stays so
    assert "silent" in row["why"], row
    assert tandem["last_mps"] == 0.0, row
    settings = scenario.settings
    on_its_way_s = 1 / scenario.talks[0].hz + settings.delay_s + settings.jitter_s + settings.hold_s
    if scenario.event is not Event.NONE:
        blind_s = LEASE_S + on_its_way_s + settings.stall_s + BUSY_S
        assert tandem["stands_ms"] < 1e3 * (blind_s + BRAKES_S), row
        assert tandem["way_m"] < SPEED_MPS * blind_s + BRAKES_M, row
    # And f1tenth_system's: a second blind, then it rolls; or it goes on, for the silence was short
    if scenario.talks[0].qos == "best_effort":
        assert theirs["fastest_mps"] == 0.0, row  # it asks for reliable, and gets nothing
    elif not scenario.goes_on:
        assert theirs["way_m"] > 2.5, row
    else:
        assert theirs["last_mps"] > 0.9 * scenario.talks[-1].speed_mps, row


def it_counts_what_it_does(row: dict[str, Any], scenario: Scenario) -> None:
    line, settings = row["line"], scenario.settings
    assert line["taken"] > 0.5 * row["sent"] > 0, row
    assert line["refused"] == 0
    if settings.loss:
        expected, taken = settings.loss, line["taken"]
        sigma = (taken * expected * (1 - expected)) ** 0.5
        assert abs(line["lost"] - taken * expected) < 4 * sigma, row
    assert (line["lost"] > 0) == (settings.loss > 0 or settings.is_gap), row
    assert (line["reordered"] > 0) == (settings.jitter_s > 0 or settings.held_back > 0), row
    assert (line["delayed"] > 0) == (settings.delay_s > 0 or settings.jitter_s > 0), row
    assert (line["stalled"] > 0) == (settings.stall_s > 0 and not settings.is_gap), row
    # What was lost to the line was lost to the nodes; what was not, was not
    share = row["arrived"] / row["sent"]
    if not line["lost"]:
        assert share > 0.95, row
    else:
        assert share < 1.0, row


@pytest.mark.timeout(1600)
def test_it_stops_in_time_and_near_whatever_the_line_does():
    rows = table("--quick")
    assert len(rows) == sum(scenario.is_quick for scenario in SCENARIOS)
    for row in rows:
        hold(row)


@pytest.mark.soak
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_whole_table(seed):
    rows = table("--seed", str(seed))
    assert len(rows) == len(SCENARIOS)
    for row in rows:
        hold(row)
