"""A vehicle file of which the stop sources are what a test needs."""

from __future__ import annotations

import re
from pathlib import Path

from tests.hardware.vehicle_files import whole


def requiring(folder: Path, *names: str, silence_s: float = 0.2) -> Path:
    """F1TENTH's file, with these stop sources required in every profile.

    The script's lease is longer than their silence, so that a program that is gone is missed as a
    stop source first; its speed is as low as that demands.
    """
    text = whole("f1tenth")
    for name in names:
        table = f"[stop.sources.{name}]"
        needs = "".join(f'{profile} = "required"\n' for profile in ("stand", "track", "race"))
        text = re.sub(
            re.escape(table) + r"[^[]*", f"{table}\n{needs}silence_s = {silence_s}\n\n", text
        )
    script = text.index("[sources.script]")
    rest = re.sub(r"lease_s = \S+", "lease_s = 0.3", text[script:], count=1)
    rest = re.sub(r"speed_cap_mps = \S+", "speed_cap_mps = 1.0", rest, count=1)
    path = folder / "watched.toml"
    path.write_text(text[:script] + rest)
    return path
