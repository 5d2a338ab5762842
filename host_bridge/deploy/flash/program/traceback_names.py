"""The translation of a board's traceback into the source's names: a board has shortened ones."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from host_bridge.deploy.flash.program.program import ROOT

_FRAME = re.compile(r'File "(?P<module>firmware\.[\w.]+)", line (?P<line>\d+), in (?P<name>\w+)')


def translate_traceback(text: str, root: Path = ROOT) -> str:
    """Replace each function's name in a traceback by the source's, found by file and line.

    Line numbers on a board are the source's; if the source has no function at a line, the name
    stays.
    """
    return _FRAME.sub(lambda frame: _named(frame, root), text)


def _named(frame: re.Match[str], root: Path) -> str:
    path = _source(frame["module"], root)
    if path is None:
        return frame[0]
    name = _function_at(ast.parse(path.read_text()), int(frame["line"]))
    return f'File "{frame["module"]}", line {frame["line"]}, in {name or frame["name"]}'


def _source(module: str, root: Path) -> Path | None:
    """Return the module's file: a board has it in the folder above its room (flattening.py)."""
    folder, _, own = module.rpartition(".")
    return next((root / folder.replace(".", "/")).rglob(f"{own}.py"), None)


def _function_at(tree: ast.AST, line: int) -> str:
    """Return the innermost function around a line, after its class; "" if there is none."""
    found = ""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and _holds(node, line):
            inner = _function_at(node, line)
            if inner or isinstance(node, ast.FunctionDef):
                found = f"{node.name}.{inner}" if inner else node.name
    return found


def _holds(node: ast.stmt, line: int) -> bool:
    return node.lineno <= line <= (node.end_lineno or node.lineno)
