"""The safety case names tests that there are, and leaves no promise out; what it measures holds."""

import ast
import re

import pytest

from tests.safety.case import pages
from tests.safety.case.measure import cruising, measured
from tests.safety.support.facts import FOLDER
from tests.safety.ways.ways import Race, Way
from tests.support.evidence import every

ROOT = FOLDER.parents[1]
CORE = ROOT / "firmware" / "core"
CASE = pages.CASE.read_text()
MODULES = (CORE / "README.md").read_text()
PROMISES = (CORE / "SAFETY.md").read_text()
PRINTED_US = {row[0]: round(float(row[1]) * 1000) for row in pages.rows_of("times")}
NAMED = re.findall(r"`([\w/]+\.py)::(\w+)`", CASE)


def functions_in(path) -> set[str]:
    tree = ast.parse(path.read_text())
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize(("file", "name"), sorted(set(NAMED)))
def test_each_test_that_the_safety_case_names_exists(file, name):
    assert name in functions_in(ROOT / "tests" / file)


def test_every_promise_has_its_row_in_the_safety_case():
    rows = [line for line in CASE.splitlines() if line.startswith("|") and "::" in line]
    shown = {int(number) for row in rows for number in re.findall(r"\bS(\d+)\b", row)}
    assert shown == set(promised())
    assert every(row.count("|") == 6 for row in rows)


def promised():
    return [int(number) for number in re.findall(r"^\| S(\d+) \|", PROMISES, re.MULTILINE)]


def test_the_promises_are_numbered_without_a_gap():
    assert promised() == list(range(1, 15))


def test_the_table_of_modules_is_true_for_all_files():
    listed = set(re.findall(r"`(?:\w+/)?(\w+\.py)`", MODULES))
    there = {path.name for path in CORE.rglob("*.py")} - {"__init__.py"}
    assert listed == there


def test_what_is_measured_holds_and_is_no_worse_than_the_safety_case_says():
    """One vehicle and two ways of them here; the command measures all (FIGURES.md)."""
    rows = measured(cruising((Way, Race), ("f1tenth",)))
    assert [row for row in rows if not row.holds] == []
    worst_us = {row.what: row.took_us for row in rows}
    assert [row for row in rows if row.took_us > PRINTED_US[row.what]] == []
    assert worst_us["main loop hung to drive off and neutral"] <= 41_000
    assert worst_us["interrupts off to drive off and neutral"] <= 61_000
    assert worst_us["runstop loop to drive off and neutral"] <= 1_000
