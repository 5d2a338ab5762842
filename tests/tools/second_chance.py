"""Runs the tests that failed once more, alone, and keeps a ledger of those that pass then.

    python tests/tools/second_chance.py            exit code 0 if all of them pass now
    python tests/tools/second_chance.py --tell     what the ledger has of this commit, and how often

A test of real processes may fail because the machine was busy; one that does so again and again is
a defect of the test or of the program. The ledger is a CSV file of time, commit and test, in
$TANDEM_CI_LEDGER or this user's state folder, so that it outlives the clone.
"""

import csv
import json
import os
import subprocess
import sys
from collections import Counter
from datetime import datetime, timezone
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FAILED = Path(".pytest_cache/v/cache/lastfailed")
COLUMNS = ("when", "commit", "test")


def ledger_path() -> Path:
    """Where the ledger is."""
    own, state = os.environ.get("TANDEM_CI_LEDGER"), os.environ.get("XDG_STATE_HOME")
    home = Path(state) if state else Path.home() / ".local" / "state"
    return Path(own) if own else home / "tandem" / "second_chances.csv"


def failed(root: Path) -> set[str]:
    """The tests that failed when they were last run."""
    try:
        return set(json.loads((root / FAILED).read_text()))
    except FileNotFoundError:
        return set()


def rows(path: Path) -> list[dict[str, str]]:
    """What the ledger has, oldest first."""
    try:
        with path.open(newline="") as file:
            return list(csv.DictReader(file))
    except FileNotFoundError:
        return []


def keep(path: Path, commit: str, tests: set[str], now: datetime) -> None:
    """Add a row for each of these tests."""
    path.parent.mkdir(parents=True, exist_ok=True)
    is_new = not path.exists()
    with path.open("a", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        if is_new:
            table.writerow(COLUMNS)
        table.writerows((now.isoformat(timespec="seconds"), commit, test) for test in sorted(tests))


def told(found: list[dict[str, str]], commit: str) -> list[str]:
    """A line for each test that passed only when alone in this commit, with how often in all."""
    often = Counter(row["test"] for row in found)
    here = sorted({row["test"] for row in found if row["commit"] == commit})
    return [
        f"passed only when run again, alone ({often[test]} times so far): {test}" for test in here
    ]


def _commit() -> str:
    words = ["git", "rev-parse", "--short", "HEAD"]
    return subprocess.run(
        words, cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.strip()


def main(words: list[str]) -> int:
    """Run them, or tell. The exit code of pytest, or 0."""
    if words == ["--tell"]:
        print("\n".join(told(rows(ledger_path()), _commit())))
        return 0
    before = failed(ROOT)
    again = ["-n", "0", "-m", "not soak", "--last-failed", "--last-failed-no-failures", "none"]
    done = subprocess.run([sys.executable, "-m", "pytest", *again], cwd=ROOT, check=False)
    passed = before - failed(ROOT)
    if passed:
        keep(ledger_path(), _commit(), passed, datetime.now(timezone.utc))
    return 0 if done.returncode in (0, pytest_found_none()) else 1


def pytest_found_none() -> int:
    """pytest's exit code where there was nothing to run again."""
    import pytest

    return int(pytest.ExitCode.NO_TESTS_COLLECTED)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
