"""Paired comparisons on common seeds: Holm's correction, medians with intervals, and their page."""

from __future__ import annotations

import random

import pytest

from host_bridge.drive.lockstep.campaign.judging.analysis import analyse
from host_bridge.drive.lockstep.campaign.judging.intervals import holm, middle
from host_bridge.drive.lockstep.campaign.judging.report import html_of
from host_bridge.drive.lockstep.campaign.plan import read_plan
from tests.support.evidence import every, some

PAIRS = """\
[campaign]
title = "Pairs"
repetitions = 12
[case]
vehicle = "nigel"
duration_s = 1.0
[factors]
payload_kg = [0.0, 0.1, 0.2]
speed_mps = [0.1, 0.2]
[oracles]
no_stop = true
[report]
compare = "payload_kg"
"""


@pytest.fixture
def plan(tmp_path):
    (tmp_path / "campaign.toml").write_text(PAIRS, encoding="utf-8")
    return read_plan(tmp_path / "campaign.toml")


def row_of(case, fails, metres, rest_m=None):
    return {
        "case_id": f"{case.index:016x}",
        "result_hash": f"{case.index}",
        "levels": dict(case.levels),
        "repetition": case.repetition,
        "outcome": "failed" if fails else "passed",
        "why": "no_stop" if fails else "",
        "distance_m": metres,
        "claim_to_rest_m": rest_m,
        "hit_mps": None,
        "driven_s": 1.0,
        "ran": {"cpu_s": 3.6, "python": "3.11", "machine": "m", "libc": "c", "machine_code": True},
    }


@pytest.fixture
def there(plan):
    """At 0.2 m/s a payload of 0.2 kg always fails; each 0.1 kg costs a centimetre."""
    return [
        row_of(
            case,
            (case.levels["payload_kg"], case.levels["speed_mps"]) == (0.2, 0.2),
            case.levels["speed_mps"] + 0.001 * case.repetition - 0.1 * case.levels["payload_kg"],
        )
        for case in plan.cases()
    ]


def test_holm_corrects_step_by_step():
    assert holm([]) == []
    assert holm([0.03]) == [0.03]
    # Of the example in Holm's paper's manner: 4 x 0.005, 3 x 0.01, 2 x 0.03, 1 x 0.04 is less
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]) == [1.0, 1.0]


def test_holm_keeps_the_chance_that_any_of_many_is_found_by_chance():
    chance = random.Random(1)
    found = [min(holm([chance.random() for _ in range(20)])) <= 0.05 for _ in range(1000)]
    assert 0.03 < sum(some(found)) / 1000 < 0.07


def test_a_median_has_an_exact_interval_where_there_are_enough_values():
    assert middle([], 0.95) is None
    few = middle([1.0, 2.0, 4.0], 0.95)
    assert (few.count, few.value, few.low, few.high) == (3, 2.0, None, None)
    eight = middle([3.0, 1.0, 2.0, 4.0, 5.0, 6.0, 8.0, 7.0], 0.95)
    assert (eight.value, eight.low, eight.high) == (4.5, 1.0, 8.0)  # 2 * 0.5^8 are beyond it


def test_intervals_of_medians_hold_the_median_as_often_as_they_say():
    chance = random.Random(2)
    found = [middle([chance.expovariate(1.0) for _ in range(25)], 0.95) for _ in range(400)]
    held = sum(it.low <= 0.693147 <= it.high for it in some(found))
    assert held >= 0.94 * 400


def test_levels_are_compared_together_and_in_each_cell(plan, there):
    found = analyse(plan, there)
    assert [(it.first, it.second, it.result.pairs) for it in found.comparisons] == [
        (0.0, 0.1, 24),
        (0.0, 0.2, 24),
    ]
    same, worse = found.comparisons
    assert (same.result.only_second, worse.result.only_second) == (0, 12)
    assert worse.result.p_value == pytest.approx(2.0 * 0.5**12)
    assert worse.p_holm == pytest.approx(2.0 * worse.result.p_value)
    assert same.p_holm == 1.0
    metres = worse.differences["m driven"]
    assert (metres.count, metres.value) == (24, pytest.approx(-0.02))
    assert metres.low == pytest.approx(-0.02)
    assert worse.differences["m from the last claim to rest"] is None
    assert len(found.in_cells) == 4
    (bad,) = (it for it in found.in_cells if it.p_holm < 0.05)
    assert (bad.second, dict(bad.cell)) == (0.2, {"speed_mps": 0.2})
    assert bad.p_holm == pytest.approx(4.0 * bad.result.p_value)
    assert every(it.result.pairs == 12 for it in found.in_cells)


def test_pairs_that_are_not_whole_are_left_out(plan, there):
    found = analyse(plan, [row for row in there if row["repetition"] or row["outcome"] == "failed"])
    assert [it.result.pairs for it in found.comparisons] == [22, 22]
    assert analyse(plan, []).comparisons[0].result.pairs == 0


def test_one_cell_is_not_told_twice(tmp_path):
    text = PAIRS.replace("speed_mps = [0.1, 0.2]\n", "")
    (tmp_path / "campaign.toml").write_text(text, encoding="utf-8")
    plan = read_plan(tmp_path / "campaign.toml")
    rows = [row_of(case, False, 1.0) for case in plan.cases()]
    found = analyse(plan, rows)
    assert len(found.comparisons) == 2
    assert found.in_cells == []


def test_the_page_says_all_that_a_reviewer_asks_for(plan, there, tmp_path):
    found = analyse(plan, there)
    page = html_of(plan, found, tmp_path, "c0de")
    for text in (
        "p (Holm)",
        "1 of 4 differ at 95% after",
        "median m",
        "Not varied",
        f"tandem campaign show {tmp_path} {found.worst[0]['case_id']}",
        "core hours",
        f"<td>{72 * 3.6 / 3600:.2f}</td>",
        "SHA-256 of campaign.toml",
        found.results_hash,
        "c0de",
        "Python 3.11, m, c",
        "exact and one-sided",
    ):
        assert text in page, text
    assert len(found.worst) == 10
    assert "http" not in page
    assert found.results_hash == analyse(plan, there[::-1]).results_hash
    assert found.results_hash != analyse(plan, there[1:]).results_hash
