"""Refuses what the car's program may not use: of the language, of its modules, at import.

Walks every file of firmware/ by its syntax tree. What the compiler of MicroPython would refuse
only on the bench, what allocates in a step, what breaks byte identity between chips (floats), and
imports across the walls of the house all show here, with the line, the reason and the remedy.

    python tests/tools/rules/program/dialect.py [FOLDER]
"""

import ast
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.tools.rules.refusing import told

ROOT = Path(__file__).resolve().parents[4]


@dataclass(frozen=True)
class Refusal:
    """One thing that the dialect does not have, and where."""

    file: str
    line: int
    what: str
    why: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.what}: {self.why}; {self.remedy}"


# --- who may import what: the longest folder that fits counts ---------------------------------

_CHIP = ("machine", "micropython", "rp2", "pyb", "stm", "esp32", "uctypes", "array", "struct")
_PROCESS = ("sys", "select", "os", "io", "errno", "termios", "time", "binascii")
_COMPAT = ("firmware.compat",)
_BOARDS = (
    *(*_COMPAT, *_CHIP, *_PROCESS, "gc", "firmware.boards", "firmware.drivers"),
    *("firmware.core.stops.guard", "firmware.core.deadlines", "firmware.protocol.codes"),
    # of a plant's cable: frames of its own
    *("firmware.protocol.plant", "firmware.protocol.enter_hitl"),
    *("firmware.protocol.codec", "firmware.protocol.frame"),
)

IMPORTS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("firmware/compat.py", ("sys", "gc", "array", "micropython", "firmware.c_library")),
    ("firmware/cipher.py", (*_COMPAT, "sys", "cryptolib", "firmware.c_library")),
    ("firmware/c_library.py", ("binascii", "struct", "cobs", "cryptography")),  # stays at the desk
    ("firmware/protocol/", (*_COMPAT, "firmware.protocol", "struct", "binascii")),
    ("firmware/core/stops/tag.py", (*_COMPAT, "firmware.cipher")),
    ("firmware/core/contract.py", (*_COMPAT, "typing")),  # stays at the desk
    ("firmware/core/", (*_COMPAT, "firmware.protocol", "firmware.core")),
    ("firmware/drivers/", (*_COMPAT, *_CHIP, "firmware.drivers", "time")),
    ("firmware/boards/start.py", (*_BOARDS, "firmware.app", "firmware.box")),
    ("firmware/boards/", _BOARDS),
    ("firmware/box.py", (*_COMPAT, "firmware.core", "firmware.protocol")),
    ("firmware/app.py", (*_COMPAT, "firmware.core", "firmware.protocol")),
    ("firmware/manifest.py", ()),
    ("firmware/main.py", (*_COMPAT, *_CHIP, *_PROCESS, "gc", "firmware")),
    ("firmware/launcher.py", (*_CHIP, *_PROCESS, "gc", "vfs", "pins", "firmware.boards.start")),
    ("firmware/board_main.py", ("micropython", "launcher")),
    ("firmware/__init__.py", ()),
    ("firmware/", _COMPAT),
)

CARRIED_OUT = ("firmware/board_main.py",)  # a board's /main.py: what it does at once is all of it
DESK = ("firmware/c_library.py",)  # CPython alone runs these: its language will do

# --- expressions and statements ---------------------------------------------------------------

