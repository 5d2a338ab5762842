"""What the driver leaves out: mistakes in defaults that the core's tests go without, no others."""

import pytest

from tests.mutants.core import PARTS, ROOT
from tests.mutants.mistakes.mutations import mutants_of
from tests.mutants.mistakes.overwritten import OVERWRITTEN, is_left_out, tried
from tests.mutants.trial import trials

FILE = "firmware/core/motion/warm_up.py"
SOURCE = """
class WarmUp:
    def __init__(self):
        self._for_us = 0
        self._other = 0
        self._for_us = self._other = 0
        self._for_us += 1
        self._for_us[0] = 0
        other._for_us = 0
        if 0:
            self._for_us: int = 0

    def configure(self):
        self._for_us = 0


class Other:
    def __init__(self):
        self._for_us = 0
"""


def test_it_is_the_statement_that_sets_an_attribute_of_the_table_when_an_object_is_made():
    left = [it for it in mutants_of(FILE, SOURCE) if is_left_out(it)]
    places = {(it.where, it.line, it.before) for it in left}
    assert places == {
        ("WarmUp.__init__", 4, "self._for_us = 0"),
        ("WarmUp.__init__", 11, "self._for_us: int = 0"),
    }
    assert not any(map(is_left_out, mutants_of("firmware/core/clock.py", SOURCE)))


def test_all_else_is_tried():
    every, some_of = mutants_of(FILE, SOURCE), tried(FILE, SOURCE)
    assert some_of == [it for it in every if not is_left_out(it)]
    assert 0 < len(some_of) < len(every)


@pytest.mark.parametrize("row", OVERWRITTEN, ids=lambda row: row.name)
def test_each_attribute_of_the_table_has_such_a_statement(row):
    (part,) = [it for it in PARTS if it.file == row.file]
    source = trials.source_of(ROOT, row.file)
    left = [it for it in mutants_of(row.file, source, part.scope) if is_left_out(it)]
    text = "\n".join(it.before for it in left if it.where == f"{row.name}.__init__")
    assert [name for name in row.attributes if f"self.{name}" not in text] == []


def test_no_class_has_two_rows():
    rows = [(row.file, row.name) for row in OVERWRITTEN]
    assert len(rows) == len(set(rows))
