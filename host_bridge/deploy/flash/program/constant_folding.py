"""Constant folding across modules, so that the car's program fits a small chip's heap.

MicroPython keeps every name of a module on the heap, and every import of it once more; mpy-cross
folds a constant only within its module, and only a private one. Most names of the program are
numbers of a table that other modules use. Texts in a tuple take 32 bytes each and more, and
parsing a row takes a chip milliseconds: so a message's FIELDS become its Layout here
(protocol/codec.py), and the table of parameters becomes Rows (protocol/rows.py). A name that is
given as a text ("speed_max_mm_s") is also spelled as a name, for mpy-cross to share it.

An integer or bool below 2**30 is folded if it is assigned once, at the top of its module. What
nothing refers to any more is removed; lines keep their numbers, so that a board's traceback fits.
"""

from __future__ import annotations

import ast
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from firmware.protocol.codec import make_layout
from firmware.protocol.rows import ROWS_A_TEXT
from host_bridge.deploy.flash.program.constants import Constants, Module, Place
from host_bridge.deploy.flash.program.edits import Edit, apply_edits

_MOST = 1 << 30  # from here on a number is a heap object on a 32-bit port
_CONST = "const = micropython.const"  # mpy-cross recognises it and the decorators by spelling
_DECORATORS = ("micropython.native", "micropython.viper")
_SHORT = 10  # up to so many letters mpy-cross treats a text as a name by itself
_IMPORTS = (
    ("Layout(", "from firmware.protocol.codec import Layout; "),
    ("Rows(", "from firmware.protocol.rows import Rows; "),
)  # a text in an edit, and the import it needs


def fold_constants(sources: Mapping[str, str]) -> dict[str, str]:
    """Return path -> folded text, of path -> text. Raises SyntaxError for invalid Python.

    "firmware/core/stops/guard.py" is the module firmware.core.stops.guard.
    """
    program = _Program({_name_of(path): Module(text) for path, text in sources.items()})
    return {path: program.text_of(_name_of(path)) for path in sources}


