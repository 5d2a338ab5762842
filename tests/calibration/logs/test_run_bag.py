"""A bag as a run: what its commands ask for beyond the vehicle is told."""

import pytest

from calibration.logs.ros_bag import read_run_bag
from host_bridge.cli.main import main
from host_bridge.config import load_vehicle
from host_bridge.core.errors import DataFileFault
from host_bridge.logs.bags.ros_types import empty
from tests.host_bridge.logs.made_bags import (
    ACKERMANN,
    KINDS,
    ODOMETRY,
    START_NS,
    drive,
    odom,
    write,
)

SHARE = "std_msgs/msg/Float32"
NIGEL = load_vehicle("nigel")


@pytest.fixture(scope="module")
def bag(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bag")
    words = ["sim://f1tenth", "--lockstep", "--input", "script:slalom", "--seconds", "2"]
    assert main(["drive", *words, "--speed", "1.5", "--record", str(folder / "d.mcap")]) == 0
    assert main(["log", str(folder / "d.mcap"), "--ros", str(folder / "bag.mcap")]) == 0
    return folder / "bag.mcap"


def test_commands_beyond_the_vehicle_are_told_and_those_within_are_not(bag, capsys):
    capsys.readouterr()
    read_run_bag(bag, load_vehicle("f1tenth"))
    assert "ask for more than" not in capsys.readouterr().err
    slow = load_vehicle("nigel")  # whose top speed is a fraction of that
    assert slow.speed_max_mps < 1.5
    run = read_run_bag(bag, slow)
    told = capsys.readouterr().err
    assert "commands in bag.mcap ask for more than" in told
    assert "the most of nigel; they are taken as that" in told
    assert run.commands.value_norm.max() == 1.0


def share(value):
    message = empty(SHARE)
    message.data = value
    return message


def autodrive_rows(*cars):
    """Of AutoDRIVE's topics: steering first, then throttle, and an odometry."""
    for k in range(50):
        at_ns = START_NS + k * 100_000_000
        for car in cars:
            its = f"/autodrive/{car}"
            yield at_ns, f"{its}/steering_command", SHARE, share(0.3)
            yield at_ns, f"{its}/throttle_command", SHARE, share(1.0 if k > 4 else 0.0)
        yield at_ns, "/odom", ODOMETRY, odom(0.03 * k, 0.0, 0.0, at_ns)


@pytest.mark.parametrize("kind", KINDS)
def test_the_commands_of_autodrive_are_read_as_the_shares_that_they_are(kind, tmp_path):
    run = read_run_bag(write(tmp_path, kind, autodrive_rows("nigel_1")), load_vehicle("nigel"))
    values, is_steering = run.commands.value_norm, run.commands.is_steering
    assert len(values) == 100
    assert values[is_steering] == pytest.approx(0.3)
    assert values[~is_steering].tolist() == [0.0] * 5 + [1.0] * 45
    assert len(run.odometry.t_s) == 50


def test_of_several_cars_one_has_to_be_named(tmp_path):
    bag, nigel = write(tmp_path, ".mcap", autodrive_rows("nigel_1", "nigel_2")), NIGEL
    with pytest.raises(DataFileFault, match="several cars") as fault:
        read_run_bag(bag, nigel)
    assert "--drive-topic /autodrive/nigel_1/throttle_command" in str(fault.value.remedy)
    run = read_run_bag(bag, nigel, "/autodrive/nigel_2/throttle_command")
    assert len(run.commands.t_s) == 100


ROS1, ROS2 = "autorally_msgs/msg/chassis", "autorally_msgs/msg/Chassis"


def chassis(kind, throttle, steering, brake):
    """A chassisCommand or chassisState, with the fields that this kind has."""
    message = empty(kind)
    message.throttle, message.steering = throttle, steering
    setattr(message, "front_brake" if kind.startswith(ROS2) else "frontBrake", brake)
    return message


def autorally_rows(kind, *topics):
    """Of AutoRally's topics: to the right, half throttle for 3 s, then the brake for 1 s."""
    for k in range(80):
        at_ns = START_NS + k * 50_000_000
        yield at_ns, "/pose_estimate", ODOMETRY, odom(0.1 * k, 0.0, 0.0, at_ns)
        throttle = 0.5 if 5 < k < 60 else 0.0
        for topic in topics:
            yield at_ns, topic, kind, chassis(kind, throttle, 0.25, 1.0 if k >= 60 else 0.0)


@pytest.mark.parametrize("what", ["State", "Command"])
@pytest.mark.parametrize(("bag_kind", "kind"), [(".bag", ROS1), (".mcap", ROS2), (".db3", ROS2)])
def test_autorallys_chassis_is_read_as_ros_1_and_ros_2_name_it(bag_kind, kind, what, tmp_path):
    rows = autorally_rows(kind + what, "/chassisState" if what == "State" else "/a/chassisCommand")
    run = read_run_bag(write(tmp_path, bag_kind, rows), load_vehicle("autorally"))
    values, is_steering = run.commands.value_norm, run.commands.is_steering
    assert values[is_steering] == pytest.approx(-0.25)
    assert values[~is_steering].tolist() == [0.0] * 6 + [0.5] * 54 + [0.0] * 20
    ((begin_s, end_s),) = run.commands.brakes
    assert (begin_s, end_s) == pytest.approx((3.0, 3.95))
    assert run.odometry.x_m[-1] == pytest.approx(7.9)


def test_of_autorallys_commanders_one_is_named_or_the_chassis_tells_who_won(tmp_path):
    topics = ("/joystick/chassisCommand", "/mppi/chassisCommand")
    bag = write(tmp_path, ".bag", autorally_rows(ROS1 + "Command", *topics))
    vehicle = load_vehicle("autorally")
    with pytest.raises(DataFileFault, match="several cars"):
        read_run_bag(bag, vehicle)
    assert len(read_run_bag(bag, vehicle, topics[1]).commands.t_s) == 160


def test_an_actuator_that_autorallys_commander_leaves_alone_is_no_command(tmp_path):
    kind = ROS2 + "Command"
    rows = [
        *autorally_rows(kind, "/a/chassisCommand"),
        (START_NS + 4 * 10**9, "/a/chassisCommand", kind, chassis(kind, -10.0, -5.0, -5.0)),
        (START_NS + 5 * 10**9, "/a/chassisCommand", kind, chassis(kind, -0.8, 0.0, 0.0)),
        (START_NS + 6 * 10**9, "/a/chassisCommand", kind, chassis(kind, 0.2, 0.0, 0.0)),
    ]
    run = read_run_bag(write(tmp_path, ".mcap", rows), load_vehicle("autorally"))
    assert len(run.commands.t_s) == 164
    assert run.commands.brakes == pytest.approx([(3.0, 4.0), (5.0, 6.0)])


def spoken(period_s, silences):
    """An odometry of 10 s, and a /drive that pauses at these times, from when to when."""
    for k in range(1000):
        at_ns = START_NS + k * 10_000_000
        yield at_ns, "/odom", ODOMETRY, odom(0.01 * k, 0.0, 0.0, at_ns)
    for k in range(round(10.0 / period_s)):
        time_s = k * period_s
        if not any(begin_s < time_s < end_s for begin_s, end_s in silences):
            yield START_NS + round(time_s * 1e9), "/drive", ACKERMANN, drive(1.0, 0.0)


def test_where_commands_fall_silent_the_twin_stops_and_it_is_told(tmp_path, capsys):
    rows = sorted(spoken(0.02, [(3.0, 4.0), (8.0, 10.0)]), key=lambda it: it[0])
    run = read_run_bag(write(tmp_path, ".mcap", rows), load_vehicle("f1tenth"))
    assert run.commands.brakes == pytest.approx([(3.2, 4.0), (8.2, 9.99)])
    throttle = run.commands.value_norm[~run.commands.is_steering]
    times_s = run.commands.t_s[~run.commands.is_steering]
    assert times_s[throttle == 0.0] == pytest.approx([3.2, 8.2])
    assert "/drive fell silent: the twin stops from 3.200 s to 4.000 s" in capsys.readouterr().err


def test_a_slow_stream_of_commands_does_not_fall_silent(tmp_path):
    rows = sorted(spoken(0.4, []), key=lambda it: it[0])
    run = read_run_bag(write(tmp_path, ".mcap", rows), load_vehicle("f1tenth"))
    assert run.commands.brakes == ()
