"""Every vocabulary is held against the facts: what is heard, said, or absent with its reason.

The tables here are typed from the facts' lines; where the facts are beside the project, each name
and type is looked for there, and each topic that the facts have is looked for here.
"""

from __future__ import annotations

import re
from itertools import chain
from pathlib import Path

import pytest

from host_bridge import ros2
from host_bridge.ros2.messages.frames import with_namespace
from host_bridge.ros2.planning_simulator.topics import MOTION_TOPICS, SET_POSE, SUBSCRIPTIONS, Topic
from host_bridge.ros2.vocabularies.autodrive.vocabulary import (
    AUTODRIVE_F1TENTH,
    AUTODRIVE_HUNTER,
    AUTODRIVE_NIGEL,
    AUTODRIVE_OPENCAV,
    AUTODRIVE_ROBORACER,
)
from host_bridge.ros2.vocabularies.autorally.adapter import RC, RUNSTOP
from host_bridge.ros2.vocabularies.autorally.vocabulary import AUTORALLY, PRIORITIES
from host_bridge.ros2.vocabularies.autoware.adapter import CONTROL_MODE_REQUEST
from host_bridge.ros2.vocabularies.autoware.external import SERVICES
from host_bridge.ros2.vocabularies.autoware.vocabulary import AUTOWARE
from host_bridge.ros2.vocabularies.f1tenth.gym import GYM
from host_bridge.ros2.vocabularies.f1tenth.vocabulary import F1TENTH
from host_bridge.ros2.vocabularies.topics import Content
from tests.host_bridge.ros2.vocabularies.installed import VOCABULARIES

FACTS = Path(__file__).parents[5] / "shared" / "facts"
beside = pytest.mark.skipif(not FACTS.is_dir(), reason="no facts beside the project")


def section(file: str, begins: str, ends: str) -> str:
    text = (FACTS / file).with_suffix(".md").read_text()
    found = text.split(begins, 1)[1].split(ends, 1)[0]
    assert len(found) > 500
    return found


def topics(vocabulary) -> dict[str, str]:
    """Heard, said or absent: topic -> type."""
    rows = [*vocabulary.subscriptions, *vocabulary.publications, *vocabulary.unsupported]
    made = {row.topic: row.type for row in rows}
    assert len(made) == len(rows), "no topic twice"
    return made


@pytest.mark.parametrize("vocabulary", VOCABULARIES.values(), ids=VOCABULARIES)
def test_what_is_absent_says_why(vocabulary):
    assert [it.topic for it in vocabulary.unsupported if len(it.why) < 20] == []
    assert {it.name for it in vocabulary.mux} >= {it.source for it in vocabulary.subscriptions}


# --- AutoDRIVE: config.py of autodrive_nigel, _f1tenth and _roboracer; Hunter and OpenCAV

