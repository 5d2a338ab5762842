"""Refuses files so small that a reader opens them for one other file only.

A module under 30 lines that a single other module imports belongs into that module: two files have
to be read to understand either. ``ALONE`` has those that stand alone for a reason. Files that are
found by their name and not imported, as commands and entry points are, are none of them, nor are
an ``__init__``, which heads a folder, and a ``conftest``, which pytest finds.

    python tests/tools/rules/writing/small_files_rule.py
"""

import ast
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.tools.rules.refusing import told, tracked_files

ROOT = Path(__file__).resolve().parents[4]
LEAST_LINES = 30
FOUND_BY_NAME = ("__init__.py", "__main__.py", "conftest.py")
PATH_ROOTS = ("host_bridge/api/",)  # folders on the path, where `import tandem` is found
ALONE = {
    "firmware/cipher.py": "alone names a chip's module, which the core may not import",
    "firmware/core/motion/warm_up.py": "a part of the step, with a promise and mutants of its own",
    "firmware/core/settings/table_hash.py": "the flasher puts another file in its place",
}


def module_of(file: str) -> str:
    """Return the dotted name by which a file is imported."""
    for root in PATH_ROOTS:
        file = file.removeprefix(root)
    return file.removesuffix(".py").replace("/", ".").removesuffix(".__init__")


def imports_of(file: str, text: str) -> Iterator[tuple[str, str]]:
    """Yield each import of a file: the module, and the name that is taken from it, if any."""
    package = module_of(file).split(".")
    if not file.endswith("__init__.py"):
        package.pop()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*above, *filter(None, [node.module])])
            yield from ((base, alias.name) for alias in node.names)


def importers(texts: Mapping[str, str]) -> dict[str, set[str]]:
    """Return, of each file, those files that import it."""
    files = {module_of(file): file for file in texts}
    found: dict[str, set[str]] = defaultdict(set)
    for file, text in texts.items():
        for base, name in imports_of(file, text):
            imported = files.get(f"{base}.{name}", files.get(base))
            if imported and imported != file:
                found[imported].add(file)
    return found


def refusals(texts: Mapping[str, str], alone: Mapping[str, str] = ALONE) -> list[str]:
    """List the files to be folded. Raises ValueError if there is nothing to look at.

    Of a file of the product only importers of the product count: that a test imports it too keeps
    nobody from moving it.
    """
    if not texts:
        raise ValueError("no file of Python")
    found = importers(texts)
    small = {}
    for file, text in texts.items():
        by = [it for it in found[file] if file.startswith("tests/") or not it.startswith("tests/")]
        is_small = len(text.splitlines()) < LEAST_LINES and not file.endswith(FOUND_BY_NAME)
        if is_small and len(by) == 1:
            small[file] = by[0]
    return [
        f"{file}: under {LEAST_LINES} lines, and only {by} imports it: move what it has there, or "
        "give the reason that it stands alone in small_files_rule.py"
        for file, by in small.items()
        if file not in alone
    ] + [
        f"{file}: has its reason to stand alone in small_files_rule.py, and needs none any more"
        for file in alone
        if file not in small
    ]


def main() -> int:
    """Print what is refused; 1 if anything is."""
    files = [file for file in tracked_files(ROOT, "*.py") if (ROOT / file).is_file()]
    return told(refusals({file: (ROOT / file).read_text(encoding="utf-8") for file in files}))


if __name__ == "__main__":
    sys.exit(main())
