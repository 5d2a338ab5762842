"""Races of an F1TENTH with a VESC on a track, localised by its LIDAR: which law is how fast.

Each race is a drive of the complete virtual car by the complete host in lockstep, with the particle
filter of ``tandem localise`` beside it (``localiser.py``); its poses come 50 ms late. The first lap
begins at rest; the others count. Each law drives with the settings with which it was fastest and
clean in seeds that the races do not use; ``--tune`` races them all.

    python -m tests.studies.racing.race --seeds 6 --laps 10 --into races.jsonl
    python -m tests.studies.racing.race --tune --into tuned.jsonl
    python -m tests.studies.racing.race --law mppi --seeds 1 --laps 2
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import t as student

from host_bridge.core import Profile
from host_bridge.inputs.paths.area_paths import centre_of_area, race_limits, race_of_area
from host_bridge.inputs.paths.path import Path as DrivenPath
from host_bridge.inputs.paths.path_options import MPPI
from host_bridge.inputs.paths.racing_line import SpeedLimits
from host_bridge.mapping.likelihood_field import LikelihoodField
from sim_mock.tracks.loading import load_area
from tests.studies.racing.driving import HOST, Course, raced, started_on
from tests.studies.racing.localiser import LockstepLocaliser, field_of
from tests.support.kept_rows import KeptRows, sources_of

TRACK, VEHICLE = "corridor", "f1tenth_vesc"
# As somebody's own vehicle file would have it: a script may drive as fast as the car, by leases so
# short that it is blind for 0.42 m. No runstop box is needed, which has no part in virtual time
CHANGES = {
    "sources.script.speed_cap_mps": 7.0,
    "sources.script.lease_s": 0.06,
    "stop.sources.runstop_box.race": "optional",
}
TOP_MPS = 7.0
DECEL_MPS2 = 3.5  # of all laws: seven tenths of the vehicle file's
MARGIN_M = 0.3  # between the racing line and a wall, beside the car
FAR_M = 0.9  # beside the line the car is stopped: half the track, less half of the car
LATERALS = (4.2, 4.5, 4.9, 5.5)  # m/s²: six to eight tenths of the vehicle file's
TUNED = range(900, 902)  # seeds of --tune

# How each law drives: sideways acceleration in m/s², and what else its path's options say
LAWS: Mapping[str, tuple[float, str]] = {
    "pursuit": (4.5, ""),
    "stanley": (4.9, ""),
    "lqr": (4.9, ""),
    MPPI: (5.5, "&wide=0.55"),
}
SOURCES = (
    "firmware/**/*.py", "hardware/vehicles/**/*.toml", "host_bridge/cars/*.py",
    "host_bridge/config/**/*.py", "host_bridge/core/**/*.py", "host_bridge/drive/*.py",
    "host_bridge/drive/lockstep/*.py", "host_bridge/inputs/paths/**/*.py",
    "host_bridge/link/**/*.py", "host_bridge/mapping/*.py", "sim_mock/**/*.py",
    "sim_mock/tracks/*.toml", "tests/studies/racing/*.py",
)  # fmt: skip


@dataclass(frozen=True)
class Race:
    """What came of one: ``why`` says what stopped it, "" if it came to its end."""

    law: str
    lateral_mps2: float
    seed: int
    laps: int
    laps_s: list[float]
    hits: int
    why: str
    worst_m: float  # from the law's own line, by the localiser
    located_m: float  # the localiser's error, rms
    spent_s: float

    @property
    def is_clean(self) -> bool:
        """All laps driven, and no wall hit."""
        return not self.why and not self.hits and len(self.laps_s) == self.laps

    @property
    def lap_s(self) -> float:
        """The mean of all laps but the first, which begins at rest."""
        return float(np.mean(self.laps_s[1:]))


@lru_cache
def line_of(law: str, lateral_mps2: float) -> DrivenPath:
    """MPPI finds its own line within the track; the others follow the racing line."""
    if law == MPPI:
        return centre_of_area(TRACK, None, 0.1)[0]
    vehicle = HOST.vehicles.load(VEHICLE, CHANGES)
    of = race_limits(vehicle, TOP_MPS, 1.0)
    limits = SpeedLimits(TOP_MPS, lateral_mps2, of.accel_mps2, DECEL_MPS2)
    return race_of_area(TRACK, None, vehicle, limits, MARGIN_M)[0]


@lru_cache
def field() -> LikelihoodField:
    """The map in which the car is found."""
    area = load_area(TRACK, "")
    assert area is not None
    return field_of(area)


def driven(law: str, lateral_mps2: float, seed: int, laps: int) -> Race:
    """Drive one race."""
    line = line_of(law, lateral_mps2)
    query = f"law={law}&lateral={lateral_mps2}&decel={DECEL_MPS2}&far={FAR_M}{LAWS[law][1]}"
    course = Course(
        f"sim://{VEHICLE}?track={TRACK}&seed={seed}&{started_on(line)}", CHANGES, line,
        query + (f"&seed={seed}" if law == MPPI else ""), laps, TOP_MPS, Profile.RACE,
    )  # fmt: skip
    began_s = time.process_time()
    found = raced(course, lambda car, poses: LockstepLocaliser(car, poses, field(), seed))
    return Race(
        law, lateral_mps2, seed, laps, found.laps_s, found.hits, found.why, found.worst_m,
        found.located_m, round(time.process_time() - began_s, 1),
    )  # fmt: skip


class KeptRaces:
    """Races that a file has, and new ones, which it gets at once."""

    def __init__(self, file: Path | None) -> None:
        self._kept = KeptRows(file, sources_of(SOURCES)) if file else None
        rows = self._kept.rows if self._kept else []
        self._known = {_key(row): Race(**row) for row in rows}

    def race(self, law: str, lateral_mps2: float, seed: int, laps: int) -> Race:
        """As ``driven``."""
        known = self._known.get((law, lateral_mps2, seed, laps))
        if known is None:
            known = driven(law, lateral_mps2, seed, laps)
            if self._kept:
                self._kept.add(asdict(known))
        return known


def _key(row: Mapping[str, Any]) -> tuple[str, float, int, int]:
    return row["law"], row["lateral_mps2"], row["seed"], row["laps"]


def lines(races: Sequence[Race]) -> Iterator[str]:
    """The table, and each law beside pure pursuit by the same seeds."""
    yield "law        m/s^2  clean    lap (95 %)           error of the pose"
    by_law: dict[tuple[str, float], list[Race]] = {}
    for it in races:
        by_law.setdefault((it.law, it.lateral_mps2), []).append(it)
    for (law, lateral_mps2), rows in by_law.items():
        clean = [it for it in rows if it.is_clean]
        lap = interval([it.lap_s for it in clean])
        located_cm = 100 * np.mean([it.located_m for it in rows])
        share = f"{len(clean)} of {len(rows)}"
        yield f"{law:10} {lateral_mps2:5.1f}  {share}   {lap}   {located_cm:.1f} cm"
    first = {it.seed: it.lap_s for it in races if it.law == "pursuit" and it.is_clean}
    for (law, lateral_mps2), rows in by_law.items():
        ratios = [it.lap_s / first[it.seed] for it in rows if it.is_clean and it.seed in first]
        if law != "pursuit" and ratios:
            gained = interval([100 * (1.0 - it) for it in ratios])
            yield f"{law} at {lateral_mps2:g} m/s^2 is faster than pure pursuit by {gained} %"


def interval(values: Sequence[float]) -> str:
    """The mean, with its 95 % interval over the seeds (Student)."""
    if len(values) < 2:
        return f"{values[0]:.2f}" if values else "none clean"
    mean, spread = np.mean(values), np.std(values, ddof=1) / np.sqrt(len(values))
    half = float(student.ppf(0.975, len(values) - 1)) * spread
    return f"{mean:.2f} ({mean - half:.2f} to {mean + half:.2f})"


def main(words: Sequence[str] | None = None) -> int:
    """0 when all were driven, 130 when somebody stopped it; either way with what there is."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--law", choices=list(LAWS), action="append", help="some laws (all)")
    parser.add_argument("--seeds", type=int, default=6, help="races of each law (6)")
    parser.add_argument("--first", type=int, default=0, metavar="SEED", help="of the races (0)")
    parser.add_argument("--laps", type=int, default=10, help="laps of a race (10)")
    parser.add_argument("--tune", action="store_true", help="all settings, in seeds of their own")
    parser.add_argument("--into", type=Path, metavar="FILE", help="keep each race, and go on there")
    args = parser.parse_args(words)
    seeds = TUNED if args.tune else range(args.first, args.first + args.seeds)
    wanted = [
        (law, lateral, seed)
        for seed in seeds
        for law in args.law or LAWS
        for lateral in (LATERALS if args.tune else (LAWS[law][0],))
    ]
    kept, races, code = KeptRaces(args.into), [], 0
    try:
        for law, lateral_mps2, seed in wanted:
            one = kept.race(law, lateral_mps2, seed, args.laps)
            races.append(one)
            what = f"{one.lap_s:.2f} s a lap" if len(one.laps_s) > 1 else "no lap"
            said = "clean" if one.is_clean else f"{one.hits} hits, {one.why}"
            print(
                f"{law} {lateral_mps2:g} m/s^2 seed {seed}: {what}, {said}; worst "
                f"{one.worst_m:.2f} m, pose {one.located_m:.3f} m ({one.spent_s:.0f} s)",
                flush=True,
            )
    except KeyboardInterrupt:
        code = 130
    print(*lines(races), sep="\n")
    return code


if __name__ == "__main__":
    sys.exit(main())
