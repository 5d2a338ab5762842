"""A bag's series for calibration: in the messages of each vocabulary that a replay reads, too."""

from __future__ import annotations

import pytest

from host_bridge.logs.bags.messages import POSES
from host_bridge.logs.bags.reading import read_bag
from tests.host_bridge.logs.made_bags import ACKERMANN, ODOMETRY, START_NS, drive, odom, write
from tests.host_bridge.logs.test_bag_messages import NEW, OLD, STATE, STEP_NS, autoware, posed


@pytest.mark.parametrize("kind", [NEW, OLD])
def test_autowares_commands_and_state_are_read_in_both_generations(tmp_path, kind):
    found = read_bag(write(tmp_path, ".mcap", autoware(kind)))
    assert found.topics == {"commands": "/control/command/control_cmd", "odometry": STATE}
    assert found.commands[0][1:] == pytest.approx((1.0, 0.2))
    assert [row.x_m for row in found.odometry] == pytest.approx([0.02 * i for i in range(20)])
    assert found.notes == []


@pytest.mark.parametrize("kind", POSES)
def test_any_pose_of_a_replay_tells_the_places_of_a_calibration(tmp_path, kind):
    rows = []
    for i in range(20):
        at_ns = START_NS + i * STEP_NS
        made = (
            odom(0.1 * i, 0.0, 0.5, at_ns) if kind == ODOMETRY else posed(kind, 0.1 * i, 0.5, at_ns)
        )
        rows.append((at_ns, "/vicon/car", kind, made))
        rows.append((at_ns, "/drive", ACKERMANN, drive(1.0, 0.0)))
    found = read_bag(write(tmp_path, ".mcap", rows), {"places": "/vicon/car"})
    assert found.topics["places"] == "/vicon/car"
    assert found.places[-1][1:] == pytest.approx((1.9, 0.0, 0.5))


def test_stamps_that_jump_and_messages_that_overtook_each_other_are_told(tmp_path):
    rows = []
    for i in range(100):
        at_ns = START_NS + i * STEP_NS
        stamp_ns = at_ns + (3_000_000_000 if 40 <= i < 50 else 0)
        rows.append((at_ns, "/odom", ODOMETRY, odom(0.02 * i, 0.0, 0.0, stamp_ns)))
    late_ns = START_NS + 10 * STEP_NS
    rows.append((START_NS + 100 * STEP_NS, "/odom", ODOMETRY, odom(9.0, 0.0, 0.0, late_ns)))
    found = read_bag(write(tmp_path, ".mcap", rows))
    times_s = [row[0] for row in found.odometry]
    assert times_s == sorted(times_s)
    assert len(times_s) >= 100
    assert any(
        "stamps jump or stand, by up to 3.0 s, the first at 0.800 s" in it for it in found.notes
    )