SHARE, COUNT, IMAGE = "std_msgs/msg/Float32", "std_msgs/msg/Int32", "sensor_msgs/msg/Image"
DRIVING = {
    "throttle_command": SHARE,
    "steering_command": SHARE,
    "throttle": SHARE,
    "steering": SHARE,
    "left_encoder": "sensor_msgs/msg/JointState",
    "right_encoder": "sensor_msgs/msg/JointState",
    "imu": "sensor_msgs/msg/Imu",
    "odom": "nav_msgs/msg/Odometry",
}
SCAN = {"lidar": "sensor_msgs/msg/LaserScan"}
CLOUD = {"lidar": "sensor_msgs/msg/PointCloud2"}
IPS = {"ips": "geometry_msgs/msg/Point"}
GNSS = {"gnss": "geometry_msgs/msg/Point"}
RACING = {
    "front_camera": IMAGE,
    "lap_count": COUNT,
    "lap_time": SHARE,
    "last_lap_time": SHARE,
    "best_lap_time": SHARE,
    "collision_count": COUNT,
}
LIGHTS = {"headlights_command": COUNT, "indicators_command": COUNT}
CAMERAS = {"front_camera": IMAGE, "rear_camera": IMAGE}
RESET = {"/autodrive/reset_command": "std_msgs/msg/Bool"}
SIGNALS = {
    f"/autodrive/signal_{i}/{what}": COUNT for i in (1, 2, 3, 4) for what in ("command", "state")
}
PEDALS = {"brake_command": SHARE, "handbrake_command": SHARE}
SIDES = {"left_camera": IMAGE, "right_camera": IMAGE}
AUTODRIVE = [
    (AUTODRIVE_NIGEL, "nigel_1", "map", {**DRIVING, **SCAN, **IPS, **LIGHTS, **CAMERAS}, SIGNALS),
    (
        AUTODRIVE_F1TENTH,
        "f1tenth_1",
        "map",
        {**DRIVING, **SCAN, **IPS, **RACING, "speed": SHARE},
        RESET,
    ),
    (
        AUTODRIVE_ROBORACER,
        "roboracer_1",
        "world",
        {**DRIVING, **SCAN, **IPS, **RACING, "speed": SHARE},
        RESET,
    ),
    (AUTODRIVE_HUNTER, "hunter_1", "world", {**DRIVING, **CLOUD, **GNSS, **CAMERAS}, {}),
    (
        AUTODRIVE_OPENCAV,
        "opencav_1",
        "world",
        {**DRIVING, **CLOUD, **GNSS, **CAMERAS, **PEDALS, **SIDES},
        {},
    ),
]


@pytest.mark.parametrize(("vocabulary", "car", "root", "its", "others"), AUTODRIVE)
def test_the_topics_are_autodrives(vocabulary, car, root, its, others):
    wanted = {f"/autodrive/{car}/{name}": kind for name, kind in its.items()}
    assert topics(vocabulary) == {**wanted, **others, "/tf": "tf2_msgs/msg/TFMessage"}
    assert (vocabulary.odom_frame, vocabulary.base_frame) == (root, car)
    commands = {name for name in (*wanted, *others) if name.endswith("_command")}
    assert {row.topic for row in vocabulary.subscriptions} == commands


@pytest.mark.parametrize("vocabulary", [AUTODRIVE_F1TENTH, AUTODRIVE_ROBORACER, AUTODRIVE_NIGEL])
def test_every_frame_of_a_message_has_its_place_in_the_tree(vocabulary):
    """The position is a point without a frame; all others name one."""
    named = {it.frame for it in vocabulary.publications if it.frame}
    known = {it.frame for it in vocabulary.mounts}
    known |= {vocabulary.odom_frame, vocabulary.base_frame, vocabulary.scan_frame}
    assert named <= known
    assert {it.frame for it in with_namespace(vocabulary, "/red").mounts} == {
        f"red/{it.frame}" for it in vocabulary.mounts
    }


@beside
def test_every_name_of_autodrive_is_in_the_facts_and_every_one_of_the_facts_here():
    found = section("autodrive", "### 4.1 Topics", "### 4.2")
    names = set(chain.from_iterable(its for _, _, _, its, _ in AUTODRIVE))
    # "front/rear camera" and "left/right camera", as the facts write those of two cars
    written = found.replace("front/rear camera", "front_camera rear_camera")
    written = written.replace("left/right camera", "left_camera right_camera")
    assert sorted(name for name in names if name not in written) == []
    theirs = set(
        re.findall(r"\b[a-z]+(?:_[a-z]+)*_(?:command|encoder|camera|count|time)\b", written)
    )
    assert len(theirs) >= 15
    assert theirs <= names | {"reset_command"}
    assert "/autodrive/reset_command Bool" in written
    assert "/autodrive/signal_{1..4}/command Int32" in written


# --- F1TENTH: f1tenth_system@ae64e05, f1tenth/vesc@153998d; f1tenth_gym_ros@883394d


