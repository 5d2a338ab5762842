"""When a scan was taken: by the car's own time, whenever the host gets to it."""

from __future__ import annotations

import json
import os

import pytest

from host_bridge.logs.sensor_lines import LidarScan, SensorPipe


@pytest.fixture
def pipe(tmp_path):
    path = tmp_path / "sensors"
    os.mkfifo(path)
    made = SensorPipe(str(path))
    writer = os.open(path, os.O_WRONLY)
    yield made, writer
    os.close(writer)
    made.close()


def say(writer, sensor, taken_s, time_s):
    row = {"sensor": sensor, "taken_s": taken_s, "time_s": time_s}
    if sensor == "lidar":
        row |= {"first_rad": 0.0, "step_rad": 0.1, "ranges_m": [1.0]}
    else:
        truth = ("x_m", "y_m", "yaw_rad", "vx_mps", "vy_mps", "yaw_rate_radps")
        row["truth"] = dict.fromkeys(truth, 0.0)
    os.write(writer, json.dumps(row).encode() + b"\n")


def test_a_scan_that_was_read_late_is_as_old_as_it_is(pipe):
    made, writer = pipe
    say(writer, "truth", 1.0, 1.0)
    made.step(50_000_000)  # the host's clock is 49 s ahead
    say(writer, "lidar", 1.020, 1.025)
    made.step(50_040_000)  # and here it was busy for 15 ms
    assert made.scan_age_us(50_040_000) == 20_000
    assert made.scan_age_us(50_041_000) == 21_000


def test_a_car_whose_clock_lost_time_is_followed(pipe):
    made, writer = pipe
    say(writer, "truth", 1.0, 1.0)
    made.step(50_000_000)
    for i in range(300):  # half a second behind, from here on
        say(writer, "truth", 1.01 + 0.01 * i, 1.01 + 0.01 * i)
        made.step(50_510_000 + 10_000 * i)
    say(writer, "lidar", 4.01, 4.01)
    made.step(53_510_000)
    assert made.scan_age_us(53_510_000) == 0


def test_without_a_scan_there_is_no_age(pipe):
    made, _ = pipe
    assert made.scan_age_us(1_000_000) == 0


@pytest.mark.parametrize("lost", [0, 3])
@pytest.mark.parametrize("says_truth", [True, False])
def test_a_scan_s_true_ranges_are_left_unread_and_what_was_lost_is_not(pipe, says_truth, lost):
    """As the writer of a virtual car puts it, and as a program of a real one may."""
    made, writer = pipe
    geometry = {"first_rad": 0.0, "step_rad": 0.1}
    measured = {**geometry, "ranges_m": [1.0, None]}
    row = {"sensor": "lidar", "taken_s": 1.0, "time_s": 1.0, **measured}
    row |= {"truth": {"ranges_m": [2.0, 3.0]}} if says_truth else {}
    row |= {"lost": lost} if lost else {}
    os.write(writer, json.dumps(row).encode() + b"\n")
    made.step(50_000_000)
    assert made.take_scan() == LidarScan(1.0, 0.0, 0.1, [1.0, None])
    assert made.lost == lost
