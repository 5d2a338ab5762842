"""Parses ``--lidar CAR=FILE``, which names the file with a car's scans."""

from __future__ import annotations

from collections.abc import Sequence

from host_bridge.core.errors import UsageFault


def parse_lidars(words: Sequence[str]) -> dict[str, str]:
    """Return the scan file of each car.

    Raises errors.UsageFault.
    """
    found: dict[str, str] = {}
    for word in words:
        name, is_there, path = word.partition("=")
        if not (name and is_there and path) or name in found:
            raise UsageFault(
                f"--lidar {word} does not say whose scans are where",
                expected="CAR=FILE, each car once",
                got=word,
                remedy="a virtual car writes them: sim://f1tenth?track=corridor&sensors=run.jsonl, "
                "then --lidar f1tenth=run.jsonl",
            )
        found[name] = path
    return found
