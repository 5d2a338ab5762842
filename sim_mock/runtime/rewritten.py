"""Source rewriting for the compiler: the same program, each statement on its old line."""

import ast
import re
from collections.abc import Mapping

from firmware.c_library import C_COUNTERPARTS

# Functions for which CPython has a faster C function keep their decorators.
_IN_C = "|".join(one.__name__ for one in C_COUNTERPARTS)
_DECORATED = re.compile(rf"^ *@micropython\.\w+$(?!\n *def (?:{_IN_C})\()", re.MULTILINE)
_SLOTS = "slots=True"  # makes a second class at run time, which the compiler cannot follow


def rewritten(text: str, values: Mapping[str, object]) -> str:
    """Return the source rewritten; ``values`` are the values of the module's names at run time.

    MicroPython's decorators have no effect here but hide the function from the compiler. A whole
    number that is not ``Final`` would be looked up each time.
    """
    lines = _DECORATED.sub("", text.replace(_SLOTS, "slots=False")).split("\n")
    for node in ast.parse("\n".join(lines)).body:
        names = _constants(node, values)
        if names:
            many = (node.end_lineno or node.lineno) - node.lineno
            assignments = [f'{name}: "Final" = {values[name]}' for name in names]
            lines[node.lineno - 1] = "; ".join(["from typing import Final", *assignments])
            lines[node.lineno : node.lineno + many] = [""] * many
    return "\n".join(lines)


def _constants(node: ast.stmt, values: Mapping[str, object]) -> list[str]:
    """Return the names of a statement that only assigns whole numbers to names in capitals."""
    if not isinstance(node, ast.Assign) or len(node.targets) != 1:
        return []
    target = node.targets[0]
    each = target.elts if isinstance(target, ast.Tuple) else [target]
    names = [one.id for one in each if isinstance(one, ast.Name) and one.id.isupper()]
    is_whole = len(names) == len(each) and all(type(values.get(name)) is int for name in names)
    return names if is_whole else []
