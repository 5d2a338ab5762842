"""What ROS 2 may have the cars do, and who arms them: the node on a bus of this test's making."""

from __future__ import annotations

import asyncio
import math
from dataclasses import replace
from types import SimpleNamespace

import pytest

from host_bridge.core import (
    Cause,
    DriveCommand,
    InputLimits,
    Observed,
    OperatorRequest,
    SeenCar,
    State,
)
from host_bridge.core.errors import DataFileFault, UsageFault
from host_bridge.ros2.node import command_topics
from host_bridge.ros2.node import ros_input as under_test
from host_bridge.ros2.node.node_services import BY_A_PERSON, NodeServices
from host_bridge.ros2.node.ros_input import RosInput
from host_bridge.ros2.node.set_pose import NOT_HERE
from host_bridge.ros2.node.vesc_scale import VescScale
from host_bridge.ros2.node.vocabulary_adapter import VocabularyAdapter
from host_bridge.ros2.vocabularies.f1tenth.vocabulary import F1TENTH
from host_bridge.ros2.vocabularies.topics import Content, MuxRow, Subscription
from tests.host_bridge.core.test_domain import status
from tests.host_bridge.drive.drives import vehicle

MS = 1000
BEGIN_MS = 100
LEASE_S = 0.12
VEHICLE = vehicle()
LIMITS = InputLimits(steer_rad=0.4, speed_mps=4.0, reverse_mps=1.0)
FLOAT = "std_msgs/msg/Float64"
OTHER = SeenCar("another", False, None, None, None, None, None)  # the first one counts


class Bus:
    """What is subscribed to and served is kept; ``comes`` happens at the next step."""

    made: list[Bus]
    refusal: Exception | None = None

    def __init__(self, *given, **named) -> None:
        self.made.append(self)
        self.given, self.named = given, named
        self.topics: dict[str, SimpleNamespace] = {}
        self.services: dict[str, tuple] = {}
        self.comes: list = []
        self.steps: list[bool] = []
        self.listening = None
        self.has_news = True
        self.is_closed = False
        self.registered: list[str] = []
        self.now_ns = 0

    def subscribe(self, topic, type_name, hear, depth) -> None:
        assert topic not in self.topics
        self.topics[topic] = SimpleNamespace(type=type_name, hear=hear, depth=depth)

    def serve(self, name, type_name, handler) -> None:
        self.services[name] = type_name, handler

    def step(self, *, is_between_ticks) -> None:
        self.steps.append(is_between_ticks)
        for it in self.comes:
            it()
        self.comes = []

    def listen(self, *callbacks) -> None:
        self.listening = callbacks

    def register_for(self, car: str) -> None:
        self.registered.append(car)
        if self.refusal:
            raise self.refusal

    def stamp_ns(self) -> int:
        return self.now_ns

    def close(self) -> None:
        self.is_closed = True


class Told:
    """A part that tells: what it was made with, and each of its steps."""

    made: dict[str, Told]

    def __init__(self, name: str, *given) -> None:
        self.made[name] = self
        self.given = given
        self.steps: list[tuple] = []
        self.put_at: list = []
        self.words = ""

    def step(self, *given) -> None:
        self.steps.append(given)

    def set_pose(self, place) -> None:
        self.put_at.append(place)


class Pipe:
    truth = "where it is"
    hits = 3
    is_closed = False
    fault: Exception | None = None

    def __init__(self, path: str) -> None:
        self.path = path
        if self.fault:
            raise self.fault

    def close(self) -> None:
        self.is_closed = True


