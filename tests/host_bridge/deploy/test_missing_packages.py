"""A ROS 2 package that does not load is told apart from one that is not there."""

import sys

import pytest

from host_bridge.core.system.compiled_for import compiled_for
from host_bridge.ros2.bus.message_types import missing_package

HERE = f"{sys.version_info.major}.{sys.version_info.minor}"


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A folder that is the package `shown_to_all`, as a distribution's path shows its own."""
    monkeypatch.syspath_prepend(str(tmp_path))
    folder = tmp_path / "shown_to_all"
    folder.mkdir()
    (folder / "__init__.py").touch()
    return folder


def test_a_package_of_another_python_is_named_with_it(package):
    assert compiled_for("shown_to_all") == ""
    (package / "_part.cpython-27-x86_64-linux-gnu.so").touch()
    assert compiled_for("shown_to_all") == "2.7"
    fault = missing_package("shown_to_all", ModuleNotFoundError("No module named '_part'"))
    assert f"is there for Python 2.7, and this is Python {HERE}" in str(fault)
    assert "python2.7 -m venv" in fault.remedy
    own = HERE.replace(".", "")
    (package / f"_part.cpython-{own}-x86_64-linux-gnu.so").touch()
    assert compiled_for("shown_to_all") == ""


def test_a_library_that_is_missing_is_told_in_one_line():
    said = "libx.so.6: cannot open shared object file\nThe C extension failed; please refer to"
    fault = missing_package("rclpy", ImportError(said, name="rclpy._part"))
    assert "rclpy is there and cannot be loaded" in str(fault)
    assert fault.got == "libx.so.6: cannot open shared object file"
    assert "sudo apt" not in fault.remedy


@pytest.mark.parametrize("distribution", ["jazzy", ""])
def test_a_package_that_is_not_there_is_to_be_installed(monkeypatch, distribution):
    monkeypatch.delenv("ROS_DISTRO", raising=False)
    if distribution:
        monkeypatch.setenv("ROS_DISTRO", distribution)
    fault = missing_package("vesc_msgs", ModuleNotFoundError("No module named 'vesc_msgs'"))
    assert "this Python has no vesc_msgs" in str(fault)
    name = distribution or "DISTRIBUTION"  # as a name to be put in is written everywhere
    assert f"source /opt/ros/{name}/setup.bash" in fault.remedy
    assert f"sudo apt install ros-{name}-vesc-msgs" in fault.remedy
