"""Refuses a citation of a document, a file, a promise or a decision that this repository has not.

A reader has the repository and nothing else. So every document that a comment, a docstring or a
page names has to be tracked here, every link of a page has to lead somewhere, and every number by
which a promise (S7), a decision (D4) or a failure of others (peers 12) is cited has to have its row
in the page that defines it.

    python tests/tools/rules/writing/citations.py [FOLDER]
"""

import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parents[4]

# what is cited, the page whose table defines it, folders in which the same letters name parts of a
# circuit or channels of an analyser
NUMBERED: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    (
        "S",
        "firmware/core/SAFETY.md",
        ("hardware/", "tests/hardware/", "host_bridge/deploy/hil/on_board/"),
    ),
    (
        "D",
        "ARCHITECTURE.md",
        (
            "hardware/",
            "tests/hardware/",
            "host_bridge/deploy/hil/",
            "host_bridge/cli/commands/hil.py",
            "tests/host_bridge/deploy/hil/",
        ),
    ),
    ("peers ", "sim_mock/faults/README.md", ()),
)
LINTER = re.compile(r'"[A-Z]+\d+"')  # a rule of ruff's, as pyproject.toml quotes it
# pages of other projects, cited as sources of numbers: where, and under which name
FOREIGN = (
    ("hardware/vehicles/f1tenth.toml", "Car-Parameters.md"),
    ("tests/tools/rules/writing/citations.py", "Car-Parameters.md"),  # the line above
)
# what tools write: drawings, locks
GENERATED = (".svg", ".lock")

HISTORY = "CHANGELOG.md"  # which names what there was

_DOCUMENT = re.compile(r"(?:[\w.*-]+/|\.\./)*[\w-]+\.md\b")
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_PATH = re.compile(r"`((?:[\w.-]+/)+[\w.-]+\.(?:py|toml|csv|sh|ini|md|json))(?:::\w+)?`")
_TESTS = re.compile(r"(?<![\w/.-])(tests/[\w./-]*\w)(?:\{([\w,]+)\}([\w./-]*\w))?")  # a_{b,c}.py
_PROGRAM = re.compile(r"-m (tests(?:\.\w+)+)")
_SECTION = re.compile(r"[\w-]+\.md,? (?:section )?(\d+)\b")
_HEADING = re.compile(r"^#+ +(.+?) *$", re.MULTILINE)
_ADDRESS = re.compile(r"\w+://\S+")


@dataclass(frozen=True)
class Refusal:
    """One citation that leads nowhere, and where it stands."""

    file: str
    line: int
    what: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.what}; {self.remedy}"


