"""ROS time as a virtual car's own: it is said, held, and goes on by the car's steps."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest

from host_bridge.logs.reading import read
from tests.ros.real_ros import IN_REAL_TIME, PYTHON
from tests.support import patience

pytestmark = IN_REAL_TIME


def clock_ns(nodes):
    listener = nodes("listener", "0.3", "/clock=rosgraph_msgs/msg/Clock")
    clock = json.loads(listener.stdout.readline())["/clock"]["message"]["clock"]
    return clock["sec"] * 10**9 + clock["nanosec"]


def called(nodes, name, *rest):
    answer = nodes("service_caller", name, *rest).stdout.readline()
    return answer.startswith("True"), answer


PAUSE = ("/tandem/pause", "std_srvs/SetBool")


def test_time_is_held_and_goes_on_by_the_car_s_steps(nodes, started, tmp_path):
    log = tmp_path / "drive.mcap"
    ros = started("sim://f1tenth", "--clock", "--record", str(log))
    nodes("talker", "drive", "1.0", "0.0", "40", "sim_time")  # its stamps are of /clock
    ros.until_it_drives(lambda row: row.get("speed_mps", 0.0) > 0.8, nodes)
    assert called(nodes, *PAUSE, '{"data": true}')[0]
    held_ns = clock_ns(nodes)
    assert clock_ns(nodes) == held_ns
    made = 7
    for i in range(made):
        assert called(nodes, "/tandem/step")[0]
        assert clock_ns(nodes) == held_ns + (i + 1) * 10_000_000
    ros.process.terminate()  # while it stands: it comes to rest first
    patience.wait(ros.process, 20)
    times_us = [it.value["time_us"] for it in read(log) if it.topic == "status"]
    apart_us = {b - a for a, b in pairwise(times_us)}
    assert apart_us == {10_000}  # however long it stood, the car knows of no pause


def test_a_stop_that_is_said_while_time_stands_is_done_at_the_next_step(nodes, started):
    ros = started("sim://f1tenth", "--clock")
    nodes("talker", "drive", "1.0", "0.0", "40", "sim_time")
    ros.until_it_drives(lambda row: row.get("speed_mps", 0.0) > 0.8, nodes)
    assert called(nodes, *PAUSE, '{"data": true}')[0]
    stopper = nodes("service_caller", "/tandem/stop")  # waits for what the car says
    clock_ns(nodes)
    assert called(nodes, *PAUSE, '{"data": false}')[0]
    assert stopper.stdout.readline().startswith("True")
    row = ros.until(lambda row: row.get("state") == "STOPPED")
    assert "stop" in row["why_stopped"]


def test_a_step_is_refused_while_time_goes_on(nodes, started):
    started("sim://f1tenth", "--clock").until(lambda row: "speed_mps" in row)
    is_done, words = called(nodes, "/tandem/step")
    assert not is_done
    assert "pause" in words


@pytest.mark.parametrize("car", ["serial:///dev/null", "sim+process://f1tenth", "served"])
def test_no_other_car_s_time_is_held(environment, car):
    ended = patience.run(
        [PYTHON, "-m", "host_bridge.cli.main", "ros", "--car", car, "--clock"],
        env=environment,
        text=True,
        within_s=60,
    )
    assert ended.returncode == 2
    assert "--clock holds the time of virtual cars" in ended.stderr
