"""The doctor: every ailment is found, named and given a remedy; a fit machine is left alone."""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from host_bridge.cli.commands import doctor as command
from host_bridge.deploy.doctor import RULES_PATH, LocalMachine, Severity, examine, udev_rules
from host_bridge.deploy.doctor.checks import ROS_MODULES
from host_bridge.deploy.doctor.contract import Interpreter
from host_bridge.deploy.doctor.udev import VENDORS
from host_bridge.link.transports.serial_port import SerialPortInfo, ports
from host_bridge.sharing.endpoints.served import ServedCar
from sim_mock.runtime.micropython import Candidate, candidates
from tests.support.evidence import some

PICO = SerialPortInfo("/dev/ttyACM0", "Board in FS mode", 0x2E8A, 0x0005, "e6614c311b7e6f35", None)
COMPILED = (lambda: True, lambda: "")
FTDI = SerialPortInfo("/dev/ttyUSB0", "FT232R", 0x0403, 0x6001, "A50285BI", 16)


@dataclass
class Bench:
    """A machine with whatever ails it; as it stands here nothing does."""

    python: tuple[int, ...] = (3, 12, 1)
    is_linux: bool = True
    interpreters: tuple[Interpreter, ...] = (Interpreter("micropython", "1.24.1"),)
    plugged: tuple[SerialPortInfo, ...] = (PICO,)
    cars: tuple[ServedCar, ...] = ()
    closed: tuple[str, ...] = ()
    serial_group: str = "dialout"
    member: bool = True
    listed: bool = True
    compiled: bool = True
    compiler: str = "make fast"
    running: tuple[str, ...] = ()
    distributions: tuple[str, ...] = ()
    missing: tuple[str, ...] = ROS_MODULES
    another_python: str = ""
    files: dict[str, str] = field(default_factory=lambda: {RULES_PATH: udev_rules("dialout")})

    def micropythons(self, bits):
        return self.interpreters

    def ports(self):
        return self.plugged

    def served(self):
        return self.cars

    def may_open(self, device):
        return device not in self.closed

    def is_member(self, group):
        return self.member

    def is_listed(self, group):
        return self.listed

    def is_compiled(self):
        return self.compiled

    def how_to_compile(self):
        return self.compiler

    def is_running(self, program):
        return program in self.running

    def text(self, path):
        return self.files.get(path)

    def ros_distributions(self):
        return self.distributions

    def missing_modules(self, names):
        return [name for name in names if name in self.missing]

    def compiled_for(self, package):
        return self.another_python


OLD_RULES = {RULES_PATH: "# of old\n"}
SLOW = SerialPortInfo("/dev/ttyUSB0", "FT232R", 0x0403, 0x6001, "A5", 16)
QUICK = SerialPortInfo("/dev/ttyUSB0", "FT232R", 0x0403, 0x6001, "A5", 1)
TOO_OLD = Interpreter("micropython", "", "micropython is 1.19; 1.22 or newer is needed")
CLOSED = ("/dev/ttyACM0",)
REAL = ServedCar("red", "serial:///dev/ttyACM0", 1, "nigel", "")
ON_A_DESK = ServedCar("desk", "serial:///dev/ttyACM0?hitl=nigel", 1, "nigel", "")

# what ails it -> subject, verdict, words of the finding, words of the remedy
AILMENTS = {
    "old Python": ({"python": (3, 8, 10)}, "python", "fail", "3.8.10 is too old", "3.10"),
    "no MicroPython": ({"interpreters": ()}, "micropython 32 bit", "warn", "none", "make setup"),
    "old MicroPython": (
        {"interpreters": (TOO_OLD,)},
        "micropython 64 bit",
        "warn",
        "1.22 or newer",
        "make setup",
    ),
    "no machine code": (
        {"compiled": False},
        "machine code",
        "warn",
        "plain Python",
        "make fast",
    ),
    "no compiler": (
        {"compiled": False, "compiler": ""},
        "machine code",
        "warn",
        "plain Python",
        "install a C compiler",
    ),
    "no port": ({"plugged": ()}, "port", "warn", "no serial port", "cable"),
    "no right": (
        {"closed": CLOSED, "member": False, "listed": False},
        "permission",
        "fail",
        "/dev/ttyACM0 may not",
        "usermod -aG dialout",
    ),
    "not logged in since": (
        {"closed": CLOSED, "member": False},
        "permission",
        "fail",
        "may not be opened",
        "log out and in",
    ),
    "group is not enough": (
        {"closed": CLOSED},
        "permission",
        "fail",
        "may not be opened",
        "tandem doctor --udev",
    ),
    "no right, no port": (
        {"plugged": (), "member": False, "listed": False, "serial_group": "uucp"},
        "permission",
        "warn",
        "not in group uucp",
        "usermod -aG uucp",
    ),
    "no rules": ({"files": {}}, "udev rules", "warn", "no stable names", "tandem doctor --udev"),
    "old rules": ({"files": OLD_RULES}, "udev rules", "warn", "not of this version", "--udev"),
    "ModemManager": (
        {"running": ("ModemManager",), "files": {}},
        "ModemManager",
        "warn",
        "talks to every board",
        "tandem doctor --udev",
    ),
    "brltty": ({"running": ("brltty",)}, "brltty", "warn", "CH340", "systemctl mask"),
    "hardware in the loop": (
        {"cars": (ON_A_DESK,)},
        "served car",
        "warn",
        "desk is hardware in the loop",
        "reset the board",
    ),
    "slow adapter": ({"plugged": (SLOW,)}, "latency timer", "warn", "16 ms", "--udev"),
}