# node, what, why, remedy
NODES: tuple[tuple[type[ast.AST], str, str, str], ...] = (
    (ast.Div, "true division `/`", "gives a float", "use `//`"),
    (ast.Match, "`match`", "MicroPython's compiler does not have it", "use `if` or a table"),
    (ast.Lambda, "a lambda", "allocates whenever it is met", "name a function or method"),
    (ast.AsyncFunctionDef, "`async`", "the car is one plain loop", "do it in a step"),
    (ast.Await, "`await`", "the car is one plain loop", "do it in a step"),
    (ast.Yield, "`yield`", "allocates", "fill a buffer that is handed in"),
    (ast.YieldFrom, "`yield from`", "allocates", "fill a buffer that is handed in"),
)
# These are no harm before the car moves: in functions of the names below. node, what, why
_ORDER = "has no order on a board, and allocates"
AT_THE_START_ONLY: tuple[tuple[type[ast.AST], str, str], ...] = (
    (ast.Dict, "a dict display", _ORDER),
    (ast.Set, "a set display", _ORDER),
    (ast.DictComp, "a dict comprehension", _ORDER),
    (ast.SetComp, "a set comprehension", _ORDER),
    (ast.ListComp, "a list comprehension", "allocates"),
    (ast.GeneratorExp, "a generator expression", "allocates"),
    (ast.JoinedStr, "an f-string", "allocates"),
)
CONFIGURING = ("__init__", "configure")
CONFIGURING_STARTS = ("load", "validate", "_load", "_validate", "make", "_make")
CONFIGURING_ENDS = ("_table",)
START = "use tuples and loops, or do it in __init__, configure, make*, load*, validate* or *_table"
MAY_FORMAT = (
    "firmware/main.py",
    "firmware/launcher.py",
    "firmware/boards/",
)  # words for the person at the REPL
# calls of these names, where they are allowed, why not elsewhere, remedy
CALLS: tuple[tuple[str, tuple[str, ...], str, str], ...] = (
    ("print", MAY_FORMAT, "the stream is the protocol's", "report an event"),
    (
        "Pin",
        ("firmware/boards/", "firmware/launcher.py"),
        "pin numbers live in boards",
        "take the pin as an argument",
    ),
    ("float", (), "every float allocates", "scale an integer, with the unit in its name"),
    ("eval", (), "nothing is compiled on a car", "use a table"),
    ("exec", (), "nothing is compiled on a car", "use a table"),
)


def refusals(source: str, file: str) -> Iterator[Refusal]:
    """Every refusal in ``source``; ``file`` is its path from the root, with slashes."""
    tree = ast.parse(source, file)
    yield from _import_refusals(tree, file)
    if file in DESK:
        return
    if file not in CARRIED_OUT:
        yield from _work_at_import(tree, file)
    for node, function in _with_function(tree, ""):
        for check in CHECKS:
            yield from check(node, function, file)


def _with_function(node: ast.AST, function: str) -> Iterator[tuple[ast.AST, str]]:
    """Every node below ``node`` with the name of the function that it is in."""
    for child in ast.iter_child_nodes(node):
        inside = function
        if isinstance(child, ast.FunctionDef) and not _configures(function):
            inside = child.name
        yield child, inside
        yield from _with_function(child, inside)


def _configures(function: str) -> bool:
    return (
        function in CONFIGURING
        or function.startswith(CONFIGURING_STARTS)
        or function.endswith(CONFIGURING_ENDS)
    )


# --- imports ----------------------------------------------------------------------------------


def _import_refusals(tree: ast.Module, file: str) -> Iterator[Refusal]:
    allowed = next(modules for folder, modules in IMPORTS if file.startswith(folder))
    names = ", ".join(allowed) or "nothing"
    for node, module in _imported(tree):
        if not _is_within(module, allowed):
            yield Refusal(
                file,
                node.lineno,
                f"import of {module}",
                "not there on a board, or across a wall of the house",
                f"this folder may import {names}",
            )


