"""Wheel encoders: whole counts of what the rims have travelled, as a board's counter holds them."""

from dataclasses import dataclass
from math import floor, pi

COUNTER_MASK = (
    1 << 30
) - 1  # the board counts modulo 2**30, to stay within MicroPython's small int
_DRAWN_S = 0.5  # chosen: some gaps at a walk


@dataclass(frozen=True, slots=True)
class EncoderParameters:
    """``on``: "wheels" (left and right apart) or "shaft" (one sensor, both counts the same).

    With ``magnets`` (0: none) the sensor sees only these many a turn and no direction; the board
    makes ``counts_per_rev`` of them by time. A wait of ``floor_s`` is standstill.
    """

    counts_per_rev: float
    on: str
    magnets: float = 0.0
    floor_s: float = 0.4


class _Rim:
    """One wheel's travel as it is."""

    __slots__ = ("period_s", "travel_m")

    def __init__(self) -> None:
        self.travel_m = 0.0
        self.period_s = 0.0

    def step(self, _dt_s: float, travel_m: float) -> None:
        self.travel_m += travel_m


class _Magnets:
    """One wheel's travel as a board knows it that times the edges of a hall sensor.

    The speed is that of the last gap, or less where the next is late. What it adds up to is drawn
    to the edges, each of which is a place on the tyre, over ``_DRAWN_S``.
    """

    __slots__ = ("_begun_m", "_edge_s", "_edges", "_floor_s", "_gap_m", "_missing_m", "_now_s",
                 "_rolled_m", "period_s", "travel_m")  # fmt: skip

    def __init__(self, gap_m: float, floor_s: float) -> None:
        self._gap_m = gap_m
        self._floor_s = floor_s
        self._rolled_m = 0.5 * gap_m  # a car is not parked by its magnets
        self._edges = 0
        self._edge_s = -1.0  # when the last edge came; negative: it stands
        self.period_s = 0.0  # 0: not known
        self._missing_m = self._begun_m = 0.0
        self._now_s = 0.0
        self.travel_m = 0.0

    def step(self, dt_s: float, travel_m: float) -> None:
        self._now_s += dt_s
        self._rolled_m += abs(travel_m)
        edges = floor(self._rolled_m / self._gap_m)
        if edges > self._edges:
            beyond_m = self._rolled_m - edges * self._gap_m
            self._see(edges, self._now_s - dt_s * beyond_m / abs(travel_m))
        if self._edge_s < 0.0:
            return
        waited_s = self._now_s - self._edge_s
        if waited_s >= self._floor_s:
            self._edge_s, self.period_s = -1.0, 0.0
            return
        if self.period_s:
            speed_mps = self._gap_m / max(self.period_s, waited_s) + self._missing_m / _DRAWN_S
            self._missing_m -= self._missing_m * dt_s / _DRAWN_S
            self.travel_m += max(speed_mps, 0.0) * dt_s

    def _see(self, edges: int, at_s: float) -> None:
        if not self.period_s:  # what it rolled before its speed was known is not made up for
            self._begun_m = self.travel_m - edges * self._gap_m
        self.period_s = (
            (at_s - self._edge_s) / (edges - self._edges) if self._edge_s >= 0.0 else 0.0
        )
        self._edge_s, self._edges = at_s, edges
        self._missing_m = self._begun_m + edges * self._gap_m - self.travel_m


class Encoder:
    """A left and a right counter.

    Wheels are taken in the middle of the wheelbase: travel of the rim -/+ yaw * track / 2.
    """

    __slots__ = ("_counts_per_m", "_left", "_right", "half_track_m")

    def __init__(self, p: EncoderParameters, wheel_radius_m: float, track_m: float) -> None:
        turn_m = 2.0 * pi * wheel_radius_m
        self._counts_per_m = p.counts_per_rev / turn_m
        self.half_track_m = 0.5 * track_m if p.on == "wheels" else 0.0
        self._left, self._right = (
            _Magnets(turn_m / p.magnets, p.floor_s) if p.magnets else _Rim() for _ in range(2)
        )

    @property
    def periods_s(self) -> tuple[float, float]:
        """Left and right, between the last two magnets; 0 at standstill, and without magnets."""
        return self._left.period_s, self._right.period_s

    @property
    def left_m(self) -> float:
        """What the counts are made of."""
        return self._left.travel_m

    @property
    def right_m(self) -> float:
        return self._right.travel_m

    def step(self, dt_s: float, travel_m: float, turn_rad: float) -> None:
        apart_m = self.half_track_m * turn_rad
        self._left.step(dt_s, travel_m - apart_m)
        self._right.step(dt_s, travel_m + apart_m)

    def counts(self) -> tuple[int, int]:
        """Left and right, modulo 2**30; forward is up."""
        return (
            floor(self.left_m * self._counts_per_m) & COUNTER_MASK,
            floor(self.right_m * self._counts_per_m) & COUNTER_MASK,
        )