class Library:
    """The tracked files of a repository, and what their pages define."""

    def __init__(self, texts: dict[str, str], others: frozenset[str] = frozenset()) -> None:
        self.texts = texts
        self._paths = {*texts, *others}
        self._folders = {
            str(parent) for path in self._paths for parent in PurePosixPath(path).parents
        }
        self._defined = {letter: _rows(texts.get(page, ""), letter) for letter, page, _ in NUMBERED}

    def defined(self, letter: str) -> set[int]:
        """The numbers that may be cited."""
        return self._defined[letter]

    def refusals(self) -> Iterator[Refusal]:
        """Every citation that leads nowhere, file by file."""
        for file, text in sorted(self.texts.items()):
            for number, line in enumerate(text.splitlines(), 1):
                for what, remedy in self._of_line(file, line):
                    yield Refusal(file, number, what, remedy)

    def _of_line(self, file: str, line: str) -> Iterator[tuple[str, str]]:
        plain = _LINK.sub("]", _ADDRESS.sub("", line))
        if file.endswith(".md"):
            yield from self._links(file, line)
            yield from self._cited_paths(file, line)
            if file != HISTORY:
                yield from self._tests(plain)
        yield from self._documents(file, plain)
        yield from self._numbers(file, plain)

    def _documents(self, file: str, line: str) -> Iterator[tuple[str, str]]:
        for name in _DOCUMENT.findall(line):
            if not self._is_found(file, name) and (file, name) not in FOREIGN:
                remedy = "cite a page of this repository, or say here what it says"
                yield f"{name} is not tracked", remedy
        for number in _SECTION.findall(line):
            yield f"section {number} of a page", "name the section, or the promise"

    def _links(self, file: str, line: str) -> Iterator[tuple[str, str]]:
        for target in _LINK.findall(line):
            path, _, anchor = target.partition("#")
            if "://" in target or target.startswith("mailto:"):
                continue
            there = _joined(file, path) if path else file
            if there not in self._paths and there not in self._folders:
                yield f"the link to {target} leads nowhere", "link a tracked file or folder"
            elif anchor and anchor not in _anchors(self.texts.get(there, "")):
                yield f"{there} has no heading #{anchor}", "link one of its headings"

    def _cited_paths(self, file: str, line: str) -> Iterator[tuple[str, str]]:
        for name in _PATH.findall(line):
            if not self._is_found(file, name):
                yield f"{name} is not tracked", "name a file of this repository"

    def _tests(self, line: str) -> Iterator[tuple[str, str]]:
        """Tests and programs of the tests that a page says to run."""
        for begin, middles, end in _TESTS.findall(line):
            for name in (f"{begin}{middle}{end}" for middle in middles.split(",")):
                if name not in self._paths and name not in self._folders:
                    yield f"{name} is not tracked", "name tests of this repository"
        for name in _PROGRAM.findall(line):
            path = name.replace(".", "/")
            if "NAME" not in name and not {f"{path}.py", f"{path}/__main__.py"} & self._paths:
                yield f"{name} is no program here", "name one of this repository"

    def _is_found(self, file: str, name: str) -> bool:
        """Beside the file or above it, from the root, or as the end of one path."""
        if name.startswith("./") or "NAME" in name:
            return True  # a file of the reader's own, or any of a kind
        folders = PurePosixPath(file).parents
        near = (_joined(str(folder / "_"), name) for folder in folders)
        return any(path in self._paths for path in near) or any(
            path.endswith(f"/{name}") for path in self._paths if name != "README.md"
        )

    def _numbers(self, file: str, line: str) -> Iterator[tuple[str, str]]:
        cited = LINTER.sub("", line)
        for letter, page, parts in NUMBERED:
            if file.startswith(parts) or (letter == "peers " and file == page):
                continue
            for number in _numbers_cited(letter, cited):
                if number not in self._defined[letter]:
                    remedy = f"{page} has no row for it: add one, or say it in words"
                    yield f"{letter}{number} is not defined", remedy


def _numbers_cited(letter: str, line: str) -> Iterator[int]:
    """S7 is one; of "peers 5, 7: joy" each of the row of numbers is."""
    pattern = rf"(?<![\w.-]){letter}(\d{{1,2}}(?:, \d{{1,2}})*)\b(?![.\w-])"
    if letter != "peers ":
        pattern = rf"(?<![\w.-]){letter}(\d{{1,2}})(?![\w-])"
    for found in re.findall(pattern, line):
        yield from map(int, found.split(", "))


def _rows(text: str, letter: str) -> set[int]:
    """The numbers that a page's tables define: the first cell of a row."""
    cell = letter.strip() if len(letter) == 1 else ""
    return {int(number) for number in re.findall(rf"^\| {cell}(\d+) \|", text, re.MULTILINE)}


def _anchors(text: str) -> set[str]:
    titles = (re.sub(r"[^\w -]", "", title.lower()) for title in _HEADING.findall(text))
    return {title.replace(" ", "-") for title in titles}


def _joined(file: str, name: str) -> str:
    parts: list[str] = []
    for part in (*PurePosixPath(file).parent.parts, *PurePosixPath(name).parts):
        if part == "..":
            if not parts:
                return ""
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts) or "."


def library(root: Path) -> Library:
    """What git tracks below ``root``: texts as such, all else by its path only."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=root, capture_output=True, check=True, timeout=60
    )
    texts, others = {}, set()
    for path in filter(None, listed.stdout.decode().split("\0")):
        text = None if path.endswith(GENERATED) else _text_of(root / path)
        if text is None:
            others.add(path)
        else:
            texts[path] = text
    return Library(texts, frozenset(others))


def _text_of(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except (UnicodeDecodeError, FileNotFoundError, IsADirectoryError):
        return None


def main(arguments: list[str]) -> int:
    """Print what is refused; 1 if anything is."""
    found = list(library(Path(arguments[0]) if arguments else ROOT).refusals())
    for refusal in found:
        print(refusal)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
