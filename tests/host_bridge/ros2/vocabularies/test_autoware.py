"""Autoware's gears and modes, and its table of topics against the facts."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace

import pytest

from host_bridge.ros2.node import make_input
from host_bridge.ros2.node.mux import MuxSource, StampedCommand
from host_bridge.ros2.planning_simulator.topics import installed_generation
from host_bridge.ros2.vocabularies.autoware.adapter import (
    AUTONOMOUS,
    CONTROL_MODE_REQUEST,
    MANUAL,
    AutowareAdapter,
)
from host_bridge.ros2.vocabularies.autoware.external import EMERGENCY, ENGAGE
from host_bridge.ros2.vocabularies.autoware.gearbox import GearSelector
from host_bridge.ros2.vocabularies.autoware.vocabulary import AUTOWARE
from host_bridge.ros2.vocabularies.topics import Content, MuxRow
from host_bridge.ros2.vocabularies.vocabulary import without_truth

TOP_MPS = 4.0
NONE, NEUTRAL, DRIVE, REVERSE, REVERSE_2, PARK, LOW = 0, 1, 2, 20, 21, 22, 23

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
    "/sensing/imu/imu_data": "sensor_msgs/msg/Imu",
    "/sensing/vehicle_velocity_converter/twist_with_covariance": (
        "geometry_msgs/msg/TwistWithCovarianceStamped"
    ),
    "/sensing/lidar/scan": "sensor_msgs/msg/LaserScan",
}
# Of virtual cars, in place of its localisation
LOCALISED = {
    "/localization/kinematic_state": "nav_msgs/msg/Odometry",
    "/localization/acceleration": "geometry_msgs/msg/AccelWithCovarianceStamped",
    "/tf": "tf2_msgs/msg/TFMessage",
}


# The drivers outside: tier4_external_api_msgs
OUTSIDE = {
    f"/api/external/set/command/{who}/{name}": f"tier4_external_api_msgs/msg/{kind}"
    for who in ("local", "remote")
    for name, kind in {
        "control": "ControlCommandStamped",
        "shift": "GearShiftStamped",
        "turn_signal": "TurnSignalStamped",
        "heartbeat": "Heartbeat",
    }.items()
}


def test_the_topics_are_autowares():
    assert {it.topic: it.type for it in AUTOWARE.subscriptions} == HEARD | OUTSIDE
    assert {it.topic for it in AUTOWARE.subscriptions if it.is_optional} == {
        *OUTSIDE,
        "/control/command/emergency_cmd",
    }
    assert {it.topic: it.type for it in AUTOWARE.publications} == SAID | LOCALISED
    assert {it.topic for it in without_truth(AUTOWARE).publications} == set(SAID)


def test_the_older_messages_are_the_same_topics_and_fields_but_two():
    """autoware_auto_msgs: one name of a command, and the field of its speed."""
    older = AUTOWARE.older
    assert {it.topic for it in older.subscriptions} == set(HEARD | OUTSIDE)
    types = {it.type for it in (*older.subscriptions, *older.publications)}
    assert "autoware_auto_control_msgs/msg/AckermannControlCommand" in types
    assert "autoware_auto_vehicle_msgs/msg/VelocityReport" in types
    assert not [it for it in types if it.startswith(("autoware_vehicle", "autoware_control"))]
    adapter, source = older.adapter(), MuxSource(MuxRow("autoware", "", 10, 0.2), 200_000)
    control = SimpleNamespace(
        longitudinal=SimpleNamespace(speed=1.5), lateral=SimpleNamespace(steering_tire_angle=0.1)
    )
    adapter.on_message(older.subscriptions[0], source, control, 0, 0)
    assert (source.latest.speed_mps, source.latest.steer_rad) == (1.5, 0.1)


@pytest.mark.parametrize(
    ("installed", "spoken"),
    [("autoware_control_msgs autoware_auto_control_msgs", "autoware"),
     ("autoware_auto_control_msgs", "autoware_auto"), ("", "autoware")],
)  # fmt: skip
def test_the_generation_is_the_one_that_is_installed(monkeypatch, installed, spoken):
    def has(name):
        return name.split("/")[0] in installed.split()

    monkeypatch.setattr(make_input, "has_message", has)
    made = make_input.make("autoware", {}, lambda: 0)
    assert made.vocabulary.name == spoken
    assert any("tier4_vehicle_msgs" in note for note in made.notes)
    is_old = spoken == "autoware_auto"
    assert installed_generation(has).is_old == is_old


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
    box = GearSelector()
    assert box.take(gear)
    box.step(0.0)
    limited = box.limited(StampedCommand(wanted_mps, 0.1, 0))
    assert (limited.speed_mps, limited.steer_rad) == (speed_mps, 0.1)
    assert limited.brake == (1.0 if gear == PARK else 0.0)


def test_it_begins_in_park_and_no_command_leaves_it_there():
    box = GearSelector()
    assert box.take(NONE)
    box.step(0.0)
    assert box.gear == PARK
    assert box.limited(StampedCommand(1.0, 0.0, 0)).speed_mps == 0.0


def test_the_way_changes_at_standstill_and_until_then_it_is_brought_to_rest():
    box = GearSelector()
    box.take(DRIVE)
    box.step(0.0)
    box.take(REVERSE)
    box.step(1.0)
    assert box.gear == DRIVE
    assert {box.limited(StampedCommand(speed, 0.0, 0)).speed_mps for speed in (1.0, -1.0)} == {0.0}
    box.step(0.01)
    assert box.limited(StampedCommand(-1.0, 0.0, 0)).speed_mps == -1.0


def test_a_gear_of_the_same_way_is_taken_at_speed():
    box = GearSelector()
    box.take(DRIVE)
    box.step(0.0)
    box.take(LOW)
    box.step(3.0)
    assert box.gear == LOW


@pytest.mark.parametrize("number", [25, 99, 255])
def test_what_is_no_gear_is_refused(number):
    assert not GearSelector().take(number)


# --- who is in control


@dataclass
class Node:
    """What a adapter asks of the node, noted."""

    stops: int = 0
    arms: list = field(default_factory=list)

    def stop(self):
        self.stops += 1

    def stop_for(self, reply):
        self.stops += 1
        reply(True, "")

    def arm(self, reply):
        self.arms.append(reply)


class Offered:
    """The services that are offered."""

    def __init__(self):
        self.answers = {}

    def serve(self, name, type_name, answer):
        self.answers[name] = answer

    def ask(self, mode):
        return self.call(CONTROL_MODE_REQUEST, mode=mode)

    def call(self, name, **fields):
        answers = []
        reply = lambda is_done, words: answers.append(is_done)  # noqa: E731
        self.answers[name](SimpleNamespace(**fields), reply)
        return answers


@pytest.fixture
def node():
    return Node()


@pytest.fixture
def interface(node, monkeypatch):
    monkeypatch.setattr(
        "host_bridge.ros2.vocabularies.autoware.adapter.has_message", lambda name: True
    )
    made = AutowareAdapter()
    made.service = Offered()
    made.begin(made.service, node, SimpleNamespace(speed_max_mps=TOP_MPS))
    made.sources = made.mux(AUTOWARE.mux, 0.12).sources
    return made


def at(is_driving, speed_mps=0.0):
    return SimpleNamespace(status=SimpleNamespace(speed_mps=speed_mps)), is_driving, 0


def hear(interface, part, age_us=0, **fields):
    topic = next(
        subscription for subscription in AUTOWARE.subscriptions if subscription.content is part
    )
    source = MuxSource(MuxRow("autoware", "control_cmd", 10, 0.2), 120_000)
    interface.on_message(topic, source, SimpleNamespace(**fields), 1_000_000 - age_us, 1_000_000)
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
    hear(interface, Content.ENGAGE, engage=True)
    assert (interface.may_drive, node.arms) == (False, [])
    interface.step(*at(True))
    hear(interface, Content.ENGAGE, engage=True)
    assert interface.may_drive
    hear(interface, Content.ENGAGE, engage=False)
    assert not interface.may_drive


def test_an_old_engage_and_an_old_gear_count_for_nothing(interface):
    interface.step(*at(True))
    source = hear(interface, Content.ENGAGE, age_us=5_000_000, engage=True)
    hear(interface, Content.GEAR, age_us=5_000_000, command=DRIVE)
    interface.step(*at(True))
    assert (interface.may_drive, interface.gearbox.gear) == (False, PARK)
    assert "5.00 s old" in source.why_refused


def test_an_old_emergency_stops_all_the_same_once(interface, node):
    hear(interface, Content.EMERGENCY, age_us=5_000_000, emergency=True)
    hear(interface, Content.EMERGENCY, emergency=True)
    assert node.stops == 1
    interface.step(*at(True))
    assert interface.service.ask(AUTONOMOUS) == [False]
    hear(interface, Content.EMERGENCY, emergency=False)
    assert not interface.may_drive
    assert interface.service.ask(AUTONOMOUS) == [True]


def test_a_command_that_is_no_number_is_refused(interface):
    lateral = SimpleNamespace(steering_tire_angle=0.0)
    longitudinal = SimpleNamespace(velocity=float("nan"))
    source = hear(interface, Content.CONTROL, lateral=lateral, longitudinal=longitudinal)
    assert (source.latest, source.refused) == (None, 1)


@pytest.mark.parametrize(
    ("turn", "hazard", "lights"), [(1, 1, 0), (2, 1, 4), (3, 1, 8), (2, 2, 12), (0, 1, 0)]
)
def test_indicators_are_bits_of_the_claims(interface, turn, hazard, lights):
    hear(interface, Content.TURN, command=turn)
    hear(interface, Content.HAZARD, command=hazard)
    assert interface.lights == lights


# --- drivers outside

MS = 1000


class Driver:
    """One who goes on saying pedals every 20 ms, and that they are there every 100 ms."""

    def __init__(self, interface, name="local"):
        self.interface, self.name = interface, name
        self.pedals = {"throttle": 0.0, "brake": 0.0, "steering_angle": 0.0}
        self.beats = True
        self.now_us = 1_000 * MS

    def run(self, ms=200):
        """What is decided at the end of that time."""
        mux = self.interface._mux
        for _ in range(ms // 20):
            self.now_us += 20 * MS
            if self.beats and self.now_us % (100 * MS) == 0:
                self.say(Content.HEARTBEAT)
            self.say(Content.PEDALS, control=SimpleNamespace(**self.pedals))
            command = mux.decide(self.now_us)
        return command and self.interface.limited(command)

    def say(self, part, **fields):
        (topic,) = [
            it for it in AUTOWARE.subscriptions if it.content is part and it.source == self.name
        ]
        source = self.interface.sources[self.name]
        message = SimpleNamespace(**fields)
        self.interface.on_message(topic, source, message, self.now_us, self.now_us)
        return source

    def shift(self, number):
        self.say(Content.SHIFT, gear_shift=SimpleNamespace(data=number))
        self.interface.gearbox.step(0.0)


@pytest.fixture
def driver(interface):
    made = Driver(interface)
    made.run()
    made.shift(4)
    return made


@pytest.mark.parametrize(("shift", "speed_mps"), [(4, 2.0), (5, 2.0), (2, -2.0), (3, 0.0)])
def test_throttle_is_a_share_of_the_top_speed_in_the_way_of_the_gear(driver, shift, speed_mps):
    driver.pedals.update(throttle=0.5, steering_angle=0.2)
    driver.shift(shift)
    command = driver.run()
    assert (command.speed_mps, command.steer_rad, command.brake) == (speed_mps, 0.2, 0.0)


def test_any_brake_takes_the_throttle_away_and_park_is_a_full_one(driver):
    driver.pedals.update(throttle=0.5, brake=0.3)
    command = driver.run()
    assert (command.speed_mps, command.brake) == (0.0, 0.3)
    driver.shift(1)
    assert driver.run().brake == 1.0


def test_pedals_beyond_their_ends_are_at_their_ends(driver):
    driver.pedals.update(throttle=7.0)
    assert driver.run().speed_mps == TOP_MPS
    driver.pedals.update(throttle=-7.0)
    assert driver.run().speed_mps == 0.0


def test_without_a_heartbeat_no_command_counts(interface):
    driver = Driver(interface)
    driver.beats = False
    assert driver.run(1000) is None
    assert interface.sources["local"].why_refused == "its heartbeat was never heard"


def test_a_heartbeat_that_ends_is_the_drivers_silence_half_a_second_later(driver):
    driver.pedals.update(throttle=0.5)
    driver.run()
    driver.say(Content.HEARTBEAT)
    driver.beats = False
    assert driver.run(500).speed_mps == 2.0
    assert driver.run(40) is None
    assert driver.interface._mux.timed_out == "local"
    assert "heartbeat was last heard" in driver.interface.sources["local"].why_refused


def test_pedals_that_end_are_silence_at_once_whatever_the_heartbeat_says(driver):
    driver.run()
    for _ in range(7):
        driver.now_us += 20 * MS
        driver.say(Content.HEARTBEAT)
    assert driver.interface._mux.decide(driver.now_us) is None
    assert driver.interface._mux.timed_out == "local"


def test_a_heartbeat_of_the_future_makes_nothing_last_longer(driver):
    (topic,) = [it for it in AUTOWARE.subscriptions if it.topic.endswith("local/heartbeat")]
    source = driver.interface.sources["local"]
    driver.interface.on_message(
        topic, source, SimpleNamespace(), driver.now_us + 10**9, driver.now_us
    )
    driver.beats = False
    assert driver.run(600) is None


def test_the_local_driver_is_before_the_remote_one_and_both_before_autoware(interface):
    assert list(interface.sources) == ["local", "remote", "autoware"]


def test_gear_and_signals_are_whose_who_drives(driver):
    remote = Driver(driver.interface, "remote")
    remote.now_us = driver.now_us
    driver.run()
    remote.shift(2)
    remote.say(Content.SIGNAL, turn_signal=SimpleNamespace(data=3))
    assert (driver.interface.gearbox.gear, driver.interface.lights) == (DRIVE, 0)
    driver.say(Content.SIGNAL, turn_signal=SimpleNamespace(data=3))
    assert driver.interface.lights == 12
    driver.say(Content.SIGNAL, turn_signal=SimpleNamespace(data=1))
    assert driver.interface.lights == 4


def test_an_unknown_shift_is_refused_and_an_unknown_signal_changes_nothing(driver):
    driver.say(Content.SIGNAL, turn_signal=SimpleNamespace(data=2))
    driver.say(Content.SIGNAL, turn_signal=SimpleNamespace(data=99))
    source = driver.say(Content.SHIFT, gear_shift=SimpleNamespace(data=99))
    assert (driver.interface.lights, source.why_refused) == (8, "there is no gear 255")


def test_the_engage_service_arms_nothing(interface, node):
    assert interface.service.call(ENGAGE, engage=True) == [False]
    assert (interface.may_drive, node.arms) == (False, [])
    interface.step(*at(True))
    assert interface.service.call(ENGAGE, engage=True) == [True]
    assert interface.may_drive
    assert interface.service.call(ENGAGE, engage=False) == [True]
    assert not interface.may_drive


def test_an_operators_emergency_stops_and_is_not_put_out_by_autowares_word(interface, node):
    assert interface.service.call(EMERGENCY, emergency=True) == [True]
    assert node.stops == 1
    hear(interface, Content.EMERGENCY, emergency=False)
    interface.step(*at(True))
    assert interface.service.ask(AUTONOMOUS) == [False]
    assert interface.service.call(EMERGENCY, emergency=False) == [True]
    assert interface.service.ask(AUTONOMOUS) == [True]
