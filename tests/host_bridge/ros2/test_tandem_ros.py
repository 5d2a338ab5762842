"""The package tandem_ros without ROS: parameters as words, and what its files name."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml

from host_bridge.cli.commands import ros
from host_bridge.cli.main import find, parser_of
from host_bridge.ros2.tandem_ros.tandem_ros.options import (
    PARAMETERS,
    WrongParameter,
    options_of,
    remaps_of,
)
from host_bridge.ros2.vocabularies.f1tenth.vocabulary import F1TENTH
from tests.support.evidence import some

PACKAGE = Path(__file__).parents[3] / "host_bridge" / "ros2" / "tandem_ros"
DEFAULTS = {name: default for name, (default, _) in PARAMETERS.items()}
LAUNCH_FILES = sorted((PACKAGE / "launch").glob("*.launch.py"))


def words(namespace="/", **values):
    return options_of({**DEFAULTS, **values}, namespace)


def test_parameters_are_options_and_what_is_not_set_is_not_said():
    said = words("/car1", car="sim://f1tenth", cap=1.5, clock=True)
    assert said == [
        "ros", "--unarmed", "--ns", "/car1", "--car", "sim://f1tenth", "--as", "f1tenth",
        "--cap", "1.5", "--clock",
    ]  # fmt: skip
    assert "--ns" not in words(car="sim://f1tenth")


def test_remappings_of_topics_are_handed_on_and_nothing_else_of_ros_2():
    given = ["car", "--ros-args", "-r", "__ns:=/car1", "-p", "car:=sim://f1tenth"]
    given += ["-r", "drive:=/planner/drive", "--remap", "~/stop:=/stop", "-r", "other:a:=b"]
    remaps = remaps_of(given)
    assert remaps == ["drive:=/planner/drive", "~/stop:=/stop"]
    said = options_of({**DEFAULTS, "car": "sim://f1tenth"}, "/car1", remaps)
    assert said[-4:] == ["--remap", "drive:=/planner/drive", "--remap", "~/stop:=/stop"]


def test_it_never_arms_by_itself():
    assert "--unarmed" in words(car="sim://f1tenth")


@pytest.mark.parametrize(
    ("values", "complaint"),
    [
        ({}, "the parameter car is empty"),
        ({"car": "sim://f1tenth", "vocabulary": "klingon"}, "invalid choice: 'klingon'"),
        ({"car": "sim://f1tenth", "cap": -1.0}, "--cap"),
    ],
)
def test_what_the_command_does_not_take_is_told_in_its_words(values, complaint):
    with pytest.raises(WrongParameter, match=re.escape(complaint)):
        words(**values)


def test_every_parameter_is_an_option_of_the_command():
    options = parser_of(find("ros"), ros).format_help()
    assert [option for _, option in PARAMETERS.values() if option not in options] == []


def test_the_file_of_parameters_has_known_ones_only():
    text = (PACKAGE / "config" / "car.yaml").read_text()
    given = yaml.safe_load(text)["/**"]["ros__parameters"]
    named = re.findall(r"^    #? ?(\w+): ", text, re.MULTILINE)
    assert set(given) < set(named) <= set(PARAMETERS)


def test_the_manifest_is_of_an_ament_python_package_of_this_version():
    manifest = ElementTree.parse(PACKAGE / "package.xml").getroot()
    assert manifest.findtext("export/build_type") == "ament_python"
    assert manifest.findtext("name") == (PACKAGE / "resource" / "tandem_ros").name
    version = re.search(r'version="(.+?)"', (PACKAGE / "setup.py").read_text())
    declared = re.search(
        r'^version = "(.+)"$', (PACKAGE.parents[2] / "pyproject.toml").read_text(), re.MULTILINE
    )
    assert version
    assert declared
    assert manifest.findtext("version") == version[1] == declared[1]


@pytest.mark.parametrize("file", LAUNCH_FILES, ids=lambda file: file.name)
def test_a_launch_file_describes_something(file):
    functions = [it for it in ast.parse(file.read_text()).body if isinstance(it, ast.FunctionDef)]
    assert "generate_launch_description" in [it.name for it in functions]


def test_what_launch_files_name_is_in_the_package():
    trees = [ast.parse(file.read_text()) for file in some(LAUNCH_FILES)]
    body = [it for tree in trees for it in tree.body]
    calls = [it for tree in trees for it in ast.walk(tree) if isinstance(it, ast.Call)]
    (node,) = [it for it in calls if getattr(it.func, "id", "") == "LifecycleNode"]
    fields = {it.arg: ast.literal_eval(it.value) for it in node.keywords if it.arg in NAMED}
    assert fields == {"package": "tandem_ros", "executable": "car", "name": "tandem_lifecycle"}
    assert f"{fields['executable']} = " in (PACKAGE / "setup.py").read_text()
    assert fields["name"] in (PACKAGE / "tandem_ros" / "car.py").read_text()
    texts = {it.value for tree in trees for it in ast.walk(tree) if isinstance(it, ast.Constant)}
    assigned = [it for it in some(body) if isinstance(it, ast.Assign)]
    named = {it.targets[0].id: it.value for it in assigned}
    assert set(ast.literal_eval(named["PARAMETERS"])) < set(PARAMETERS)
    files = {text for text in texts if str(text).endswith((".yaml", ".launch.py", ".rviz"))}
    assert [it for it in some(files) if not list(PACKAGE.glob(f"*/{it}"))] == []


def test_rviz_shows_topics_and_frames_that_there_are():
    view = yaml.safe_load((PACKAGE / "rviz" / "car.rviz").read_text())["Visualization Manager"]
    shown = {it["Name"]: it for it in view["Displays"]}
    types = {it.topic: it.type for it in F1TENTH.publications}
    assert types[shown["Scan"]["Topic"]["Value"]] == "sensor_msgs/msg/LaserScan"
    assert types[shown["Odometry"]["Topic"]["Value"]] == "nav_msgs/msg/Odometry"
    assert shown["Car"]["Description Topic"]["Durability Policy"] == "Transient Local"
    assert view["Global Options"]["Fixed Frame"] in {it.frame for it in F1TENTH.publications}
    assert view["Views"]["Current"]["Target Frame"] == F1TENTH.base_frame
    assert 'glob("rviz/*.rviz")' in (PACKAGE / "setup.py").read_text()


NAMED = ("package", "executable", "name")