@pytest.mark.parametrize("name", AILMENTS)
def test_an_ailment_is_found_and_has_a_remedy(name):
    ails, subject, verdict, what, remedy = AILMENTS[name]
    found = [finding for finding in examine(Bench(**ails)) if finding.subject == subject]
    assert [finding.verdict.value for finding in found] == [verdict]
    assert what in found[0].what
    assert remedy in found[0].remedy


@pytest.mark.parametrize(
    "well",
    [
        {},
        {"running": ("ModemManager",)},
        {"plugged": (PICO, QUICK)},
        {"cars": (REAL,)},
        {"is_linux": False, "files": {}, "running": ("brltty",)},
    ],
)
def test_a_fit_machine_gets_no_remedies(well):
    found = examine(Bench(**well))
    assert {finding.verdict for finding in found} == {Severity.OK}
    assert not any(finding.remedy for finding in found)


def test_a_good_micropython_behind_a_bad_one_counts():
    machine = Bench(interpreters=(TOO_OLD, Interpreter("/opt/micropython", "1.24.1")))
    found = [finding.what for finding in examine(machine) if "64" in finding.subject]
    assert found == ["1.24.1 (/opt/micropython)"]


UDP = "  sl  local_address rem_address   st\n"
LISTENS = "  7: 0100007F:38D6 00000000:0000 07\n"


@pytest.mark.parametrize(
    ("table", "said", "verdict"),
    [
        (UDP, "no ground station listens", Severity.OK),
        (UDP + LISTENS, "a ground station listens", Severity.OK),
        (UDP + LISTENS + LISTENS.replace("0100007F", "00000000"), "2 programs", Severity.WARN),
        ("", "no ground station listens", Severity.OK),
    ],
)
def test_the_port_of_ground_stations_is_looked_at(table, said, verdict):
    machine = Bench(files={"/proc/net/udp": table})
    (found,) = [it for it in examine(machine) if it.subject == "MAVLink"]
    assert said in found.what
    assert found.verdict is verdict


def test_a_ground_station_that_listens_by_ipv6_is_found_too():
    row = LISTENS.replace("0100007F", "00000000000000000000000000000000")
    machine = Bench(files={"/proc/net/udp": UDP, "/proc/net/udp6": UDP + row})
    (found,) = [it for it in examine(machine) if it.subject == "MAVLink"]
    assert "a ground station listens" in found.what


def test_without_pymavlink_nothing_is_said_of_it():
    machine = Bench(missing=(*ROS_MODULES, "pymavlink"))
    assert not any(it.subject == "MAVLink" for it in examine(machine))


# The grammar of a rule (udev(7)): KEY or KEY{ATTRIBUTE}, an operator, a quoted value
RULE = re.compile(r'[A-Z]+(\{[A-Za-z_]+\})?(==|!=|=|\+=)"[^"]*"')
MATCHES = ("==", "!=")


def rule_lines() -> list[list[str]]:
    lines = udev_rules("dialout").splitlines()
    return [line.split(", ") for line in lines if line and not line.startswith("#")]


def test_every_rule_is_one_line_of_keys_operators_and_values():
    for parts in some(rule_lines()):
        for part in some(parts):
            assert RULE.fullmatch(part), part


def test_boards_and_adapters_get_names_rights_and_peace():
    text = udev_rules("uucp")
    for vendor, _ in VENDORS:
        tty = [line for line in text.splitlines() if "tty" in line and vendor in line]
        assert any('SYMLINK+="tandem/$attr{serial}"' in line for line in tty)
        assert any('GROUP="uucp"' in line and 'ID_MM_PORT_IGNORE}="1"' in line for line in tty)
    assert f"{PICO.vendor_id:04x}" in dict(VENDORS)
    assert f"{FTDI.vendor_id:04x}" in dict(VENDORS)


@pytest.fixture
def run(monkeypatch):
    def run_on(machine, *arguments: str) -> int:
        parser = argparse.ArgumentParser()
        command.add_arguments(parser)
        monkeypatch.setattr(command, "this_machine", lambda: machine)
        return command.run(parser.parse_args(arguments), None)

    return run_on


def test_the_command_fails_only_for_a_failure(run, capsys):
    assert run(Bench(closed=CLOSED)) == 1
    assert "fail  permission" in capsys.readouterr().out
    assert run(Bench(files={})) == 0
    assert run(Bench()) == 0