class Table:
    """A node on a table: it steps each 10 ms, and its commands are in time."""

    def __init__(self, **given) -> None:
        self.node = RosInput(given.pop("vocabulary", F1TENTH), given.pop("namespace", ""), **given)
        self.now_ms = 1000
        self.woken = 0
        self.state: State | None = State.STANDBY
        self.causes: tuple[Cause, ...] = ()
        self.is_driving = False

    def wake(self) -> None:
        self.woken += 1

    def open(self, is_virtual: bool = True) -> Table:
        context = SimpleNamespace(
            is_virtual=is_virtual, vehicles=[VEHICLE, vehicle("nigel")], car_names=["car", "twin"],
            now_us=lambda: 0, wake=self.wake,
            limits=lambda source: self._of(source, LIMITS),
            lease_s=lambda source: self._of(source, LEASE_S),
        )  # fmt: skip

        async def main() -> None:
            await self.node.open(context)

        asyncio.run(main())
        return self

    @staticmethod
    def _of(source: str, value):
        assert source == "ros2"
        return value

    @property
    def bus(self) -> Bus:
        return Bus.made[-1]

    @property
    def car(self) -> SeenCar:
        said = None if self.state is None else status(self.state, self.causes)
        return SeenCar("car", True, VEHICLE, said, None, None, None)

    def step(self, ms: int = 10, is_between_ticks: bool = False) -> DriveCommand:
        self.now_ms += ms
        return self.step_at(self.now_ms * MS, is_between_ticks)

    def step_at(self, now_us: int, is_between_ticks: bool = False) -> DriveCommand:
        observed = Observed((self.car, OTHER), self.is_driving, True, is_between_ticks)
        return self.node.step(now_us, observed)

    def hear(self, topic: str, message, late_ms: int = 0) -> None:
        """It comes at the next step, having been there for so long."""
        received_us = (self.now_ms + 10 - late_ms) * MS
        self.bus.comes.append(lambda: self.bus.topics[topic].hear(message, received_us))

    def command(self, speed: float = 1.0, steer: float = 0.0, topic: str = "drive") -> DriveCommand:
        self.hear(topic, ackermann(speed, steer))
        return self.step()

    def armed(self) -> Table:
        self.is_driving, self.state = True, State.HOLD
        return self

    def driven(self, speed: float = 1.0, **given) -> DriveCommand:
        """Armed, and commanded for longer than it takes to begin."""
        self.armed()
        for _ in range(13):
            command = self.command(speed, **given)
        return command

    def call(self, name: str, request=None) -> list[tuple[bool, str]]:
        replies: list[tuple[bool, str]] = []
        self.bus.services[name][1](request, lambda is_done, words: replies.append((is_done, words)))
        return replies


def ackermann(speed: float, steer: float, **more) -> SimpleNamespace:
    return SimpleNamespace(drive=SimpleNamespace(speed=speed, steering_angle=steer), **more)


def of_value(value) -> SimpleNamespace:
    return SimpleNamespace(data=value)


@pytest.fixture
def table(monkeypatch):
    monkeypatch.setattr(Bus, "made", [], raising=False)
    monkeypatch.setattr(Told, "made", {}, raising=False)
    monkeypatch.setattr(under_test, "Bus", Bus)
    monkeypatch.setattr(under_test, "SensorPipe", Pipe)
    for name in (
        "StatePublisher",
        "RobotDescriptionPublisher",
        "DiagnosticsPublisher",
        "SimTimeServices",
        "PoseRequest",
    ):
        monkeypatch.setattr(under_test, name, lambda *given, name=name: Told(name, *given))
    for name in ("ROS_SECURITY_ENABLE", "ROS_DISTRO", *SETTINGS):
        monkeypatch.delenv(name, raising=False)
    return Table


SETTINGS = ("ROS_AUTOMATIC_DISCOVERY_RANGE", "ROS_LOCALHOST_ONLY", "ROS_STATIC_PEERS")


def test_a_set_with_a_real_car_is_not_forgiving(table):
    with pytest.raises(UsageFault, match="for virtual cars"):
        table(is_forgiving=True).open(is_virtual=False)


def test_a_forgiving_car_rests_in_a_pause_and_goes_on_and_the_screen_says_so(table):
    it = table(is_forgiving=True).open()
    assert it.driven().speed_mps == 1.0
    paused = [it.step() for _ in range(50)]
    assert paused[-1].speed_mps == 0.0
    assert not paused[-1].is_held
    # It was heard at each moment, so that the board's source does not fall silent
    assert paused[-1].heard_us == it.now_ms * MS
    assert it.driven().speed_mps == 1.0
    assert "FORGIVING" in it.node.status_text(it.now_ms * MS)


