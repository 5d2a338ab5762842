"""Rays per second of the virtual LIDAR: ``python tests/bench/bench_lidar.py``.

Beside it, in the same run, the same answers by trying every ray against every wall in numpy; and
f1tenth_gym's scans of its own maps at its own reach, where there is a checkout of it: it is in no
package index, and its compiler (numba) is none of ours.

    TANDEM_GYM=~/f1tenth_gym TANDEM_GYM_PYTHON=~/gym/bin/python python tests/bench/bench_lidar.py
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from math import radians
from pathlib import Path
from time import process_time

import numpy as np

from host_bridge.config import load_vehicle
from sim_mock.board.firmware_runner import InProcessRunner
from sim_mock.sensors.edge_casting import caster_of
from sim_mock.sensors.instruments import LidarScanner, SensorSample, instruments_of
from sim_mock.sensors.publishing import SampleWriter
from sim_mock.sensors.ray_casting import Caster, Floats, RayCaster
from sim_mock.tracks.driving_area import DrivingArea, Pose
from sim_mock.tracks.loading import load_track
from sim_mock.tracks.ros_map import edges, in_world, load_map
from sim_mock.virtual_car.config import virtual_car_config
from tests.bench.support.sheet import Sheet, publish

RAYS, STEP_RAD, FIRST_RAD, REACH_M = 1081, radians(0.25), radians(-135), 10.0
AIM_HZ = 40.0
CELL_M = 0.05
GYM_RAYS, GYM_FOV_RAD, GYM_REACH_M = 1080, 4.7, 30.0  # its own defaults
GYM, GYM_PYTHON = "TANDEM_GYM", "TANDEM_GYM_PYTHON"
GYM_POSES = 40
SPOTS = [(0.1 * i, 0.02 * i, 0.3 * i) for i in range(-5, 6)]


def mapped(track: DrivingArea) -> DrivingArea:
    """As a scanner would have mapped it: cells of 5 cm, walls two thick, a tenth of them lost."""
    x, y = (np.arange(limits[0] - 1.0, limits[1] + 1.0, CELL_M) for limits in bounds(track))
    is_free = np.array([[track.is_free(a, b) for a in x] for b in y])
    near = is_free
    for _ in range(2):
        near = near | np.roll(near, 1, 0) | np.roll(near, -1, 0)
        near = near | np.roll(near, 1, 1) | np.roll(near, -1, 1)
    is_wall = near & ~is_free & (np.random.RandomState(1).random_sample(near.shape) > 0.1)
    frame = Pose(x[0] - CELL_M / 2, y[0] - CELL_M / 2, 0.0)
    walls = in_world(edges(is_wall).reshape(-1, 2) * CELL_M, frame).reshape(-1, 4)
    return DrivingArea(f"{track.title}, as a map", walls, track.is_free, frame)


def bounds(track: DrivingArea) -> Floats:
    points = track.walls.reshape(-1, 2)
    return np.stack((points.min(axis=0), points.max(axis=0)), axis=1)


def every_wall(walls: Floats, x_m: float, y_m: float, yaw_rad: float) -> Floats:
    """All rays against all walls."""
    bearings = yaw_rad + FIRST_RAD + STEP_RAD * np.arange(RAYS)
    dx, dy = np.cos(bearings)[:, None], np.sin(bearings)[:, None]
    px, py = walls[:, 0] - x_m, walls[:, 1] - y_m
    ex, ey = walls[:, 2] - walls[:, 0], walls[:, 3] - walls[:, 1]
    across = dx * ey - dy * ex
    with np.errstate(divide="ignore", invalid="ignore"):
        distance, share = (px * ey - py * ex) / across, (px * dy - py * dx) / across
    distance[~((distance >= 0.0) & (share >= -1e-9) & (share <= 1.0 + 1e-9))] = np.inf
    ranges = distance.min(axis=1)
    return np.where(ranges > REACH_M, np.inf, ranges)


def best_s(work: Callable[[tuple[float, float, float]], object], rounds: int) -> float:
    """Seconds of a core for one scan; of several rounds over all spots the best."""
    taken = []
    for _ in range(rounds):
        begun = process_time()
        for spot in SPOTS:
            work(spot)
        taken.append(process_time() - begun)
    return min(taken) / len(SPOTS)


def casting() -> Iterator[tuple[str | float | None, ...]]:
    """A row per place."""
    places = [load_track(name) for name in ("oval", "corridor", "autorally")]
    for area in (*places, mapped(places[1])):
        caster, walls = caster_of(area), area.walls

        def cast(spot: tuple[float, float, float], caster: Caster = caster) -> Floats:
            x_m, y_m, yaw_rad = spot
            return caster.cast(x_m, y_m, yaw_rad + FIRST_RAD, STEP_RAD, RAYS, REACH_M)

        def try_all(spot: tuple[float, float, float], walls: Floats = walls) -> Floats:
            return every_wall(walls, *spot)

        for spot in SPOTS:
            np.testing.assert_allclose(cast(spot), try_all(spot), rtol=1e-9)
        ours_s, all_s = best_s(cast, 20), best_s(try_all, 1)
        yield area.title, len(walls), 1e3 * ours_s, RAYS / ours_s, 1e3 * all_s, all_s / ours_s


def parts() -> Iterator[tuple[str, float, float, str]]:
    """What a scan takes until it is out, each part with all before it."""
    world = virtual_car_config(load_vehicle("f1tenth"), {}).make_world(InProcessRunner)
    found = instruments_of(world, 1, load_track("corridor"))
    scanner = next(one for one in found if isinstance(one, LidarScanner))
    lines = SampleWriter(os.devnull)

    def publish_it() -> None:
        lines.put(SensorSample("lidar", 0, 0, *scanner.take(world)))

    steps: tuple[tuple[str, Callable[[], object]], ...] = (
        ("rays, noise, dropouts", lambda: scanner.take(world)),
        ("and written as a line of JSON, with the truth", publish_it),
    )
    for what, work in steps:
        scan_s = best_s(lambda _spot, work=work: work(), 20)  # type: ignore[misc]
        yield what, 1e3 * scan_s, 1 / scan_s, "pass" if 1 / scan_s > 4 * AIM_HZ else "FAIL"


def beside_gym(folder: Path) -> Iterator[tuple[str | float, ...]]:
    """A row per map of the gym's; both scan from the same free places of it."""
    envs = folder / "gym" / "f110_gym" / "envs"
    for file in sorted(envs.glob("maps/*.yaml")):
        image = file.with_suffix(".png")
        if image.exists():
            yield _row_beside_gym(envs / "laser_models.py", file, image.suffix)


