"""How far each vehicle file's car goes from its default cap where its program has no part in it.

A runstop button, a hang and a reset may take 4 m (S14), unless the file accepts more in words; what
comes of lost power is told beside it, and no cap follows from that.

    python tests/tools/rules/program/unaided.py [VEHICLE ...]
"""

import sys
from collections.abc import Sequence

from host_bridge.config import load_vehicle, vehicle_names
from host_bridge.core import UNAIDED_MOST_M, Vehicle
from host_bridge.core.errors import TandemError

HEAD = ("vehicle", "from", "button", "hang", "reset", "power lost", "")


def row_of(vehicle: Vehicle) -> tuple[str, ...]:
    """Distances from the cap of the default profile, and what is accepted of them."""
    goes = vehicle.unaided.stop_from(vehicle.profile_caps_mps[vehicle.profile])
    metres = (goes.button_m, goes.hang_m, goes.reset_m, goes.power_lost_m)
    accepted = vehicle.accepted_coast
    is_far = goes.most_m > UNAIDED_MOST_M
    words = f"accepted: {accepted.distance_m:g} m, {accepted.reason}" if accepted else ""
    return (
        vehicle.name,
        f"{goes.speed_mps:g} m/s",
        *(f"{one:.2f} m" for one in metres),
        words if is_far else "",
    )


def main(words: Sequence[str]) -> int:
    """0 if each holds, else 1 and the file's refusal."""
    rows, refused = [HEAD], 0
    for name in words or vehicle_names():
        try:
            rows.append(row_of(load_vehicle(name)))
        except TandemError as error:
            print(error)
            refused = 1
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print(
            "  ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
        )
    return refused or int(len(rows) == 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
