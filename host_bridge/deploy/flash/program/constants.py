"""Constant propagation for the car's program: the values of its names, without running it."""

from __future__ import annotations

import ast
import operator
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.BitOr: operator.or_,
    ast.BitAnd: operator.and_,
}
_UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.USub: operator.neg,
    ast.Invert: operator.invert,
}

Place = tuple[str, str]  # a module and a name in it
Constant = int | str | tuple[Any, ...]  # a bool is an int too


class Module:
    """A module's text and syntax tree: its imports, its assignments at the top, and its names.

    ``stored`` counts how often each name is stored, anywhere.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.tree = ast.parse(text)
        self.nodes = list(ast.walk(self.tree))
        self.imports = [node for node in self.tree.body if isinstance(node, ast.ImportFrom)]
        self.late_imports = [
            node
            for node in self.nodes
            if isinstance(node, ast.ImportFrom) and node not in self.imports
        ]
        self.origins = dict(_origins(self.imports))
        self.assigned = dict(_assigned(self.tree))
        self.stored = Counter(name for node in self.nodes for name in _stored(node))
        self._attributes = {
            (node.value.id, node.attr)
            for node in self.nodes
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
        }

    def asked_places(self, imports: list[ast.ImportFrom]) -> Iterator[Place]:
        """Yield the places that these imports refer to, and those used of imported modules."""
        for name, (module, original) in _origins(imports):
            yield module, original
            asked = (attribute for alias, attribute in self._attributes if alias == name)
            yield from ((f"{module}.{original}", attribute) for attribute in asked)

    def hidden_imports(self) -> list[ast.ImportFrom]:
        """Return the imports of a name that something else is stored under as well."""
        return [
            node
            for node in self.imports
            if any(self.stored[name] != 1 for name, _ in _origins([node]))
        ]


def _origins(imports: list[ast.ImportFrom]) -> Iterator[tuple[str, Place]]:
    """Yield each imported name here and the place it comes from."""
    for node in imports:
        for alias in node.names:
            yield alias.asname or alias.name, (node.module or "", alias.name)


def _assigned(tree: ast.Module) -> Iterator[tuple[str, tuple[ast.Assign, int | None]]]:
    """Yield each name with its assignment, and its index among several values (None: only one)."""
    for node in tree.body:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                parts = target.elts if isinstance(target, ast.Tuple) else [target]
                for at, part in enumerate(parts):
                    if isinstance(part, ast.Name):
                        yield part.id, (node, at if isinstance(target, ast.Tuple) else None)


def _stored(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        yield node.id
    elif isinstance(node, ast.arg):
        yield node.arg
    elif isinstance(node, ast.FunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.alias):
        yield node.asname or node.name


class Constants:
    """The constants of a program's modules: names assigned once, at the top, to a known value."""

    def __init__(self, modules: Mapping[str, Module]) -> None:
        self._modules = modules
        self._known: dict[Place, Constant | None] = {}

    def of(self, place: Place) -> Constant | None:
        """Return the value at a place; None if it is no constant."""
        if place not in self._known:
            self._known[place] = None  # during the search, so that a circle has no value
            self._known[place] = self._found(*place)
        return self._known[place]

    def _found(self, module_name: str, name: str) -> Constant | None:
        module = self._modules.get(module_name)
        if module is None or module.stored[name] != 1:
            return None
        if name in module.origins:
            return self.of(module.origins[name])
        if name not in module.assigned:
            return None
        node, at = module.assigned[name]
        value = self.computed(module_name, node.value)
        if at is not None and isinstance(value, tuple):
            part: Constant = value[at]
            return part
        return value

    def computed(self, module: str, node: ast.AST) -> Constant | None:
        """Return the value of an expression in that module; None if it is no constant."""
        if isinstance(node, ast.Constant):
            return node.value if isinstance(node.value, int | str) else None
        if isinstance(node, ast.Name):
            return self.of((module, node.id))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            origin = self._modules[module].origins.get(node.value.id, ("", ""))
            return self.of((".".join(origin), node.attr))
        if isinstance(node, ast.Tuple):
            parts = [self.computed(module, part) for part in node.elts]
            return None if None in parts else tuple(parts)
        return self._calculated(module, node)

    def _calculated(self, module: str, node: ast.AST) -> Constant | None:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) == 1:
            value = self.computed(module, node.args[0])
            if node.func.id == "range" and isinstance(value, int):
                return tuple(range(value))
            return value if node.func.id == "const" else None
        if isinstance(node, ast.UnaryOp) and type(node.op) in _UNARY:
            value = self.computed(module, node.operand)
            return None if value is None else _UNARY[type(node.op)](value)
        if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
            sides = self.computed(module, node.left), self.computed(module, node.right)
            return None if None in sides else _BINARY[type(node.op)](*sides)
        return None
