"""Virtual cars whose numbers nobody who calibrates has seen, and the drive that tells them."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from calibration.files.calibration import Calibration
from calibration.files.calibration_text import calibration_text
from calibration.parameters import LOG_PARAMETER_NAMES, Estimate, not_identifiable
from calibration.regression.steering_map import SteeringMap
from calibration.vehicles.identified_car import vehicle_file_values
from host_bridge.cli import main as cli
from host_bridge.config import load_vehicle

GENTLE = ("nigel",)  # whose accelerations tell nothing of how its sensor is turned
# that a file says otherwise or that no virtual car has
NO_PARAMETERS = ("steer_gain_left", "steer_gain_right", "steer_play_rad", "imu_yaw_rad")


@dataclass(frozen=True)
class HiddenCar:
    """How a car differs from its vehicle file: by factors, but for what ends in a unit."""

    vehicle: str
    counts: float = 1.0
    trim: float = 0.0  # of full lock
    left: float = 1.0
    right: float = 1.0
    delay_s: float = 0.01
    lag_s: float = 0.0
    speed: float = 1.0
    dead: float = 1.0

    def truth(self) -> dict[str, float]:
        """By the names of what a calibration says."""
        vehicle = load_vehicle(self.vehicle)
        known = vehicle_file_values(vehicle)
        return {
            "counts_per_m": self.counts * known["counts_per_m"],
            "steer_trim_rad": self.trim * vehicle.steer_max_rad,
            "steer_gain_left": self.left,
            "steer_gain_right": self.right,
            "steer_delay_s": self.delay_s,
            "steer_lag_s": self.lag_s,
            "steer_play_rad": 0.0,
            "full_effort_mps": self.speed * known["full_effort_mps"],
            "dead_effort": self.dead * known["dead_effort"],
            **({} if self.vehicle in GENTLE else {"imu_yaw_rad": 0.0}),
        }

    def write(self, path: Path) -> Path:
        """As a file for ``sim://VEHICLE?calibration=FILE``."""
        truth = self.truth()
        lock_rad, trim_rad = load_vehicle(self.vehicle).steer_max_rad, truth["steer_trim_rad"]
        commanded = np.array([-lock_rad, trim_rad, lock_rad])
        wheels = (commanded - trim_rad) * np.array([self.right, 1.0, self.left])
        put = [name for name in truth if name not in NO_PARAMETERS]
        findings = tuple(
            Estimate(name, *(truth[name],) * 3)
            if name in put
            else not_identifiable(name, "not hidden")
            for name in LOG_PARAMETER_NAMES
        )
        bent = SteeringMap(commanded, wheels, wheels, wheels, 0.0)
        path.write_text(calibration_text(Calibration(self.vehicle, "", "", (), findings, bent)))
        return path


# Seconds, and shares of the top speed and of full lock: rest, circles, speeds, side to side, starts
DRIVE = """\
t_s,channel,value_norm
0,throttle,0
4,throttle,{slow}
7,steering,0.25
10,steering,-0.25
13,steering,0.5
16,steering,-0.5
19,steering,0.8
22,steering,-0.8
25,steering,0
26,throttle,{middle}
30,throttle,{fast}
34,throttle,{slow}
37,steering,0.4
37.7,steering,-0.4
38.4,steering,0.4
39.1,steering,-0.4
39.8,steering,0.4
40.5,steering,-0.4
41.2,steering,0.4
41.9,steering,-0.4
42.6,steering,0
44,throttle,0
46,throttle,{fast}
47.5,throttle,0
49.5,throttle,{fast}
51,throttle,0
53,throttle,{fast}
54.5,throttle,0
57,throttle,0
"""
SPEEDS = {"nigel": (0.3, 0.5, 0.9)}  # of the top speed; others are slow by half of a tenth
USUAL = (0.1, 0.2, 0.3)


def drive(hidden: HiddenCar, folder: Path, seed: int = 5) -> tuple[Path, Path]:
    """Drive it with ``tandem drive``; its log, and what a camera over the floor saw."""
    slow, middle, fast = SPEEDS.get(hidden.vehicle, USUAL)
    file = hidden.write(folder / "hidden.toml")
    commands = folder / "drive.csv"
    commands.write_text(DRIVE.format(slow=slow, middle=middle, fast=fast))
    log, seen = folder / "drive.mcap", folder / "seen.jsonl"
    uri = f"sim://{hidden.vehicle}?seed={seed}&calibration={file}&sensors={seen}"
    words = ["--input", f"csv:{commands}", "--lockstep", "--record", str(log), "--json"]
    assert cli.main(["drive", "--car", uri, *words]) == 0
    return log, seen
