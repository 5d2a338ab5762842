"""Drives of several cars, and a hash of every number and byte: with and without machine code."""

import hashlib
import json
import random
import struct
import sys
from importlib import import_module
from math import sin

import numpy as np
from tandem.gym.f110 import F110Env

from host_bridge.config import load_vehicle
from host_bridge.deploy.hil.host.full_storm import FullStorm, stormy_vehicle
from host_bridge.deploy.hil.host.small_host import SmallHost
from host_bridge.drive.lockstep.campaign.case import run_case
from host_bridge.drive.lockstep.campaign.spec import KEYS, files_of
from host_bridge.sharing.services import make_host
from sim_mock.board.firmware_runner import InProcessRunner
from sim_mock.runtime import compiled
from sim_mock.virtual_car.config import virtual_car_config
from sim_mock.world import World, plant_of
from tests.bench.gym.bench_gym import poses
from tests.bench.support.pilot import Pilot

NEUTRAL, STEPS = 1_500_000, 12_000
SPEEDS_MM_S = {"f1tenth": 2000, "nigel": 350}


def storm(name):
    """Outputs at random: a hash of all truth and all readings, and how far it got."""
    vehicle = load_vehicle(name)
    plant, chance, found = plant_of(vehicle, 1), random.Random(name), hashlib.sha256()
    kinds = [channel["kind"] for channel in vehicle.channels]
    outputs, rolled_m = [0] * 8, 0.0
    for step in range(STEPS):
        if step % 50 == 0:
            outputs = [put_out(kind, step, chance) for kind in kinds] + [0] * (8 - len(kinds))
        plant.step(1e-3, outputs, step % 3000 > 200)
        rolled_m += abs(plant.truth.vx_mps) * 1e-3
        found.update(
            struct.pack("<8d", *plant.truth.values(), plant.steer_rad, plant.steer_rear_rad)
        )
        found.update(struct.pack("<d", plant.wheel_speed_mps))
        readings = (*plant.counts(), plant.battery_mv, plant.yaw_rate_mrad_s, plant.accel_x_mm_s2)
        found.update(struct.pack("<5q", *readings))
    return found.hexdigest(), rolled_m


def put_out(kind, step, chance):
    if step < 2500 and kind != "servo_steering":
        return 0 if kind == "h_bridge" else NEUTRAL
    if kind == "h_bridge":
        return chance.randint(-3000, 10_000)
    if kind == "esc":
        return chance.choice((NEUTRAL, NEUTRAL - 300_000, *(NEUTRAL + 100_000,) * 6, 0))
    if kind == "brake_servo":
        return chance.choice((NEUTRAL, NEUTRAL, NEUTRAL, NEUTRAL + 200_000))
    return NEUTRAL + chance.randint(-150_000, 150_000)


class Heard:
    """What makes a program's runner that takes every byte which the program sends into a hash."""

    def __init__(self):
        self.hash = hashlib.sha256()

    def __call__(self, *board):
        runner = InProcessRunner(*board)
        step = runner.step

        def heard(*moment):
            outputs = step(*moment)
            self.hash.update(outputs.sent)
            return outputs

        runner.step = heard
        return runner


def whole_car(name, speed_mm_s, **query):
    """Every byte that a complete car sent in some seconds of slalom."""
    found = Heard()
    world = World(virtual_car_config(load_vehicle(name), query), seed=1, runner=found)
    Pilot(world, speed_mm_s).drive(500)
    return found.hash.hexdigest(), world.plant.truth.vx_mps


class Storm(FullStorm):
    def _sag(self):
        """It takes a plant of a class of its own, and those are not compiled."""


def stormy(name):
    """Every byte of a drive on which everything else goes wrong, and how fast it once was."""
    vehicle = stormy_vehicle(name)
    found, fastest_mps = Heard(), [0.0]
    world = World(vehicle, seed=3, runner=found)
    world.observers.append(
        lambda w: fastest_mps.append(max(fastest_mps.pop(), w.plant.truth.vx_mps))
    )
    if vehicle.has_rc:
        world.attach_rc()
    host = SmallHost(world)
    host.take_the_wheel()
    host.drive(2000, 1000, 100_000)
    Storm(host, 3).run(1000)
    return found.hash.hexdigest(), fastest_mps[0]


def case(track, **more):
    """Every byte both ways, and all truth, of a campaign's case: its host is in the drive, too."""
    values = {key.name: key.default for key in KEYS if key.default is not None}
    values |= {"vehicle": "f1tenth", "track": track, "seed": 1, "speed_mps": 1.0, **more}
    spec = {**values, "duration_s": 4.0, "controller": "script:slalom", "vehicle_changes": {}}
    row = run_case({**spec, "files": files_of(spec)}, make_host().vehicles)
    return f"{row['bytes']} {row['trace']} {row['outcome']}", row["distance_m"]


def scene():
    """Where two cars of one scene are and what their LIDARs see, of each other too."""
    env, found = F110Env(map="corridor", num_agents=2), hashlib.sha256()
    env.reset(np.array(poses(2)))
    for step in range(150):
        seen = env.step(np.array([(0.1 * sin(0.05 * step), 1.0), (0.0, 1.2)]))[0]
        for scan in seen["scans"]:
            found.update(scan.tobytes())
        found.update(np.array((seen["poses_x"], seen["poses_y"], seen["poses_theta"])).tobytes())
    env.close()
    return found.hexdigest(), max(seen["linear_vels_x"])


if __name__ == "__main__":
    drives = {name: storm(name) for name in ("f1tenth", "nigel", "autorally")}
    drives |= {f"whole {name}": whole_car(name, speed) for name, speed in SPEEDS_MM_S.items()}
    for name in ("f1tenth", "opencav"):
        drives[f"model {name}"] = whole_car(name, 1000, model="autodrive")
    drives |= {f"storm {name}": stormy(name) for name in SPEEDS_MM_S}
    drives["case on a track"] = case("corridor", oracles=["completed"])
    drives["scene of two cars"] = scene()
    drives["case on a bad line"] = case("corridor", link_loss=0.1, oracles=["completed"])
    files = [import_module(name).__file__ for name in compiled.MODULES]
    json.dump({"files": files, "drives": drives}, sys.stdout)