def test_json_says_the_same(run, capsys):
    assert run(Bench(python=(3, 8, 10)), "--json") == 1
    first = json.loads(capsys.readouterr().out)[0]
    assert (first["subject"], first["verdict"]) == ("python", "fail")
    assert first["remedy"]


def test_udev_prints_the_rules_and_nothing_else(run, capsys):
    assert run(Bench(), "--udev") == 0
    assert capsys.readouterr().out == udev_rules("dialout")


@pytest.mark.process
def test_this_machine_can_be_examined():
    machine = LocalMachine(ports, candidates, list, *COMPILED)
    found = examine(machine)
    assert found[0].what == ".".join(map(str, sys.version_info[:3]))
    assert {"port", "permission"} <= {finding.subject for finding in found}


@pytest.mark.process
def test_a_micropython_tells_its_own_version(tmp_path):
    """A stand-in that answers: CPython has the same ``sys.implementation``."""
    machine = LocalMachine(list, lambda bits: [Candidate(sys.executable, "")], list, *COMPILED)
    (found,) = machine.micropythons(64)
    assert found.version == ".".join(map(str, sys.version_info[:3]))


def test_running_programs_are_known_by_name(tmp_path):
    name = Path("/proc/self/comm").read_text().strip()
    machine = LocalMachine(list, lambda bits: [], list, *COMPILED)
    assert machine.is_running(name)
    assert not machine.is_running("no such program")


def test_a_long_name_is_found_though_the_kernel_cuts_it(tmp_path):
    process = tmp_path / "proc" / "123"
    process.mkdir(parents=True)
    (process / "comm").write_text("a-rather-long-n\n")
    machine = LocalMachine(list, lambda bits: [], list, *COMPILED, root=tmp_path)
    assert machine.is_running("a-rather-long-name")


@pytest.mark.process
@pytest.mark.skipif(os.geteuid() != 0, reason="only root may take another user's rights")
def test_rights_are_those_of_the_user(tmp_path):
    """Run as somebody else: a file of root's is closed to them."""
    secret = tmp_path / "port"
    secret.touch(mode=0o600)
    code = (
        "import os, sys; from host_bridge.deploy.doctor import LocalMachine;"
        "os.setgid(65534); os.setgroups([]); os.setuid(65534);"
        "m = LocalMachine(list, lambda bits: [], list, list, list);"
        "print(m.may_open(sys.argv[1]), m.is_member('root'), m.is_listed('root'))"
    )
    environment = {**os.environ, "PYTHONPATH": ".", "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code, str(secret)],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[3],
        env=environment,
        check=False,
    )
    assert done.stdout.split() == ["False", "False", "False"], done.stderr


def test_a_machine_without_ros_hears_nothing_of_it():
    assert "ROS 2" not in {finding.subject for finding in examine(Bench())}


@pytest.mark.parametrize(
    ("missing", "verdict", "remedy"),
    [
        ((), Severity.OK, ""),
        (("rclpy",), Severity.WARN, "source /opt/ros/humble/setup.bash"),
        (("vesc_msgs",), Severity.WARN, "sudo apt install ros-humble-vesc-msgs"),
    ],
)
def test_what_of_ros_this_python_does_not_see_is_said(missing, verdict, remedy):
    machine = Bench()
    machine.distributions, machine.missing = ("humble",), missing
    (found,) = [finding for finding in examine(machine) if finding.subject == "ROS 2"]
    assert found.verdict is verdict
    assert remedy in found.remedy


def test_the_page_has_each_subject():
    page = (Path(__file__).parents[3] / "host_bridge/deploy/doctor/README.md").read_text("utf-8")
    found = [it for ails, *_ in AILMENTS.values() for it in examine(Bench(**ails))]
    subjects = {it.subject for it in [*found, *examine(Bench(missing=()))]}
    assert {"ROS 2", "MAVLink", "latency timer"} <= subjects
    rows = re.findall(r"(?m)^\| ([^|,]+)", page)  # micropython, 64 and 32 bit
    assert [it for it in subjects if not it.startswith(tuple(row.strip() for row in rows))] == []


def test_ros_of_another_python_is_said():
    machine = Bench(distributions=("humble",), missing=(), another_python="3.10")
    (found,) = [finding for finding in examine(machine) if finding.subject == "ROS 2"]
    assert found.verdict is Severity.WARN
    assert found.what == "rclpy is there for Python 3.10, and this is Python 3.12"
    assert "python3.10 -m venv" in found.remedy


def test_this_machines_distributions_are_found(tmp_path):
    (tmp_path / "opt/ros/jazzy").mkdir(parents=True)
    (tmp_path / "opt/ros/jazzy/setup.bash").touch()
    machine = LocalMachine(list, lambda bits: [], list, *COMPILED, root=tmp_path)
    assert machine.ros_distributions() == ["jazzy"]
    assert machine.missing_modules(["json", "no_such_module"]) == ["no_such_module"]
