"""A vocabulary of somebody else: the page's own example, as a package that pip installs."""

from __future__ import annotations

import os
import subprocess
import sys
from math import atan, nan
from pathlib import Path
from types import SimpleNamespace

import pytest

from host_bridge.core.errors import UsageFault
from host_bridge.ros2 import make
from host_bridge.ros2.node.mux import Mux
from host_bridge.ros2.vocabularies.registry import find_vocabulary, vocabulary_names
from tests.host_bridge.page_example import install_example
from tests.support import patience

PAGE = Path(__file__).parents[4] / "host_bridge" / "ros2" / "vocabularies" / "README.md"
WRONG = 'not_one = "my_vocabulary:CmdVelAdapter"\n'


@pytest.fixture(scope="module")
def installed(tmp_path_factory) -> Path:
    """The example and the entry point of the page, installed into a folder of their own."""
    return install_example(PAGE, "my_vocabulary", tmp_path_factory.mktemp("example"), WRONG)


@pytest.fixture
def found(installed, monkeypatch):
    monkeypatch.syspath_prepend(installed)
    yield find_vocabulary("nav2")
    sys.modules.pop("my_vocabulary", None)


@pytest.mark.process
def test_it_stands_beside_those_that_are_here(found):
    assert found.title == "Nav2: a twist drives"
    assert {"nav2", "f1tenth", "autoware"} <= set(vocabulary_names())
    assert make("nav2", {}, lambda: 0).vocabulary.name == "nav2"


@pytest.mark.process
def test_a_twist_becomes_speed_and_steering(found):
    adapter = found.adapter()
    adapter.begin(None, None, SimpleNamespace(wheelbase_m=0.33, turns_ahead_m=0.0))
    source = Mux(found.mux, 0.12).sources["cmd_vel"]
    (subscription,) = found.subscriptions

    def hear(speed_mps, yaw_rate_radps):
        twist = SimpleNamespace(
            linear=SimpleNamespace(x=speed_mps, y=0.0), angular=SimpleNamespace(z=yaw_rate_radps)
        )
        return adapter.on_message(subscription, source, twist, 1000, 1000)

    assert hear(2.0, 1.0)
    assert (source.latest.speed_mps, source.latest.steer_rad) == (2.0, atan(0.165))
    assert hear(nan, 1.0)
    assert source.why_refused == "it was not a number"


@pytest.mark.process
def test_what_is_no_vocabulary_is_refused_by_its_name(found):
    with pytest.raises(UsageFault, match="the vocabulary 'not_one' cannot be used") as refused:
        find_vocabulary("not_one")
    assert "my_vocabulary:CmdVelAdapter" in str(refused.value)


def test_without_its_package_it_is_unknown():
    with pytest.raises(UsageFault, match="unknown vocabulary 'nav2'"):
        find_vocabulary("nav2")


@pytest.mark.process
def test_the_command_offers_it(installed):
    path = os.pathsep.join([str(installed), os.environ.get("PYTHONPATH", "")])
    done = patience.run(
        [sys.executable, "-m", "host_bridge.cli.main", "ros", "--help"],
        text=True,
        stdin=subprocess.DEVNULL,
        within_s=60,
        env={**os.environ, "PYTHONPATH": path},
    )
    assert done.returncode == 0, done.stderr
    assert "nav2" in done.stdout
