"""Drive a lap in the middle of a track by a PID controller on two ranges of the LIDAR."""

from __future__ import annotations

from math import radians

import tandem

K_P, K_I, K_D = 0.5, 0.02, 0.12  # rad per m, per m s, per m/s
STEP_S = 0.01  # between two ticks of a car in lockstep
SPEED_MPS = 1.5  # a lap in under a minute
LOOKS_DEG = 50  # to either side of straight ahead: how the track goes on
MOST_S = 90.0  # for a lap and a half


class Pid:
    """A controller: it makes a steering angle of how far the car is from the middle."""

    def __init__(self) -> None:
        self.sum_ms, self.before_m = 0.0, 0.0

    def step(self, error_m: float) -> float:
        self.sum_ms += error_m * STEP_S
        rate_mps, self.before_m = (error_m - self.before_m) / STEP_S, error_m
        return K_P * error_m + K_I * self.sum_ms + K_D * rate_mps


def main() -> tandem.LapTimes:
    """Drive one lap of the corridor; return its time."""
    with tandem.open("sim://f1tenth?track=corridor", lockstep=True) as car:
        pid, most_rad = Pid(), car.vehicle.steer_max_rad
        car.arm()
        for _ in car.ticks(MOST_S):
            scan = car.scan()
            left_m, right_m = (
                min(scan.nearest_m(radians(at)), 2.0) for at in (LOOKS_DEG, -LOOKS_DEG)
            )
            steer_rad = pid.step((left_m - right_m) / 2.0)
            car.drive(SPEED_MPS, max(-most_rad, min(most_rad, steer_rad)))
            if car.laps.count:
                break
        return car.laps


if __name__ == "__main__":
    laps = main()
    print(f"{laps.count} lap in {laps.last_s:.1f} s")
