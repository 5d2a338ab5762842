"""Refuses each way of starting this Python that may run code of the current folder.

``sim_mock/programs/children.py`` is how programs of ours and pools are started. In all that is
shipped nothing else may hand ``sys.executable`` on with ``-m`` or ``-c``, unless ``-I`` stands in
between, and nothing else may make a pool of processes.

    python tests/tools/rules/program/children_rule.py [FOLDER]
"""

import ast
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.tools.rules.refusing import product_files, told

ROOT = Path(__file__).resolve().parents[4]
THE_WAY = Path("sim_mock/programs/children.py")
_POOLS = {"ProcessPoolExecutor", "get_context", "Process", "Pool", "set_start_method"}
_PUTS_IT_IN_FRONT = {"-m", "-c"}


def lines_refused(text: str) -> Iterator[tuple[int, str]]:
    """Each line that starts a Python otherwise, and what it does."""
    for node in ast.walk(ast.parse(text)):
        words = node.args if isinstance(node, ast.Call) else getattr(node, "elts", [])
        if _is_unsafe(words):
            yield node.lineno, "starts this Python with the current folder on its path"
        if isinstance(node, ast.Import | ast.ImportFrom) and _is_pool(node):
            yield node.lineno, "makes processes whose path begins with the current folder"


def _is_unsafe(words: Sequence[ast.expr]) -> bool:
    """Whether they begin with this interpreter, and have -m or -c behind it before any -I."""
    for place, word in enumerate(words):
        if isinstance(word, ast.Attribute) and ast.unparse(word) == "sys.executable":
            options = [it.value for it in words[place + 1 :] if isinstance(it, ast.Constant)]
            for option in options:
                if option == "-I":
                    return False
                if option in _PUTS_IT_IN_FRONT:
                    return True
    return False


def _is_pool(node: ast.Import | ast.ImportFrom) -> bool:
    if isinstance(node, ast.Import):
        return any(it.name == "multiprocessing" for it in node.names)
    is_theirs = node.module in (
        "multiprocessing",
        "concurrent.futures",
        "concurrent.futures.process",
    )
    return is_theirs and any(it.name in _POOLS for it in node.names)


def refusals(root: Path) -> list[str]:
    """Each use in what is shipped, with its file and line. Raises ValueError if there is nothing
    to look at."""
    return [
        f"{path.relative_to(root)}:{line}: {what}; say it by sim_mock.programs.children"
        for path in product_files(root)
        if path.relative_to(root) != THE_WAY
        for line, what in sorted(lines_refused(path.read_text(encoding="utf-8")))
    ]


def main(words: list[str]) -> int:
    """Print what is refused; 1 if anything is."""
    return told(refusals(Path(words[0]) if words else ROOT))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
