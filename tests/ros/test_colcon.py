"""The package tandem_ros, built by colcon, and its lifecycle node under a real rclpy.

launch, launch_ros and ros2cli are not on PyPI: where TANDEM_LAUNCH names folders of them (as
PYTHONPATH does), the launch files are run by them; else that test skips. What they name is held
against the package by tests/host_bridge/ros2/test_tandem_ros.py, without them.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.ros.real_ros import IN_REAL_TIME, PYTHON, ROOT, ROS
from tests.support import patience

COLCON = ROS / "colcon"
PACKAGE = ROOT / "host_bridge" / "ros2" / "tandem_ros"
LAUNCH = os.environ.get("TANDEM_LAUNCH", "")
NODE = "/tandem_lifecycle"
DRIVES = re.compile(r"DRIVING .*\+[01]\.[3-9]\d m/s")

pytestmark = [
    *IN_REAL_TIME,
    pytest.mark.skipif(
        not (COLCON / ".set-up").exists(), reason="no colcon in .ros: make setup fetches one"
    ),
]


@pytest.fixture(scope="module")
def workspace(tmp_path_factory) -> Path:
    """What colcon installed; it is told to look through the whole repository."""
    folder = tmp_path_factory.mktemp("workspace")
    done = subprocess.run(
        [PYTHON, "-m", "colcon", "build", "--base-paths", str(ROOT), "--merge-install"],
        cwd=folder, env={**os.environ, "PYTHONPATH": str(COLCON)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert [it.name for it in (folder / "build").iterdir() if it.is_dir()] == ["tandem_ros"]
    return folder / "install"


@pytest.fixture(scope="module")
def environment(environment, workspace) -> dict[str, str]:
    """That of the workspace, as its setup file makes it."""
    done = subprocess.run(
        ["sh", "-c", f". {workspace}/local_setup.sh && env -0"],
        env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    made = dict(row.split("=", 1) for row in done.stdout.split("\0") if row)
    assert str(workspace) in made["AMENT_PREFIX_PATH"]
    return {**made, "PYTHONUNBUFFERED": "1"}


class Node:
    """The lifecycle node, as ``ros2 run`` starts it, and what it and its car's program print."""

    def __init__(self, executable: Path, environment: dict[str, str], log: Path, *words: str):
        self._log = log
        self.process = subprocess.Popen(
            [str(executable), "--ros-args", *words],
            env=environment, stdin=subprocess.DEVNULL, stdout=log.open("w"),
            stderr=subprocess.STDOUT,
        )  # fmt: skip

    def said(self) -> str:
        return self._log.read_text()

    def programs(self) -> list[int]:
        """The car's programs that it has started."""
        path = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        return [int(pid) for pid in path.read_text().split()]

    def until_said(self, words: str, seconds: float = 60.0) -> None:
        until(lambda: words in self.said(), words, seconds, self.said)


def until(is_so, what: str, seconds: float = 60.0, said=lambda: "") -> None:
    deadline = patience.Deadline(seconds)
    while not is_so():
        deadline.check(f"{what}\n{said()}")
        time.sleep(0.1)


@pytest.fixture
def lifecycle(workspace, environment, tmp_path):
    """Starts the node with these parameters, and ends it."""
    made: list[Node] = []

    def start(**parameters: str) -> Node:
        words = [word for name, it in parameters.items() for word in ("-p", f"{name}:={it}")]
        executable = workspace / "lib" / "tandem_ros" / "car"
        made.append(Node(executable, environment, tmp_path / f"log_{len(made)}", *words))
        return made[-1]

    yield start
    for it in made:
        if it.process.poll() is None:
            it.process.send_signal(signal.SIGINT)
            patience.wait(it.process, 60)


@pytest.fixture
def change(nodes):
    """Makes transitions; the lines that came of them."""

    def made(*transitions: str) -> list[str]:
        return nodes("lifecycle", NODE, *transitions).stdout.read().splitlines()

    return made


