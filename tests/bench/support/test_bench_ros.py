"""The bench of ROS 2 where there is none, and what it makes of times."""

import pytest

from tests.bench import bench_ros

pytestmark = pytest.mark.process


def test_without_ros_it_says_so_and_why(monkeypatch, tmp_path):
    monkeypatch.setattr(bench_ros, "ROS", tmp_path)
    (sheet,) = bench_ros.measure()
    assert sheet.rows == [["no ROS 2 in .ros: not set up; make setup makes one on Linux, x86_64"]]
    (tmp_path / ".failed").write_text("cmake is missing\n")
    (sheet,) = bench_ros.measure()
    assert sheet.rows == [["no ROS 2 in .ros: cmake is missing"]]


def test_a_machine_that_is_late_by_itself_is_told_apart():
    fast, busy = [1.5] * 100, [8.0] * 100
    verdicts = [
        bench_ros.claims(took, echo).rows[0][-2:]
        for took, echo in ((fast, fast), (busy, fast), (busy, busy))
    ]
    assert verdicts == [["pass", "pass"], ["FAIL", "FAIL"], ["FAIL", "pass"]]
