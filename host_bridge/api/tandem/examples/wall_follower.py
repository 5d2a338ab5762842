"""Follow the wall on the right with a LIDAR: a virtual F1TENTH in a corridor."""

from __future__ import annotations

from math import atan2, cos, radians, sin

import tandem

DISTANCE_M = 0.8  # from the wall
AHEAD_M = 0.8  # the distance is kept where the car will be
BETWEEN_RAD = radians(45)
RIGHT_RAD = radians(-90)  # straight to the right
MOST_RAD = 0.4  # what an F1TENTH steers
GAIN_RAD_PER_M = 0.8  # chosen by trial on this track
SPEED_MPS = 1.2  # slow enough for the bends
DRIVE_S = 20.0  # along two walls and around a bend


def steering(scan: tandem.Scan) -> float:
    """Return the steering angle in rad: two beams to the right tell the wall's direction."""
    # 90 degrees to the right
    beside_m = scan.nearest_m(RIGHT_RAD)
    before_m = scan.nearest_m(RIGHT_RAD + BETWEEN_RAD)
    wall_rad = atan2(before_m * cos(BETWEEN_RAD) - beside_m, before_m * sin(BETWEEN_RAD))
    distance_m = beside_m * cos(wall_rad) + AHEAD_M * sin(wall_rad)
    # Within 0.4 rad, which every F1TENTH turns; 0.8 rad for each metre
    return max(-MOST_RAD, min(MOST_RAD, GAIN_RAD_PER_M * (DISTANCE_M - distance_m)))


def main(seconds: float = DRIVE_S) -> tuple[float, int]:  # s: a few bends
    """Drive; return the distance in m, and how often it hit a wall."""
    with tandem.open("sim://f1tenth?track=corridor", lockstep=True) as car:
        car.arm()
        for _ in car.ticks(seconds):
            car.drive(
                SPEED_MPS, steering(car.scan())
            )  # m/s: slow enough for the bends of this track
        return car.motion.distance_m, car.hits


if __name__ == "__main__":
    distance_m, hits = main()
    print(f"{distance_m:.1f} m along the wall, {hits} hits")
