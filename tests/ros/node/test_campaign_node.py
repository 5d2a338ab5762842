"""A case of a campaign that a ROS node drives: it hears /clock, and the row is marked impure."""

from __future__ import annotations

import json

from tests.ros.real_ros import IN_REAL_TIME, PYTHON
from tests.support import patience
from tests.support.evidence import some

pytestmark = IN_REAL_TIME
CASE = """\
[campaign]
title = "Does my node drive?"
repetitions = 2
[case]
vehicle = "f1tenth"
controller = "ros2:f1tenth"
duration_s = 4.0
[oracles]
distance_at_least_m = 0.5
"""


def campaign(environment, *words):
    return patience.run(
        [PYTHON, "-m", "host_bridge.cli.main", "campaign", *words],
        env=environment,
        text=True,
        within_s=120,
    )


def test_a_node_drives_cases_behind_the_clock_and_they_are_impure(nodes, environment, tmp_path):
    (tmp_path / "campaign.toml").write_text(CASE, encoding="utf-8")
    nodes("talker", "drive", "1.0", "0.0", "90", "sim_time")  # its stamps are of /clock
    done = campaign(environment, "run", str(tmp_path))
    assert done.returncode == 0, done.stderr
    rows = [json.loads(it) for it in (tmp_path / "rows.jsonl").read_text().splitlines()]
    assert [row["is_pure"] for row in some(rows)] == [False, False]
    assert [row["outcome"] for row in rows] == ["passed", "passed"], rows[0]["why"]
    assert rows[0]["ran"]["wall_s"] > 4.0, "as fast as the time of the world"
    assert "2 cases were driven by a ROS node" in done.stdout
    assert not (tmp_path / "logs").exists(), "none is driven again for its log"
    shown = campaign(environment, "show", str(tmp_path), rows[0]["case_id"], "--json")
    assert shown.returncode == 0, shown.stderr
    assert json.loads(shown.stdout)["is_same"] is None
    refused = campaign(environment, "run", str(tmp_path), "--workers", "2")
    assert refused.returncode == 2
    assert "one case at a time" in refused.stderr
