"""The programs that a station started, and what a program takes of the processor."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path


def processor_s(pid: int) -> float:
    """User's and system's time of a process: fields 14 and 15 of proc(5)."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def programs_below(parent: int, word: str) -> list[int]:
    """Those that it started itself, with this in their command line."""
    words = ["ps", "-eww", "-o", "pid,ppid,args"]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    rows = [it.split(None, 2) for it in done.stdout.splitlines()[1:]]
    return [int(pid) for pid, ppid, args in rows if int(ppid) == parent and word in args]
