"""Which parts a change touches: what differs from a commit on, asked of git."""

import ast
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from tests.mutants.core import (
    BESIDE,
    CORE,
    FAST,
    OF_ITS_OWN,
    PARTS,
    WHOLE_CAR,
    Part,
    own_tests,
)
from tests.mutants.mistakes import by_hand

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_TABLE = "tests/mutants/core.py"
_LISTS = (
    "tests/mutants/equivalent/equivalent.toml",
    "tests/mutants/equivalent/equivalent_interfaces.toml",
)
_BY_HAND = "tests/mutants/mistakes/by_hand.toml"
_DRIVER = "tests/mutants/"  # a change of these is a change of how the core is judged
_VIRTUAL = Path("tests/firmware/drivers/virtual")  # on the path of the boards' tests
_OF_ALL = Path("tests/conftest.py")
_LANDED = ("origin/main", "origin/master", "main", "master")


class NothingToCompare(Exception):
    """There is no commit that the present state could be compared with."""


def _git(root: Path, *words: str) -> str | None:
    """What it prints; None if it fails."""
    try:
        done = subprocess.run(
            ("git", *words), cwd=root, capture_output=True, text=True, check=False
        )
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def base(root: Path, named: str = "") -> str:
    """The commit that is named; else where this branch left the main one; on that, the commit
    before. Raises NothingToCompare."""
    if named:
        commit = _git(root, "rev-parse", "--verify", "--quiet", f"{named}^{{commit}}")
        if not commit:
            raise NothingToCompare(f"there is no commit {named}")
        return commit
    head = _git(root, "rev-parse", "--verify", "--quiet", "HEAD")
    for branch in _LANDED:
        commit = _git(root, "merge-base", "HEAD", branch)
        if commit and commit != head:
            return commit
    before = _git(root, "rev-parse", "--verify", "--quiet", "HEAD^1")
    if not before:
        raise NothingToCompare("git knows of no commit before this one")
    return before


def changed(root: Path, since: str) -> set[str]:
    """Files that differ from that commit, committed or not, new ones too."""
    differ = _git(root, "diff", "--name-only", "--no-renames", since)
    new = _git(root, "ls-files", "--others", "--exclude-standard")
    if differ is None or new is None:
        raise NothingToCompare(f"git cannot tell what differs from {since}")
    return {*differ.split("\n"), *new.split("\n")} - {""}


def stands_on(root: Path, tests: Iterable[str]) -> set[str]:
    """These tests, and what of ``tests`` they import, however far from them."""
    found: set[str] = set()
    waiting = list(tests)
    while waiting:
        file = waiting.pop()
        if file not in found:
            found.add(file)
            waiting += _imported(root, file)
    return found


def _imported(root: Path, file: str) -> list[str]:
    modules = []
    for node in ast.walk(ast.parse((root / file).read_text())):
        if isinstance(node, ast.Import):
            modules += [name.name for name in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            modules += [node.module, *(f"{node.module}.{name.name}" for name in node.names)]
    paths = [Path(*module.split(".")).with_suffix(".py") for module in modules]
    paths += [_VIRTUAL / path for path in paths]
    paths += [folder / "conftest.py" for folder in Path(file).parents]
    return [str(path) for path in paths if _is_of_tests(root, path)]


def _is_of_tests(root: Path, path: Path) -> bool:
    """The one conftest.py of all tests counts for none: it would choose everything."""
    return path.parts[0] == "tests" and path != _OF_ALL and (root / path).exists()


def _rows(source: str) -> set[str]:
    """Each ``Part(...)`` of the table, as text."""
    calls = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call))
    return {ast.unparse(it) for it in calls if ast.unparse(it.func) == "Part"}


def _entries(text: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for entries in tomllib.loads(text).values():
        for entry in entries:
            found.setdefault(entry["file"], []).append(repr(sorted(entry.items())))
    return found


def _differing_rows(now: str, before: str) -> set[str]:
    """The files of the rows that are new or changed."""
    rows = _rows(now) - _rows(before)
    return {part.file for part in PARTS if any(repr(part.file) in row for row in rows)}


def _differing_entries(now: str, before: str) -> set[str]:
    new, old = _entries(now), _entries(before)
    return {file for file in {*new, *old} if new.get(file) != old.get(file)}


def _is_under(file: str, places: Sequence[str]) -> bool:
    return any(file == place or file.startswith(f"{place}/") for place in places)


def touched(root: Path, since: str) -> dict[Part, str]:
    """The parts that a change since then touches, each with what touches it.

    Of a part beside the core only its own tests count, though others may kill some of its
    mutants too: whatever changes the core's tests would try everything otherwise, for an hour.
    """
    files = changed(root, since)
    found = {part: why for part in PARTS if (why := _why(root, part, files))}
    for path in (_TABLE, *_LISTS):
        differing = _differing_rows if path == _TABLE else _differing_entries
        if path in files:
            before = _git(root, "show", f"{since}:{path}") or ""
            its = differing((root / path).read_text(), before)
            found = {**{p: f"its rows in {path}" for p in PARTS if p.file in its}, **found}
    return {part: found[part] for part in PARTS if part in found}


def _why(root: Path, part: Part, files: set[str]) -> str:
    """One of the changed files that touch it; empty if there is none."""
    if part.file in files:
        return part.file
    tests = own_tests(part) if part in OF_ITS_OWN + BESIDE else (*own_tests(part), *WHOLE_CAR)
    near = files & stands_on(root, tests)
    if part in CORE:
        near |= {file for file in files if _is_under(file, FAST) or _is_of_driver(file)}
    return min(near, default="")


def _is_of_driver(file: str) -> bool:
    return file.startswith(_DRIVER) and file.endswith(".py") and file != _TABLE


def touched_by_hand(
    root: Path, since: str, mistakes: Iterable[by_hand.Mistake]
) -> list[by_hand.Mistake]:
    """The mistakes made by hand whose file, tests or text a change since then touches."""
    files = changed(root, since)
    before = _git(root, "show", f"{since}:{_BY_HAND}") if _BY_HAND in files else None
    known = tomllib.loads(before)["mistake"] if before else []
    old = [(row["what"], row["before"], row["after"], tuple(row["tests"])) for row in known]

    def is_touched(it: by_hand.Mistake) -> bool:
        is_new = _BY_HAND in files and (it.what, it.before, it.after, it.tests) not in old
        return is_new or it.file in files or bool(files & stands_on(root, it.tests))

    return [it for it in mistakes if is_touched(it)]
