"""Refuses docstrings that begin with a fragment in place of a sentence or a noun phrase.

A docstring's first line says what the thing does or is. One that begins with "What", "Whether",
"Of" and the like leaves that to the reader. ``STILL`` counts those of folders that have not been
rewritten yet: a count may only fall, and the table falls with it.

    python tests/tools/rules/writing/docstring_rule.py [FOLDER]
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.tools.rules.refusing import refused_by_folder, told

ROOT = Path(__file__).resolve().parents[4]
FRAGMENTS = frozenset(
    [
        "As",
        "At",
        "Because",
        "Beside",
        "Between",
        "By",
        "For",
        "From",
        "How",
        "If",
        "In",
        "Of",
        "On",
        "Once",
        "To",
        "What",
        "When",
        "Where",
        "Whether",
        "Which",
        "While",
        "Who",
        "Whose",
        "Why",
        "With",
        "Without",
    ]
)
STILL: dict[str, int] = {}
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def fragments(text: str) -> Iterator[tuple[int, str]]:
    """Yield the line and the first words of each docstring that begins with a fragment."""
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, _DOCUMENTED):
            continue
        words = (ast.get_docstring(node) or "").split()
        if words and words[0].strip(".,:;") in FRAGMENTS:
            yield getattr(node, "lineno", 1), " ".join(words[:6])


def refusals(root: Path, still: dict[str, int] = STILL) -> list[str]:
    """List what is refused below this folder. Raises ValueError if there is nothing to look at."""
    left = "docstrings begin with a fragment, and the table of docstring_rule.py"
    return refused_by_folder(root, _refused, still, left)


def _refused(text: str) -> Iterator[tuple[int, str]]:
    for line, words in fragments(text):
        yield line, f"begins with {words!r}; say what it does or is"


def main(words: list[str]) -> int:
    """Print what is refused; 1 if anything is."""
    return told(refusals(Path(words[0]) if words else ROOT))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
