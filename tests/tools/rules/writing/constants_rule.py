"""Refuses numbers that nothing explains.

A constant (a number that is given to a name at the head of a module or class, or to a parameter as
its default) has a comment that says why it is so much. A number inside a function is such a
constant, or has a comment too. The comment stands on the number's line, on its statement's first
or last line, directly above one of these, or above the block of lines without a gap, as deep as
itself, that the statement is in. No comment is asked of numbers that the docstring of their
function names, nor of those that say themselves what they are (``EXPLAINS``). ``STILL`` counts
those of folders that wait to be explained: a count may only fall, and the table falls with it.

    python tests/tools/rules/writing/constants_rule.py [FOLDER]
"""

import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import log10
from pathlib import Path

from tests.tools.rules.refusing import refused_by_folder, told

ROOT = Path(__file__).resolve().parents[4]
# Coordinates on paper: the drawing shows whether they are right
DRAWN = ("hardware/drawing/",)
STILL: dict[str, int] = {}

NOTHING, ONE, PAIR = 0, 1, 2
# Axes and corners are counted; a half rounds or is a middle; the scales of ten move a point
PLAIN = frozenset([NOTHING, ONE, PAIR, 3, 4, 0.5, 10, 100, 1000, 1_000_000, 1_000_000_000])
# As a factor or a divisor: bits of a byte; hours, minutes, seconds; degrees
UNITS = frozenset([8, 24, 60, 3600, 86_400, 90, 180, 360])
WIDTHS = (7, 8, 15, 16, 31, 32, 63, 64)  # bits of whole numbers, with a sign and without
ENDS = frozenset(2**bits - 1 for bits in WIDTHS)
# They tell things apart, and any other number would do: messages, codes of programs that end
NUMBERED = frozenset(["ID", "exit_code"])
# How a picture looks is judged by eye, and nothing follows from it
LOOKS = frozenset(
    [
        *("alpha", "dpi", "figsize", "fontsize", "height", "height_ratios", "linewidth"),
        *("markersize", "ncols", "s", "width_ratios"),
    ]
)

_BITS = (ast.LShift, ast.RShift, ast.BitAnd, ast.BitOr, ast.BitXor)
_SCALING = (ast.Mult, ast.Div, ast.FloorDiv, ast.Mod)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_TABLES = (ast.Dict, ast.Set, ast.Call, ast.ListComp, ast.DictComp, ast.SetComp, ast.GeneratorExp)
_ROWS = (ast.Tuple, ast.List)
_ORDERS = ("noqa", "type:", "fmt:", "---", "!")  # comments that speak to a tool, or head a part


@dataclass(frozen=True)
class Place:
    """A number in its tree: the nodes from itself up to its module."""

    nodes: tuple[ast.AST, ...]

    @property
    def number(self) -> ast.Constant:
        node = self.nodes[0]
        assert isinstance(node, ast.Constant)
        return node

    @property
    def value(self) -> float:
        found = self.number.value
        assert isinstance(found, (int, float))
        return found

    @property
    def signed(self) -> int:
        """The index of the number with its sign."""
        return 1 if isinstance(self.nodes[1], ast.UnaryOp) else 0

    @property
    def around(self) -> ast.AST:
        """The node in which the number with its sign stands."""
        return self.nodes[self.signed + 1]

    @property
    def statement(self) -> ast.stmt:
        return next(node for node in self.nodes if isinstance(node, ast.stmt))

    @property
    def is_inside(self) -> bool:
        """It stands in a function's body, not among its defaults or decorators."""
        held = self.nodes[: self.nodes.index(self.statement)]
        return not self.is_at_head or any(isinstance(node, ast.Lambda) for node in held)

    @property
    def is_at_head(self) -> bool:
        """Its statement is one of a module or a class."""
        above = self.nodes[self.nodes.index(self.statement) + 1 :]
        return not any(isinstance(node, _FUNCTIONS) for node in above)

    @property
    def name(self) -> str:
        """The constant or parameter that has this value; empty where it is in a function."""
        if self.is_inside:
            return ""
        statement = self.statement
        if isinstance(statement, ast.Assign):
            return ast.unparse(statement.targets[0])
        if isinstance(statement, ast.AnnAssign):
            return ast.unparse(statement.target)
        return getattr(statement, "name", "")


def places(tree: ast.Module) -> Iterator[Place]:
    """Yield each number of a module."""

    def below(node: ast.AST, above: tuple[ast.AST, ...]) -> Iterator[Place]:
        nodes = (node, *above)
        if isinstance(node, ast.Constant) and type(node.value) in (int, float):
            yield Place(nodes)
        for child in ast.iter_child_nodes(node):
            yield from below(child, nodes)

    return below(tree, ())


def is_scale_of_ten(value: float) -> bool:
    """Return True for 1e-9, 0.001, 10_000 and their like."""
    return value > 0 and abs(log10(value) - round(log10(value))) < 1e-9


