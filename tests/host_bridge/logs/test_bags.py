"""Bags of ROS 1 and ROS 2 are read alike, and what is wrong with one is said."""

from __future__ import annotations

import sys

import pytest

from host_bridge.core.errors import DataFileFault, DeviceFault
from host_bridge.logs.bags.commands import CommandSample
from host_bridge.logs.bags.reading import read_bag
from host_bridge.logs.bags.ros_types import empty, typestore
from tests.host_bridge.logs.made_bags import (
    ACKERMANN,
    KINDS,
    ODOMETRY,
    START_NS,
    drive,
    odom,
    write,
)


def replayed(path, **named):
    return read_bag(path, named, for_replay=True)


def topics_of(bag):
    return bag.topics["commands"], bag.topics["odometry"]


LATE_NS = 20_000_000  # a pose is stamped so long before it is received


def rows(drive_topic="/drive", odom_topic="/odom", shift_ns=0):
    for i in range(5):
        now_ns = START_NS + i * 100_000_000
        stamp_ns = now_ns - LATE_NS + shift_ns
        yield now_ns, odom_topic, ODOMETRY, odom(0.1 * i, -0.1, 3.0, stamp_ns)
        yield now_ns + 50_000_000, drive_topic, ACKERMANN, drive(1.5, -0.25)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_bag_is_read_alike(tmp_path, kind):
    bag = replayed(write(tmp_path, kind, rows()))
    assert topics_of(bag) == ("/drive", "/odom")
    assert len(bag.commands) == len(bag.odometry) == 5
    assert bag.commands[0] == CommandSample(pytest.approx(0.05), 1.5, -0.25)
    last = bag.odometry[-1]
    assert (last.x_m, last.y_m, last.yaw_rad) == pytest.approx((0.4, -0.1, 3.0))
    assert last.t_s == pytest.approx(0.38)  # when it was there, not when it was received
    assert len(bag.sha256) == 64


def test_stamps_of_another_clock_give_way_to_the_time_of_receipt(tmp_path):
    bag = replayed(write(tmp_path, ".mcap", rows(shift_ns=-START_NS + LATE_NS)))
    assert bag.odometry[-1].t_s == pytest.approx(0.4)


def test_the_only_topic_of_its_type_is_found_under_another_name(tmp_path):
    bag = replayed(write(tmp_path, ".mcap", rows("/cmd", "/pf/pose/odom")))
    assert topics_of(bag) == ("/cmd", "/pf/pose/odom")


def two_odometries():
    return (*rows("/cmd", "/a"), *rows("/cmd", "/b"))


def test_of_two_topics_one_has_to_be_named(tmp_path):
    path = write(tmp_path, ".mcap", sorted(two_odometries(), key=lambda row: row[0]))
    with pytest.raises(DataFileFault, match="/a, /b") as fault:
        replayed(path)
    assert "name the topics" in fault.value.remedy
    assert replayed(path, odometry="/b").topics["odometry"] == "/b"


def test_a_name_that_is_not_there_is_not_replaced_by_another(tmp_path):
    path = write(tmp_path, ".mcap", rows())
    with pytest.raises(DataFileFault, match="no /drvie to read"):
        replayed(path, commands="/drvie")


def test_what_is_no_number_is_left_out(tmp_path):
    bad = [(START_NS, "/drive", ACKERMANN, drive(float("nan"), 0.0))]
    bag = replayed(write(tmp_path, ".db3", [*bad, *rows()]))
    assert len(bag.commands) == 5


@pytest.mark.parametrize("kind", [".bag", ".mcap", ".db3"])
def test_a_file_that_is_no_bag_is_refused_with_its_name(tmp_path, kind):
    path = tmp_path / f"drive{kind}"
    path.write_bytes(b"no bag at all" * 20)
    with pytest.raises(DataFileFault) as fault:
        replayed(path)
    assert str(path) in fault.value.where


@pytest.mark.parametrize("kind", [".bag", ".mcap"])
def test_a_bag_cut_anywhere_is_refused_or_read_but_never_an_unknown_error(tmp_path, kind):
    whole = write(tmp_path, kind, rows()).read_bytes()
    outcomes = set()
    for size in range(0, len(whole), 97):
        path = tmp_path / f"cut{kind}"
        path.write_bytes(whole[:size])
        try:
            outcomes.add(len(replayed(path).commands))
        except DataFileFault:
            outcomes.add("refused")
    assert "refused" in outcomes


@pytest.mark.exhaustive
@pytest.mark.parametrize("kind", [".bag", ".mcap"])
@pytest.mark.parametrize("first", range(0, 610, 61))
def test_a_flipped_byte_is_never_an_unknown_error(tmp_path, kind, first):
    whole = write(tmp_path, kind, rows()).read_bytes()
    outcomes = set()
    for at in range(first, len(whole), 610):
        path = tmp_path / f"flipped{kind}"
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0x5A]) + whole[at + 1 :])
        try:
            outcomes.add(len(replayed(path).commands) > 0)
        except DataFileFault:
            outcomes.add("refused")
    assert "refused" in outcomes


def test_a_missing_file_is_told(tmp_path):
    with pytest.raises(DataFileFault):
        replayed(tmp_path / "nothing.mcap")


def test_without_the_library_it_is_said_how_to_have_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "rosbags.highlevel", None)
    with pytest.raises(DeviceFault, match="tandem-cars\\[bags\\]"):
        replayed(tmp_path / "nothing.mcap")


def test_a_new_message_has_each_fixed_list_in_its_length_and_each_other_empty():
    store = typestore()
    assert list(empty("geometry_msgs/msg/PoseWithCovariance").covariance) == [0.0] * 36
    assert empty("sensor_msgs/msg/PointCloud2").data.size == 0
    assert empty("tf2_msgs/msg/TFMessage").transforms == []
    for name in ("sensor_msgs/msg/CameraInfo", "shape_msgs/msg/Plane", "sensor_msgs/msg/Joy"):
        message = empty(name)
        data = store.serialize_cdr(message, name)
        assert store.serialize_cdr(store.deserialize_cdr(data, name), name) == data