def is_alive(pid: int) -> bool:
    """Whether that program runs; one that has ended and is not waited for does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_what_is_installed_is_found_by_ros_2_and_runs(workspace, environment):
    share = workspace / "share"
    assert (share / "ament_index" / "resource_index" / "packages" / "tandem_ros").is_file()
    installed = sorted(it.name for it in (share / "tandem_ros").rglob("*.*") if it.is_file())
    assert {"car.launch.py", "two_cars.launch.py", "car.yaml", "package.xml"} <= set(installed)
    programs = workspace / "lib" / "tandem_ros"
    for name in ("car", "tandem"):
        assert (programs / name).read_text().splitlines()[0] == f"#!{PYTHON}"
    done = subprocess.run(
        [str(programs / "tandem"), "--version"],
        env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout.split()[0]) == (0, "tandem"), done.stderr


def test_activating_arms_nothing_and_deactivating_stops_a_car_that_drives(lifecycle, change, nodes):
    node = lifecycle(car="sim://f1tenth")
    assert change("configure", "activate") == ["configure True inactive", "activate True active"]
    nodes("talker", "drive", "1.0", "0.0", "40")
    node.until_said("PARKED")
    (program,) = node.programs()
    time.sleep(2.0)
    assert "DRIVING" not in node.said()
    for _ in range(8):  # a busy machine stops it for silence
        nodes("service_caller", "/tandem/arm").stdout.readline()
        with contextlib.suppress(AssertionError):
            until(lambda: DRIVES.search(node.said()), "that it drives", 10.0)
            break
    assert change("deactivate") == ["deactivate True inactive"]
    assert "the car says that it stops" in node.said()
    assert not is_alive(program)
    assert node.programs() == []
    assert DRIVES.search(node.said())
    assert change("activate", "deactivate", "cleanup") == [
        "activate True active",
        "deactivate True inactive",
        "cleanup True unconfigured",
    ]


def test_deactivating_fails_where_the_car_does_not_say_that_it_stops(lifecycle, change):
    node = lifecycle(car="sim://f1tenth")
    change("configure", "activate")
    (program,) = node.programs()
    os.kill(program, signal.SIGSTOP)
    assert change("deactivate") == ["deactivate False active"]
    assert "no word of the car that it stops" in node.said()
    os.kill(program, signal.SIGCONT)
    assert change("deactivate") == ["deactivate True inactive"], node.said()


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({}, "the parameter car is empty"),
        ({"car": "sim://f1tenth", "vocabulary": "klingon"}, "invalid choice: 'klingon'"),
    ],
)
def test_what_the_command_does_not_take_is_refused_by_configuring(
    lifecycle, change, parameters, words
):
    node = lifecycle(**parameters)
    assert change("configure") == ["configure False unconfigured"]
    assert words in node.said()


def test_a_car_that_is_not_there_is_not_activated(lifecycle, change):
    node = lifecycle(car="serial:///dev/no_such_port")
    assert change("configure", "activate") == ["configure True inactive", "activate False inactive"]
    assert "/dev/no_such_port" in node.said()
    assert node.programs() == []


def test_a_car_program_that_ends_by_itself_ends_being_active(lifecycle, change):
    node = lifecycle(car="sim://f1tenth")
    change("configure", "activate")
    os.kill(node.programs()[0], signal.SIGKILL)
    node.until_said("the car's program ended with -9")
    until(lambda: change() == ["inactive"], "inactive again")


def test_where_the_node_is_killed_its_car_program_ends_too(lifecycle, change):
    node = lifecycle(car="sim://f1tenth")
    change("configure", "activate")
    (program,) = node.programs()
    node.until_said("f1tenth: PARKED")
    node.process.kill()
    until(lambda: not is_alive(program), "the car's program to end")
    assert "Drove 0.0 s by ROS 2." in node.said()


def test_a_ctrl_c_that_comes_twice_ends_it_in_order(lifecycle, change):
    """As of ``ros2 launch``: the terminal tells the node, and so does launch."""
    node = lifecycle(car="sim://f1tenth")
    change("configure", "activate")
    node.until_said("f1tenth: PARKED")
    for _ in range(2):
        node.process.send_signal(signal.SIGINT)
        time.sleep(0.2)
    assert patience.wait(node.process, 60) == 0
    assert "Traceback" not in node.said()
    assert "Drove 0.0 s by ROS 2." in node.said()


LAUNCHED = pytest.mark.skipif(
    not LAUNCH, reason="no launch and launch_ros: TANDEM_LAUNCH names none"
)


@pytest.fixture
def launching(environment, monkeypatch):
    """Where launch and launch_ros are."""
    path = os.pathsep.join([LAUNCH, environment["PYTHONPATH"]])
    monkeypatch.setitem(environment, "PYTHONPATH", path)


@LAUNCHED
def test_the_command_lines_of_the_page_run_as_they_are_written(launching, environment, nodes):
    def ros2(*words: str) -> list[str]:
        return [PYTHON, "-c", "from ros2cli.cli import main; exit(main())", *words]

    def said(*words: str) -> str:
        done = patience.run(ros2(*words), env=environment, text=True, within_s=60)
        return done.stdout + done.stderr

    assert said("run", "tandem_ros", "tandem", "--version").startswith("tandem ")
    words = ("car:=sim://f1tenth?track=corridor", "namespace:=car1")
    launched = subprocess.Popen(
        ros2("launch", "tandem_ros", "car.launch.py", *words), env=environment
    )
    name = f"/car1{NODE}"
    until(lambda: "active [3]" in said("lifecycle", "get", name), "that it is active")
    assert nodes("service_caller", "/car1/tandem/arm").stdout.readline().startswith("True")
    assert "successful" in said("lifecycle", "set", name, "deactivate")
    launched.send_signal(signal.SIGINT)
    launched.wait(60)


@LAUNCHED
def test_a_launch_file_brings_two_cars_up_under_their_names(workspace, launching, nodes):
    file = workspace / "share" / "tandem_ros" / "launch" / "two_cars.launch.py"
    launched = nodes("launcher", str(file))
    for name in ("car1", "car2"):
        call = ["lifecycle", f"/{name}{NODE}"]
        until(lambda call=call: nodes(*call).stdout.read() == "active\n", f"{name} to be active")
        assert nodes("service_caller", f"/{name}/tandem/arm").stdout.readline().startswith("True")
        assert nodes(*call, "deactivate").stdout.read() == "deactivate True inactive\n"
    launched.send_signal(signal.SIGINT)
    launched.wait(60)


@LAUNCHED
def test_a_file_of_parameters_is_what_counts_where_the_command_line_says_nothing(
    workspace, launching, nodes, tmp_path
):
    params = tmp_path / "mine.yaml"
    params.write_text('/**:\n  ros__parameters:\n    car: "sim://nigel"\n    cap: 0.3\n')
    file = workspace / "share" / "tandem_ros" / "launch" / "car.launch.py"
    words = (f"params:={params}", "vocabulary:=autodrive_nigel", "autostart:=false")
    launched = nodes("launcher", str(file), *words)
    asked = json.loads(
        nodes("parameter_reader", NODE, "car", "vocabulary", "cap").stdout.readline()
    )
    assert asked["values"] == {"car": "sim://nigel", "vocabulary": "autodrive_nigel", "cap": 0.3}
    assert nodes("lifecycle", NODE).stdout.read() == "unconfigured\n"
    launched.send_signal(signal.SIGINT)
    launched.wait(60)
