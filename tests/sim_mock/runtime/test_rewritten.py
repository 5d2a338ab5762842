"""What the compiler is shown: the same program, in the same lines."""

import ast
from pathlib import Path

from firmware.core.settings import params
from sim_mock.runtime.rewritten import rewritten

CONSTANTS = """A, B = 0, 1
(
    C,
    D,
) = range(2)
E = const(7)
F = A | 4  # of a sum
TABLE = (1, 2)
small = 3
"""
VALUES = {"A": 0, "B": 1, "C": 0, "D": 1, "E": 7, "F": 4, "TABLE": (1, 2), "small": 3}


def test_whole_numbers_are_final_and_nothing_else_is():
    lines = rewritten(CONSTANTS, VALUES).split("\n")
    assert lines[0] == 'from typing import Final; A: "Final" = 0; B: "Final" = 1'
    assert lines[1:5] == ['from typing import Final; C: "Final" = 0; D: "Final" = 1', "", "", ""]
    assert lines[5:7] == [
        f'from typing import Final; {one}: "Final" = {VALUES[one]}' for one in "EF"
    ]
    assert lines[7:] == ["TABLE = (1, 2)", "small = 3", ""]


def test_a_name_with_another_value_in_the_end_is_left_alone():
    assert rewritten("A = 1\n", {"A": "text"}) == "A = 1\n"


DECORATED = """class One:
    @micropython.native
    def step(self): ...

@micropython.viper
def skip_delimiters(data: ptr8) -> int: ...

@micropython.viper
def crc_update(crc: ptr8) -> int: ...

@property
def other(): ...
"""


def test_what_hides_a_function_goes_but_where_c_is_sooner():
    was, now = DECORATED.split("\n"), rewritten(DECORATED, {}).split("\n")
    gone = [line.strip() for line, after in zip(was, now, strict=True) if line != after]
    assert gone == ["@micropython.native", "@micropython.viper"]
    assert now[was.index("def crc_update(crc: ptr8) -> int: ...") - 1] == "@micropython.viper"


def test_each_line_stays_where_it_was():
    text = Path(params.__file__).read_text()
    made = rewritten(text, vars(params))
    places = [(n.name, n.lineno) for n in ast.walk(ast.parse(text)) if hasattr(n, "name")]
    again = [(n.name, n.lineno) for n in ast.walk(ast.parse(made)) if hasattr(n, "name")]
    assert [one for one in again if one[0] != "Final"] == places
