"""Drive a figure-eight with a virtual Nigel, as fast as it can be computed."""

from __future__ import annotations

import tandem

SPEED_MPS = 0.4  # just below the cap of a Nigel
STEER_RAD = 0.0745  # a circle of 1.9 m across
CIRCLE_S = 15.0  # once around it


def main() -> list[tuple[float, float]]:
    """Drive once to the left and once to the right; return the path, in m."""
    path = []
    with tandem.open("sim://nigel", lockstep=True) as car:
        car.arm()
        for t_s in car.ticks(2 * CIRCLE_S):
            car.drive(
                SPEED_MPS, STEER_RAD if t_s < CIRCLE_S else -STEER_RAD
            )  # m/s and rad: see CIRCLE_S
            x_m, y_m, _ = car.pose
            path.append((x_m, y_m))
    return path


if __name__ == "__main__":
    path = main()
    print(
        f"{len(path)} poses, from {min(y for _, y in path):.2f} to {max(y for _, y in path):.2f} m"
    )
