"""A path of the poses that are published live, and a node without optional messages."""

from __future__ import annotations

import json
import subprocess

from tests.ros.real_ros import IN_REAL_TIME, PYTHON

pytestmark = IN_REAL_TIME


def test_a_live_topics_poses_become_a_path(nodes, started, environment, tmp_path):
    ros = started("sim://f1tenth?track=corridor", "--forgiving")
    ros.until(lambda row: row.get("phase") == "driving")
    nodes("talker", "drive", "1.0", "0.0", "50")
    ros.until(lambda row: row.get("speed_mps", 0.0) > 0.8)
    out = tmp_path / "lap.csv"
    words = ["--topic", "/pf/pose/odom", "--seconds", "3", "-o", str(out), "--json"]
    done = subprocess.run(
        [PYTHON, "-m", "host_bridge.cli.main", "path", "record", *words],
        env=environment, capture_output=True, text=True, timeout=200, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    print("path:", told)
    assert told["length_m"] > 0.5
    assert not told["is_loop"]
    assert out.exists()


def test_a_topic_that_nobody_publishes_is_said(environment, tmp_path):
    words = ["--topic", "/nobody", "--seconds", "2", "-o", str(tmp_path / "lap.csv")]
    done = subprocess.run(
        [PYTHON, "-m", "host_bridge.cli.main", "path", "record", *words],
        env=environment, capture_output=True, text=True, timeout=200, check=False,
    )  # fmt: skip
    assert done.returncode == 3
    assert "nobody publishes" in done.stderr
