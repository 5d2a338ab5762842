"""How much of the safety core its own fast tests run: lines and branches."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from tests.mutants.trial.trials import ENVIRONMENT, PYTEST

LINES_PERCENT, BRANCHES_PERCENT = 100.0, 98.0  # firmware/core/SAFETY.md
_UNCOUNTED = "[report]\nexclude_also =\n  if TYPE_CHECKING:\n"


class Coverage(NamedTuple):
    file: str
    lines: int
    lines_run: int
    branches: int
    branches_run: int
    missing: list[int]

    def is_enough(self) -> bool:
        return (
            self.lines_run * 100 >= self.lines * LINES_PERCENT
            and self.branches_run * 100 >= self.branches * BRANCHES_PERCENT
        )

    def __str__(self) -> str:
        missing = f"   lines never run: {self.missing}" if self.missing else ""
        return (
            f"{self.file:32} lines {self.lines_run}/{self.lines}  "
            f"branches {self.branches_run}/{self.branches}{missing}"
        )


def _function(report: dict[str, Any], name: str) -> dict[str, Any]:
    if name not in report["functions"]:
        raise ValueError(
            f"there is no {name} to measure: the list of the safety core is out of date"
        )
    found: dict[str, Any] = report["functions"][name]
    return found


def _of(file: str, scope: tuple[str, ...], report: dict[str, Any]) -> Coverage:
    parts = [_function(report, name) for name in scope] or [report]
    totals = [part["summary"] for part in parts]
    keys = ("num_statements", "covered_lines", "num_branches", "covered_branches")
    lines, lines_run, branches, branches_run = (sum(t[key] for t in totals) for key in keys)
    missing = sorted(n for part in parts for n in part["missing_lines"])
    return Coverage(file, lines, lines_run, branches, branches_run, missing)


def measure(
    root: Path, files: dict[str, tuple[str, ...]], tests: tuple[str, ...]
) -> list[Coverage]:
    """By file, or by those functions of it that are named.

    Raises RuntimeError with their output if the tests do not pass.
    """
    with tempfile.TemporaryDirectory() as folder:
        settings = Path(folder) / "settings"
        settings.write_text(_UNCOUNTED)
        tool = (sys.executable, "-m", "coverage")
        options = (f"--rcfile={settings}", f"--include={','.join(files)}")
        _call(root, folder, *tool, "run", "--branch", *options, "-m", "pytest", *PYTEST, *tests)
        report = json.loads(_call(root, folder, *tool, "json", *options, "-q", "-o", "-"))
    return [_of(file, scope, report["files"][file]) for file, scope in files.items()]


def _call(root: Path, folder: str, *command: str) -> str:
    environment = {**os.environ, **ENVIRONMENT, "COVERAGE_FILE": f"{folder}/data"}
    done = subprocess.run(
        command, cwd=root, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    return done.stdout
