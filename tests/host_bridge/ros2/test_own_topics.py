"""No node hears itself: every topic that is heard, brought together with each that is published."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from host_bridge import ros2
from host_bridge.core.errors import UsageFault
from host_bridge.ros2.bus.own_topics import OwnTopics
from host_bridge.ros2.planning_simulator.topics import MOTION_TOPICS, SUBSCRIPTIONS, Topic
from host_bridge.ros2.vocabularies.autorally.adapter import RC, RUNSTOP
from host_bridge.ros2.vocabularies.autorally.vocabulary import rows_of
from tests.host_bridge.ros2.vocabularies.installed import VOCABULARIES
from tests.support.evidence import some

ROS2 = Path(ros2.__file__).parent
# What each node has besides its vocabulary, as its files call it
ALWAYS_SAID = (
    "~/is_stopped", "~/why_stopped", "/tf_static", "/diagnostics", "/clock",
    "joint_states", "robot_description",
)  # fmt: skip
ALWAYS_HEARD = ("runstop",)
HEARD_BY_POSES = ("/tf", "/tf_static")  # by a node of its own, which publishes nothing
NAMESPACES = ("", "/car1")


def full(topic: str, node: str, namespace: str) -> str:
    """As ROS 2 expands a name."""
    if topic.startswith("~"):
        return f"{namespace}/{node}{topic[1:]}"
    return topic if topic.startswith("/") else f"{namespace}/{topic}"


def topics_of(name: str) -> tuple[list[str], list[str]]:
    """Published and heard by that node."""
    vocabulary = VOCABULARIES[name]
    always = [vocabulary.prefix + it if it[0] not in "~/" else it for it in ALWAYS_SAID]
    said = [*(it.topic for it in vocabulary.publications), *always]
    return said, [*(it.topic for it in vocabulary.subscriptions), *ALWAYS_HEARD]


def planner(publish: str) -> tuple[list[str], list[str]]:
    said = [out.value[1] for out in Topic if out.value[1]]
    return [*said, *MOTION_TOPICS[publish]], list(SUBSCRIPTIONS)


NODES = {
    **{name: (VOCABULARIES[name].node, topics_of(name)) for name in VOCABULARIES},
    **{f"planner {it}": ("simulation", planner(it)) for it in MOTION_TOPICS},
}


def begun(names: tuple[list[str], list[str]], resolve) -> OwnTopics:
    topics = OwnTopics()
    said, heard = names
    for name in heard:
        topics.add_subscription(resolve(name), name)
    for name in said:
        topics.add_publication(resolve(name), name)
    return topics


def test_what_a_node_publishes_and_hears_is_told_by_its_full_names():
    topics = OwnTopics()
    assert (topics.published, topics.subscribed) == ((), ())
    topics.add_publication("/car1/odom", "odom")
    topics.add_subscription("/car1/drive", "drive")
    assert (topics.published, topics.subscribed) == (("/car1/odom",), ("/car1/drive",))


def test_an_echo_is_refused_whichever_of_the_two_comes_first():
    topics = OwnTopics()
    topics.add_publication("/drive", "out")
    with pytest.raises(UsageFault, match="published as out, heard as drive"):
        topics.add_subscription("/drive", "drive")
    topics = OwnTopics()
    topics.add_subscription("/drive", "drive")
    with pytest.raises(UsageFault, match="published as out, heard as drive"):
        topics.add_publication("/drive", "out")


@pytest.mark.parametrize("namespace", NAMESPACES)
@pytest.mark.parametrize("name", NODES)
def test_no_vocabulary_hears_itself_as_it_is(name, namespace):
    node, names = NODES[name]
    begun(names, lambda topic: full(topic, node, namespace))


@pytest.mark.parametrize("namespace", NAMESPACES)
@pytest.mark.parametrize("name", NODES)
def test_whatever_is_heard_under_the_name_of_what_is_published_is_refused(name, namespace):
    node, (said, heard) = NODES[name]
    for mine in some(said):
        for theirs in some(heard):

            def resolve(topic: str) -> str:
                return full(mine if topic == theirs else topic, node, namespace)  # noqa: B023

            with pytest.raises(UsageFault, match=re.escape(full(mine, node, namespace))) as refused:
                begun((said, heard), resolve)
            assert f"published as {mine}, heard as {theirs}" in str(refused.value)


def test_and_so_is_what_is_published_under_the_name_of_what_is_heard():
    topics = OwnTopics()
    topics.add_publication("/car1/ackermann_cmd", "ackermann_cmd")
    topics.add_subscription("/car1/drive", "drive")
    topics.add_publication("/car2/drive", "odom")
    with pytest.raises(UsageFault, match="published as odom, heard as drive"):
        topics.add_publication("/car1/drive", "odom")


def test_a_commander_of_autorally_that_is_called_as_its_receiver_is_refused():
    """Its own name is left out; one that comes to the same topic is not."""
    (row,) = rows_of({f"/{RC}": 1})
    said, heard = topics_of("autorally")
    with pytest.raises(UsageFault, match=f"/{RC}/chassisCommand"):
        begun((said, [*heard, row.topic]), lambda topic: full(topic, "tandem", ""))


def test_the_table_has_what_the_nodes_publish_and_hear_by_their_files():
    """A topic that is written in a file and in no vocabulary is in the tables of this test."""
    calls = r"\.(publisher|subscribe)\(\s*f?\"(?:\{vocabulary\.prefix\})?([^\"]+)\""
    found = {match for path in ROS2.rglob("*.py") for match in re.findall(calls, path.read_text())}
    assert found == {
        *(("publisher", it) for it in ALWAYS_SAID),
        *(("subscribe", it) for it in (*ALWAYS_HEARD, *HEARD_BY_POSES)),
    }
    assert RUNSTOP[0] in ALWAYS_HEARD
