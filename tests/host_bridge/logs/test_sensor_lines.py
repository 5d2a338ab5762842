"""A file of scans while it is written: from its end on, and from its begin when it begins anew."""

from __future__ import annotations

import json

from host_bridge.logs.sensor_lines import SensorPipe


def line(taken_s: float) -> str:
    row = {"sensor": "lidar", "taken_s": taken_s, "time_s": taken_s, "first_rad": -1.0}
    return json.dumps({**row, "step_rad": 0.1, "ranges_m": [1.0, None]}) + "\n"


def test_what_was_there_before_is_left_out_and_what_comes_is_read(tmp_path):
    path = tmp_path / "run.jsonl"
    path.write_text(line(1.0))
    pipe = SensorPipe(str(path))
    pipe.step(1_000_000)
    assert pipe.take_scan() is None
    with path.open("a") as file:
        file.write(line(2.0) + line(3.0)[:20])
    pipe.step(1_000_000)
    scan = pipe.take_scan()
    assert scan is not None
    assert (scan.taken_s, scan.ranges_m) == (2.0, [1.0, None])
    assert pipe.take_scan() is None
    pipe.close()


def test_a_file_that_is_begun_anew_is_read_from_its_begin(tmp_path):
    path = tmp_path / "run.jsonl"
    path.write_text(line(1.0) * 5)
    pipe = SensorPipe(str(path))
    path.write_text(line(7.0))
    pipe.step(1_000_000)
    scan = pipe.take_scan()
    assert scan is not None
    assert scan.taken_s == 7.0
    pipe.close()


def test_lines_that_cannot_be_read_are_counted_and_the_next_one_is_read(tmp_path):
    path = tmp_path / "run.jsonl"
    path.touch()
    pipe = SensorPipe(str(path))
    whole = line(2.0)
    missing = '{"sensor": "lidar", "taken_s": 1.0}\n'
    path.write_text(
        whole[:40] + whole[60:] + missing + '{"sensor": "truth", "time_s": 1}\n' + whole
    )
    pipe.step(1_000_000)
    scan = pipe.take_scan()
    assert scan is not None
    assert (scan.taken_s, pipe.lost) == (2.0, 3)
    pipe.close()
