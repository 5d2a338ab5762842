"""On the shipped tracks: the walls of their maps, a car in them, and one that is carried off."""

import json
from math import hypot
from random import Random

import numpy as np
import pytest

from host_bridge.config import load_vehicle
from host_bridge.mapping.drives import with_returns
from host_bridge.mapping.likelihood_field import LikelihoodField
from host_bridge.mapping.occupancy import FREE, OCCUPIED
from host_bridge.mapping.particle_filter import ParticleFilter
from host_bridge.mapping.scan_points import mount_of, points_of
from sim_mock.plant.parameters import PlantParameters
from sim_mock.sensors.edge_casting import caster_of
from sim_mock.sensors.lidar import Lidar
from sim_mock.tracks.driving_area import Pose
from sim_mock.tracks.loading import load_centre_line, load_track, track_names
from sim_mock.tracks.ros_map import load_grid
from tests.host_bridge.mapping.test_commands import corridor_as_cells, ran
from tests.host_bridge.mapping.test_mapping import distances_m
from tests.support.evidence import every

CARS = {"oval": "nigel"}  # it is made for Nigels; the others for cars of a tenth
SPEEDS_MPS = {"nigel": 0.2, "f1tenth_vesc": 1.5}
CELL_M = 0.05
FOUND_WITHIN_S, SEEDS, FOUND = 10.0, 20, 19


@pytest.mark.process
@pytest.mark.exhaustive(as_a_whole=True)  # a lap of each track with its scans: minutes; a short
# drive is mapped and a car found in it in test_mapping.py and test_commands.py
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("track", track_names())
def test_the_walls_of_a_tracks_map_are_true_and_a_car_is_found_in_it(track, tmp_path):
    vehicle = CARS.get(track, "f1tenth_vesc")
    path, log, lidar = (tmp_path / it for it in ("line.csv", "drive.mcap", "run.jsonl"))
    ran("path", "centre", track, "-o", path)
    ran("drive", f"sim://{vehicle}?track={track}&sensors={lidar}&seed=3", "--lockstep", "--input",
        f"path:{path}", "--speed", SPEEDS_MPS[vehicle], "--record", log, within_s=900)  # fmt: skip
    ran("map", log, "--lidar", lidar, "-o", tmp_path / "lab.yaml", within_s=600)
    grid = load_grid(tmp_path / "lab.yaml")
    rows, columns = np.nonzero(grid.is_wall)
    corner = np.array((grid.origin.x_m, grid.origin.y_m))
    centres = corner + grid.resolution_m * np.stack((columns + 0.5, rows + 0.5), axis=1)
    assert every(distances_m(centres, load_track(track).walls) < 0.1)
    found = json.loads(
        ran("localise", tmp_path / "lab.yaml", log, "--lidar", lidar, "--json", within_s=900)
    )
    assert (found["lost"], found["is_found"]) == (0, True)
    assert found["rms_m"] < 0.05
    assert found["rms_deg"] < 2.0


def corridor_field():
    cells = corridor_as_cells()
    return LikelihoodField(
        cells.cells == OCCUPIED, cells.cells == FREE, CELL_M,
        np.array((*cells.corner_m, 0.0)),
    )  # fmt: skip


class Driven:
    """A car that is driven along the corridor, and may be carried; its scans have noise."""

    def __init__(self, seed):
        vehicle = load_vehicle("f1tenth_vesc")
        plant = PlantParameters.from_mapping({**vehicle.plant, "channels": list(vehicle.channels)})
        area = load_track("corridor")
        self._lidar = Lidar(plant.lidar, caster_of(area), plant.body.lr_m, seed)
        self._row = {"first_rad": plant.lidar.first_rad, "step_rad": plant.lidar.step_rad}
        self._mount, self.behind_m = mount_of(vehicle), vehicle.turns_behind_centre_m
        line = load_centre_line("corridor")
        self._line, steps = line, np.diff(line, axis=0)
        self._along_m = np.concatenate(([0.0], np.cumsum(np.hypot(*steps.T))))
        self._yaw = np.unwrap(np.arctan2(steps[:, 1], steps[:, 0]))
        self._random = np.random.default_rng(seed)
        self.along_m, self.reckoned = 0.0, np.zeros(3)

    def pose(self):
        at_m = self.along_m % self._along_m[-1]
        x, y = (np.interp(at_m, self._along_m, self._line[:, it]) for it in (0, 1))
        return float(x), float(y), float(np.interp(at_m, self._along_m[:-1], self._yaw))

    def step(self, particles, way_m):
        """Drive on; the odometry is 2 % off the way, and a little off the turn."""
        before = self.pose()
        self.along_m += way_m
        x, y, yaw = self.pose()
        turned = (yaw - before[2] + np.pi) % (2 * np.pi) - np.pi
        heading = self.reckoned[2] + turned / 2
        moved = 1.02 * hypot(x - before[0], y - before[1])
        self.reckoned += moved * np.cos(heading), moved * np.sin(heading), turned
        self.reckoned[2] += 0.001 * self._random.standard_normal()
        centre = Pose(x + self.behind_m * np.cos(yaw), y + self.behind_m * np.sin(yaw), yaw)
        self._lidar.take(centre, None)
        ranges = [float(it) if np.isfinite(it) else None for it in self._lidar.scan]
        sample = with_returns(0.0, {**self._row, "ranges_m": ranges}, self.reckoned.copy())
        at = particles.step(sample.odometry, points_of(sample, self._mount))
        return at, hypot(at.pose[0] - x, at.pose[1] - y)


def seconds_until_found(field, seed):
    """Drive two seconds, be carried somewhere else in the corridor, and drive on at 1.5 m/s."""
    car, particles = Driven(seed), ParticleFilter(field, seed)
    car.along_m = Random(seed).uniform(0.0, 50.0)
    particles.place(np.array(car.pose()))
    for _ in range(40):
        at, off_m = car.step(particles, 0.075)
    assert off_m < 0.1
    car.along_m += Random(f"carried {seed}").uniform(5.0, 45.0)
    for scan in range(round(FOUND_WITHIN_S * 20)):
        at, off_m = car.step(particles, 0.075)
        if not at.is_lost and off_m < 0.15:
            return (scan + 1) / 20
    return None


@pytest.mark.exhaustive  # 20 drives of twelve seconds, their localiser looking all over the map
@pytest.mark.timeout(1800)
def test_a_car_that_is_carried_off_is_found_again_within_ten_seconds():
    field = corridor_field()
    found = [seconds_until_found(field, seed) for seed in range(SEEDS)]
    assert sum(it is not None for it in found) >= FOUND, found
