"""AutoRally round its track by MPPI with its paper's cost: lap times, speeds and slip.

The car is ``sim://autorally?model=autorally_full``, the paper's model of eleven degrees of freedom,
on its track as the paper measures it; MPPI plans on a single track with the vehicle file's tyres.
Where it is a GPS tells it, 20 times a second, 2 cm off and 50 ms late, with the true heading.

    python -m tests.studies.racing.autorally --speeds 4 6 8 --laps 5
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from math import degrees, hypot
from pathlib import Path

import numpy as np

from host_bridge.core import Profile
from host_bridge.drive.lockstep.car import LockstepCar
from host_bridge.inputs.paths.area_paths import centre_of_area
from tests.studies.racing.driving import Course, PoseFile, RaceResult, raced, started_on
from tests.support.kept_rows import KeptRows, sources_of

TRACK, MODEL = "autorally", "autorally_full"
GPS_HZ, GPS_LATE_US, GPS_NOISE_M = 20.0, 50_000, 0.02  # the vehicle file's [plant.position]
# m/s²: mu * g and a bit, so that nothing but the tyres limits it, as in the paper
LATERAL_MPS2, DECEL_MPS2 = 11.0, 3.0
WIDE_M, FAR_M = 1.2, 1.6  # of 1.65 to a wall; the car is 0.6 wide
SOURCES = (
    "firmware/**/*.py", "hardware/vehicles/**/*.toml", "host_bridge/cars/*.py",
    "host_bridge/config/**/*.py", "host_bridge/core/**/*.py", "host_bridge/drive/*.py",
    "host_bridge/drive/lockstep/*.py", "host_bridge/inputs/paths/**/*.py",
    "host_bridge/link/**/*.py", "sim_mock/**/*.py", "sim_mock/tracks/*.toml",
    "tests/studies/racing/*.py",
)  # fmt: skip


class Gps:
    """Tells where the car is as its GPS would, and which way it looks as its IMU would."""

    def __init__(self, car: LockstepCar, poses: PoseFile, seed: int) -> None:
        self._car, self._poses = car, poses
        self._random = np.random.default_rng([seed, 20])
        self._next_us = 0
        self.errors_m: list[float] = []

    def tick(self) -> None:
        """After each tick of the drive."""
        motion, world = self._car.car.motion, self._car.world
        if motion is None or world.now_us < self._next_us:
            return
        self._next_us = world.now_us + round(1e6 / GPS_HZ)
        x, y, yaw = world.plant.truth.values()[:3]
        off_x, off_y = self._random.normal(0.0, GPS_NOISE_M, 2)
        self.errors_m.append(hypot(off_x, off_y))
        row = {
            "sensor": "pose", "taken_s": motion.captured_us * 1e-6, "x_m": x + off_x,
            "y_m": y + off_y, "yaw_rad": yaw, "std_m": GPS_NOISE_M * 2**0.5, "is_lost": False,
            "odometry": [motion.x_m, motion.y_m, motion.yaw_rad],
        }  # fmt: skip
        self._poses.put(self._car.clock.now_us() + GPS_LATE_US, json.dumps(row))


@dataclass(frozen=True)
class Drive:
    """One drive at one speed asked for; all but the first lap count."""

    speed_mps: float
    seed: int
    laps_s: list[float]
    hits: int
    why: str
    mean_mps: float
    top_mps: float
    slip_rms_deg: float
    slip_most_deg: float


def driven(speed_mps: float, seed: int, laps: int) -> Drive:
    """Drive so many laps."""
    line = centre_of_area(TRACK, None, 0.1)[0]
    query = (
        f"law=mppi&cost=autorally&lateral={LATERAL_MPS2}&decel={DECEL_MPS2}&wide={WIDE_M}"
        f"&far={FAR_M}&seed={seed}"
    )
    uri = f"sim://autorally?model={MODEL}&track={TRACK}&seed={seed}&{started_on(line)}"
    course = Course(uri, {}, line, query, laps, speed_mps, Profile.TRACK)
    return _drive_of(speed_mps, seed, raced(course, lambda car, poses: Gps(car, poses, seed)))


def _drive_of(speed_mps: float, seed: int, found: RaceResult) -> Drive:
    begun = round(found.laps_s[0] / 0.01) if found.laps_s else 0  # ticks of the first lap
    speeds, slips = found.speeds_mps[begun:] or [0.0], found.slips_rad[begun:] or [0.0]
    return Drive(
        speed_mps, seed, found.laps_s, found.hits, found.why,
        float(np.mean(speeds)), float(np.max(speeds)),
        degrees(float(np.sqrt(np.mean(np.square(slips))))), degrees(float(np.max(np.abs(slips)))),
    )  # fmt: skip


def lines(drives: Sequence[Drive]) -> Iterator[str]:
    """The table, and what the paper says."""
    yield "asked   lap (mean)   speed mean / top   slip rms / most   hits"
    for it in drives:
        lap = f"{np.mean(it.laps_s[1:]):6.2f} s" if len(it.laps_s) > 1 else "  none"
        yield (
            f"{it.speed_mps:3.0f} m/s  {lap}     {it.mean_mps:4.2f} / {it.top_mps:4.2f} m/s    "
            f"{it.slip_rms_deg:4.1f} / {it.slip_most_deg:4.1f} deg   {it.hits}  {it.why}"
        )
    yield "the paper: 68 m a lap; a target of 6 m/s by MPPI, 4 to 10 m/s by hand; no lap times"


def main(words: Sequence[str] | None = None) -> int:
    """0 when all were driven, 130 when somebody stopped it; either way with what there is."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--speeds", type=float, nargs="+", default=[4, 6, 8], metavar="MPS")
    parser.add_argument("--laps", type=int, default=5, help="laps of a drive (5)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--into", type=Path, metavar="FILE", help="keep each drive, and go on there"
    )
    args = parser.parse_args(words)
    kept = KeptRows(args.into, sources_of(SOURCES)) if args.into else None
    rows = kept.rows if kept else []
    known = {(row["speed_mps"], row["seed"], row.pop("laps")): Drive(**row) for row in rows}
    found, code = [], 0
    try:
        for speed_mps in args.speeds:
            one = known.get((speed_mps, args.seed, args.laps))
            if one is None:
                one = driven(speed_mps, args.seed, args.laps)
                if kept:
                    kept.add({**asdict(one), "laps": args.laps})
            found.append(one)
            print(f"{speed_mps:g} m/s: {one.laps_s} {one.why}", flush=True)
    except KeyboardInterrupt:
        code = 130
    print(*lines(found), sep="\n")
    return code


if __name__ == "__main__":
    sys.exit(main())