@beside
def test_every_topic_of_f1tenth_is_in_the_facts_and_every_one_of_the_facts_here():
    found = section("ros2", "## 1. F1TENTH", "## 2.")
    known = topics(F1TENTH)
    names = {topic.rpartition("/")[2] for topic in known}
    assert sorted(name for name in names if name not in found) == []
    kinds = {kind.rpartition("/")[2] for kind in known.values()} - {"TFMessage"}
    assert sorted(kind for kind in kinds if kind not in found) == []
    rows = [line.split("|")[1] for line in found.splitlines() if line.startswith("| /")]
    theirs = set(chain.from_iterable(_spelled(row) for row in rows))
    assert len(theirs) >= 14
    assert sorted(theirs - {f"/{topic.lstrip('/')}" for topic in known}) == []


@beside
def test_every_topic_of_the_gym_is_in_the_facts_and_every_one_of_the_facts_here():
    found = section("ros2", "## 2. f1tenth_gym_ros", "## 3.")
    rows = [line.split("|")[1] for line in found.splitlines() if line.startswith("| /")]
    theirs = set(chain.from_iterable(_spelled(row) for row in rows))
    assert len(theirs) >= 12
    known = {f"/{topic.lstrip('/')}" for it in GYMS for topic in topics(it)} - {"/tf"}
    assert sorted(theirs - known) == []
    assert sorted(known - theirs) == []


GYMS = [it for name, it in VOCABULARIES.items() if name.startswith(GYM.name)]


def _spelled(cell: str) -> list[str]:
    """The topics of a table's cell, in which braces stand for several."""
    return [
        topic for word in re.findall(r"/(?:[\w/]|\{[\w/, ]*\})+", cell) for topic in _expanded(word)
    ]


def _expanded(word: str) -> list[str]:
    """Every name that a word with braces stands for."""
    head, brace, tail = word.partition("{")
    if not brace:
        return [word]
    several, _, rest = tail.partition("}")
    return [head + it.strip() + end for it in several.split(",") for end in _expanded(rest)]


# --- Autoware: autoware.universe@b8ce82e, autoware_msgs@7025d8f, tier4_autoware_msgs@cf67717


@beside
def test_every_topic_of_autoware_is_in_the_facts_and_every_one_of_the_facts_here():
    found = section("ros2", "## 3. Autoware", "## 4.")
    rows = [line.split("|")[1] for line in found.splitlines() if line.startswith("| /")]
    (outside,) = [line for line in found.splitlines() if line.startswith("Manual driving")]
    outside = outside.partition("AD API")[0]  # its page says that it is not there
    theirs = set(chain.from_iterable(map(_spelled, [*rows, outside])))
    assert len(theirs) == 23
    assert theirs == {*vehicle_interface(), CONTROL_MODE_REQUEST, *SERVICES}


def vehicle_interface() -> dict[str, str]:
    """Its topics without those of sensing and, for virtual cars, of localisation."""
    others = ("/sensing/", "/localization/", "/tf")
    return {name: kind for name, kind in topics(AUTOWARE).items() if not name.startswith(others)}


@beside
def test_every_type_of_autoware_is_in_the_facts():
    found = section("ros2", "## 3. Autoware", "## 4.")
    kinds = {kind.rpartition("/")[2] for kind in vehicle_interface().values()}
    spared = {"TurnIndicatorsReport", "HazardLightsReport"}  # written there as "...Report"
    assert len(kinds) == 16
    assert sorted(kind for kind in kinds - spared if kind not in found) == []


# Its page: no road's slope and height, no actuation
NOT_OF_THE_SIMULATOR = {
    "/control/command/actuation_cmd",
    "/planning/scenario_planning/trajectory",
    "/map/vector_map",
}
NO_TOPICS = {"/InitializePose", "/status/", "/base_link", "/initialtwist"}  # of the same sentences


