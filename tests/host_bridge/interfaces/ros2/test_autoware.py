"""Autoware's gears and modes, and its table of topics against the facts."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

import pytest

from host_bridge.interfaces.ros2.autoware import (
    AUTONOMOUS,
    AUTOWARE,
    CONTROL_MODE_REQUEST,
    MANUAL,
    Gearbox,
    VehicleInterface,
)
from host_bridge.interfaces.ros2.mux import Command, Source
from host_bridge.interfaces.ros2.vocabulary import MuxRow, Part

NONE, NEUTRAL, DRIVE, REVERSE, REVERSE_2, PARK, LOW = 0, 1, 2, 20, 21, 22, 23
FACTS = (Path(__file__).parents[5] / "shared" / "facts" / "ros2").with_suffix(".md")

# The facts: autoware_msgs@7025d8f, tier4_autoware_msgs@cf67717
HEARD = {
    "/control/command/control_cmd": "autoware_control_msgs/msg/Control",
    "/control/command/gear_cmd": "autoware_vehicle_msgs/msg/GearCommand",
    "/control/command/turn_indicators_cmd": "autoware_vehicle_msgs/msg/TurnIndicatorsCommand",
    "/control/command/hazard_lights_cmd": "autoware_vehicle_msgs/msg/HazardLightsCommand",
    "/control/command/emergency_cmd": "tier4_vehicle_msgs/msg/VehicleEmergencyStamped",
    "/vehicle/engage": "autoware_vehicle_msgs/msg/Engage",
}
SAID = {
    "/vehicle/status/velocity_status": "autoware_vehicle_msgs/msg/VelocityReport",
    "/vehicle/status/steering_status": "autoware_vehicle_msgs/msg/SteeringReport",
    "/vehicle/status/gear_status": "autoware_vehicle_msgs/msg/GearReport",
    "/vehicle/status/control_mode": "autoware_vehicle_msgs/msg/ControlModeReport",
    "/vehicle/status/turn_indicators_status": "autoware_vehicle_msgs/msg/TurnIndicatorsReport",
    "/vehicle/status/hazard_lights_status": "autoware_vehicle_msgs/msg/HazardLightsReport",
}


def test_the_topics_are_autowares():
    assert {heard.topic: heard.type for heard in AUTOWARE.heard} == HEARD
    assert {said.topic: said.type for said in AUTOWARE.said} == SAID


@pytest.mark.skipif(not FACTS.is_file(), reason="no facts of ROS 2 beside the project")
def test_the_table_is_that_of_the_facts():
    section = FACTS.read_text().split("## 3.")[1].split("## 4.")[0]
    names = [topic.rpartition("/")[2] for topic in (*HEARD, *SAID, CONTROL_MODE_REQUEST)]
    types = [kind.rpartition("/")[2] for kind in HEARD.values()]
    assert [name for name in (*names, *types) if name not in section] == []


# --- gears


@pytest.mark.parametrize(
    ("gear", "wanted_mps", "speed_mps"),
    [
        (DRIVE, 1.0, 1.0),
        (DRIVE, -1.0, 0.0),
        (LOW, 1.0, 1.0),
        (REVERSE, -1.0, -1.0),
        (REVERSE_2, 1.0, 0.0),
        (NEUTRAL, 1.0, 0.0),
        (NEUTRAL, -1.0, 0.0),
        (PARK, 1.0, 0.0),
        (PARK, -1.0, 0.0),
    ],
)
def test_wheels_turn_the_way_of_the_gear(gear, wanted_mps, speed_mps):
    box = Gearbox()
    assert box.take(gear)
    box.step(0.0)
    allowed = box.allowed(Command(wanted_mps, 0.1, 0))
    assert (allowed.speed_mps, allowed.steer_rad) == (speed_mps, 0.1)
    assert allowed.brake == (1.0 if gear == PARK else 0.0)


def test_it_begins_in_park_and_no_command_leaves_it_there():
    box = Gearbox()
    assert box.take(NONE)
    box.step(0.0)
    assert box.gear == PARK
    assert box.allowed(Command(1.0, 0.0, 0)).speed_mps == 0.0


def test_the_way_changes_at_standstill_and_until_then_it_is_brought_to_rest():
    box = Gearbox()
    box.take(DRIVE)
    box.step(0.0)
    box.take(REVERSE)
    box.step(1.0)
    assert box.gear == DRIVE
    assert {box.allowed(Command(speed, 0.0, 0)).speed_mps for speed in (1.0, -1.0)} == {0.0}
    box.step(0.01)
    assert box.allowed(Command(-1.0, 0.0, 0)).speed_mps == -1.0


def test_a_gear_of_the_same_way_is_taken_at_speed():
    box = Gearbox()
    box.take(DRIVE)
    box.step(0.0)
    box.take(LOW)
    box.step(3.0)
    assert box.gear == LOW


@pytest.mark.parametrize("number", [25, 99, 255])
def test_what_is_no_gear_is_refused(number):
    assert not Gearbox().take(number)


# --- who is in control


@dataclass
class Node:
    """What a manner asks of the node, noted."""

    stops: int = 0
    arms: list = field(default_factory=list)

    def stop(self):
        self.stops += 1

    def arm(self, reply):
        self.arms.append(reply)


class Offered:
    """The one service that is offered."""

    def serve(self, name, type_name, answer):
        self.name, self.answer = name, answer

    def ask(self, mode):
        answers = []
        self.answer(SimpleNamespace(mode=mode), lambda is_done, words: answers.append(is_done))
        return answers


@pytest.fixture
def node():
    return Node()


@pytest.fixture
def interface(node):
    made = VehicleInterface()
    made.service = Offered()
    made.begin(made.service, node, None)
    return made


def at(is_driving, speed_mps=0.0):
    return SimpleNamespace(status=SimpleNamespace(speed_mps=speed_mps)), is_driving, 0


def hear(interface, part, age_us=0, **fields):
    topic = next(heard for heard in AUTOWARE.heard if heard.part is part)
    source = Source(MuxRow("autoware", "control_cmd", 10, 0.2), 120_000)
    interface.hear(topic, source, SimpleNamespace(**fields), 1_000_000 - age_us, 1_000_000)
    return source


def test_control_is_given_once_it_is_armed_and_lost_by_a_stop(interface):
    interface.step(*at(True))
    assert not interface.may_drive
    assert interface.service.ask(AUTONOMOUS) == [True]
    assert interface.may_drive
    interface.step(*at(False))
    interface.step(*at(True))
    assert not interface.may_drive


def test_control_of_a_car_that_stands_is_given_when_it_is_armed(interface, node):
    assert interface.service.ask(AUTONOMOUS) == []
    (reply,) = node.arms
    assert not interface.may_drive
    reply(False, "refused")
    assert not interface.may_drive
    reply(True, "")
    assert interface.may_drive


@pytest.mark.parametrize("mode", [0, 2, 3, 5, 9])
def test_other_modes_are_refused(interface, mode):
    interface.step(*at(True))
    assert interface.service.ask(mode) == [False]
    assert interface.mode == MANUAL


def test_an_engage_arms_nothing_and_ends_control_by_its_false(interface, node):
    hear(interface, Part.ENGAGE, engage=True)
    assert (interface.may_drive, node.arms) == (False, [])
    interface.step(*at(True))
    hear(interface, Part.ENGAGE, engage=True)
    assert interface.may_drive
    hear(interface, Part.ENGAGE, engage=False)
    assert not interface.may_drive


def test_an_old_engage_and_an_old_gear_count_for_nothing(interface):
    interface.step(*at(True))
    source = hear(interface, Part.ENGAGE, age_us=5_000_000, engage=True)
    hear(interface, Part.GEAR, age_us=5_000_000, command=DRIVE)
    interface.step(*at(True))
    assert (interface.may_drive, interface.gearbox.gear) == (False, PARK)
    assert "5.00 s old" in source.why_refused


def test_an_old_emergency_stops_all_the_same_once(interface, node):
    hear(interface, Part.EMERGENCY, age_us=5_000_000, emergency=True)
    hear(interface, Part.EMERGENCY, emergency=True)
    assert node.stops == 1
    interface.step(*at(True))
    assert interface.service.ask(AUTONOMOUS) == [False]
    hear(interface, Part.EMERGENCY, emergency=False)
    assert not interface.may_drive
    assert interface.service.ask(AUTONOMOUS) == [True]


def test_a_command_that_is_no_number_is_refused(interface):
    lateral = SimpleNamespace(steering_tire_angle=0.0)
    longitudinal = SimpleNamespace(velocity=float("nan"))
    source = hear(interface, Part.CONTROL, lateral=lateral, longitudinal=longitudinal)
    assert (source.latest, source.refused) == (None, 1)


@pytest.mark.parametrize(
    ("turn", "hazard", "lights"), [(1, 1, 0), (2, 1, 4), (3, 1, 8), (2, 2, 12), (0, 1, 0)]
)
def test_indicators_are_bits_of_the_claims(interface, turn, hazard, lights):
    hear(interface, Part.TURN, command=turn)
    hear(interface, Part.HAZARD, command=hazard)
    assert interface.lights == lights
