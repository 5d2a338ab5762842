"""Walks a tutorial as its reader would: its files are saved, its commands run, its output compared.

What a page may hold, in fenced blocks, which are walked in order in one new folder:

sh           commands; they have to end with exit code 0
sh fails     commands of which the last has to fail
sh second    what is typed in a second terminal; it goes on until the page ends, or by itself
text         below one of these: lines of its output, in order; `…` stands for anything, also for
             lines that are left out
any other    a file, where the line above says "Save this as `NAME`:"; else it is only read

What needs a person's hands is `sh by hand`: it is read, and not run.
"""

import contextlib
import os
import re
import signal
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from tests.support import patience

_FENCE = re.compile(r"^```([^\n`]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_SAVED = re.compile(r"Save\s+this\s+as\s+`([\w./-]+)`:\s*$")
STEP_S = 120.0  # of an idle machine; only a page that is wrong waits for it


@dataclass
class Step:
    """One block: a file to save, or commands with the lines that they print."""

    kind: str  # "file", or what stands behind the backticks: "sh", "sh fails", "sh second"
    text: str
    name: str = ""
    expected: list[str] = field(default_factory=list)


def steps(page: str) -> list[Step]:
    """Return what a page's text has its reader do."""
    found: list[Step] = []
    end = 0
    for fence in _FENCE.finditer(page):
        kind, between = fence[1].strip(), page[end : fence.start()]
        end = fence.end()
        saved = _SAVED.search(between)
        if saved:
            found.append(Step("file", fence[2], saved[1]))
        elif kind in ("sh", "sh fails", "sh second"):
            found.append(Step(kind, fence[2]))
        elif kind == "text" and found and not between.strip():
            found[-1].expected = fence[2].splitlines()
    return found


def walk(page: Path, folder: Path, programs: Path) -> int:
    """Do all that a page says in this folder; return how many commands were run.

    `programs` is the folder in which ``tandem`` and ``python`` are. Raises AssertionError with the
    block and its output where that is not what the page shows.
    """
    count = 0
    with contextlib.ExitStack() as stack:
        # sockets have short paths
        own = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="walk-")))
        env = {
            **os.environ,
            "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
            "TANDEM_RUNTIME_DIR": str(own),
            "TANDEM_STOP_DIR": str(own),
            "TANDEM_DATA_DIR": str(own / "data"),
        }
        for step in steps(page.read_text("utf-8")):
            if step.kind == "file":
                (folder / step.name).write_text(step.text, "utf-8")
                continue
            count += 1
            if step.kind == "sh second":
                stack.enter_context(_second_terminal(step, folder, env, count))
            else:
                _run(step, folder, env)
    return count


def _run(step: Step, folder: Path, env: dict[str, str]) -> None:
    words = ["bash", "-eu", "-c", step.text]
    done = patience.run(
        words, cwd=folder, env=env, text=True, within_s=STEP_S, stderr=subprocess.STDOUT
    )
    failed = bool(done.returncode)
    wanted = step.kind == "sh fails"
    assert failed == wanted, f"exit code {done.returncode}:\n{step.text}\n{done.stdout}"
    missing = first_missing(step.expected, done.stdout)
    assert missing is None, f"not printed: {missing}\n{step.text}\n{done.stdout}"


@contextlib.contextmanager
def _second_terminal(step: Step, folder: Path, env: dict[str, str], number: int):
    output = folder / f".terminal-{number}"
    with output.open("w") as written:
        process = subprocess.Popen(
            ["bash", "-eu", "-c", step.text], cwd=folder, env={**env, "PYTHONUNBUFFERED": "1"},
            stdout=written, stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
    try:
        patience.until(
            lambda: first_missing(step.expected, output.read_text()) is None,
            f"{step.expected} of {step.text}",
            STEP_S,
        )
        yield
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGINT)
        patience.wait(process, STEP_S)


def first_missing(expected: list[str], output: str) -> str | None:
    """Return the first of these lines that is not in the output below the one before it."""
    lines = iter([line.rstrip() for line in output.splitlines()])
    for wanted in (line.rstrip() for line in expected):
        if wanted in ("", "…"):
            continue
        pattern = re.compile(".*".join(re.escape(part) for part in wanted.split("…")))
        if next((line for line in lines if pattern.fullmatch(line)), None) is None:
            return wanted
    return None
