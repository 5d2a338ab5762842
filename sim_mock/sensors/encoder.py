"""Wheel encoders: whole counts of the rims' travel, as a board's counters hold them."""

from dataclasses import dataclass
from math import floor, pi

COUNTER_MASK = (
    1 << 30
) - 1  # the board counts modulo 2**30, to stay within MicroPython's small int
_DRAWN_S = 0.5  # chosen: the time of some gaps between magnets at a walk


@dataclass(frozen=True, slots=True)
class EncoderParameters:
    """The numbers of the wheel encoders.

    ``on``: "wheels" (left and right apart) or "shaft" (one sensor, both counts the same). With
    ``magnets`` (0: none) the sensor sees only so many edges a turn and no direction; the board
    interpolates ``counts_per_rev`` by time. A wait of ``floor_s`` counts as standstill.
    """

    counts_per_rev: float
    on: str
    magnets: float = 0.0
    floor_s: float = 0.4  # with 0.6 m a turn and 6 magnets that is 0.25 m/s


class _Wheel:
    """One wheel's true travel."""

    __slots__ = ("period_s", "travel_m")

    def __init__(self) -> None:
        self.travel_m = 0.0
        self.period_s = 0.0

    def step(self, _dt_s: float, travel_m: float) -> None:
        self.travel_m += travel_m


class _Magnets:
    """One wheel's travel as estimated by a board that times the edges of a Hall sensor.

    The speed is that of the last gap between edges, or less if the next edge is late. Its integral
    is corrected towards the edges, each of which is a fixed place on the tyre, over ``_DRAWN_S``.
    """

    __slots__ = ("_begun_m", "_edge_s", "_edges", "_floor_s", "_gap_m", "_missing_m", "_now_s",
                 "_rolled_m", "period_s", "travel_m")  # fmt: skip

    def __init__(self, gap_m: float, floor_s: float) -> None:
        self._gap_m = gap_m
        self._floor_s = floor_s
        self._rolled_m = 0.5 * gap_m  # it starts between two magnets
        self._edges = 0
        self._edge_s = -1.0  # the time of the last edge; negative: it stands
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
        if not self.period_s:  # travel before the speed was known is not corrected
            self._begun_m = self.travel_m - edges * self._gap_m
        self.period_s = (
            (at_s - self._edge_s) / (edges - self._edges) if self._edge_s >= 0.0 else 0.0
        )
        self._edge_s, self._edges = at_s, edges
        self._missing_m = self._begun_m + edges * self._gap_m - self.travel_m


class EncoderPair:
    """A left and a right counter.

    Wheels are in the middle of the wheelbase: travel of the rim -/+ yaw * track / 2.
    """

    __slots__ = ("_counts_per_m", "_left", "_right", "half_track_m")

    def __init__(self, p: EncoderParameters, wheel_radius_m: float, track_m: float) -> None:
        turn_m = 2.0 * pi * wheel_radius_m
        self._counts_per_m = p.counts_per_rev / turn_m
        self.half_track_m = 0.5 * track_m if p.on == "wheels" else 0.0
        self._left, self._right = (
            _Magnets(turn_m / p.magnets, p.floor_s) if p.magnets else _Wheel() for _ in range(2)
        )

    @property
    def periods_s(self) -> tuple[float, float]:
        """The time between the last two magnets, left and right; 0 at rest or without magnets."""
        return self._left.period_s, self._right.period_s

    @property
    def left_m(self) -> float:
        """The left wheel's travel in m, as the encoder estimates it."""
        return self._left.travel_m

    @property
    def right_m(self) -> float:
        return self._right.travel_m

    def step(self, dt_s: float, travel_m: float, turn_rad: float) -> None:
        apart_m = self.half_track_m * turn_rad
        self._left.step(dt_s, travel_m - apart_m)
        self._right.step(dt_s, travel_m + apart_m)

    def counts(self) -> tuple[int, int]:
        """Return left and right counts, modulo 2**30; they rise going forward."""
        return (
            floor(self.left_m * self._counts_per_m) & COUNTER_MASK,
            floor(self.right_m * self._counts_per_m) & COUNTER_MASK,
        )
