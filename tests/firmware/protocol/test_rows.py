"""The table of parameters as a board has it, in texts of some rows each, reads as the sources'."""

from array import array

import pytest

from firmware.core.settings.params import TABLE
from firmware.protocol.rows import ROWS_A_TEXT, Rows, make_names

NAMES = tuple(row[0] for row in TABLE)


def rows_of(table) -> Rows:
    texts = [
        bytes(array("i", [number for row in table[at : at + ROWS_A_TEXT] for number in row[2:]]))
        for at in range(0, len(table), ROWS_A_TEXT)
    ]
    return Rows(tuple(row[0] for row in table), tuple(texts))


@pytest.mark.parametrize(
    "many", [1, ROWS_A_TEXT - 1, ROWS_A_TEXT, ROWS_A_TEXT + 1, 2 * ROWS_A_TEXT, len(TABLE)]
)
def test_rows_are_the_tables_but_for_units_as_often_as_they_are_read(many):
    rows = rows_of(TABLE[:many])
    wanted = [(name, "", *numbers) for name, _unit, *numbers in TABLE[:many]]
    assert list(rows) == wanted
    assert list(rows) == wanted


def test_no_text_is_larger_than_a_crowded_heap_has_a_place_for():
    size = len(rows_of(TABLE)._numbers[0])
    assert max(len(text) for text in rows_of(TABLE)._numbers) == size < 300


@pytest.mark.parametrize("table", [TABLE, rows_of(TABLE)], ids=["sources", "board"])
def test_both_tell_their_names_in_order(table):
    assert make_names(table) == NAMES


def test_a_board_has_its_names_once():
    rows = rows_of(TABLE)
    assert make_names(rows) is rows.names
