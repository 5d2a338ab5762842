"""Sobol indices: of a function whose indices are known, of real cases, and of parts of a design."""

from __future__ import annotations

from math import pi, sin

import pytest

from host_bridge.core.errors import DataFileFault
from host_bridge.drive.lockstep.campaign.judging.analysis import analyse
from host_bridge.drive.lockstep.campaign.judging.report import html_of
from host_bridge.drive.lockstep.campaign.plan import read_plan
from host_bridge.drive.lockstep.campaign.spec import case_id
from tests.host_bridge.drive.lockstep.campaign.test_designs import rows_of
from tests.support.evidence import every

KEYS = ("vehicle_changes.a", "vehicle_changes.b", "vehicle_changes.c")
# Of Ishigami's function with a = 7, b = 0.1: Saltelli et al., Global Sensitivity Analysis, 2008
FIRST, TOTAL = (0.3139, 0.4424, 0.0), (0.5576, 0.4424, 0.2437)
SAMPLES = 256
HEAD = """\
[campaign]
title = "Indices"
seed = 3
[case]
vehicle = "nigel"
duration_s = 1.0
[oracles]
no_stop = true
"""
ISHIGAMI = "\n".join(
    ("[uncertain]", *(f'"{key}" = {{ low = {-pi}, high = {pi} }}' for key in KEYS))
)
DESIGN = f'\n[design]\nkind = "saltelli"\nsamples = {SAMPLES}\n'


def plan_of(folder, text):
    (folder / "campaign.toml").write_text(text, encoding="utf-8")
    return read_plan(folder / "campaign.toml")


def ishigami(sample):
    a, b, c = (sample[key] for key in KEYS)
    return sin(a) + 7.0 * sin(b) ** 2 + 0.1 * c**4 * sin(a)


@pytest.fixture(scope="module")
def plan(tmp_path_factory):
    return plan_of(tmp_path_factory.mktemp("indices"), HEAD + ISHIGAMI + DESIGN)


@pytest.fixture(scope="module")
def there(plan):
    return [
        {
            "repetition": case.repetition,
            "levels": {},
            "sample": dict(case.sample),
            "outcome": "passed",
            "why": "",
            "distance_m": ishigami(case.sample),
            "hit_mps": None,
            "driven_s": 1.0,
        }
        for case in plan.cases()
    ]


def test_indices_of_a_known_function_lie_in_their_intervals(plan, there, tmp_path):
    assert plan.count() == SAMPLES * 5
    found = analyse(plan, there)
    (of_distance,) = found.indices  # nothing failed: of that there is nothing to explain
    assert (of_distance.figure, of_distance.sets) == ("the distance", SAMPLES)
    for key, first, total in zip(KEYS, FIRST, TOTAL, strict=True):
        alone, whole = of_distance.indices[key]
        assert alone.value == pytest.approx(first, abs=0.12)
        assert whole.value == pytest.approx(total, abs=0.12)
        assert alone.low <= first <= alone.high
        assert whole.low <= total <= whole.high
    page = html_of(plan, found, tmp_path, "c")
    assert "Sobol indices of the distance" in page
    assert page.count("<meter") == 6


def test_a_set_of_runs_has_one_seed_and_differs_from_its_first_by_one_key(plan):
    cases = list(plan.cases())[:10]
    for a, b, *others in (cases[:5], cases[5:]):
        assert len({case.spec["seed"] for case in (a, b, *others)}) == 1
        assert every(a.sample[key] != b.sample[key] for key in KEYS)
        for key, other in zip(KEYS, others, strict=True):
            assert other.sample == {**a.sample, key: b.sample[key]}
    assert cases[0].spec["seed"] != cases[5].spec["seed"]
    assert len({case_id(case.spec) for case in cases}) == 10


def test_sets_that_are_not_whole_are_left_out(plan, there):
    refused = [{**there[7], "outcome": "refused"}, *there[:7], *there[8:]]
    (found,) = analyse(plan, refused).indices
    assert found.sets == SAMPLES // 2  # 255 are whole
    (found,) = analyse(plan, there[: 5 * 9 + 3]).indices
    assert found.sets == 8
    assert analyse(plan, there[: 5 * 9 + 3]).indices == [found], "the bootstrap has a seed"
    assert analyse(plan, there[:9]).indices == []
    assert analyse(plan, []).indices == []


def test_failing_is_explained_too(plan, there):
    judged = [
        {**row, "outcome": "failed" if row["sample"][KEYS[0]] > 1.0 else "passed"} for row in there
    ]
    of_failing = next(it for it in analyse(plan, judged).indices if it.figure == "failing")
    alone, whole = of_failing.indices[KEYS[0]]
    assert alone.value == pytest.approx(1.0, abs=0.12)
    assert whole.value == pytest.approx(1.0, abs=0.12)
    assert of_failing.indices[KEYS[1]][1].value == 0.0


@pytest.mark.exhaustive  # 16 drives
def test_real_cases_say_that_speed_and_not_a_payload_makes_the_distance(tmp_path):
    uncertain = "[uncertain]\nspeed_mps = { low = 0.1, high = 0.3 }\n"
    uncertain += "payload_kg = { low = 0.0, high = 0.1 }\n"
    text = HEAD + uncertain + DESIGN.replace(str(SAMPLES), "4")
    plan = plan_of(tmp_path, text)
    (found,) = analyse(plan, rows_of(plan)).indices
    speed, payload = (found.indices[key][1].value for key in ("speed_mps", "payload_kg"))
    assert speed > 0.5
    assert payload < 0.1


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("samples = 256", "samples = 250", "a power of 2"),
        ("[uncertain]", "[factors]\nspeed_mps = [0.1, 0.2]\n[uncertain]", "no .factors."),
        ("seed = 3", "seed = 3\nrepetitions = 2", "each sample is one"),
    ],
)
def test_a_wrong_design_is_refused(tmp_path, old, new, what):
    with pytest.raises(DataFileFault, match=what):
        plan_of(tmp_path, (HEAD + ISHIGAMI + DESIGN).replace(old, new))
