"""A second ``tandem ros`` of one car is refused as it starts, by a topic that both would have."""

from __future__ import annotations

import pytest

from tests.host_bridge.ros2.vocabularies.installed import VOCABULARIES
from tests.ros.real_ros import IN_REAL_TIME, PYTHON
from tests.support import patience

pytestmark = IN_REAL_TIME


def second(environment: dict[str, str], car: str, *words: str) -> tuple[int, str]:
    """Run another ``tandem ros`` of a car that is served already: exit code and complaint."""
    line = [PYTHON, "-m", "host_bridge.cli.main", "ros", "--car", f"tandem:///{car}", "--unarmed"]
    done = patience.run([*line, *words, "--seconds", "1"], 90, text=True, env=environment)
    return done.returncode, str(done.stderr)


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", VOCABULARIES)
def test_a_second_node_of_one_car_is_refused(environment, started, name):
    words = "--as", name, "--unarmed"
    first = started("sim://f1tenth?name=one", *words)
    first.until(lambda row: "cars" in row or "phase" in row)
    code, complaint = second(environment, "one", "--as", name)
    assert code == 2, complaint
    assert "a second node of the car one" in complaint
    assert f"of process {first.process.pid}, and by this node, /" in complaint


def test_one_that_hears_what_the_first_one_publishes_is_refused_by_the_topics_name(
    environment, started
):
    first = started("sim://f1tenth?name=one", "--unarmed")
    first.until(lambda row: "phase" in row)
    apart = "--ns", "/b"
    code, complaint = second(environment, "one", *apart, "--remap", "drive:=/ackermann_cmd")
    assert code == 2, complaint
    assert "/ackermann_cmd: " in complaint
    assert "heard by this node, /b/tandem" in complaint
    code, complaint = second(environment, "one", *apart, "--remap", "ackermann_cmd:=/drive")
    assert code == 2, complaint
    assert "/drive: " in complaint
    assert f"and heard by /tandem of process {first.process.pid}" in complaint


def test_once_the_first_one_has_been_killed_another_one_starts(environment, started):
    """Its own car: the first one's went with it."""
    first = started("sim://f1tenth?name=one", "--unarmed")
    first.until(lambda row: "phase" in row)
    first.process.kill()
    first.process.wait()
    again = started("sim://f1tenth?name=one", "--unarmed")
    again.until(lambda row: "phase" in row)
    assert again.process.poll() is None
