"""AutoRally's arbitration, runstops and files, and its table of topics against the facts."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from host_bridge.core import State
from host_bridge.core.errors import DataFileFault, UsageFault
from host_bridge.ros2.node.make_input import make
from host_bridge.ros2.node.mux import StampedCommand
from host_bridge.ros2.vocabularies.autorally.adapter import (
    RUNSTOP,
    AutorallyAdapter,
    RunstopSenders,
    WheelSpeedEstimator,
)
from host_bridge.ros2.vocabularies.autorally.chassis_mux import ChassisActuator, ChassisMux
from host_bridge.ros2.vocabularies.autorally.priorities import read_priorities
from host_bridge.ros2.vocabularies.autorally.vocabulary import AUTORALLY, PRIORITIES, rows_of
from host_bridge.ros2.vocabularies.topics import Content

CEDED = -5.0
NAN = float("nan")


# --- arbitration


class Talking:
    """Commanders who go on saying what they say, every 20 ms."""

    def __init__(self, priorities=None):
        self.mux = ChassisMux(rows_of(priorities or PRIORITIES), 0.1)
        self.says: dict[str, tuple[float, float, float]] = {}
        self.now_us = 1_000_000

    def run(self, ms=100) -> StampedCommand | None:
        for _ in range(ms // 20):
            self.now_us += 20_000
            for name, values in self.says.items():
                claims = dict(zip(ChassisActuator, values, strict=True))
                self.mux.hear(name, claims, self.now_us, self.now_us)
            decided = self.mux.decide(self.now_us)
        return decided


@pytest.fixture
def talking():
    return Talking()


def shares(command) -> tuple[float, float, float] | None:
    return command and (command.speed_mps, command.steer_rad, command.brake)


def test_the_lowest_number_wins(talking):
    talking.says = {"joystick": (0.5, 0.5, 0.5), "mppi_controller": (0.1, 0.2, 0.3)}
    assert shares(talking.run()) == (0.1, 0.2, 0.3)
    assert set(talking.mux.winners().values()) == {"mppi_controller"}


@pytest.mark.parametrize("ceded", [CEDED, -10.0, 1.01, NAN, float("inf")])
def test_an_actuator_that_one_leaves_alone_is_the_next_one_s(talking, ceded):
    talking.says = {"mppi_controller": (ceded, 0.2, ceded), "joystick": (0.5, 0.5, 0.5)}
    assert shares(talking.run()) == (0.5, 0.2, 0.5)
    assert list(talking.mux.winners().values()) == ["joystick", "mppi_controller", "joystick"]


def test_a_brake_below_0_is_left_alone(talking):
    talking.says = {"mppi_controller": (0.1, 0.0, -0.1)}
    assert shares(talking.run()) == (0.1, 0.0, 0.0)
    assert talking.mux.winners()[ChassisActuator.BRAKE] == ""


def test_what_nobody_claims_is_neutral(talking):
    talking.says = {"OCS": (CEDED, 0.4, CEDED)}
    assert shares(talking.run()) == (0.0, 0.4, 0.0)


def test_who_leaves_all_alone_is_no_silence(talking):
    talking.says = {"OCS": (0.2, 0.4, 0.0)}
    talking.run()
    talking.says = {"OCS": (CEDED, CEDED, CEDED)}
    assert talking.run() is None
    assert talking.mux.timed_out is None
    talking.says = {"joystick": (0.1, 0.0, 0.0)}
    assert shares(talking.run()) == (0.1, 0.0, 0.0)


def test_the_silence_of_who_only_steers_stops_all(talking):
    talking.says = {"mppi_controller": (CEDED, 0.2, CEDED), "joystick": (0.5, 0.5, 0.5)}
    talking.run()
    del talking.says["mppi_controller"]
    assert talking.run(200) is None
    assert talking.mux.timed_out == "mppi_controller"
    assert "mppi_controller/chassisCommand fell silent" in talking.mux.words(talking.now_us)
    talking.mux.begin()
    assert shares(talking.run()) == (0.5, 0.5, 0.5)


def test_a_single_command_claims_nothing(talking):
    talking.says = {"joystick": (0.5, 0.5, 0.5)}
    assert talking.run(20) is None


def test_a_command_is_as_old_as_its_oldest_part(talking):
    mux, now_us = talking.mux, 1_000_000
    for late_us in (0, 20_000):
        mux.hear("joystick", {ChassisActuator.STEERING: 0.1}, now_us + late_us, now_us + late_us)
        mux.hear(
            "OCS", {ChassisActuator.THROTTLE: 0.1}, now_us + late_us + 5000, now_us + late_us + 5000
        )
    assert mux.decide(now_us + 30_000).heard_us == now_us + 20_000


@pytest.mark.parametrize("shift_us", [-300_000, 100_000])
def test_a_command_of_another_time_is_refused_whole(talking, shift_us):
    for now_us in (1_000_000, 1_020_000):
        talking.mux.hear("OCS", {ChassisActuator.THROTTLE: 0.5}, now_us + shift_us, now_us)
    assert talking.mux.decide(1_020_000) is None
    assert talking.mux.sources["OCS"].refused == 2


# --- runstops


def test_every_sender_that_was_heard_has_to_go_on_enabling():
    runstops = RunstopSenders()
    assert runstops.stop_reason(0) == "No runstop was heard."
    runstops.hear("OCS", True, 0)
    runstops.hear("RUNSTOP", True, 0)
    assert runstops.stop_reason(400_000) == ""
    runstops.hear("OCS", True, 400_000)
    assert runstops.stop_reason(600_000) == "The runstop RUNSTOP is silent."
    runstops.hear("RUNSTOP", False, 600_000)
    assert runstops.stop_reason(600_000) == "The runstop RUNSTOP says stop."
    runstops.hear("RUNSTOP", True, 700_000)
    runstops.hear("OCS", True, 901_000)
    assert runstops.stop_reason(900_000) == "The runstop RUNSTOP says stop."
    assert runstops.stop_reason(901_000) == ""


class Node:
    stops = 0

    def stop(self):
        self.stops += 1

    def subscribe(self, topic, type_name, tell, *, depth):
        self.topic = topic


@pytest.fixture
def node():
    return Node()


@pytest.fixture
def chassis(node):
    made = AutorallyAdapter()
    made.mux(AUTORALLY.mux, 0.1)
    vehicle = SimpleNamespace(
        speed_max_mps=10.0,
        steer_max_rad=0.36,
        parameters={"nm_per_count": [1_000_000]},
        sources=(SimpleNamespace(id=1, name="rc"),),
    )
    made.begin(node, node, vehicle)
    return made


CAR = SimpleNamespace(motion=None)


def test_a_runstop_that_enables_no_more_stops_the_car_once(chassis, node):
    word = SimpleNamespace(sender="OCS", motion_enabled=True)
    chassis.step(CAR, True, 0)
    assert (node.stops, chassis.may_drive) == (0, False)
    chassis.hear_runstop(word, 0)
    chassis.step(CAR, True, 10_000)
    assert (node.stops, chassis.may_drive) == (0, True)
    for now_us in (600_000, 610_000):
        chassis.step(CAR, True, now_us)
    assert (node.stops, chassis.arming_refusal()) == (1, "The runstop OCS is silent.")


@pytest.mark.parametrize(
    ("throttle", "steering", "front_brake", "wanted"),
    [
        (0.5, 0.0, 0.0, (5.0, 0.0, 0.0)),
        (0.0, -1.0, 0.0, (0.0, 0.36, 0.0)),
        (0.0, 0.5, 0.3, (0.0, -0.18, 0.3)),
        (-0.4, 0.0, 0.3, (0.0, 0.0, 0.4)),
    ],
)
def test_shares_are_the_vehicle_s(chassis, throttle, steering, front_brake, wanted):
    limited = chassis.limited(StampedCommand(throttle, steering, 0, front_brake))
    assert shares(limited) == pytest.approx(wanted)


# --- wheels


def motion(captured_us, left, right):
    return SimpleNamespace(captured_us=captured_us, count_left=left, count_right=right)


def test_wheels_turn_as_their_counts_do_over_the_end_of_the_count():
    wheels = WheelSpeedEstimator(0.001)
    wheels.step(motion(2**30 - 50_000, 2**30 - 10, 5))
    wheels.step(motion(2**30 - 40_000, 2**30 - 10, 5))  # too soon for a difference
    assert wheels.left_mps == 0.0
    wheels.step(motion(50_000, 190, -95))
    assert (wheels.left_mps, wheels.right_mps) == pytest.approx((2.0, -1.0))


# --- its file


def test_priorities_are_read_as_they_are_the_lowest_first(tmp_path):
    path = tmp_path / "chassisCommandPriorities.yaml"
    path.write_text("".join(f"'{name}': {number}\n" for name, number in PRIORITIES.items()))
    rows, notes = read_priorities(path)
    assert rows == AUTORALLY.mux
    assert max(rows, key=lambda row: row.priority).name == "mppi_controller"
    assert len(notes) == 3
    assert "forgotten there after 2 s" in notes[1]


def test_the_name_under_which_a_launch_file_loads_them_is_taken(tmp_path):
    path = tmp_path / "a.yaml"
    path.write_text("chassisCommandProirities:\n  mine: 1\n  RC: 7\n")
    rows, _ = read_priorities(path)
    assert [(row.name, row.topic) for row in rows] == [("mine", "mine/chassisCommand")]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[]", "names with values"),
        ("a: [", "is not YAML"),
        ("RC: 7", "the file"),
        ("a: high", "a is not"),
        ("a: -1", "a is not"),
        ("a: true", "a is not"),
        ("a: 1\nb: 1", "b is not"),
        ("'a b': 1", "a b is not"),
        ("5: 1", "5 is not"),
    ],
)
def test_priorities_that_cannot_be_meant_so_are_refused(tmp_path, text, words):
    (tmp_path / "a.yaml").write_text(text)
    with pytest.raises(DataFileFault, match=words):
        read_priorities(tmp_path / "a.yaml")


def test_another_vocabulary_has_no_such_file():
    with pytest.raises(UsageFault, match="--priorities says nothing"):
        make("f1tenth", {"priorities": "a.yaml"}, lambda: 0)


# --- the table: AutoRally/autorally@48bae14, in the names that ROS 2 lets types have


def test_the_topics_are_autorallys():
    command = "autorally_msgs/msg/ChassisCommand"
    assert {it.topic: it.type for it in AUTORALLY.subscriptions} == {
        f"{name}/chassisCommand": command
        for name in (
            "mppi_controller",
            "constantSpeedController",
            "waypointFollower",
            "joystick",
            "OCS",
        )
    }
    assert RUNSTOP == ("runstop", "autorally_msgs/msg/Runstop")
    assert {it.topic: it.type for it in AUTORALLY.publications} == {
        "chassisState": "autorally_msgs/msg/ChassisState",
        "wheelSpeeds": "autorally_msgs/msg/WheelSpeeds",
        "RC/chassisCommand": command,
    }


# --- what is said


def seen(drive_source):
    status = SimpleNamespace(
        state=State.ACTIVE, drive_source=drive_source, steer_rad=0.18, target_mps=2.0, brake=0.0
    )
    return SimpleNamespace(status=status, motion=None)


def filled(chassis, part, car):
    message = SimpleNamespace(header=SimpleNamespace())
    return chassis.fillers()[part](None, message, "now", car), message


def test_the_transmitter_is_told_of_while_it_drives_and_then_alone(chassis):
    is_said, message = filled(chassis, Content.RC, seen(drive_source=1))
    assert is_said
    assert (message.sender, message.throttle, message.steering) == ("RC", 0.2, -0.5)
    assert filled(chassis, Content.RC, seen(drive_source=7))[0] is False


@pytest.mark.parametrize(
    ("drive_source", "commander", "autonomous"), [(1, "RC - manual", False), (7, "", True)]
)
def test_the_state_names_who_commands(chassis, drive_source, commander, autonomous):
    _, message = filled(chassis, Content.CHASSIS, seen(drive_source))
    assert message.throttle_commander == message.steering_commander == commander
    assert message.autonomous_enabled is autonomous
    assert message.throttle_relay_enabled is True
    assert message.runstop_motion_enabled is False
