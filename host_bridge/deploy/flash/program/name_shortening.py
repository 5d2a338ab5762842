"""Shortening of the car's program's private names: MicroPython keeps each name's letters once.

A private name, which begins with an underscore, is used in one place only
(tests/tools/rules/program/dialect.py): that of an attribute or method in its class and the classes
that inherit from it, any other in its module. So each class and each module can call its private
names ``_a``, ``_b`` and so on, and the board keeps these few names once for all of them. Arguments
that no call passes by name are renamed to the same ones.

A name stays as it is if it is also a text somewhere, or if it is used in a way that this module
does not know. No line moves, so that the line numbers of a board's traceback fit the source.
"""

from __future__ import annotations

import ast
import itertools
import string
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set

from host_bridge.deploy.flash.program.edits import Edit, apply_edits

_LETTERS = string.ascii_lowercase + string.ascii_uppercase
_SELF = ("self", "cls")

Names = dict[str, str]  # long name -> short name


def shorten_names(sources: Mapping[str, str]) -> dict[str, str]:
    """Return path -> shortened text, of path -> text. Raises SyntaxError for invalid Python."""
    trees = {path: ast.parse(text) for path, text in sources.items()}
    kept = set(itertools.chain.from_iterable(map(_used_elsewhere, trees.values())))
    of_class = _names_of_classes(trees.values(), kept)
    return {
        path: apply_edits(text, _Home(trees[path], of_class, kept).edits())
        for path, text in sources.items()
    }


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__") and len(name) > 1


def _pool() -> Iterator[str]:
    """Yield _a, _b ... _Z, _aa, _ab ..."""
    for size in itertools.count(1):
        for letters in itertools.product(_LETTERS, repeat=size):
            yield "_" + "".join(letters)


def _short(names: Set[str], taken: Set[str]) -> Names:
    """Return a short name for each, of those that are not taken."""
    free = (name for name in _pool() if name not in taken)
    return dict(zip(sorted(names), free, strict=False))