def _imported(tree: ast.Module) -> Iterator[tuple[ast.stmt, str]]:
    for node in _outside_type_checking(tree):
        if isinstance(node, ast.Import):
            yield from ((node, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            if module == "firmware":  # from firmware import compat
                yield from ((node, f"firmware.{alias.name}") for alias in node.names)
            else:
                yield node, module


def _outside_type_checking(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and _is_type_checking(child.test):
            for other in child.orelse:
                yield other
                yield from _outside_type_checking(other)
        else:
            yield child
            yield from _outside_type_checking(child)


def _is_within(module: str, allowed: tuple[str, ...]) -> bool:
    return any(module == name or module.startswith(name + ".") for name in allowed)


# --- work at import ---------------------------------------------------------------------------


def _work_at_import(tree: ast.Module, file: str) -> Iterator[Refusal]:
    for statement in tree.body:
        if not _is_declaration(statement, file):
            yield Refusal(
                file,
                statement.lineno,
                "work at import",
                "a board must come up neutral before anything else runs",
                "keep to imports, constants, functions and classes; do it in __init__",
            )


def _is_declaration(statement: ast.stmt, file: str) -> bool:
    if isinstance(statement, ast.Import | ast.ImportFrom | ast.FunctionDef | ast.ClassDef):
        return True
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Constant)  # a docstring
    if isinstance(statement, ast.Assign):
        return _is_constant(statement.value)
    if isinstance(statement, ast.AnnAssign):
        return statement.value is None or _is_constant(statement.value)
    if isinstance(statement, ast.If):
        return _is_guard(statement, file)
    return False


def _is_guard(statement: ast.If, file: str) -> bool:
    if _is_type_checking(statement.test):
        return True
    test = ast.unparse(statement.test)
    if file == "firmware/compat.py" and "implementation" in test:
        return not any(not _is_declaration(s, file) for s in (*statement.body, *statement.orelse))
    is_started = file in ("firmware/main.py", "firmware/launcher.py")
    return is_started and test == "__name__ == '__main__'"


def _is_type_checking(test: ast.expr) -> bool:
    return isinstance(test, ast.Name) and test.id == "TYPE_CHECKING"


def _is_constant(value: ast.expr) -> bool:
    """Literals, names, tuples and lists of them, arithmetic on them, const, len and range."""
    if isinstance(value, ast.Constant | ast.Name):
        return True
    if isinstance(value, ast.Tuple | ast.List):
        return False not in map(_is_constant, value.elts)
    if isinstance(value, ast.Attribute | ast.Starred | ast.Subscript):
        return _is_constant(value.value)
    if isinstance(value, ast.UnaryOp):
        return _is_constant(value.operand)
    if isinstance(value, ast.BinOp):
        return _is_constant(value.left) and _is_constant(value.right)
    if isinstance(value, ast.Call):
        named = ast.unparse(value.func) in ("const", "micropython.const", "len", "range")
        return named and False not in map(_is_constant, value.args)
    return False


# --- single nodes -----------------------------------------------------------------------------


def _table_nodes(node: ast.AST, function: str, file: str) -> Iterator[Refusal]:
    if not isinstance(node, ast.expr | ast.stmt):
        return
    operation = node.op if isinstance(node, ast.BinOp | ast.AugAssign) else node
    for kind, what, why, remedy in NODES:
        if isinstance(operation, kind):
            yield Refusal(file, node.lineno, what, why, remedy)


def _allocations(node: ast.AST, function: str, file: str) -> Iterator[Refusal]:
    if _configures(function) or (isinstance(node, ast.JoinedStr) and file.startswith(MAY_FORMAT)):
        return
    for kind, what, why in AT_THE_START_ONLY:
        if isinstance(node, ast.expr) and isinstance(node, kind):
            yield Refusal(file, node.lineno, what, f"{why} (in {function or 'a table'})", START)


def _floats(node: ast.AST, function: str, file: str) -> Iterator[Refusal]:
    if isinstance(node, ast.Constant) and isinstance(node.value, float | complex):
        remedy = "scale an integer, with the unit in its name"
        why = "floats allocate and differ between chips"
        yield Refusal(file, node.lineno, f"the float {node.value}", why, remedy)


def _bare_except(node: ast.AST, function: str, file: str) -> Iterator[Refusal]:
    if isinstance(node, ast.ExceptHandler) and node.type is None:
        why = "hides a broken car, KeyboardInterrupt included"
        yield Refusal(file, node.lineno, "bare `except:`", why, "name the exception")


def _positional_only(node: ast.AST, function: str, file: str) -> Iterator[Refusal]:
    if isinstance(node, ast.arguments) and node.posonlyargs:
        why = "MicroPython's compiler does not have them"
        line = node.posonlyargs[0].lineno
        yield Refusal(file, line, "positional-only arguments `/`", why, "leave the `/` out")


def _calls(node: ast.AST, function: str, file: str) -> Iterator[Refusal]:
    if not isinstance(node, ast.Call):
        return
    called = ast.unparse(node.func).rpartition(".")[2]
    for name, allowed, why, remedy in CALLS:
        if called == name and not file.startswith(allowed):
            yield Refusal(file, node.lineno, f"a call of {name}()", why, remedy)


CHECKS: tuple[Callable[[ast.AST, str, str], Iterator[Refusal]], ...] = (
    _table_nodes,
    _allocations,
    _floats,
    _bare_except,
    _positional_only,
    _calls,
)


def check_folder(root: Path) -> list[Refusal]:
    """The refusals of every file below ``root``/firmware."""
    found: list[Refusal] = []
    for path in sorted((root / "firmware").rglob("*.py")):
        file = path.relative_to(root).as_posix()
        found.extend(refusals(path.read_text(), file))
    return found


def main(arguments: list[str]) -> int:
    """Print what is refused; 1 if anything is."""
    return told(check_folder(Path(arguments[0]) if arguments else ROOT))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
