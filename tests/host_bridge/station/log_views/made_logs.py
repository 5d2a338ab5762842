"""Logs of a made drive: it stands, drives straight, and stands; in virtual time."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from host_bridge.logs import recorder

STEP_S = 0.01


class Clock:
    """A recording host's clock, which somebody sets."""

    def __init__(self) -> None:
        self.now = 1_000_000

    def now_us(self) -> int:
        return self.now


def nothing() -> Callable[[bytes], list]:
    return lambda data: []


def made_log(
    path: Path,
    speed_mps: float,
    *,
    stands_s: float = 1.0,
    drives_s: float = 2.0,
    cars: Iterable[str] = ("red",),
    marks: tuple[tuple[float, str], ...] = (),
) -> Path:
    """Write it; each car reports status and motion each 10 ms, and its battery once."""
    clock = Clock()
    log = recorder.create(path, clock, 0, {"version": "1", "protocol_hash": "0"}, nothing)
    for car in cars:
        log.car(car, {"vehicle": "nigel", "uri": f"sim://{car}"})
    left = sorted(marks)
    driven_m = 0.0
    for n in range(round((2 * stands_s + drives_s) / STEP_S)):
        clock.now = 1_000_000 + round(n * STEP_S * 1e6)
        drives = stands_s <= n * STEP_S < stands_s + drives_s
        mps = speed_mps if drives else 0.0
        driven_m += mps * STEP_S
        state, causes = ("ACTIVE", []) if drives else ("STANDBY", ["SILENCE"] if n else [])
        while left and left[0][0] <= n * STEP_S:
            at_s, words = left.pop(0)
            log.note(f"mark at {at_s:.1f} s: {words}")
        for car in cars:
            row = {"state": state, "causes": causes, "speed_mps": mps, "steer_rad": 0.1}
            log.message(car, "status", row, clock.now)
            pose = {"x_m": driven_m, "y_m": 1.0, "yaw_rad": 0.0, "distance_m": driven_m}
            log.message(car, "motion", pose, clock.now)
            if n == 0:
                log.message(car, "power", {"battery_v": 11.5}, clock.now)
    log.note("2 bytes of red were not logged")
    log.close()
    return path
