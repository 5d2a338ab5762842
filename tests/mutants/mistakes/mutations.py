"""All mutants of one source file, in the order of its lines."""

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import EllipsisType
from typing import Any, NamedTuple, TypeGuard

from tests.mutants.mistakes.operators import replacements

_SKIPPED_FIELDS = {"annotation", "returns", "decorator_list", "type_params"}
_SKIPPED_NODES = (ast.Import, ast.ImportFrom, ast.JoinedStr)
_BODIES = ("body", "orelse", "finalbody", "handlers")


class Mutant(NamedTuple):
    """``before`` and ``after`` are the statement or the table's row; of a compound one its head."""

    file: str
    number: int  # in its file
    line: int
    where: str  # class and function; "" at the head of the file
    operator: str
    before: str
    after: str
    nth: int  # of those that agree in all the rest, from 1

    @property
    def key(self) -> tuple[str, str, str, str, str, int]:
        """What names it, whatever moves its line."""
        return (self.file, self.where, self.operator, self.before, self.after, self.nth)


class _Site(NamedTuple):
    """One place of the tree at which one node can be exchanged."""

    holder: Any  # a node or a list
    place: Any  # a field or an index
    statement: ast.stmt | ast.expr  # or the row of a table
    where: str

    def get(self) -> ast.AST:
        is_list = isinstance(self.holder, list)
        node = self.holder[self.place] if is_list else getattr(self.holder, self.place)
        assert isinstance(node, ast.AST)
        return node

    def put(self, node: ast.AST) -> None:
        if isinstance(self.holder, list):
            self.holder[self.place] = node
        else:
            setattr(self.holder, self.place, node)


def _is_for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def _says_nothing(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str | EllipsisType)
    )


def _is_skipped(node: ast.AST) -> bool:
    return isinstance(node, _SKIPPED_NODES) or _is_for_types(node) or _says_nothing(node)


def _named(where: str, node: ast.AST) -> str:
    if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        return f"{where}.{node.name}".lstrip(".")
    return where


def _is_shown_whole(node: ast.AST, parent: ast.AST) -> TypeGuard[ast.stmt | ast.expr]:
    """A statement, or a row of a table: a tuple in a tuple."""
    return isinstance(node, ast.stmt) or (
        isinstance(node, ast.Tuple) and isinstance(parent, ast.Tuple)
    )


def _sites(node: ast.AST, statement: ast.stmt | ast.expr | None, where: str) -> Iterator[_Site]:
    where = _named(where, node)
    for field, value in ast.iter_fields(node):
        if field in _SKIPPED_FIELDS:
            continue
        items = enumerate(value) if isinstance(value, list) else ((field, value),)
        for place, child in items:
            if not isinstance(child, ast.AST) or _is_skipped(child):
                continue
            around = child if _is_shown_whole(child, node) else statement
            if around is not None:
                yield _Site(value if isinstance(value, list) else node, place, around, where)
            yield from _sites(child, around, where)


def _text(statement: ast.AST) -> str:
    """The statement; of a compound one only its head."""
    kept = {name: getattr(statement, name) for name in _BODIES if hasattr(statement, name)}
    for name in kept:
        setattr(statement, name, [ast.Pass()] if name == "body" else [])
    text = ast.unparse(ast.fix_missing_locations(statement))
    for name, body in kept.items():
        setattr(statement, name, body)
    return text.removesuffix("\n    pass") if kept else text


def _is_in(where: str, scope: tuple[str, ...]) -> bool:
    return not scope or where in scope


class _Change(NamedTuple):
    site: _Site
    operator: str
    node: ast.AST

    def after(self) -> str:
        """What the statement becomes; the tree is as before when this returns."""
        old = self.site.get()
        if old is self.site.statement:
            return _text(self.node)
        self.site.put(self.node)
        text = _text(self.site.statement)
        self.site.put(old)
        return text


def _changes(tree: ast.Module, scope: tuple[str, ...]) -> Iterator[_Change]:
    for site in _sites(tree, None, ""):
        if _is_in(site.where, scope):
            for operator, node in replacements(site.get()):
                yield _Change(site, operator, node)


def many(source: str) -> int:
    """Counts the mutants of a source, whose numbers are all below that."""
    return sum(1 for _ in _changes(ast.parse(source), ()))


def mutants_of(file: str, source: str, scope: tuple[str, ...] = ()) -> list[Mutant]:
    """All mutants of a source, or of those functions of it that ``scope`` names."""
    found = []
    seen: Counter[tuple[str, ...]] = Counter()
    for number, change in enumerate(_changes(ast.parse(source), scope)):
        site = change.site
        what = (site.where, change.operator, _text(site.statement), change.after())
        seen[what] += 1
        found.append(Mutant(file, number, site.statement.lineno, *what, seen[what]))
    return found


def mutated(source: str, number: int, scope: tuple[str, ...] = ()) -> ast.Module:
    """The tree of the source with the change of this number made."""
    tree = ast.parse(source)
    for i, change in enumerate(_changes(tree, scope)):
        if i == number:
            change.site.put(change.node)
            return ast.fix_missing_locations(tree)
    raise ValueError(f"there is no mutant {number} of this source: it has changed meanwhile")


def module_of(file: str) -> str:
    """firmware/core/stops/latch.py -> firmware.core.stops.latch"""
    return ".".join(Path(file).with_suffix("").parts)
