"""The option ``--lidar``, which names the file with a car's scans, and the opening of that file."""

from __future__ import annotations

from collections.abc import Sequence

from host_bridge.core.errors import DeviceFault, UsageFault
from host_bridge.logs.sensor_lines import SensorPipe


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


def open_scans(path: str) -> SensorPipe:
    """Open the file or pipe with a car's scans. Raises errors.DeviceFault."""
    try:
        return SensorPipe(path)
    except OSError as error:
        raise DeviceFault(
            "the LIDAR's lines cannot be read",
            where=path,
            expected="the file or pipe that a virtual car's sensors=FILE writes",
            got=error.strerror or str(error),
            remedy="start the car first: tandem sim f1tenth --track corridor --sensors FILE",
        ) from None