def test_a_real_car_publishes_nothing_that_is_known_of_virtual_ones_alone(table):
    for is_virtual in (True, False):
        it = table().open(is_virtual=is_virtual)
        topics = {row.topic for row in it.node.vocabulary.publications}
        assert ("pf/pose/odom" in topics) == is_virtual
        assert "odom" in topics


class Own(VocabularyAdapter):
    """One with something of its own."""

    def __init__(self) -> None:
        self.begun: list[tuple] = []
        self.steps: list[tuple] = []
        self.takes = self.has_runstop = False
        self.heard: list[tuple] = []
        self.why = self.said = ""

    def begin(self, *given) -> None:
        self.begun.append(given)

    def on_message(self, *given) -> bool:
        self.heard.append(given)
        return self.takes

    def step(self, *given) -> None:
        self.steps.append(given)

    def limited(self, command):
        return replace(command, speed_mps=command.speed_mps / 2)

    def arming_refusal(self) -> str:
        return self.why

    def words(self) -> str:
        return self.said


@pytest.fixture
def own(monkeypatch):
    made = Own()
    monkeypatch.setitem(globals(), "F1TENTH", replace(F1TENTH, adapter=lambda: made))
    return made


# --- a real car is no stranger's


def test_a_virtual_car_may_be_reached_from_anywhere(table, monkeypatch):
    monkeypatch.setenv("ROS_STATIC_PEERS", "10.0.0.1")
    table().open(is_virtual=True)
    assert len(Bus.made) == 1


def test_a_real_one_is_refused_where_strangers_could_move_it(table, monkeypatch):
    monkeypatch.setenv("ROS_STATIC_PEERS", "10.0.0.1")
    with pytest.raises(UsageFault, match="whoever is on this network could move the car"):
        table().open(is_virtual=False)
    assert Bus.made == []


def test_and_not_on_this_machine_or_where_ros_2_itself_refuses_strangers(table, monkeypatch):
    table().open(is_virtual=False)
    monkeypatch.setenv("ROS_STATIC_PEERS", "10.0.0.1")
    monkeypatch.setenv("ROS_SECURITY_ENABLE", "true")
    monkeypatch.setenv("ROS_SECURITY_STRATEGY", "Enforce")
    table().open(is_virtual=False)
    assert len(Bus.made) == 2


# --- who arms


@pytest.mark.parametrize("call", ["~/arm", "~/clear"])
def test_a_real_car_is_armed_by_a_person(table, call):
    it = table().open(is_virtual=False)
    assert it.call(call, of_value(True)) == [(False, BY_A_PERSON)]
    assert it.node.requests() == []


@pytest.mark.parametrize("call", ["~/arm", "~/clear"])
def test_a_virtual_one_is_armed_and_whoever_asked_is_told_when_it_is(table, call):
    it = table().open()
    replies = it.call(call, of_value(True))
    assert it.node.requests() == [OperatorRequest.ARM]
    assert it.node.requests() == []
    it.step()
    assert replies == []
    it.state = State.HOLD
    it.step()
    assert replies == [(True, "Done.")]


def test_before_it_is_armed_a_car_that_says_nothing_has_not_done_it(table):
    it = table().open()
    it.step()
    replies = it.call("~/arm", of_value(True))
    it.state = None
    it.step(1499)
    assert replies == []
    it.step(10)
    assert replies == [(False, "The car is not heard.")]


def test_who_asks_before_the_first_step_waits_as_long(table):
    it = table().open()
    replies = it.call("~/stop")
    it.step_at(1_499_999)
    assert replies == []
    it.step_at(1_500_000)
    assert [is_done for is_done, _ in replies] == [False]


def test_one_that_is_armed_already_is_not_armed_again(table):
    it = table().open().armed()
    it.step()
    assert it.call("~/clear") == [(True, "It is armed.")]
    assert it.node.requests() == []


def test_none_is_armed_while_the_runstop_topic_says_stop(table):
    it = table().open()
    it.hear("runstop", of_value(False))
    it.step()
    assert it.node.requests() == [OperatorRequest.STOP]
    assert it.call("~/clear") == [(False, "The runstop topic says stop, or is silent.")]
    assert it.node.requests() == []


def test_nor_while_its_adapter_says_why_not(table, own):
    it = table().open()
    own.why = "It is in an emergency."
    assert it.call("~/clear") == [(False, "It is in an emergency.")]
    assert it.node.requests() == []