def _name_of(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


class _Program:
    def __init__(self, modules: Mapping[str, Module]) -> None:
        self._modules = modules
        self._constants = Constants(modules)
        self._asked: set[Place] = set()
        self._kept: set[Place] = set()  # imported in a function, or under a name that is rebound
        for module in modules.values():
            self._asked.update(module.asked_places(module.imports))
            self._kept.update(module.asked_places(module.late_imports + module.hidden_imports()))

    def text_of(self, name: str) -> str:
        module = self._modules[name]
        used_names: set[str] = set()  # the names used in the remaining text
        edits: list[Edit] = []
        for node in module.tree.body:
            if self._is_gone(name, node):
                edits.append((*_span(node), ""))
            else:
                edits += self._folds(name, node, used_names)
        edits += [edit for node in module.imports for edit in self._import(name, node, used_names)]
        if module.imports:
            front = module.imports[0].lineno - 1, 0
            new = "\n".join(edit[-1] for edit in edits)
            edits.append((*front, *front, _spelled(module, new) + _needed(new)))
        return apply_edits(module.text, edits)

    def _number(self, place: Place) -> int | None:
        """Return the number that replaces the name wherever it is used; None if none does."""
        value = None if place in self._kept else self._constants.of(place)
        return value if isinstance(value, int) and abs(value) < _MOST else None

    def _is_gone(self, name: str, node: ast.stmt) -> bool:
        """Return whether the statement assigns only numbers, so that nothing needs it any more."""
        if not isinstance(node, ast.Assign):
            return False
        assigned = self._modules[name].assigned
        places = [(name, each) for each, (where, _) in assigned.items() if where is node]
        has_none = any(self._number(place) is None for place in places)
        return ast.unparse(node) == _CONST or (bool(places) and not has_none)

    def _folds(self, name: str, node: ast.AST, used_names: set[str]) -> Iterator[Edit]:
        new = self._literal(name, node) or self._table(name, node)
        if new:
            yield (*_span(node), new)
            return
        if isinstance(node, ast.Name):
            used_names.add(node.id)
        for child in self._living(name, node):
            yield from self._folds(name, child, used_names)

    def _literal(self, name: str, node: ast.AST) -> str:
        value = None
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            value = self._number((name, node.id))
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            origin = self._modules[name].origins.get(node.value.id, ("", ""))
            value = self._number((".".join(origin), node.attr))
        if value is None:
            return ""
        return f"({value})" if value < 0 else repr(value)

    def _table(self, name: str, node: ast.AST) -> str:
        if not isinstance(node, ast.Assign):
            return ""
        form = _FORMS.get(ast.unparse(node.targets[0]))
        rows = self._constants.computed(name, node.value) if form else None
        if form is None or not isinstance(rows, tuple) or not rows or str not in map(type, rows[0]):
            return ""
        return form(rows)

    def _living(self, name: str, node: ast.AST) -> Iterator[ast.AST]:
        """Yield the parts that a board executes: no annotations, nothing for type checkers."""
        if isinstance(node, ast.If) and self._literal(name, node.test) == "False":
            yield from (node.test, *node.orelse)
        elif isinstance(node, ast.AnnAssign):
            yield from (node.value,) if node.value else ()
        elif isinstance(node, ast.FunctionDef):
            decorators = node.decorator_list
            yield from (each for each in decorators if ast.unparse(each) not in _DECORATORS)
            yield from (*node.args.defaults, *node.body)
        else:
            yield from ast.iter_child_nodes(node)

    def _import(self, name: str, node: ast.ImportFrom, used_names: set[str]) -> Iterator[Edit]:
        if node.module in self._modules:
            stays = [
                ast.unparse(alias)
                for alias in node.names
                if self._stays((name, alias.asname or alias.name), used_names)
            ]
            if len(stays) < len(node.names):
                new = f"from {node.module} import {', '.join(stays)}" if stays else ""
                yield (*_span(node), new)

    def _stays(self, place: Place, used_names: set[str]) -> bool:
        """Return whether an imported name is used here, or by modules that import it from here."""
        is_passed_on = place in self._asked and self._number(place) is None
        return place[1] in used_names or place in self._kept or is_passed_on


def _laid_out(fields: Any) -> str:
    """Return a message's FIELDS as the Layout that the board would make of them.

    It has no units: they only enter the hash, which is made already.
    """
    layout = make_layout(fields)
    texts, firsts = (
        "tuple([" + ", ".join(f"tuple({list(row)!r})" for row in rows) + "])"
        for rows in (layout.texts, layout.firsts)
    )
    shape = bytes(layout.shape)  # as bytes: an array made of them would be in memory twice
    return (
        f"LAYOUT = Layout({_listed(layout.numbers)}, {texts}, {shape!r}, {layout.size}, {firsts})"
    )


def _rows(rows: Any) -> str:
    texts = tuple(
        bytes(array("i", [column for row in rows[at : at + ROWS_A_TEXT] for column in row[2:]]))
        for at in range(0, len(rows), ROWS_A_TEXT)
    )
    return f"TABLE = Rows({_listed([row[0] for row in rows])}, {texts!r})"


def _listed(names: Iterable[str]) -> str:
    """Return a tuple of texts as code that makes each one of the board's interned names.

    mpy-cross would turn a tuple literal's texts into separate strings.
    """
    return f"tuple({list(names)!r})"


# By name of the table; tables with texts in their rows are only ever iterated over
_FORMS: dict[str, Callable[[Any], str]] = {
    "FIELDS": _laid_out,
    "CHANNEL_ROWS": lambda rows: "CHANNEL_ROWS = ()",  # they are part of FIELDS already
    "TABLE": _rows,
}


def _needed(new: str) -> str:
    return "".join(line for word, line in _IMPORTS if f" = {word}" in new)


def _spelled(module: Module, new: str) -> str:
    """Return dead code that spells the long texts as names.

    mpy-cross drops it, but then treats each such text as one interned name, instead of a string at
    each place.
    """
    texts = {
        node.value
        for node in (*module.nodes, *ast.walk(ast.parse(new)))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    names = sorted(text for text in texts if text.isidentifier() and len(text) > _SHORT)
    return f"0 and ({', '.join(names)},); " if names else ""


def _span(node: ast.AST) -> tuple[int, int, int, int]:
    assert isinstance(node, ast.expr | ast.stmt)
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    return node.lineno - 1, node.col_offset, node.end_lineno - 1, node.end_col_offset
