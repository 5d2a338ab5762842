"""The programs that have a device open, as far as this user may see them (Linux only)."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from pathlib import Path

COMMAND_LENGTH = 80  # of a command line in an error, to keep that short


@dataclass(frozen=True)
class Holder:
    """A program that has the device open."""

    pid: int
    command: str

    def __str__(self) -> str:
        return f"{self.command} (pid {self.pid})"


def holders(device: str, proc: Path = Path("/proc")) -> list[Holder]:
    """Return the programs that have the device open. Those of other users show only to root."""
    target = os.path.realpath(device)
    folders = (folder for folder in proc.glob("[0-9]*") if _has_open(folder, target))
    return [Holder(int(folder.name), _command(folder)) for folder in folders]


def _has_open(folder: Path, target: str) -> bool:
    with contextlib.suppress(OSError):  # another user's process, or one that just ended
        return any(_link(entry) == target for entry in (folder / "fd").iterdir())
    return False


def _link(entry: Path) -> str:
    with contextlib.suppress(OSError):
        return str(entry.readlink())
    return ""


def _command(folder: Path) -> str:
    with contextlib.suppress(OSError):
        words = (folder / "cmdline").read_bytes().decode(errors="replace").split("\0")
        return " ".join(words).strip()[:COMMAND_LENGTH]
    return "a program"
