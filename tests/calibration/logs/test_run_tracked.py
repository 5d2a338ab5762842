"""A run by positions that somebody else saw: another frame, another clock, backward too."""

from __future__ import annotations

import csv
from math import hypot

import numpy as np
import pytest

from calibration.logs.run import Commands, PoseTrack, Run
from calibration.logs.run_tracked import with_tracked
from host_bridge.core.errors import DataFileFault
from tests.support.evidence import some

OFF_S, TURN_RAD, MOVED_M = 1234.5, 0.7, (3.0, -2.0)


def drive(reverses: bool) -> PoseTrack:
    """Stands, drives a curve, stands, and goes on, or backward."""
    t = np.arange(0.0, 20.0, 0.02)
    speed = np.where((t > 3) & (t < 10), 1.0, 0.0) * np.clip(t - 3, 0, 1)
    speed += np.where((t > 12) & (t < 17), -0.6 if reverses else 0.8, 0.0)
    yaw = np.cumsum(speed * 0.4) * 0.02
    x, y = np.cumsum(speed * np.cos(yaw)) * 0.02, np.cumsum(speed * np.sin(yaw)) * 0.02
    return PoseTrack("run", "", t, x, y, yaw)


def run_of(track: PoseTrack) -> Run:
    times = np.arange(1.0, 18.0, 0.05)
    commands = Commands("run", "", times, np.zeros(len(times), bool), np.full(len(times), 0.5))
    return Run(commands, track)


def turned(x, y):
    """Places in the frame of the cameras."""
    c, s = np.cos(TURN_RAD), np.sin(TURN_RAD)
    return c * x - s * y + MOVED_M[0], s * x + c * y + MOVED_M[1]


def seen(track: PoseTrack, path):
    """The same by cameras at 100 Hz, with noise and another clock's time."""
    rng = np.random.default_rng(1)
    t = np.arange(track.t_s[0], track.t_s[-1], 0.01)
    x, y = turned(np.interp(t, track.t_s, track.x_m), np.interp(t, track.t_s, track.y_m))
    noise = rng.normal(0.0, 0.0005, (2, len(t)))
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("t_s", "x_m", "y_m"))
        writer.writerows(zip(t + OFF_S, x + noise[0], y + noise[1], strict=True))
    return path


@pytest.mark.parametrize("reverses", [False, True])
def test_its_places_and_headings_are_the_cars_in_the_frame_of_the_cameras(tmp_path, reverses):
    own = drive(reverses)
    found = with_tracked(run_of(own), seen(own, tmp_path / "mocap.csv")).odometry
    assert found.file == "mocap.csv"
    poses = list(zip(found.t_s, found.x_m, found.y_m, found.yaw_rad, strict=True))
    for t, x, y, yaw in some(poses[20:-20:25]):
        true_yaw = np.interp(t, own.t_s, own.yaw_rad) + TURN_RAD
        true_x, true_y = turned(np.interp(t, own.t_s, own.x_m), np.interp(t, own.t_s, own.y_m))
        assert hypot(true_x - x, true_y - y) < 0.06  # a grid point of 0.05 s at 1 m/s
        assert abs((yaw - true_yaw + np.pi) % (2 * np.pi) - np.pi) < 0.12, t


def test_a_car_that_stood_is_refused(tmp_path):
    own = drive(False)
    still = PoseTrack("run", "", own.t_s, own.x_m * 0, own.y_m * 0, own.yaw_rad * 0)
    with pytest.raises(DataFileFault, match="say too little"):
        with_tracked(run_of(own), seen(still, tmp_path / "mocap.csv"))