# --- who stops


@pytest.mark.parametrize("is_virtual", [True, False])
@pytest.mark.parametrize("call", ["~/stop", "~/arm"])
def test_anybody_stops_any_car_and_is_told_when_it_says_so(table, call, is_virtual):
    it = table().open(is_virtual).armed()
    replies = it.call(call, of_value(False))
    assert it.node.requests() == [OperatorRequest.STOP]
    it.step()
    assert replies == []
    it.state, it.causes = State.STANDBY, (Cause.STOP_REQUEST,)
    it.step()
    assert [is_done for is_done, _ in replies] == [True]


def test_a_runstop_topic_stops_by_its_word_and_by_its_silence(table):
    it = table().open()
    it.hear("runstop", of_value(True))
    it.step()
    assert it.node.requests() == []
    it.step(300)
    assert it.node.requests() == []
    it.step(1)
    assert it.node.requests() == [OperatorRequest.STOP]
    topic = it.bus.topics["runstop"]
    assert (topic.type, topic.depth) == ("std_msgs/msg/Bool", 10)


def test_an_adapter_with_a_runstop_of_its_own_has_no_other(table, own):
    own.has_runstop = True
    assert "runstop" not in table().open().bus.topics


# --- what is commanded


def test_nothing_is_wished_for_before_the_cars_are_armed(table):
    it = table().open()
    for _ in range(20):
        command = it.command(1.0)
        assert (command.is_held, command.speed_mps, command.heard_us) == (False, 0.0, None)


def test_commands_drive_from_the_second_one_on_once_the_car_has_had_time_to_begin(table):
    it = table().open().armed()
    assert it.command(1.0, 0.2) == DriveCommand(input_count=1)
    first_ms = it.now_ms + 10
    while it.now_ms < first_ms + BEGIN_MS - 10:
        command = it.command(1.0, 0.2)
        assert (command.is_held, command.speed_mps, command.steer_rad) == (False, 1.0, 0.2)
    command = it.command(1.0, 0.2)
    assert it.now_ms == first_ms + BEGIN_MS
    assert (command.is_held, command.speed_mps, command.steer_rad, command.brake) == (
        True,
        1.0,
        0.2,
        0.0,
    )
    assert command.heard_us == it.now_ms * MS


@pytest.mark.parametrize(
    ("speed", "steer", "commanded"),
    [
        (9.0, 1.0, (4.0, 0.4)), (-9.0, -1.0, (-1.0, -0.4)), (4.0, 0.4, (4.0, 0.4)),
        (-0.5, -0.1, (-0.5, -0.1)),
    ],
)  # fmt: skip
def test_no_further_than_the_reach(table, speed, steer, commanded):
    command = table().open().driven(speed, steer=steer)
    assert (command.speed_mps, command.steer_rad) == commanded


def test_each_step_is_counted_in_sixteen_bits(table):
    it = table().open()
    assert [it.step().input_count for _ in range(3)] == [1, 2, 3]
    it.node._count = 0xFFFE
    assert [it.step().input_count for _ in range(2)] == [0xFFFF, 0]


def test_a_command_is_as_old_as_when_it_was_heard(table):
    it = table().open()
    it.driven()
    heard_us = it.now_ms * MS
    for _ in range(12):
        command = it.step()
        assert (command.is_held, command.heard_us) == (True, heard_us)


def test_who_drove_and_fell_silent_is_said_to_be_silent(table):
    it = table().open()
    it.driven(2.0)
    heard_us = it.now_ms * MS
    command = it.step(121)
    assert (command.is_held, command.speed_mps, command.heard_us) == (True, 2.0, heard_us)
    for topic in ("drive", "teleop"):
        it.hear(topic, ackermann(3.0, 0.0))
    assert it.step().heard_us == heard_us
    assert "fell silent" in it.node.status_text(it.now_ms * MS)
    it.is_driving = False
    assert it.step().is_held is False


def test_the_next_arming_begins_anew(table):
    it = table().open()
    it.driven(2.0)
    it.step(121)
    it.is_driving = False
    it.step()
    it.armed()
    command = it.step()
    assert (command.is_held, command.heard_us) == (False, None)
    first = it.command(1.0)
    assert not first.is_held
    assert [it.command(1.0).is_held for _ in range(12)] == [False] * 10 + [True] * 2


