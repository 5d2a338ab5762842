"""A wheel's speed by the time between its magnets (hall sensor), without a direction.

The speed is that of the last gap, and while no edge comes at most what the wait still allows; after
``floor_us`` it is standstill. A gap that is shorter than the top speed allows is bounce; one that
would need more acceleration than the car has is a stray edge: neither counts.
"""

from firmware.compat import TYPE_CHECKING
from firmware.drivers.ticks import age_us

if TYPE_CHECKING:
    from machine import Pin

    from firmware.drivers.ticks import TicksUs

_MASK = (1 << 30) - 1
_LONGEST_FLOOR_US = 10_000_000  # ten seconds without an edge are standstill for every car
_MOST_STRAY = 2  # in a row: then the wheel really is that fast, and the next gap will tell


class WheelSensor:
    """The edges of a wheel's magnets, and the speed by them.

    ``gap_um`` is the way from magnet to magnet (the tyre's circumference over the magnets), at most
    1000000 um; ``top_mm_s`` what the car can reach and ``most_mm_s2`` how fast it gets there (slip
    included, at most 50000); ``floor_us`` the wait that is taken for standstill. Raises ValueError
    if these do not fit together.

    ``on_edge`` is for the pin's interrupt, one edge of the two.
    """

    def __init__(
        self,
        ticks_us: "TicksUs",
        gap_um: int,
        top_mm_s: int,
        most_mm_s2: int,
        floor_us: int,
    ) -> None:
        if not 0 < gap_um <= 1_000_000 or top_mm_s <= 0:
            raise ValueError("gap_um is 1 to 1000000 and top_mm_s above 0; correct the wheel")
        # five times gravity: as fast as wheels spin up, whatever the tyres
        if not 0 < most_mm_s2 <= 50_000:
            raise ValueError("most_mm_s2 is 1 to 50000; correct the wheel")
        self._ticks_us = ticks_us
        self._gap_um = gap_um
        self._least_us = max(1, gap_um * 1000 // top_mm_s)
        if not self._least_us < floor_us <= _LONGEST_FLOOR_US:
            raise ValueError("floor_us is the gap at top speed to 10000000; correct the wheel")
        self._most_mm_s2 = most_mm_s2
        self._floor_us = floor_us
        self._edge_us = 0
        self._gap_us = 0  # 0: not known, the wheel stood
        self._is_known = False
        self._stray_in_a_row = 0
        self.count = 0  # edges, modulo 2**30
        self.captured_us = 0  # when the last one came
        self.refused = 0
        self.speed_mm_s = 0

    def on_edge(self, pin: "Pin") -> None:
        self.edge(self._ticks_us())

    def edge(self, at_us: int) -> None:
        gap_us = age_us(at_us, self._edge_us)
        if self._is_known and (gap_us < self._least_us or self._is_stray(gap_us)):
            self.refused += 1
            return
        is_sure = self._is_known and self._stray_in_a_row < _MOST_STRAY
        self._stray_in_a_row = 0
        self._gap_us = gap_us if is_sure else 0
        self._is_known = True
        self._edge_us = at_us
        self.count = self.count + 1 & _MASK

    def _is_stray(self, gap_us: int) -> bool:
        if not self._gap_us or self._stray_in_a_row == _MOST_STRAY:
            return False
        gain_mm_s = self._speed_mm_s(gap_us) - self._speed_mm_s(self._gap_us)
        is_stray = gain_mm_s > self._most_mm_s2 * ((gap_us + self._gap_us) // 1000 + 1) // 1000
        self._stray_in_a_row += is_stray
        return is_stray

    def _speed_mm_s(self, gap_us: int) -> int:
        return self._gap_um * 1000 // gap_us

    def step(self, now_us: int) -> None:
        count = -1
        while count != self.count:  # an edge in between: read again
            count = self.count
            edge_us = self._edge_us
            gap_us = self._gap_us
        waited_us = age_us(now_us, edge_us)
        if waited_us > _MASK - 1000:  # an edge after ``now_us`` was taken
            waited_us = 0
        if not self._is_known or waited_us >= self._floor_us:
            self._is_known = False
            self._gap_us = 0
            self.speed_mm_s = 0
        elif gap_us:
            self.speed_mm_s = self._speed_mm_s(max(gap_us, waited_us))
        self.captured_us = edge_us
