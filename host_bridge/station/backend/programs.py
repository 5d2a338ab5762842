"""Runs the page's requests besides stopping and driving, each as a separate program.

Recording, trimming and the configuration are ``tandem record``, ``tandem trim`` and ``tandem
config`` themselves: what they refuse is refused, and if one hangs, neither a stop nor a hold waits.
"""

from __future__ import annotations

import asyncio
import datetime
import json
import os
import re
import signal
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from host_bridge.core.errors import INTERRUPTED
from host_bridge.core.system.progress import LINES
from sim_mock.programs import children

_ENDS_WITHIN_S = 5.0  # for its own end; then it is killed
# chosen: the longest of these commands writes a configuration by a slow line
_ANSWERS_WITHIN_S = 60.0
_LONGEST_MARK = 60  # letters: a word or two, which a person typed
_PROGRESS = re.compile(r"[a-z ]+: \d+ of \d+")  # a line of core.system.progress
_SIZE_EVERY_S = 0.5  # between two looks at the growing file


class Recording:
    """A run of ``tandem record`` with all cars served at its start.

    Writes a new file in ``folder``.
    """

    def __init__(
        self, folder: Path, lidars: dict[str, str], now: Callable[[], datetime.datetime]
    ) -> None:
        self._folder = folder
        self._lidars = lidars
        self._now = now
        self._process: asyncio.subprocess.Process | None = None
        self._begun_s = 0.0
        self._task: asyncio.Task[None] | None = None
        self._file: Path | None = None
        self._size_bytes = 0
        self._words = ""
        self._is_asked_to_end = False
        self.marks = 0

    def row(self) -> dict[str, object]:
        """Return its state as the page shows it."""
        is_on = self._task is not None
        lasted_s = asyncio.get_running_loop().time() - self._begun_s if is_on else 0.0
        return {
            "is_on": is_on,
            "file": str(self._file or ""),
            "seconds": round(lasted_s, 1),
            "bytes": self._size_bytes,
            "words": self._words,
            "marks": self.marks,
        }

    def start(self, names: Sequence[str]) -> None:
        """Begin, unless it is running or there is no car to record."""
        if self._task is not None:
            return
        if not names:
            self._words = "no car is served: there is nothing to record"
            return
        self._file = self.new_path("tandem", 0.0)
        self._words, self._size_bytes, self.marks = "", 0, 0
        self._begun_s = asyncio.get_running_loop().time()
        self._is_asked_to_end = False
        lidars = [f"--lidar={name}={at}" for name, at in self._lidars.items() if name in names]
        self._task = asyncio.create_task(
            self._run([*names, "-o", str(self._file), "--marks", *lidars])
        )

    def new_path(self, what: str, ago_s: float) -> Path:
        """Return the path of a log in its folder, named after a moment that long ago."""
        stamp = (self._now() - datetime.timedelta(seconds=ago_s)).strftime("%Y-%m-%d-%H%M%S")
        return (self._folder / f"{what}-{stamp}.mcap").absolute()

    def mark(self, text: str) -> bool:
        """Set a mark in the log, with a word or with its number; return False without a log."""
        pipe = self._process.stdin if self._process and self._process.returncode is None else None
        if pipe is None or pipe.is_closing():
            return False
        self.marks += 1
        word = "".join(it for it in text if it.isprintable()).strip()[:_LONGEST_MARK]
        pipe.write(f"{word or self.marks}\n".encode())
        return True

    def end(self) -> None:
        """End it by SIGINT, as Ctrl-C would, so that the file is complete."""
        self._is_asked_to_end = True
        if self._process and self._process.returncode is None:
            self._process.send_signal(signal.SIGINT)

    async def close(self) -> None:
        """End it with the station; wait up to 5 s."""
        self.end()
        if self._task:
            with suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._task, _ENDS_WITHIN_S)

    async def _run(self, words: list[str]) -> None:
        self._process = await start_command("record", *words, has_stdin=True)
        sizes = asyncio.create_task(self._watch_size())
        try:
            if self._is_asked_to_end:
                self.end()
            output = await self._output_of(self._process)
            code = await self._process.wait()
            if self._is_asked_to_end and code == INTERRUPTED:
                name = self._file.name if self._file else ""
                self._words = f"see Logs for {name}, or tandem station --log {self._file}"
            else:
                self._words = f"the recording ended: {output or f'exit code {code}'}"
        finally:
            sizes.cancel()
            if self._process.returncode is None:
                self._process.kill()
            self._process, self._task = None, None

    async def _output_of(self, process: asyncio.subprocess.Process) -> str:
        """Return what the program printed on stderr, without its line that it records."""
        assert process.stderr is not None, "a pipe"
        text = (await process.stderr.read()).decode(errors="replace")
        return " ".join(line.strip() for line in text.splitlines() if "Ctrl-C ends" not in line)

    async def _watch_size(self) -> None:
        """Update the file size, in a thread, so that a disk that hangs blocks nothing else."""
        while self._file:
            with suppress(OSError):
                self._size_bytes = (await asyncio.to_thread(os.stat, self._file)).st_size
            await asyncio.sleep(_SIZE_EVERY_S)


async def run_json_command(
    *words: str, tell: Callable[[str], None] = lambda words: None
) -> tuple[bool, object]:
    """Run a command that prints JSON; return whether it did so, and its answer or its complaint.

    ``tell`` gets how far it is, as "read: 312 of 455".
    """
    process = await start_command(*words, "--json")
    assert process.stdout is not None, "a pipe"
    try:
        out, complaints = await asyncio.wait_for(
            asyncio.gather(process.stdout.read(), _complaints(process, tell)), _ANSWERS_WITHIN_S
        )
        await process.wait()
    except asyncio.TimeoutError:
        return False, f"no answer within {_ANSWERS_WITHIN_S:g} s"
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode not in (0, 1):
        return False, complaints
    with suppress(ValueError):
        return True, json.loads(out)
    return False, complaints or "no answer"


async def _complaints(process: asyncio.subprocess.Process, tell: Callable[[str], None]) -> str:
    """Return what it says on stderr, without its progress, which ``tell`` gets."""
    assert process.stderr is not None, "a pipe"
    output = []
    async for data in process.stderr:
        line = data.decode(errors="replace").rstrip()
        if _PROGRESS.fullmatch(line):
            tell(line)
        else:
            output.append(line)
    return "\n".join(output).strip()


async def start_command(*words: str, has_stdin: bool = False) -> asyncio.subprocess.Process:
    """Start a tandem command; stdout is piped if it is JSON, stderr always."""
    return await asyncio.create_subprocess_exec(
        *children.module("host_bridge.cli.main", *words),
        stdin=asyncio.subprocess.PIPE if has_stdin else asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE if "--json" in words else asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,  # Ctrl-C is for the station, which then ends it
        env={**os.environ, LINES: "1"} if "--json" in words else None,
    )