def test_time_to_begin_is_taken_each_time(table):
    it = table().open()
    assert it.driven().is_held
    it.is_driving = False
    it.step()
    assert it.node._since_us is None
    it.is_driving = True
    assert [it.command().is_held for _ in range(12)] == [False] * 11 + [True]


def test_who_cedes_is_followed_by_a_word_of_rest_and_not_by_silence(table):
    it = table().open()
    it.driven()
    it.node._mux.release("navigation")
    command = it.step()
    assert (command.is_held, command.speed_mps, command.heard_us) == (False, 0.0, it.now_ms * MS)
    command = it.step(500)
    assert command.heard_us == it.now_ms * MS
    assert command.input_count == it.node._count


def test_time_to_begin_is_a_tenth_of_a_second(table):
    it = table().open().armed()
    it.command()
    it.command()
    began_us = it.now_ms * MS
    it.command()
    for late_us, is_held in ((99_999, False), (100_000, True)):
        assert it.step_at(began_us + late_us).is_held is is_held


def test_two_commands_may_come_in_one_step_and_the_first_one(table):
    it = table().open().armed()
    it.hear("drive", ackermann(1.0, 0.0))
    command = it.command(2.0)
    assert (command.is_held, command.speed_mps) == (False, 2.0)


def test_what_was_before_the_first_arming_counts_for_nothing(table):
    it = table().open()
    it.node._mux.timed_out = "joystick"
    it.armed().step()
    assert it.node._mux.timed_out is None


def test_once_it_said_something_it_says_that_it_rests_when_the_cars_are_disarmed(table):
    it = table().open()
    it.driven()
    it.is_driving = False
    for _ in range(3):
        command = it.step()
        assert (command.is_held, command.heard_us) == (False, it.now_ms * MS)


# --- a adapter's word


def test_an_adapter_that_may_not_drive_rests_and_misses_nobody(table, own):
    it = table().open()
    own.may_drive = False
    command = it.driven()
    assert (command.is_held, command.heard_us) == (False, it.now_ms * MS)
    own.may_drive = True
    it.command()
    assert it.node._mux.winner == "navigation"
    own.may_drive = False
    it.step()
    assert it.node._mux.winner is None
    own.may_drive = True
    it.step(500)
    assert it.node._mux.timed_out is None


def test_an_adapter_says_what_of_a_command_is_done_and_which_lights_burn(table, own):
    own.lights = 5
    command = table().open().driven(2.0)
    assert (command.speed_mps, command.lights) == (1.0, 5)


def test_what_an_adapter_takes_is_no_command(table, own):
    own.takes = True
    it = table().open()
    it.driven()
    assert it.node._mux.sources["navigation"].latest is None
    subscription, source, message, heard_us, now_us = own.heard[-1]
    assert (subscription.topic, source.row.name, message.drive.speed) == (
        "drive",
        "navigation",
        1.0,
    )
    assert heard_us == now_us == it.now_ms * MS


def test_an_adapter_sees_each_step_and_the_start(table, own):
    it = table().open()
    assert own.begun == [(it.bus, it.node.services, VEHICLE)]
    it.step()
    it.armed().step()
    assert [(driving, now_us) for _, driving, now_us in own.steps] == [
        (False, 1_010_000), (True, 1_020_000),
    ]  # fmt: skip
    own.said = "It is in an emergency."
    assert it.node.status_text(0) == "ROS 2: It is in an emergency."


# --- what is heard


def test_what_is_no_number_is_refused(table):
    it = table().open()
    for _ in range(2):
        it.command(math.nan)
    source = it.node._mux.sources["navigation"]
    assert (source.refused, source.why_refused) == (2, "it was not a number")
    assert source.latest is None


@pytest.mark.parametrize("value", [1.0, math.nan])
@pytest.mark.parametrize("topic", ["commands/motor/duty_cycle", "commands/motor/current"])
def test_ways_of_driving_that_there_are_not_are_refused_in_words(table, topic, value):
    it = table().open()
    it.hear(topic, of_value(value))
    it.step()
    source = it.node._mux.sources["vesc"]
    assert source.refused == 1
    assert source.why_refused == "these cars are driven by speed, steering and brake alone"
    assert source.latest is None


