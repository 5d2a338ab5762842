"""Not a bench: f1tenth_gym's own scans, run by a Python that has numba, for ``bench_lidar.py``.

``PYTHON gym_rays.py LASER_MODELS.py`` reads one JSON object from standard input (map, extension,
rays, fov_rad, reach_m, poses) and prints another: seconds of a core a scan, the best of several
rounds, and the ranges of each pose.
"""

import importlib.util
import json
import sys
from time import process_time

import numpy as np

ROUNDS = 30


def main() -> None:
    spec = importlib.util.spec_from_file_location("laser_models", sys.argv[1])
    gym = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = gym
    spec.loader.exec_module(gym)
    asked = json.load(sys.stdin)
    scanner = gym.ScanSimulator2D(asked["rays"], asked["fov_rad"], max_range=asked["reach_m"])
    scanner.set_map(asked["map"], asked["extension"])
    poses = [np.array(pose) for pose in asked["poses"]]
    ranges = [scanner.scan(pose, None).tolist() for pose in poses]  # and compiled by that
    taken = []
    for _ in range(ROUNDS):
        begun = process_time()
        for pose in poses:
            scanner.scan(pose, None)
        taken.append(process_time() - begun)
    print(json.dumps({"scan_s": min(taken) / len(poses), "ranges": ranges}))


if __name__ == "__main__":
    main()
