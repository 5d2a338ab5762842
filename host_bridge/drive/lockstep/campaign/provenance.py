"""The machine and the libraries by which a row was computed; they are in no hash."""

from __future__ import annotations

import os
import platform
from contextlib import suppress
from functools import cache
from typing import Any

import numpy as np

from sim_mock.runtime import compiled


def ran(wall_s: float, cpu_s: float) -> dict[str, Any]:
    """Return by what a row was computed, and how long that took."""
    return {
        "wall_s": round(wall_s, 4),
        "cpu_s": round(cpu_s, 4),
        "python": platform.python_version(),
        "machine": platform.machine(),
        "cpu": _cpu(),
        "libc": " ".join(platform.libc_ver()),
        "numpy": np.__version__,
        "machine_code": compiled.is_in_use(),
        "worker": os.getpid(),
    }


@cache
def _cpu() -> str:
    """Return the processor's name; its kind where the system does not tell."""
    with suppress(OSError), open("/proc/cpuinfo", encoding="utf-8") as lines:
        for line in lines:
            key, _, value = line.partition(":")
            if key.strip() == "model name":
                return value.strip()
    return platform.processor() or platform.machine()