def test_halves_are_put_together(table):
    it = table().open().armed()
    for _ in range(13):
        it.hear("commands/servo/position", of_value(0.5304))
        it.hear("commands/motor/speed", of_value(4614.0), late_ms=5)
        command = it.step()
    assert (command.speed_mps, command.steer_rad, command.is_held) == (1.0, 0.0, True)
    assert command.heard_us == (it.now_ms - 5) * MS
    it.hear("commands/motor/brake", of_value(100.0))
    assert it.step().brake == 0.5


@pytest.mark.parametrize(
    ("made_ms", "heard_ms"),
    [(0, 0), (-20, -20), (5, 0), (50, 0), (-200, -200)],
)
def test_a_stamp_makes_a_command_older_and_never_younger(table, made_ms, heard_ms):
    it = table().open()
    it.bus.now_ns = 7_000_000_000
    made_ns = it.bus.now_ns + made_ms * MS * 1000
    sec, nanosec = divmod(made_ns, 1_000_000_000)
    stamp = SimpleNamespace(sec=sec, nanosec=nanosec)
    it.node._now_us = 500 * MS
    message = ackermann(1.0, 0.0, header=SimpleNamespace(stamp=stamp))
    assert it.node._command_topics._heard_us(message, 500 * MS) == (500 + heard_ms) * MS
    it.node._command_topics._is_local = False  # another machine's clock is no word
    assert it.node._command_topics._heard_us(message, 500 * MS) == 500 * MS


def test_one_of_the_future_is_told_as_such(table):
    it = table().open()
    stamp = SimpleNamespace(sec=1, nanosec=0)
    message = SimpleNamespace(header=SimpleNamespace(stamp=stamp))
    it.node._now_us = 500 * MS
    for ahead_us, heard_us in ((50_000, 500 * MS), (50_001, 500 * MS + 50_001)):
        it.bus.now_ns = 1_000_000_000 - ahead_us * 1000
        assert it.node._command_topics._heard_us(message, 500 * MS) == heard_us
    it.bus.now_ns = 1_000_000_000 + 999
    assert it.node._command_topics._heard_us(message, 600 * MS) == 500 * MS


def test_an_unstamped_one_is_of_when_it_came(table):
    it = table().open()
    it.bus.now_ns = 7
    it.node._now_us = 500 * MS
    empty = SimpleNamespace(stamp=SimpleNamespace(sec=0, nanosec=0))
    for message in (SimpleNamespace(), empty):
        assert it.node._command_topics._heard_us(message, 400 * MS) == 400 * MS


# --- what it is open to


def test_it_hears_the_topics_of_its_vocabulary(table):
    topics = table().open().bus.topics
    assert {name: it.type for name, it in topics.items()} == {
        **{it.topic: it.type for it in F1TENTH.subscriptions},
        "runstop": "std_msgs/msg/Bool",
    }
    assert {it.depth for name, it in topics.items() if name != "runstop"} == {1}


@pytest.mark.parametrize(
    ("part", "depth"), [(Content.EMERGENCY, 10), (Content.ENGAGE, 10), (Content.GEAR, 1)]
)
def test_of_words_that_stop_several_of_one_moment_are_kept(table, part, depth):
    subscriptions = (*F1TENTH.subscriptions, Subscription("word", FLOAT, part, "navigation"))
    it = table(vocabulary=replace(F1TENTH, subscriptions=subscriptions)).open()
    assert it.bus.topics["word"].depth == depth


@pytest.mark.parametrize(("package", "is_heard"), [("std_msgs", False), ("json", True)])
def test_what_may_be_missing_is_left_out_where_it_is(table, monkeypatch, package, is_heard):
    monkeypatch.setattr(command_topics, "has_message", lambda name: name == "json/msg/Word")
    more = Subscription("word", f"{package}/msg/Word", Content.GEAR, "navigation", is_optional=True)
    it = table(vocabulary=replace(F1TENTH, subscriptions=(*F1TENTH.subscriptions, more))).open()
    assert ("word" in it.bus.topics) is is_heard
    assert "drive" in it.bus.topics


