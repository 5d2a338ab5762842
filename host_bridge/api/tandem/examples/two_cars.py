"""Let one virtual car follow another by its LIDAR: two cars in one scene."""

from __future__ import annotations

from math import isfinite

import tandem

GAP_M = 1.0
PLACE = "sim://f1tenth?track=corridor&scene=race"


def main(seconds: float = 5.0) -> tuple[float, float]:
    """Drive both along the corridor's first straight; return the last gap and the way, in m."""
    with (
        tandem.open(f"{PLACE}&name=ahead&start=1.5,0,0", lockstep=True) as ahead,
        tandem.open(f"{PLACE}&name=behind", lockstep=True) as behind,
    ):
        ahead.arm()
        behind.arm()
        gap_m = GAP_M
        for _ in tandem.ticks(ahead, behind, seconds=seconds):
            gap_m = behind.scan().nearest_m(0.0, 0.2)
            ahead.drive(0.8)
            behind.drive(max(0.0, 0.8 + 1.5 * (gap_m - GAP_M)) if isfinite(gap_m) else 0.0)
        return gap_m, ahead.truth().x_m - 1.5


if __name__ == "__main__":
    gap_m, way_m = main()
    print(f"a gap of {gap_m:.2f} m after {way_m:.1f} m")
