"""Runs pytest, and once more, alone, what was not measured for want of a machine.

    python -m tests.tools.running.measured ARGS...      the arguments are pytest's

A test that runs in wall time says "not measured" where the machine gave too little to tell
(tests/support/patience.py). It is asked again without others beside it, twice at most, and what
came of it is listed. Exit code: 0 where all was measured and passed, 75 where nothing failed and
something is still not measured, else that of pytest. A test that failed has failed, and is not
asked again. One that fails each time in the same words, figures aside, has failed too (1): a busy
machine does not repeat itself so well, and a fault does.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.support.kinds import ERRORS_KEPT_AS, EXIT_NOT_MEASURED, KEPT_AS

ROOT = Path(__file__).resolve().parents[3]
ROUNDS = 2
Run = Callable[[Sequence[str]], int]


def not_measured(root: Path) -> list[str]:
    """List the tests that were not measured when pytest was last run there."""
    return list(_kept(root, KEPT_AS, []))


def _kept(root: Path, name: str, default: Any) -> Any:
    """Read what pytest's cache holds under this name."""
    try:
        return json.loads((root / ".pytest_cache" / "v" / name).read_text())
    except FileNotFoundError:
        return default


def run(words: Sequence[str]) -> int:
    """Run pytest with these arguments; its exit code."""
    return subprocess.run(
        [sys.executable, "-m", "pytest", *words], cwd=ROOT, check=False
    ).returncode


def _again(tests: Sequence[str], run: Run) -> int:
    """Run these alone, whatever their markers are."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as names:
        names.write("\n".join(tests) + "\n")
        names.flush()
        return run(["-n", "0", f"@{names.name}"])


def main(words: Sequence[str], run: Run = run, root: Path = ROOT) -> int:
    """Run them, those that were not measured again, and tell."""
    code = run(words)
    left = first = not_measured(root)
    errors = [_kept(root, ERRORS_KEPT_AS, {})]
    for _ in range(ROUNDS):
        if not left or code not in (EXIT_NOT_MEASURED, 1):
            break
        print(
            f"\nagain, alone: {len(left)} that this machine gave too little to measure", flush=True
        )
        again = _again(left, run)
        if again in (0, 1, EXIT_NOT_MEASURED):  # else it ran none: they are as they were
            left = not_measured(root)
            errors.append(_kept(root, ERRORS_KEPT_AS, {}))
        if again not in (0, EXIT_NOT_MEASURED):
            code = again
        elif code == EXIT_NOT_MEASURED and again == 0:
            code = 0
    failed = _failed_alike(left, errors)
    for test in first:
        became = "still not measured" if test in left else "measured when run again, alone"
        if test in failed:
            became = "FAILED each time in the same words, however late the machine was"
        print(f"{became}: {test}")
    return 1 if failed else code


def _failed_alike(tests: Sequence[str], errors: Sequence[Mapping[str, str]]) -> list[str]:
    """List the tests that failed in every round, and in the same words."""
    if len(errors) <= ROUNDS:
        return []
    alike = []
    for test in tests:
        told = {error.get(test, "") for error in errors}
        if len(told) == 1 and "" not in told:
            alike.append(test)
    return alike


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