def test_a_mux_yaml_names_other_topics_and_leaves_out_what_it_does_not_name(table):
    mux = (MuxRow("planner", "/plan", 10, 0.2), MuxRow("joystick", "/teleop", 100, 0.2))
    it = table(mux=mux).open()
    topics = it.bus.topics
    assert {"/plan", "teleop", "commands/motor/speed", "runstop"} < set(topics)
    assert "drive" not in topics
    assert topics["/plan"].type == F1TENTH.subscriptions[0].type
    assert it.driven(1.5, topic="/plan").speed_mps == 1.5
    assert it.node._mux.winner == "planner"


def test_another_topic_is_of_the_type_that_the_vocabulary_hears_first(table):
    subscriptions = (F1TENTH.subscriptions[2], *F1TENTH.subscriptions[:2])
    mux = (MuxRow("planner", "/plan", 10, 0.2),)
    it = table(mux=mux, vocabulary=replace(F1TENTH, subscriptions=subscriptions)).open()
    assert it.bus.topics["/plan"].type == FLOAT


def test_a_vesc_file_has_the_scale(table):
    assert table().node._scale == VescScale()
    it = table(scale=VescScale(erpm_per_mps=1000.0)).open().armed()
    for _ in range(3):
        it.hear("commands/motor/speed", of_value(2000.0))
        command = it.step()
    assert command.speed_mps == 2.0


def test_a_topic_is_of_the_row_that_names_it(table):
    it = table(mux=(MuxRow("planner", "drive", 10, 0.2),)).open()
    it.driven()
    assert it.node._mux.winner == "planner"


def test_services_are_of_ros_2s_own_types(table):
    services = table().open().bus.services
    assert {name: type_name for name, (type_name, _) in services.items()} == {
        "~/stop": "std_srvs/srv/Trigger",
        "~/clear": "std_srvs/srv/Trigger",
        "~/arm": "std_srvs/srv/SetBool",
    }


def test_its_node_has_its_namespace_its_time_and_its_other_names(table):
    it = table(namespace="/car1", remaps=("drive:=/plan",), notes=("a note",)).open()
    name, namespace, now_us = it.bus.given
    assert (name, namespace, now_us()) == ("tandem", "/car1", 0)
    assert it.bus.named == {"is_the_clock": False, "remaps": ("drive:=/plan",)}
    assert it.node.notes == ["a note"]
    assert it.node.vocabulary.base_frame == "car1/base_link"
    assert it.node.source == "ros2"
    assert it.node.outlives_stops
    assert not it.node.is_computed


async def turned() -> None:
    """All that was put before this into the event loop was done."""
    done = asyncio.get_running_loop().create_future()
    asyncio.get_running_loop().call_soon(done.set_result, None)
    await done


def test_what_comes_wakes_the_session_unless_a_step_has_taken_it(table):
    it = table()
    called: list = []

    async def main() -> None:
        it.node._bus = Bus()
        it.node._listen(it.wake)
        found, soon = it.bus.listening
        for has_news, woken in ((True, 1), (False, 1)):
            it.bus.has_news = has_news
            found()
            await turned()
            assert it.woken == woken
        soon(called.append, 1)
        await turned()

    asyncio.run(main())
    assert called == [1]
    assert it.open().bus.listening is not None


def test_whose_time_can_be_held_is_the_clock_and_is_not_woken(table):
    steps = SimpleNamespace()
    it = table()
    it.node.use_time(steps)
    it.open()
    assert it.node.is_computed
    assert it.bus.named["is_the_clock"] is True
    assert it.bus.listening is None
    assert Told.made["SimTimeServices"].given == (it.bus, steps, VEHICLE.step_s)
    it.step()
    assert Told.made["SimTimeServices"].steps == [()]


# --- what is told


