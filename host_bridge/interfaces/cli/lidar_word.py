"""``--lidar CAR=FILE``: where a car's scans are."""

from __future__ import annotations

from collections.abc import Sequence

from host_bridge.errors import UsageFault


def lidars_of(words: Sequence[str]) -> dict[str, str]:
    """Files by car. Raises errors.UsageFault."""
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