def _row_beside_gym(scanner: Path, file: Path, extension: str) -> tuple[str | float, ...]:
    area = load_map(file)
    poses = free_poses(area)
    asked = {
        "map": str(file), "extension": extension, "rays": GYM_RAYS, "fov_rad": GYM_FOV_RAD,
        "reach_m": GYM_REACH_M, "poses": poses,
    }  # fmt: skip
    python = os.environ.get(GYM_PYTHON, sys.executable)
    words = [python, str(Path(__file__).parent / "support" / "gym_rays.py"), str(scanner)]
    done = subprocess.run(
        words, check=True, input=json.dumps(asked), text=True, stdout=subprocess.PIPE
    )
    theirs = json.loads(done.stdout)
    scan_s, scans = _scanned(caster_of(area), poses)
    any_s, _ = _scanned(RayCaster(area.walls), poses)
    apart_m = np.abs(np.minimum(scans, GYM_REACH_M) - np.array(theirs["ranges"]))
    ours, general, other = GYM_RAYS / scan_s, GYM_RAYS / any_s, GYM_RAYS / theirs["scan_s"]
    apart_mm = 1e3 * float(np.median(apart_m))
    times = f"{ours / other:.2f}", f"{general / other:.2f}"
    return file.stem, len(area.walls), ours, other, *times, apart_mm


def _scanned(caster: Caster, poses: list[tuple[float, float, float]]) -> tuple[float, list[Floats]]:
    """Seconds of a core a scan, the best of several rounds, and the ranges of each pose."""
    step_rad = GYM_FOV_RAD / (GYM_RAYS - 1)
    scans, taken = [], []
    for _ in range(30):
        begun = process_time()
        scans = [
            caster.cast(x, y, yaw - GYM_FOV_RAD / 2, step_rad, GYM_RAYS, GYM_REACH_M)
            for x, y, yaw in poses
        ]
        taken.append(process_time() - begun)
    return min(taken) / len(poses), scans


def free_poses(area: DrivingArea) -> list[tuple[float, float, float]]:
    """Drawn from the free places of a map, the same each time."""
    draw, found = np.random.RandomState(1), []
    low, high = bounds(area).T
    while len(found) < GYM_POSES:
        x, y = low + draw.random_sample(2) * (high - low)
        if area.is_free(x, y):
            found.append((float(x), float(y), float(draw.uniform(-3.0, 3.0))))
    return found


def measure() -> Iterator[Sheet]:
    """Rays alone, then a whole scan."""
    columns = ("place", "walls", "ms/scan", "rays/s", "all walls, ms/scan", "times")
    yield Sheet(f"Rays against walls, {RAYS} a scan, reach {REACH_M:g} m", columns, list(casting()))
    columns = ("a scan of an F1TENTH's LIDAR", "ms", "scans/s", f"4 x {AIM_HZ:g} a second")
    yield Sheet("Whole scans, on one core", columns, list(parts()))
    if GYM in os.environ:
        columns = (
            *("map", "walls", "rays/s", "f1tenth_gym, rays/s", "times"),
            *("times, as walls of any kind", "median apart, mm"),
        )
        title = f"Beside f1tenth_gym, {GYM_RAYS} rays a scan, reach {GYM_REACH_M:g} m, no noise"
        yield Sheet(title, columns, list(beside_gym(Path(os.environ[GYM]).expanduser())))
    else:
        note = f"not run: {GYM} names no checkout of it"
        yield Sheet("Beside f1tenth_gym", ("map",), [], [note])


if __name__ == "__main__":
    publish("lidar", measure)
