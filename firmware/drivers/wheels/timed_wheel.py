"""Fine counts of a wheel with few magnets: the speed that ``wheel_sensor`` measures, added up.

A magnet in 0.2 m is too coarse for a speed loop. Between two edges the wheel is taken to roll on at
the sensor's speed. Each edge is a place on the tyre: what the sum is off from it is made up for
over half a second.
"""

from firmware.compat import TYPE_CHECKING
from firmware.drivers.ticks import age_us

if TYPE_CHECKING:
    from firmware.drivers.wheels.wheel_sensor import WheelSensor

_DRAWN_US = 500_000  # what it is behind by is made up within this time, so that no step jumps
_MASK = (1 << 30) - 1
_STEP_MAX_US = 20_000  # of one step: after a hang it rolls no farther at once
_TOP_MM_S = 25_000  # in that time 5e8 nm, and as much is drawn: within 30 bits
_BEHIND_MAX_UM = 500_000  # as far as the longest gap: more is not made up for
_EDGES_MAX = 1_000  # in a step: times the longest gap it is still within 30 bits


class TimedWheel:
    """A wheel's count, modulo 2**30, with ``counts_per_gap`` counts for each ``gap_um``.

    Raises ValueError for a gap without counts, or one of more than half a metre.
    """

    def __init__(self, sensor: "WheelSensor", gap_um: int, counts_per_gap: int) -> None:
        if not 0 < counts_per_gap <= gap_um <= 500_000:  # half a metre: a wheel with one magnet
            raise ValueError("counts_per_gap is 1 to gap_um, that 500000 at most; correct them")
        self._sensor = sensor
        self._gap_um = gap_um
        self._nm_per_count = gap_um * 1000 // counts_per_gap
        self.count = 0
        self._rest_nm = 0  # rolled, and not a whole count yet
        self._behind_um = 0  # the edges ahead of what was added up
        self._missing_um = 0  # of it as the last edge showed it, not made up for yet
        self._edges = 0
        self._stepped_us = 0

    def read(self, now_us: int) -> None:
        sensor = self._sensor
        sensor.step(now_us)
        dt_us = min(age_us(now_us, self._stepped_us), _STEP_MAX_US)
        self._stepped_us = now_us
        self._see(sensor.count - self._edges & _MASK)
        self._edges = sensor.count
        if sensor.speed_mm_s:
            drawn_um = self._missing_um // (_DRAWN_US // max(dt_us, 1))
            self._missing_um -= drawn_um
            self._roll(max(min(sensor.speed_mm_s, _TOP_MM_S) * dt_us + drawn_um * 1000, 0))

    def _see(self, edges: int) -> None:
        if not self._sensor.speed_mm_s:  # what it rolls before its speed is known is not made up
            self._behind_um = self._missing_um = 0
        elif edges:
            ahead_um = min(edges, _EDGES_MAX) * self._gap_um
            self._behind_um = min(self._behind_um + ahead_um, _BEHIND_MAX_UM)
            self._missing_um = self._behind_um

    def _roll(self, travel_nm: int) -> None:
        self._behind_um = max(self._behind_um - travel_nm // 1000, -_BEHIND_MAX_UM)
        self._rest_nm += travel_nm
        whole = self._rest_nm // self._nm_per_count
        self._rest_nm -= whole * self._nm_per_count
        self.count = self.count + whole & _MASK
