"""A log as a bag of ROS 2, read back by libraries that have not written it."""

from __future__ import annotations

import csv
import sys
from collections import Counter
from math import atan2

import pytest
from mcap.reader import make_reader
from mcap_ros2.reader import read_ros2_messages

from host_bridge.cli import main as cli
from host_bridge.core.errors import DataFileFault, DeviceFault
from host_bridge.logs.bags.reading import read_bag
from host_bridge.logs.bags.ros_types import typestore
from host_bridge.logs.reading import read

DRIVE = "drive --car sim://{} --input script:slalom --seconds 3 --lockstep --record {}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """With a drive's log, its bag, and its tables."""
    made = tmp_path_factory.mktemp("bag")
    log = str(made / "drive.mcap")
    assert cli.main(DRIVE.format("f1tenth", log).split()) == 0
    assert cli.main(["log", log, "--ros", str(made / "bag.mcap")]) == 0
    assert cli.main(["log", log, "--csv", str(made)]) == 0
    return made


@pytest.fixture(scope="module")
def said(folder):
    return list(read_ros2_messages(str(folder / "bag.mcap")))


def table(folder, name):
    with (folder / f"f1tenth_{name}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def test_it_is_one_serialization_with_full_definitions(folder):
    with (folder / "bag.mcap").open("rb") as file:
        reader = make_reader(file)
        assert reader.get_header().profile == "ros2"
        found = reader.get_summary()
    assert {it.message_encoding for it in found.channels.values()} == {"cdr"}
    assert {it.encoding for it in found.schemas.values()} == {"ros2msg"}
    odometry = next(it for it in found.schemas.values() if it.name == "nav_msgs/msg/Odometry")
    assert b"MSG: geometry_msgs/Quaternion" in odometry.data
    latched = {it.topic for it in found.channels.values() if "durability: 1" in str(it.metadata)}
    assert latched == {"/tf_static", "/tandem/is_stopped", "/tandem/why_stopped"}


def test_topics_say_as_much_as_the_log_has(folder, said):
    counts = Counter(it.channel.topic for it in said)
    moves = sum(1 for it in read(folder / "drive.mcap") if it.topic == "motion")
    for topic in ("/odom", "/tf", "/sensors/imu/raw", "/sensors/core"):
        assert moves - 2 <= counts[topic] <= moves, topic
    assert counts["/tf_static"] == 1
    assert counts["/drive"] > 100


def test_the_odometry_is_that_of_the_log(folder, said):
    last = [it.ros_msg for it in said if it.channel.topic == "/odom"][-1]
    row = table(folder, "motion")[-1]
    assert last.pose.pose.position.x == pytest.approx(float(row["x_m"]))
    turn = last.pose.pose.orientation
    assert 2 * atan2(turn.z, turn.w) == pytest.approx(float(row["yaw_rad"]))
    assert (last.header.frame_id, last.child_frame_id) == ("odom", "base_link")


def test_the_drive_is_what_was_claimed_and_stamped_when_it_was(folder, said):
    held = [row for row in table(folder, "claim") if row["is_held"] == "True"]
    drives = [it for it in said if it.channel.topic == "/drive"]
    assert len(drives) == len(held)
    assert drives[-1].ros_msg.drive.speed == pytest.approx(float(held[-1]["speed_mps"]))
    assert {it.log_time_ns - stamp_ns(it.ros_msg) for it in drives} == {0}


def stamp_ns(message):
    return message.header.stamp.sec * 10**9 + message.header.stamp.nanosec


def test_a_stop_is_in_it_with_its_sentence(said):
    whys = [it.ros_msg.data for it in said if it.channel.topic == "/tandem/why_stopped"]
    stops = [it.ros_msg.data for it in said if it.channel.topic == "/tandem/is_stopped"]
    assert stops[0] is True
    assert False in stops
    assert len(whys) == len(stops)


def test_our_own_reader_reads_it_too(folder, said):
    bag = read_bag(folder / "bag.mcap")
    assert len(bag.odometry) == sum(it.channel.topic == "/odom" for it in said)


def test_a_folder_without_metadata_is_read_by_its_only_file(folder, tmp_path):
    """A recorder that lost its power leaves such a folder."""
    left = tmp_path / "left"
    left.mkdir()
    (left / "left_0.mcap").write_bytes((folder / "bag.mcap").read_bytes())
    assert read_bag(left).commands == read_bag(folder / "bag.mcap").commands
    (left / "left_1.mcap").write_bytes(b"")
    with pytest.raises(DataFileFault, match="has no metadata") as caught:
        read_bag(left)
    assert caught.value.got == "left_0.mcap, left_1.mcap"
    assert caught.value.remedy == f"ros2 bag reindex {left}"


def test_an_existing_bag_is_not_overwritten(folder, capsys):
    log, bag = folder / "drive.mcap", folder / "bag.mcap"
    before = bag.read_bytes()
    assert cli.main(["log", str(log), "--ros", str(bag)]) == DataFileFault.exit_code
    assert "already" in capsys.readouterr().err
    assert bag.read_bytes() == before


def test_two_cars_are_under_their_names_and_their_frames(tmp_path):
    log, bag = tmp_path / "two.mcap", tmp_path / "two_bag.mcap"
    words = DRIVE.format("f1tenth?name=red", log).split()
    assert cli.main([*words, "--twin", "sim://f1tenth?name=blue-1"]) == 0
    assert cli.main(["log", str(log), "--ros", str(bag)]) == 0
    said = list(read_ros2_messages(str(bag)))
    topics = {it.channel.topic for it in said}
    assert {"/red/odom", "/blue_1/odom", "/tf"} <= topics
    frames = {it.ros_msg.transforms[0].child_frame_id for it in said if it.channel.topic == "/tf"}
    assert frames == {"red/base_link", "blue_1/base_link"}


def test_without_the_library_nothing_is_written(folder, tmp_path, monkeypatch, capsys):
    typestore.cache_clear()
    monkeypatch.setitem(sys.modules, "rosbags.typesys", None)
    bag = tmp_path / "bag.mcap"
    words = ["log", str(folder / "drive.mcap"), "--ros", str(bag)]
    assert cli.main(words) == DeviceFault.exit_code
    assert "tandem-cars[bags]" in capsys.readouterr().err
    assert not bag.exists()
