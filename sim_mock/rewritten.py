"""Sources as a compiler follows them best: the same program, line by line in the same places."""

import ast
import re
from collections.abc import Mapping

from firmware.c_library import SOONER

# not of what CPython's own C does sooner
_IN_C = "|".join(one.__name__ for one in SOONER)
_DECORATED = re.compile(rf"^ *@micropython\.\w+$(?!\n *def (?:{_IN_C})\()", re.MULTILINE)
_SLOTS = "slots=True"  # a dataclass with slots is made anew when it runs, which nobody follows


def rewritten(text: str, values: Mapping[str, object]) -> str:
    """``values`` are what the module's names have when it runs.

    A decorator of MicroPython's changes nothing here but hides its function, and a whole number
    that is not ``Final`` is looked up each time.
    """
    lines = _DECORATED.sub("", text.replace(_SLOTS, "slots=False")).split("\n")
    for node in ast.parse("\n".join(lines)).body:
        names = _constants(node, values)
        if names:
            many = (node.end_lineno or node.lineno) - node.lineno
            said = [f'{name}: "Final" = {values[name]}' for name in names]
            lines[node.lineno - 1] = "; ".join(["from typing import Final", *said])
            lines[node.lineno : node.lineno + many] = [""] * many
    return "\n".join(lines)


def _constants(node: ast.stmt, values: Mapping[str, object]) -> list[str]:
    """The names of a statement that gives nothing but whole numbers to names in capitals."""
    if not isinstance(node, ast.Assign) or len(node.targets) != 1:
        return []
    target = node.targets[0]
    each = target.elts if isinstance(target, ast.Tuple) else [target]
    names = [one.id for one in each if isinstance(one, ast.Name) and one.id.isupper()]
    is_whole = len(names) == len(each) and all(type(values.get(name)) is int for name in names)
    return names if is_whole else []
