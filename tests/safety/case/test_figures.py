"""The figures on the page of the safety case are those that are computed."""

import re

import pytest

from tests.safety.case import figures
from tests.safety.case.measure import ROWS, guard_alone
from tests.safety.case.pages import CASE, FIGURES, rows_of
from tests.support.evidence import every

STOPS = dict(zip(rows_of("metres"), figures.STOPS, strict=True))


def test_what_is_counted_is_on_the_page():
    assert [list(row) for row in rows_of("counts")] == figures.rows_in(figures.counts())


def test_the_times_on_the_page_are_those_that_are_measured_and_keep_their_limits():
    told = {what: (float(ms), float(most)) for what, ms, most, _ in rows_of("times")}
    limits = {what: limit_us / 1000 for what, limit_us, *_ in ROWS}
    alone = guard_alone()
    limits[alone.what] = alone.limit_us / 1000
    assert {what: most for what, (_, most) in told.items()} == limits
    assert every(ms <= most for ms, most in told.values())


@pytest.mark.exhaustive
@pytest.mark.parametrize("row", STOPS, ids=lambda row: "-".join(row[1:4]))
def test_the_metres_on_the_page_are_those_that_are_computed(row):
    assert figures.row_of(STOPS[row]) == row


def test_each_hazard_that_has_a_figure_is_on_the_page_of_hazards():
    hazards = set(re.findall(r"^\| (H\d+) \|", CASE.read_text(), re.MULTILINE))
    assert set(re.findall(r"^\| (H\d+) \|", FIGURES.read_text(), re.MULTILINE)) < hazards
    assert hazards == {f"H{number}" for number in range(1, len(hazards) + 1)}


def test_a_page_without_a_place_for_a_table_is_refused():
    with pytest.raises(ValueError, match="no place for counts"):
        figures.block("counts", "# A page\n")


def test_no_cell_of_the_safety_case_is_longer_than_200_characters():
    cells = [
        cell.strip()
        for page in (CASE, FIGURES)
        for line in page.read_text().splitlines()
        if line.startswith("|")
        for cell in line.strip("|").split("|")
    ]
    assert [cell for cell in cells if len(cell) > 200] == []
    assert len(cells) > 500
