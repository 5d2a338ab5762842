"""Let one virtual car follow another by its LIDAR: two cars in one scene."""

from __future__ import annotations

from math import isfinite

import tandem

GAP_M = 1.0
SPEED_MPS = 0.8  # of the car ahead
GAIN_PER_S = 1.5  # m/s faster for each m that the gap is too long; chosen by trial
SECTOR_RAD = 0.2  # as wide as a car 1 m ahead
STRAIGHT_S = 5.0  # before the first bend
STARTS_M = 1.5  # the car ahead, from the start line
PLACE = "sim://f1tenth?track=corridor&scene=race"


def main(seconds: float = STRAIGHT_S) -> tuple[float, float]:
    """Drive both along the corridor's first straight; return the last gap and the way, in m."""
    with (
        tandem.open(f"{PLACE}&name=ahead&start={STARTS_M},0,0", lockstep=True) as ahead,
        tandem.open(f"{PLACE}&name=behind", lockstep=True) as behind,
    ):
        ahead.arm()
        behind.arm()
        gap_m = GAP_M
        for _ in tandem.ticks(ahead, behind, seconds=seconds):
            gap_m = behind.scan().nearest_m(0.0, SECTOR_RAD)
            ahead.drive(SPEED_MPS)
            follows_mps = max(0.0, SPEED_MPS + GAIN_PER_S * (gap_m - GAP_M))
            behind.drive(follows_mps if isfinite(gap_m) else 0.0)
        return gap_m, ahead.truth().x_m - STARTS_M


if __name__ == "__main__":
    gap_m, way_m = main()
    print(f"a gap of {gap_m:.2f} m after {way_m:.1f} m")
