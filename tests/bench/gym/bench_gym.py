"""Steps of ``tandem.gym`` beside f1tenth_gym's: ``python tests/bench/gym/bench_gym.py``.

f1tenth_gym is in no package registry. The bench runs a checkout of it by a Python of its own:

    git clone https://github.com/f1tenth/f1tenth_gym ~/f1tenth_gym
    python3 -m venv ~/gym && ~/gym/bin/pip install numba scipy pillow pyyaml
    TANDEM_GYM=~/f1tenth_gym TANDEM_GYM_PYTHON=~/gym/bin/python python tests/bench/gym/bench_gym.py

The same map, poses and actions on both sides, in one run, a core each, by turns; compiling and
reset are not counted. Without a checkout ours alone is measured, and said to be.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from PIL import Image

from sim_mock.runtime import compiled
from sim_mock.tracks.loading import load_centre_line, load_track
from tests.bench.support.sheet import Cell, Sheet, publish, verdict

GYM, GYM_PYTHON = "TANDEM_GYM", "TANDEM_GYM_PYTHON"
TRACK, SPEED_MPS, STEPS, ROUNDS = "corridor", 0.5, 300, 5
CELL_M, MARGIN_M = 0.05, 1.0
BEHIND_M = 1.5  # of the second car, behind the first
TRACK_STEPS = 100_000  # of 1 ms, of the bodies alone
BODIES = (1, 10, 100, 1000, 10_000)
AIMS = {"one car": 0.9, "two cars": 1.5, "1000 bodies": 20.0}  # times their steps as shipped


class Side:
    """A process that measures on request."""

    def __init__(self, stack: ExitStack, command: list[str], **changes: str) -> None:
        self._process = stack.enter_context(
            subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                env={**os.environ, **changes},
            )
        )
        stack.callback(self._process.kill)

    def ask(self, what: str, **asked: Any) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"what": what, **asked}) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit(f"the side that measures {what} ended with {self._process.wait()}")
        return json.loads(line)


def draw_map(folder: Path) -> str:
    """Draw our track as a ROS map, for theirs; return its path without the ending."""
    area = load_track(TRACK)
    low = area.walls.reshape(-1, 2).min(axis=0) - MARGIN_M
    high = area.walls.reshape(-1, 2).max(axis=0) + MARGIN_M
    columns, rows = (int(it) for it in np.ceil((high - low) / CELL_M))
    cells = [
        [
            area.is_free(low[0] + (x + 0.5) * CELL_M, low[1] + (y + 0.5) * CELL_M)
            for x in range(columns)
        ]
        for y in reversed(range(rows))
    ]
    Image.fromarray(np.where(cells, 254, 0).astype(np.uint8)).save(folder / f"{TRACK}.png")
    (folder / f"{TRACK}.yaml").write_text(
        f"image: {TRACK}.png\nresolution: {CELL_M}\norigin: [{low[0]}, {low[1]}, 0.0]\n"
        "negate: 0\noccupied_thresh: 0.65\nfree_thresh: 0.196\n",
        encoding="utf-8",
    )
    return str(folder / TRACK)


def poses(count: int) -> list[list[float]]:
    """Return poses on the first straight of the centre line, the first car in front."""
    line = load_centre_line(TRACK)
    x_m, y_m = line[1] - line[0]
    yaw_rad = float(np.arctan2(y_m, x_m))
    ahead = np.array((np.cos(yaw_rad), np.sin(yaw_rad)))
    return [[*(line[0] - i * BEHIND_M * ahead).tolist(), yaw_rad] for i in range(count)]


def theirs(stack: ExitStack) -> Side | None:
    if GYM not in os.environ:
        return None
    folder = Path(os.environ[GYM]).expanduser() / "gym"
    python = os.environ.get(GYM_PYTHON, sys.executable)
    script = Path(__file__).with_name("gym_theirs.py")
    return Side(stack, [python, str(script), str(folder)])


def ours(stack: ExitStack) -> Side:
    build = subprocess.run([sys.executable, "-m", "sim_mock.runtime.compiled"], check=False)
    word = "0" if build.returncode else "1"
    return Side(stack, [sys.executable, "-m", "tests.bench.gym.gym_ours"], **{compiled.ASKED: word})


def cars_row(name: str, count: int, mine: Side, other: Side | None, map_file: str) -> list[Cell]:
    """Return steps a second: ours, theirs as shipped, without scans, and bodies alone."""
    place = {"poses": poses(count), "steps": STEPS, "speed_mps": SPEED_MPS}
    took: dict[str, list[float]] = {}
    for _ in range(ROUNDS):  # by turns, so that what disturbs one disturbs all
        took.setdefault("ours", []).append(mine.ask("cars", track=TRACK, **place)["step_s"])
        for what in ("as shipped", "no scans", "bodies") if other else ():
            asked = {**place, "map": map_file, "extension": ".png"}
            assert other is not None
            took.setdefault(what, []).append(other.ask(what, **asked))
    rates: Mapping[str, float] = {what: 1.0 / median(of) for what, of in took.items()}
    times = rates["ours"] / rates["as shipped"] if other else None
    return [
        name,
        *(rates.get(what) for what in ("ours", "as shipped", "no scans", "bodies")),
        times,
        None if times is None else verdict(times >= AIMS[name]),
    ]


def bodies_rows(mine: Side, shipped: Cell, alone: Cell) -> Iterator[list[Cell]]:
    for count in BODIES:
        steps = max(10, min(STEPS, 300_000 // count))
        asked = {"cars": count, "steps": steps, "speed_mps": 1.0, "track": TRACK}
        took: dict[str, list[float]] = {"races": [], "bodies": []}
        for _ in range(ROUNDS):
            for what, of in took.items():
                of.append(mine.ask(what, **asked)["step_s"])
        races, bodies = (count / median(of) for of in took.values())
        times = races / float(shipped) if shipped else None
        aim = AIMS.get(f"{count} bodies")
        yield [
            count,
            races,
            times,
            bodies,
            bodies / float(alone) if alone else None,
            verdict(times >= aim) if aim and times else None,
        ]


def single_tracks(mine: Side, other: Side | None) -> Sheet:
    """The body of one car alone, without its program: steps of 1 ms."""
    took: dict[str, list[float]] = {}
    for _ in range(ROUNDS):
        took.setdefault("ours", []).append(mine.ask("single track")["step_s"])
        for what in ("single track", "single track in numba") if other else ():
            assert other is not None
            took.setdefault(what, []).append(other.ask(what, steps=TRACK_STEPS))
    rates = {what: 1.0 / median(of) for what, of in took.items()}
    called = rates.get("single track")
    rows: list[list[Cell]] = [
        ["ours as machine code, two evaluations (rk2), called from Python", rates["ours"]]
    ]
    if called:
        rows += [
            ["theirs by numba, one evaluation (Euler), called from Python", called],
            [
                "theirs, the same in a loop that numba compiles too",
                rates["single track in numba"],
            ],
        ]
    return Sheet(
        "A single track alone: steps of 1 ms a second of one core",
        ("", "steps/s", "times theirs called", "aim"),
        [
            [*row, row[1] / called if called else None, _as_fast(number, row[1], called)]
            for number, row in enumerate(rows)
        ],
    )


def _as_fast(number: int, rate: Cell, called: float | None) -> Cell:
    is_ours = number == 0 and called is not None and isinstance(rate, float)
    return verdict(rate >= called) if is_ours else None


def measure() -> Iterator[Sheet]:
    with ExitStack() as stack, tempfile.TemporaryDirectory() as folder:
        map_file = draw_map(Path(folder))
        mine, other = ours(stack), theirs(stack)
        rows = [
            cars_row(name, count, mine, other, map_file)
            for name, count in (("one car", 1), ("two cars", 2))
        ]
        is_quick = mine.ask("bodies", cars=1, steps=1, speed_mps=1.0)["machine_code"]
        how = "machine code" if is_quick else "plain Python: nothing can be compiled here"
        columns = ("", "ours", "theirs, as shipped", "theirs, no scans", "their bodies alone")
        missing = () if other else (f"f1tenth_gym: not run, {GYM} names no checkout of it",)
        yield Sheet(
            f"Steps of 10 ms a second of one core, {TRACK}, {STEPS} steps, median of {ROUNDS}",
            (*columns, "times as shipped", "aim"),
            rows,
            (
                f"ours: program, plant at 1 ms, link both ways and drive of each car as {how};",
                "LIDAR in NumPy, scans of 1080 rays at 40 Hz: in two steps of five",
                "theirs, by numba: single track by RK4 at 10 ms, scans of 1080 rays at each step",
                *missing,
            ),
        )
        yield single_tracks(mine, other)
        shipped, alone = (rows[0][place] for place in (2, 4))
        yield Sheet(
            "Bodies at once in NumPy, without scans: steps of 10 ms of a car, a second of one core",
            (
                *("bodies", "tandem/BodyRace-v0", "times theirs as shipped"),
                *("motion alone", "times their bodies alone", "aim"),
            ),
            list(bodies_rows(mine, shipped, alone)),
            missing,
        )


if __name__ == "__main__":
    publish("gym", measure)
