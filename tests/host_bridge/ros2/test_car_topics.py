"""Of two nodes of one car neither hears the other, and no topic has both: in every vocabulary."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from host_bridge.core.errors import UsageFault
from host_bridge.ros2.bus.car_topics import CarTopics, NodeTopics, register
from tests.host_bridge.ros2.test_own_topics import full, topics_of
from tests.host_bridge.ros2.vocabularies.installed import VOCABULARIES
from tests.host_bridge.sharing.desk import runtime_folder
from tests.support.evidence import some


@pytest.fixture(autouse=True)
def folder(monkeypatch):
    with runtime_folder(monkeypatch) as it:
        yield Path(it)


def node(name: str, namespace: str = "", pid: int = 7) -> NodeTopics:
    """That vocabulary's node, as it is."""
    own = VOCABULARIES[name].node
    said, heard = ([full(it, own, namespace) for it in names] for names in topics_of(name))
    return NodeTopics(f"{namespace}/{own}", "0", pid, tuple(said), tuple(heard))


FIRST = NodeTopics("/tandem", "0", 11, ("/odom", "/tf"), ("/drive",))
SECOND = NodeTopics("/b/tandem", "0", 12, ("/b/odom", "/tf"), ("/b/drive",))


def refusal(mine: NodeTopics, car: str = "car") -> str:
    with pytest.raises(UsageFault) as refused:
        register(car, mine)
    return str(refused.value)


@pytest.mark.parametrize("name", VOCABULARIES)
def test_a_second_node_as_the_first_one_is_refused_by_a_topics_name(name):
    with_first = register("car", node(name, pid=11))
    said = refusal(node(name, pid=12))
    with_first.close()
    assert re.search(r"published by \S+ of process 11, and by this node", said)
    assert any(f"{it}: " in said for it in node(name).published)
    register("car", node(name)).close()


@pytest.mark.parametrize("name", VOCABULARIES)
def test_each_topic_that_one_publishes_and_the_other_hears_is_refused(name):
    """Of every vocabulary each, whichever of the two nodes begins."""
    first, second = node(name, "/a", 11), node(name, "/b", 12)
    registered = register("car", first)
    for mine in some(first.published):
        said = refusal(replace(second, subscribed=(*second.subscribed, mine)))
        assert f"{mine}: " in said
        assert "heard by this node, /b/" in said
    for theirs in some(first.subscribed):
        said = refusal(replace(second, published=(*second.published, theirs)))
        assert f"{theirs}: " in said
        assert "and heard by /a/" in said
    registered.close()


@pytest.mark.parametrize("name", VOCABULARIES)
def test_the_names_of_two_namespaces_are_no_echo(name):
    """What a vocabulary publishes under an absolute name two nodes of a car would both publish."""
    first, second = node(name, "/a", 11), node(name, "/b", 12)
    assert not set(first.published) & set(second.subscribed)
    registered = register("car", first)
    doubled = set(first.published) & set(second.published) - {
        "/tf",
        "/tf_static",
        "/diagnostics",
        "/clock",
    }
    if doubled:
        assert sorted(doubled)[0] in refusal(second)
    else:
        register("car", second).close()
    registered.close()


def test_another_car_another_domain_and_one_that_has_ended_are_in_nobodys_way(folder):
    first = register("car", FIRST)
    same = replace(FIRST, pid=12)
    others = [register("car-2", same), register("ca", same), register("car", SECOND)]
    others.append(register("car", replace(same, domain="9")))
    assert "/odom: " in refusal(same)
    first.close()
    others.append(register("car", same))
    for it in others:
        it.close()
    assert list(folder.glob("*.topics")) == []


def test_what_a_killed_node_left_behind_is_removed(folder):
    left = register("car", FIRST)
    left._file.close()  # the system does that for a process that is killed
    assert len(list(folder.glob("*.topics"))) == 1
    mine: CarTopics = register("car", replace(FIRST, pid=12))
    assert len(list(folder.glob("*.topics"))) == 1
    mine.close()


def test_a_refused_node_leaves_nothing_behind(folder):
    first = register("car", FIRST)
    refusal(replace(FIRST, pid=12))
    assert len(list(folder.glob("*.topics"))) == 1
    first.close()
