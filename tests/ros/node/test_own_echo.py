"""A node that would hear itself is refused as it starts, by names that ROS 2 itself resolves."""

from __future__ import annotations

import pytest

from host_bridge.ros2.vocabularies.autorally.adapter import RC
from tests.host_bridge.ros2.vocabularies.installed import VOCABULARIES
from tests.ros.real_ros import NEEDS_ROS, PYTHON
from tests.support import patience

pytestmark = [pytest.mark.ros, NEEDS_ROS]

MUX = """
ackermann_mux:
  ros__parameters:
    topics:
      navigation:
        topic: ackermann_cmd
        timeout: 0.2
        priority: 10
"""


@pytest.fixture
def refused(environment):
    """What ``tandem ros`` says when it refuses a command line."""

    def start(*given: str) -> str:
        words = [PYTHON, "-m", "host_bridge.cli.main", "ros", "--car", "sim://f1tenth", *given]
        done = patience.run([*words, "--seconds", "2"], 60, text=True, env=environment)
        assert done.returncode == 2, done.stderr
        assert "would hear itself" in done.stderr
        return str(done.stderr)

    return start


@pytest.mark.parametrize(
    ("topic", "words"),
    [
        ("/ackermann_cmd", ("--remap", "drive:=/ackermann_cmd")),
        ("/car1/ackermann_cmd", ("--ns", "/car1", "--remap", "teleop:=ackermann_cmd")),
        ("/car1/drive", ("--ns", "/car1", "--remap", "/car1/ackermann_cmd:=drive")),
        ("/tandem/is_stopped", ("--remap", "runstop:=~/is_stopped")),
    ],
)
def test_another_name_that_brings_both_together(refused, topic, words):
    assert f"{topic}: " in refused(*words)


def test_a_mux_yaml_with_what_the_node_publishes(refused, tmp_path):
    mux = tmp_path / "mux.yaml"
    mux.write_text(MUX)
    assert "/red/ackermann_cmd: " in refused("--mux", str(mux), "--ns", "/red")


def test_a_commander_that_comes_to_the_receivers_own_topic(refused, tmp_path):
    priorities = tmp_path / "priorities.yaml"
    priorities.write_text(f"chassisCommandProirities: {{{RC}2: 1}}\n")
    words = "--as", "autorally", "--priorities", str(priorities)
    topic = f"{RC}/chassisCommand"
    assert f"/{topic}: " in refused(*words, "--remap", f"{RC}2/chassisCommand:={topic}")


@pytest.mark.parametrize("name", VOCABULARIES)
def test_every_vocabulary(refused, name):
    heard, said = (
        VOCABULARIES[name].subscriptions[0].topic,
        VOCABULARIES[name].publications[0].topic,
    )
    assert said in refused("--as", name, "--remap", f"{heard}:={said}")
