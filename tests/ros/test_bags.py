"""A bag that ``tandem log --ros`` wrote, deserialized message by message by a real ROS 2."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from mcap.reader import make_reader

from host_bridge.cli import main as cli
from tests.ros.real_ros import NEEDS_ROS, NODES, PYTHON
from tests.support import patience

DRIVE = "drive --car sim://f1tenth --input script:slalom --seconds 2 --lockstep --record {}"

pytestmark = [pytest.mark.ros(drives=True), NEEDS_ROS]


def test_ros_itself_reads_every_message_of_a_bag(environment, tmp_path):
    log, bag = tmp_path / "drive.mcap", tmp_path / "bag.mcap"
    assert cli.main(DRIVE.format(log).split()) == 0
    assert cli.main(["log", str(log), "--ros", str(bag)]) == 0
    with bag.open("rb") as file:
        wanted = Counter(channel.topic for _, channel, _ in make_reader(file).iter_messages())
    read = patience.run(
        [PYTHON, str(NODES / "bag_reader.py"), str(bag)],
        env=environment,
        text=True,
        check=True,
        within_s=120,
    )
    found = json.loads(read.stdout)
    assert {topic: row["count"] for topic, row in found.items()} == dict(wanted)
    assert found["/odom"]["last"]["child_frame_id"] == "base_link"
    assert found["/odom"]["last"]["pose"]["pose"]["position"]["x"] > 0.5
    assert {row["same"] for row in found.values()} == {True}