@beside
def test_every_topic_of_the_planning_simulator_in_the_facts_is_here_or_known_to_be_absent():
    found = section("ros2", "## 4. simple", "## 5.")
    theirs = set(_spelled(found)) - NO_TOPICS
    assert len(theirs) == 17
    motion = set(chain.from_iterable(MOTION_TOPICS.values()))
    ours = {*SUBSCRIPTIONS, SET_POSE, *motion, *(out.value[1] for out in Topic)}
    assert sorted(theirs - ours) == sorted(NOT_OF_THE_SIMULATOR)
    assert "input/initialtwist" in found
    assert any(topic.endswith("initialtwist") for topic in SUBSCRIPTIONS)
    page = (Path(ros2.__file__).parent / "planning_simulator" / "README.md").read_text()
    named = ("actuation commands", "trajectory", "/map/vector_map")
    assert [words for words in named if words not in page] == []


# --- AutoRally: autorally@48bae14


@beside
def test_every_topic_of_autorally_is_in_the_facts_and_every_one_of_the_facts_here():
    found = section("autorally_f1tenth", "## 3. Host node", "Arbitration each 10 ms")
    (told,) = [line for line in found.splitlines() if line.startswith("Topics:")]
    theirs = set(re.findall(r"/?\b(?:RC/)?[a-z]+(?:Command|State|Speeds)\b|/runstop\b", told))
    commanders = {f"{name}/chassisCommand" for name in PRIORITIES if name != RC}
    ours = {row.topic for row in (*AUTORALLY.subscriptions, *AUTORALLY.publications)} | {RUNSTOP[0]}
    assert len(theirs) == 5
    assert "<name>/chassisCommand per listed commander" in told
    assert ours - commanders == {it.lstrip("/") for it in theirs - {"/chassisCommand"}}
    assert {row.topic for row in AUTORALLY.subscriptions} == commanders
    named = section("ros2", "## 4. simple", "## 6.").partition("## 5. AutoRally")[2]
    kinds = {
        row.type.rpartition("/")[2] for row in (*AUTORALLY.subscriptions, *AUTORALLY.publications)
    }
    kinds.add(RUNSTOP[1].rpartition("/")[2])
    assert set(re.findall(r"\b[A-Z]\w+(?=[,.])", named.rpartition("autorally_msgs/")[2])) == kinds


@beside
def test_the_commanders_of_autorally_are_those_of_the_facts_with_their_numbers():
    found = section("autorally_f1tenth", "## 3. Host node", "Arbitration each 10 ms")
    (told,) = [line for line in found.splitlines() if line.startswith("Priorities")]
    theirs = {name: int(number) for name, number in re.findall(r"\b(\w+) (\d)(?=[,.])", told)}
    assert theirs == PRIORITIES


@beside
@pytest.mark.parametrize("name", ["chassisCommand", "runstop"])
def test_the_fields_of_autorallys_messages_are_those_of_the_facts(name):
    found = section("autorally_f1tenth", "## 3. Host node", "Arbitration each 10 ms")
    written = re.search(rf"\b{name} \{{Header, ([^}}]*)\}}", found)
    assert written
    theirs = [word.split()[-1] for word in written[1].split(",")]
    folder = Path(__file__).parents[3] / "ros" / "messages" / "autorally_msgs" / "msg"
    lines = (folder / f"{name[0].upper()}{name[1:]}.msg").read_text().splitlines()
    assert [line.split()[1] for line in lines] == ["header", *map(_snake, theirs)]


def _snake(name: str) -> str:
    """The name as ROS 2 lets fields have it."""
    return re.sub(r"[A-Z]", lambda it: f"_{it[0].lower()}", name)


# --- types: whatever a table names can be made from the fields that the tests build


def test_every_part_is_of_one_type_in_all_vocabularies():
    kinds: dict[Content, set[str]] = {}
    older = {it.older.name for it in VOCABULARIES.values() if it.older}
    for vocabulary in (it for name, it in VOCABULARIES.items() if name not in older):
        for row in (*vocabulary.subscriptions, *vocabulary.publications):
            side = "said" if row in vocabulary.publications else "heard"
            kinds.setdefault((row.content, side), set()).add(row.type)
    several = {key for key, found in kinds.items() if len(found) > 1} - {
        (Content.REFUSED, "heard"),
        (Content.POSE, "heard"),
    }
    assert several == set()
