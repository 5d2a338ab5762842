"""Rules about the encoder: the virtual car's is the real one's, and how slowly its counts can tell.

The car's program takes the speed from the counts of its last few steps. Counts that are too far
apart for that look like a car that moves, stands, and moves again, which it takes for a fault.
"""

from __future__ import annotations

from math import pi
from typing import Any

from host_bridge.config.vehicle.document import VehicleDocument

WINDOW_STEPS = 4  # over so many steps the program measures speed (firmware/core/motion/odometry.py)
# From above this speed nothing stands still at once (firmware/core/stops/plausibility.py)
_ROLLING_MPS = 0.3
# Its speed loop swings while it counts so little. Virtual F1TENTHs with 10, 16 and 24 counts a turn
# ended in a fault at 1.1 times one count per window, and held their speed at 1.3 times.
_SWING = 4.0 / 3.0
_FLOOR_S = 0.4  # the default of [plant.encoder] floor_s


def check_encoders(document: VehicleDocument, tables: dict[str, Any]) -> None:
    """Refuse a virtual encoder that contradicts the car's. Raises VehicleFileFault.

    Its twin would otherwise drive at another speed than it says.
    """
    given = tables["plant"].get("encoder")
    if not isinstance(given, dict):
        return  # the plant's own reader says that it is missing
    real = tables["encoder"]
    counts, virtual = real["counts_per_rev"], given.get("counts_per_rev")
    if _is_number(virtual) and virtual != counts:
        raise document.fault(
            "plant.encoder.counts_per_rev",
            "the virtual car counts otherwise than the real one",
            expected=f"{counts:g}, as in {document.where('encoder.counts_per_rev')}",
            got=f"{virtual:g}",
            remedy="write the same counts per turn of a wheel in [encoder] and [plant.encoder]",
        )
    magnets = given.get("magnets", 0)
    if not _is_number(magnets) or magnets <= 0:
        return
    if real["is_signed"]:
        raise document.fault(
            "encoder.is_signed",
            "a sensor of magnets tells no direction",
            expected="false, with reverse_max_mps = 0, or no magnets "
            f"({document.where('plant.encoder.magnets')})",
            got="true",
            remedy="write false; or take magnets out, if A and B tell the direction",
        )


def slowest_mps(tables: dict[str, Any]) -> float:
    """Return the slowest speed in m/s that the counts can hold.

    Slower, a driven car seems to stand between two counts, and ends in a fault. With magnets the
    board measures the time between two of them, and gives up after ``floor_s``.
    """
    plant = tables["plant"].get("encoder")
    plant = plant if isinstance(plant, dict) else {}
    turn_m = 2.0 * pi * tables["geometry"]["wheel_radius_m"]
    magnets, floor_s = plant.get("magnets", 0), plant.get("floor_s", _FLOOR_S)
    if _is_number(magnets) and magnets > 0 and _is_number(floor_s) and floor_s > 0:
        return float(turn_m / magnets / floor_s)
    count_m = float(turn_m / tables["encoder"]["counts_per_rev"])
    window_s = WINDOW_STEPS * float(tables["timing"]["step_s"])
    if count_m / window_s > _ROLLING_MPS:
        return _SWING * count_m / window_s
    return count_m / (window_s + float(tables["drive"]["stuck_s"]))


def reminders(tables: dict[str, Any]) -> tuple[str, ...]:
    """Return a sentence about counts too coarse for the slowest speed that somebody may ask for."""
    caps = {name: s["speed_cap_mps"] for name, s in tables["sources"].items()}
    least_mps, source = min((cap, name) for name, cap in caps.items() if cap > 0.0)
    slowest = slowest_mps(tables)
    if slowest <= least_mps:
        return ()
    counts = tables["encoder"]["counts_per_rev"]
    enough = counts * slowest / least_mps
    return (
        f"its counts are coarse ({counts:g} a turn of a wheel): below {slowest:.2f} m/s, which it "
        f"passes when it starts, it ends in a fault; {source} may ask for {least_mps:g} m/s. "
        f"{enough:.0f} counts or more would do: a sensor on the motor's shaft instead of a wheel, "
        "or magnets that the board times (hall in the board file, magnets in [plant.encoder])",
    )


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