def explains_itself(place: Place) -> bool:
    """Return True for a number that says what it is, by its value or by where it stands."""
    if place.name:
        is_factor = "_PER_" in place.name.upper() and is_scale_of_ten(place.value)
        return place.value in (NOTHING, ONE, PAIR, *ENDS) or place.name in NUMBERED or is_factor
    return place.value in PLAIN or place.value in ENDS or place.value - 1 in ENDS


def is_explained_by_its_use(place: Place) -> bool:
    """Return True where the expression around a number says what it is."""
    around, number = place.around, place.nodes[place.signed]
    match around:
        case ast.Subscript() | ast.Slice():  # a column or a place in a row
            return True
        case ast.BinOp(op=op) | ast.AugAssign(op=op) if isinstance(op, _BITS):
            return True  # a layout of bits
        case ast.BinOp(op=ast.Pow(), right=right) if right is number:
            return True
        case ast.BinOp(op=op) | ast.AugAssign(op=op) if isinstance(op, _SCALING):
            return place.value in UNITS or is_scale_of_ten(place.value)
        case ast.Call(func=ast.Name(id="round"), args=[_, digits]) if digits is number:
            return True
    keywords = [node.arg for node in place.nodes if isinstance(node, ast.keyword)]
    return any(name in LOOKS for name in keywords)


def is_told_by_its_docstring(place: Place) -> bool:
    """Return True for a number that the docstring of its function names."""
    for node in place.nodes:
        if isinstance(node, _FUNCTIONS):
            named = re.findall(r"(?<![\w.])\d+(?:\.\d+)?(?!\.?\d)", ast.get_docstring(node) or "")
            if any(float(number) == place.value for number in named):
                return True
    return False


def is_of_a_table(place: Place) -> bool:
    """Return True in a table at the head: rows within rows, or a call, whose columns have names."""
    if not (place.is_at_head and isinstance(place.statement, ast.Assign | ast.AnnAssign)):
        return False
    within = place.nodes[: place.nodes.index(place.statement)]
    calls = [node for node in within if isinstance(node, _TABLES) and not _is_const(node)]
    return bool(calls) or sum(isinstance(node, _ROWS) for node in within) > 1


def _is_const(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func) == "const"


EXPLAINS = (explains_itself, is_explained_by_its_use, is_told_by_its_docstring, is_of_a_table)


class Comments:
    """The comments of a file that say something to a reader."""

    def __init__(self, text: str) -> None:
        self._lines = text.splitlines()
        self._at: set[int] = set()
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT and _says_something(token.string):
                self._at.add(token.start[0])

    def explain(self, place: Place) -> bool:
        """Return True if a comment stands where it explains this number."""
        statement = place.statement
        decorators = getattr(statement, "decorator_list", [])
        first = decorators[0].lineno if decorators else statement.lineno
        lines = {place.number.lineno, first, statement.lineno}
        if not hasattr(statement, "body"):
            lines.add(statement.end_lineno or first)
        return any(line in self._at or self._heads_block_of(line) for line in lines)

    def _is_alone(self, line: int) -> bool:
        return line in self._at and self._lines[line - 1].lstrip().startswith("#")

    def _heads_block_of(self, line: int) -> bool:
        """Return True if a comment stands above the lines without a gap that this one is in."""
        depth = self._depth(line)
        while line > 1 and self._lines[line - 2].strip() and self._depth(line - 1) >= depth:
            line -= 1
            if self._is_alone(line) and self._depth(line) == depth:
                return True
        return False

    def _depth(self, line: int) -> int:
        text = self._lines[line - 1]
        return len(text) - len(text.lstrip())


def _says_something(comment: str) -> bool:
    words = comment.lstrip("# ")
    return bool(words) and not words.startswith(_ORDERS)


def unexplained(text: str) -> Iterator[tuple[int, str]]:
    """Yield the line of each number that nothing explains, and what to do about it."""
    comments = Comments(text)
    for place in places(ast.parse(text)):
        if any(explains(place) for explains in EXPLAINS):
            continue
        if not comments.explain(place):
            number = ast.get_source_segment(text, place.number) or ""
            if not number.startswith("0o"):  # who may do what with a file
                yield place.number.lineno, _remedy(place.name, number)


def _remedy(name: str, number: str) -> str:
    if name:
        return f"{name} has {number}: say in a comment why it is so much"
    return f"{number}: say in a comment why it is so much, or make it a constant that says so"


def refusals(root: Path, still: Mapping[str, int] = STILL) -> list[str]:
    """List what is refused below this folder. Raises ValueError if there is nothing to look at."""
    left = "numbers that nothing explains, and the table of constants_rule.py"
    return refused_by_folder(root, unexplained, still, left, skipped=DRAWN)


def main(words: list[str]) -> int:
    """Print what is refused; 1 if anything is."""
    return told(refusals(Path(words[0]) if words else ROOT))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
