"""Every number of every vehicle, as its car and its virtual car get it; ``--write`` keeps them.

    python -m tests.hardware.vehicle_numbers [--write]

Vehicle files share what is the same. Whoever changes one of these lines changes several cars, and
sees in ``vehicle_numbers.csv`` which numbers of which.
"""

import csv
import sys
from pathlib import Path

from host_bridge.config import config_hash, load_vehicle, vehicle_names

KEPT = Path(__file__).with_name("vehicle_numbers.csv")
_BOARD = bytes(range(8))


def rows() -> list[list[str]]:
    """Vehicle, what it is, its values; the configuration's hash is that of one board."""
    return [row for name in vehicle_names() for row in _rows_of(name)]


def _rows_of(name: str) -> list[list[str]]:
    vehicle = load_vehicle(name)
    parameters = sorted(vehicle.parameters.items())
    plant = sorted((value.key, value.value) for value in vehicle.values if _is_of_plant(value.key))
    return [
        [name, "configuration hash", config_hash(vehicle, _BOARD, name).hex()],
        *([name, key, " ".join(map(str, values))] for key, values in parameters),
        *([name, key, str(value)] for key, value in plant),
    ]


def _is_of_plant(key: str) -> bool:
    return key.startswith("plant.")


def kept() -> list[list[str]]:
    """As they were last written."""
    with KEPT.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


if __name__ == "__main__":
    if "--write" in sys.argv:
        with KEPT.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(rows())
    else:
        before = kept()
        changed = [row for row in rows() if row not in before]
        print("\n".join(" ".join(row) for row in changed) or "as they were kept")
