"""Wheel encoders: whole counts of what the rims have travelled, as a board's counter holds them."""

from dataclasses import dataclass
from math import floor, pi

COUNTER_MASK = (
    1 << 30
) - 1  # the board counts modulo 2**30, to stay within MicroPython's small int


@dataclass(frozen=True, slots=True)
class EncoderParameters:
    """``on``: "wheels" (left and right apart) or "shaft" (one sensor, both counts the same)."""

    counts_per_rev: float
    on: str


class Encoder:
    """A left and a right counter. The truth behind them is ``left_m`` and ``right_m``.

    Wheels are taken in the middle of the wheelbase: travel of the rim -/+ yaw * track / 2.
    """

    __slots__ = ("_counts_per_m", "_half_track_m", "left_m", "right_m")

    def __init__(self, p: EncoderParameters, wheel_radius_m: float, track_m: float) -> None:
        self._counts_per_m = p.counts_per_rev / (2.0 * pi * wheel_radius_m)
        self._half_track_m = 0.5 * track_m if p.on == "wheels" else 0.0
        self.left_m = self.right_m = 0.0

    def step(self, travel_m: float, turn_rad: float) -> None:
        apart_m = self._half_track_m * turn_rad
        self.left_m += travel_m - apart_m
        self.right_m += travel_m + apart_m

    def counts(self) -> tuple[int, int]:
        """Left and right, modulo 2**30; forward is up."""
        return (
            floor(self.left_m * self._counts_per_m) & COUNTER_MASK,
            floor(self.right_m * self._counts_per_m) & COUNTER_MASK,
        )