def _used_elsewhere(tree: ast.Module) -> Iterator[str]:
    """Yield names that are not used by their class or module alone.

    They are used as a text, by an import, in a call, on another object, or shared by a function
    with the one around it.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
        elif isinstance(node, ast.ImportFrom | ast.Import):
            yield from (name for each in node.names for name in (each.name, each.asname or ""))
        elif isinstance(node, ast.keyword):
            yield node.arg or ""
        elif isinstance(node, ast.Global | ast.Nonlocal):
            yield from node.names
        elif isinstance(node, ast.Attribute) and not _is_at_home(node):
            yield node.attr


def _is_at_home(node: ast.Attribute) -> bool:
    """Return True for an attribute of this object: ``self._x``, ``super()._x``."""
    owner = node.value
    if isinstance(owner, ast.Call):
        owner = owner.func
        return isinstance(owner, ast.Name) and owner.id == "super"
    return isinstance(owner, ast.Name) and owner.id in _SELF


# --- classes


def _names_of_classes(trees: Iterable[ast.Module], kept: set[str]) -> dict[str, Names]:
    """Return the names by class.

    Classes that inherit from each other, or have one name, share them.
    """
    classes = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    families: list[tuple[set[str], set[str]]] = []  # classes, private names
    for node in classes:
        members = {node.name, *(_last(base) for base in node.bases)}
        names = {name for name in _of_class(node) if name not in kept}
        for family in [it for it in families if it[0] & members]:
            families.remove(family)
            members, names = members | family[0], names | family[1]
        families.append((members, names))
    found: dict[str, Names] = {}
    for members, names in families:
        found.update(dict.fromkeys(members, _short(names, kept)))
    return found


def _last(node: ast.expr) -> str:
    return ast.unparse(node).rpartition(".")[2]


def _of_class(node: ast.ClassDef) -> Iterator[str]:
    """Yield the private attributes and methods of a class."""
    for part in ast.walk(node):
        if isinstance(part, ast.Attribute) and _is_private(part.attr):
            yield part.attr
    yield from filter(_is_private, _stored(node.body))


def _stored(body: Sequence[ast.AST]) -> Iterator[str]:
    """Yield each name that these statements bind, without those within functions and classes."""
    for node in body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            yield node.name
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        yield from _stored(list(ast.iter_child_nodes(node)))


# --- one module


class _Home:
    """One module, and the edits of its names."""

    def __init__(self, tree: ast.Module, of_class: Mapping[str, Names], kept: set[str]) -> None:
        self._tree = tree
        self._of_class = of_class
        self._kept = kept
        own = {name for name in _stored(tree.body) if _is_private(name)}
        local = {
            name
            for node in ast.walk(tree)
            if isinstance(node, ast.FunctionDef)
            for name in (*_stored(node.body), *(arg.arg for arg in _arguments(node)))
        }
        self._globals = _short(own - local - kept, local | kept)

    def edits(self) -> Iterator[Edit]:
        yield from self._walk(self._tree, self._globals, {})

    def _walk(self, node: ast.AST, names: Names, attributes: Names) -> Iterator[Edit]:
        """Yield edits; ``names`` are those visible here, ``attributes`` those of the class."""
        if isinstance(node, ast.Name):
            yield from _replaced(node.lineno, node.col_offset, node.id, names)
        elif isinstance(node, ast.arg):
            yield from _replaced(node.lineno, node.col_offset, node.arg, names)
            return  # its annotation is not executed
        elif isinstance(node, ast.Attribute) and _is_at_home(node):
            assert node.end_lineno is not None
            assert node.end_col_offset is not None
            at = node.end_col_offset - len(node.attr.encode())
            yield from _replaced(node.end_lineno, at, node.attr, attributes)
        if isinstance(node, ast.ClassDef):
            yield from self._class(node, names)
        elif isinstance(node, ast.FunctionDef):
            yield from self._function(node, names, attributes)
        else:
            for child in ast.iter_child_nodes(node):
                yield from self._walk(child, names, attributes)

    def _class(self, node: ast.ClassDef, names: Names) -> Iterator[Edit]:
        yield from _replaced(node.lineno, node.col_offset + len("class "), node.name, names)
        mine = self._of_class[node.name]
        for outside in (*node.bases, *node.decorator_list):
            yield from self._walk(outside, names, {})
        at_top = {name: mine.get(name, name) for name in _stored(node.body)}
        for child in node.body:
            if isinstance(child, ast.FunctionDef):
                yield from _replaced(*_name_of(child), mine)
                yield from self._inside(child, names, mine)
            else:
                yield from self._walk(child, {**names, **at_top}, mine)

    def _function(self, node: ast.FunctionDef, names: Names, attributes: Names) -> Iterator[Edit]:
        yield from _replaced(*_name_of(node), names)
        yield from self._inside(node, names, attributes)

    def _inside(self, node: ast.FunctionDef, names: Names, attributes: Names) -> Iterator[Edit]:
        for outside in (*node.decorator_list, *node.args.defaults, *node.args.kw_defaults):
            if outside is not None:
                yield from self._walk(outside, names, attributes)
        inner = {**names, **self._arguments(node, names)}
        for part in (*_arguments(node), *node.body):
            yield from self._walk(part, inner, attributes)

    def _arguments(self, node: ast.FunctionDef, names: Names) -> Names:
        """Return short names for arguments given by position only.

        One that an inner function has as its own keeps its name.
        """
        within = [it for it in ast.walk(node) if isinstance(it, ast.FunctionDef) and it is not node]
        theirs = {arg.arg for it in within for arg in _arguments(it)}
        theirs |= {name for it in within for name in _stored(it.body)}
        some = {arg.arg for arg in (*node.args.posonlyargs, *node.args.args)}
        some -= {*_SELF, *self._kept, *theirs, *(arg.arg for arg in node.args.kwonlyargs)}
        used = {it.id for it in ast.walk(node) if isinstance(it, ast.Name)}
        return _short(some, used - some | {names[name] for name in used if name in names})


def _arguments(node: ast.FunctionDef) -> list[ast.arg]:
    given = node.args
    more = [it for it in (given.vararg, given.kwarg) if it is not None]
    return [*given.posonlyargs, *given.args, *given.kwonlyargs, *more]


def _name_of(node: ast.FunctionDef) -> tuple[int, int, str]:
    return node.lineno, node.col_offset + len("def "), node.name


def _replaced(line: int, column: int, name: str, names: Names) -> Iterator[Edit]:
    if names.get(name, name) != name:
        yield line - 1, column, line - 1, column + len(name.encode()), names[name]
