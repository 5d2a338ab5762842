"""Reads what a part said: pytest's closing line, the tests that failed, how far mutants came."""

import json
import re
import shlex
from collections.abc import Sequence
from pathlib import Path

# pytest's exit code where nothing failed and something was not measured
SOME_NOT_MEASURED = 75
# Where pytest keeps which tests those were
LIST = Path(".pytest_cache/v/cache/not_measured")
_CLOSING = re.compile(r"^=* ?(\d+ [a-z]+(?:, \d+ [a-z ]+)* in [\d.]+s.*?)=*$", re.MULTILINE)
_COUNT = re.compile(r"(\d+) (passed|failed|error|skipped)")
# a case in brackets may have " - " in it, as what follows the name has
_FAILED = re.compile(r"^(?:FAILED|ERROR) (tests/[^\[\n]+?(?:\[.*?\])?)(?: - .*)?$", re.MULTILINE)
_MUTANTS = re.compile(r"^(\d+) mutants: .*\nof (\d+): the time was over", re.MULTILINE)
SHOWN = 5  # last lines
MOST_AGAIN = 20  # commands to run again; of more the log tells


def closing_line(text: str) -> str:
    """The last of pytest's closing lines, or nothing."""
    found = _CLOSING.findall(text)
    return found[-1].strip() if found else ""


def counts(text: str) -> dict[str, int]:
    """How many passed, failed (errors are failures) and were skipped, by pytest's closing lines:
    what was not measured at first was run again, and has one of its own."""
    found: dict[str, int] = {}
    for number, word in _COUNT.findall("\n".join(_CLOSING.findall(text))):
        name = "failed" if word == "error" else word
        found[name] = found.get(name, 0) + int(number)
    return found


def not_measured(root: Path) -> list[str]:
    """The tests of the last run of pytest for which the machine gave too little."""
    try:
        return [str(name) for name in json.loads((root / LIST).read_text())]
    except (FileNotFoundError, ValueError):
        return []


def again(text: str, python: str) -> tuple[str, ...]:
    """A command for each test that failed."""
    tests = list(dict.fromkeys(_FAILED.findall(text)))[:MOST_AGAIN]
    return tuple(f"{python} -m pytest -n 0 {shlex.quote(test)}" for test in tests)


def mutants_left(text: str) -> str:
    """How many of how many mutants were tried, where the time was over."""
    found = _MUTANTS.search(text)
    return f"{found[1]} of {found[2]} mutants tried" if found else ""


def last_lines(text: str, many: int = SHOWN) -> tuple[str, ...]:
    """The end of what it said."""
    lines: Sequence[str] = [line.rsplit("\r", 1)[-1].rstrip() for line in text.splitlines()]
    return tuple(line for line in lines if line)[-many:]