def test_each_beat_is_told_before_commands_are_heard_and_what_wakes_it_is_not(table):
    it = table().open()
    told = Told.made["StatePublisher"].steps
    it.bus.comes.append(lambda: told.append("heard"))
    it.step()
    assert told == [(it.car, it.now_ms * MS), "heard"]
    it.step(is_between_ticks=True)
    assert len(told) == 2
    assert it.bus.steps == [False, True]
    assert Told.made["RobotDescriptionPublisher"].steps == [(it.car,)]
    ((car, mux, words, hits),) = Told.made["DiagnosticsPublisher"].steps
    assert (car, mux, hits) == (it.car, it.node._mux, None)
    assert words == it.node._mux.words(0)
    assert it.node.status_text(0) == f"ROS 2: {words}"
    assert "SimTimeServices" not in Told.made


def test_who_tells_is_given_the_car_and_its_scales(table):
    it = table().open()
    teller, health = Told.made["StatePublisher"].given, Told.made["DiagnosticsPublisher"].given
    assert teller == (
        it.bus, it.node.vocabulary, VEHICLE, it.node._scale, it.node._like, None, {},
    )  # fmt: skip
    assert Told.made["RobotDescriptionPublisher"].given == (it.bus, it.node.vocabulary, VEHICLE)
    assert health == (it.bus, "", "tandem")


# --- a virtual car's surroundings


def test_before_a_car_is_known_nobody_knows_where_it_is():
    services = NodeServices(None, None, lambda: 0, lambda: False)
    assert (services.truth(), services.hits()) == (None, 0)


def test_a_real_car_is_moved_by_its_wheels_alone(table):
    it = table().open(is_virtual=False)
    assert it.node.services.set_pose((1.0, 2.0, 0.0)) == NOT_HERE
    assert (it.node.services.truth(), it.node.services.hits()) == (None, 0)
    both = table(sensors="sensors", poses="poses").open(is_virtual=False)
    assert both.node.services.set_pose((1.0, 2.0, 0.0)) == NOT_HERE
    assert "PoseRequest" not in Told.made


@pytest.mark.parametrize("given", [{"sensors": "sensors"}, {"poses": "poses"}])
def test_nor_is_a_virtual_one_put_anywhere_without_both_pipes(table, given):
    assert table(**given).open().node.services.set_pose((1.0, 2.0, 0.0)) == NOT_HERE


def test_a_virtual_one_is_put_where_it_is_asked_for(table):
    it = table(sensors="sensors", poses="poses").open()
    placing = Told.made["PoseRequest"]
    pipe = it.node._pipe
    assert placing.given == (
        "poses", pipe, VEHICLE.turns_behind_centre_m, it.node.services.stop, it.node.services.arm,
    )  # fmt: skip
    assert it.node.services.set_pose((1.0, 2.0, 0.0)) == ""
    assert placing.put_at == [(1.0, 2.0, 0.0)]
    it.step()
    assert placing.steps == [(it.car, it.now_ms * MS)]
    placing.words = "A wall is in the way."
    assert it.node.status_text(0) == "ROS 2: A wall is in the way."
    assert (it.node.services.truth(), it.node.services.hits()) == ("where it is", 3)
    assert pipe.path == "sensors"
    assert Told.made["DiagnosticsPublisher"].steps[0][3] == 3


# --- the end


def test_closed_it_holds_nothing(table):
    it = table(sensors="sensors").open()
    asyncio.run(it.node.close())
    assert it.bus.is_closed
    assert it.node._pipe.is_closed
    asyncio.run(table().node.close())  # never opened


def test_a_pipe_that_is_not_there_is_told_and_its_node_is_gone(table, monkeypatch):
    monkeypatch.setattr(Pipe, "fault", FileNotFoundError(2, "No such file", "sensors"))
    with pytest.raises(DataFileFault, match="sensors"):
        table(sensors="sensors").open()
    assert Bus.made[-1].is_closed


def test_so_it_is_after_any_other_fault(table, own, monkeypatch):
    monkeypatch.setattr(Own, "begin", lambda *given: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        table().open()
    assert Bus.made[-1].is_closed


def test_its_topics_are_registered_for_its_car_and_a_node_that_is_refused_is_gone(
    table, monkeypatch
):
    assert table().open().bus.registered == ["car"], "for the one that it drives, not for a twin"
    monkeypatch.setattr(Bus, "refusal", UsageFault("a second node of the car car"))
    with pytest.raises(UsageFault, match="a second node"):
        table().open()
    assert Bus.made[-1].is_closed
