"""The tutorial of a first node, walked with the real rclpy."""

import os

from tests.ros import real_ros
from tests.ros.real_ros import IN_REAL_TIME, ROOT, ROS
from tests.tools.docs import walking

pytestmark = IN_REAL_TIME
PAGE = ROOT / "host_bridge" / "ros2" / "first_node.md"


def test_the_tutorial_of_a_first_node_is_walked(tmp_path, monkeypatch):
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "tandem").write_text('#!/bin/sh\nexec python -m host_bridge.cli.main "$@"\n')
    (programs / "tandem").chmod(0o755)
    found = real_ros.environment(str(tmp_path / "log"), 20 + os.getpid() % 80, "LOCALHOST")
    for name, value in found.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PATH", f"{ROS / 'bin'}{os.pathsep}{os.environ['PATH']}")
    folder = tmp_path / "walk"
    folder.mkdir()
    assert walking.walk(PAGE, folder, programs) == 3
