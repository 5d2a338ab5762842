"""The checks: each looks at one property of a given machine, and says what to do."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from host_bridge.core.system.compiled_for import wrong_python
from host_bridge.deploy.doctor import udev
from host_bridge.deploy.doctor.contract import (
    DoctorFinding,
    Interpreter,
    Machine,
    Severity,
)

OLDEST_PYTHON = (3, 10)  # as pyproject.toml requires
LONGEST_LATENCY_MS = 1
# of words: both are tried, for numbers of 30 bits are where they differ
MICROPYTHON_BITS = (64, 32)
STATION_PORT = 14_550  # MAVLink's, where ground stations listen
ROS_MODULES = (
    "rclpy", "ackermann_msgs", "vesc_msgs", "nav_msgs", "sensor_msgs", "tf2_msgs", "std_srvs",
    "diagnostic_msgs",
)  # fmt: skip


def examine(machine: Machine) -> list[DoctorFinding]:
    """Return all findings, in the order in which to read them."""
    checks = CHECKS if machine.is_linux else [check for check in CHECKS if check not in OF_LINUX]
    return [finding for check in checks for finding in check(machine)]


def _python(machine: Machine) -> Iterable[DoctorFinding]:
    version = ".".join(map(str, machine.python))
    if machine.python >= OLDEST_PYTHON:
        yield DoctorFinding("python", Severity.OK, version)
        return
    oldest = ".".join(map(str, OLDEST_PYTHON))
    remedy = f"install Python {oldest} or newer, then in a clone: make setup PYTHON=python{oldest}"
    yield DoctorFinding("python", Severity.FAIL, f"{version} is too old", remedy)


def _micropython(machine: Machine) -> Iterable[DoctorFinding]:
    return [_micropython_of(bits, machine.micropythons(bits)) for bits in MICROPYTHON_BITS]


def _micropython_of(bits: int, found: Sequence[Interpreter]) -> DoctorFinding:
    subject = f"micropython {bits} bit"
    for interpreter in found:
        if not interpreter.fault:
            what = f"{interpreter.version} ({interpreter.command})"
            return DoctorFinding(subject, Severity.OK, what)
    what = "; ".join(interpreter.fault for interpreter in found)
    remedy = (
        "make setup in a clone, else python3 -m sim_mock.runtime.fetch_micropython, fetches one "
        "where it can; until then cars run under CPython only"
    )
    return DoctorFinding(subject, Severity.WARN, what or "none found", remedy)


def _ports(machine: Machine) -> Iterable[DoctorFinding]:
    for port in machine.ports():
        number = f", board or adapter {port.serial_number}" if port.serial_number else ""
        yield DoctorFinding("port", Severity.OK, f"{port.device}: {port.description}{number}")
    if not machine.ports():
        remedy = "plug a board in, by a cable that carries data; virtual cars need none"
        yield DoctorFinding("port", Severity.WARN, "no serial port found", remedy)


def _served(machine: Machine) -> Iterable[DoctorFinding]:
    for car in machine.served():
        if car.is_hitl:
            what = f"{car.name} is hardware in the loop: a bare board, a plant's wheels ({car.uri})"
            remedy = "to drive the real car with that board: end its tandem serve, reset the board"
            yield DoctorFinding("served car", Severity.WARN, what, remedy)
        else:
            yield DoctorFinding("served car", Severity.OK, f"{car.name}: {car.uri}")


def _permission(machine: Machine) -> Iterable[DoctorFinding]:
    closed = [port.device for port in machine.ports() if not machine.may_open(port.device)]
    for device in closed:
        what = f"{device} may not be opened"
        yield DoctorFinding("permission", Severity.FAIL, what, _permission_remedy(machine))
    if closed:
        return
    group = machine.serial_group
    if machine.ports():
        yield DoctorFinding("permission", Severity.OK, "every port may be opened")
    elif not group or machine.is_member(group):
        yield DoctorFinding("permission", Severity.OK, "serial ports may be opened")
    else:
        what = f"this user is not in group {group}"
        yield DoctorFinding("permission", Severity.WARN, what, _permission_remedy(machine))


def _permission_remedy(machine: Machine) -> str:
    group = machine.serial_group
    if group and machine.is_listed(group) and not machine.is_member(group):
        return f"log out and in again: the user is in group {group} only since"
    if group and not machine.is_member(group):
        return f"sudo usermod -aG {group} $USER, then log out and in again"
    return udev.INSTALL


def _udev(machine: Machine) -> Iterable[DoctorFinding]:
    installed = machine.text(udev.RULES_PATH)
    if installed is None:
        what = "no stable names: a board is wherever it was plugged in"
        yield DoctorFinding("udev rules", Severity.WARN, what, udev.INSTALL)
    elif installed != udev.udev_rules(machine.serial_group):
        what = f"{udev.RULES_PATH} is not of this version"
        yield DoctorFinding("udev rules", Severity.WARN, what, udev.INSTALL)
    else:
        yield DoctorFinding("udev rules", Severity.OK, "boards are at /dev/tandem/<board id>")


def _modem_manager(machine: Machine) -> Iterable[DoctorFinding]:
    udev_rules = machine.text(udev.RULES_PATH) or ""
    if not machine.is_running("ModemManager"):
        yield DoctorFinding("ModemManager", Severity.OK, "not running")
    elif "ID_MM_PORT_IGNORE" in udev_rules:
        yield DoctorFinding("ModemManager", Severity.OK, "running, and told to leave boards alone")
    else:
        what = "running: it talks to every board that is plugged in, for some seconds"
        yield DoctorFinding("ModemManager", Severity.WARN, what, udev.INSTALL)


def _brltty(machine: Machine) -> Iterable[DoctorFinding]:
    if not machine.is_running("brltty"):
        yield DoctorFinding("brltty", Severity.OK, "not running")
        return
    what = "running: it takes CH340, CP210x and FTDI adapters for Braille displays, and keeps them"
    remedy = "without such a display: sudo systemctl mask --now brltty-udev.service brltty.service"
    yield DoctorFinding("brltty", Severity.WARN, what, remedy)


def _latency(machine: Machine) -> Iterable[DoctorFinding]:
    for port in machine.ports():
        held_ms = port.latency_timer_ms
        if held_ms is None:
            continue
        what = f"{port.device} holds received bytes back for up to {held_ms} ms"
        if held_ms <= LONGEST_LATENCY_MS:
            yield DoctorFinding("latency timer", Severity.OK, what)
        else:
            yield DoctorFinding("latency timer", Severity.WARN, what, udev.INSTALL)


def _ros(machine: Machine) -> Iterable[DoctorFinding]:
    """Check ROS 2 only if some of it is there: most machines have none, and need none."""
    distributions = machine.ros_distributions()
    missing = machine.missing_modules(ROS_MODULES)
    if not missing and (other := machine.compiled_for("rclpy")):
        yield DoctorFinding("ROS 2", Severity.WARN, *wrong_python("rclpy", other, machine.python))
    elif not missing:
        yield DoctorFinding(
            "ROS 2", Severity.OK, "this Python has rclpy and the messages of tandem ros"
        )
    elif distributions or "rclpy" not in missing:
        names = ", ".join(missing)
        name = distributions[-1] if distributions else "DISTRIBUTION"
        remedy = f"source /opt/ros/{name}/setup.bash, with a Python of its version"
        packages = [module for module in missing if module != "rclpy"]
        if packages:
            dashed = " ".join(f"ros-{name}-{module.replace('_', '-')}" for module in packages)
            remedy += f"; sudo apt install {dashed}"
        yield DoctorFinding("ROS 2", Severity.WARN, f"this Python has no {names}", remedy)


def _mavlink(machine: Machine) -> Iterable[DoctorFinding]:
    """Check the port of ground stations, where tandem mavlink is installed."""
    if machine.missing_modules(("pymavlink",)):
        return
    tables = [machine.text(f"/proc/net/{name}") or "" for name in ("udp", "udp6")]
    rows = [line.split() for table in tables for line in table.splitlines()[1:]]
    listening = sum(row[1].endswith(f":{STATION_PORT:04X}") for row in rows if len(row) > 1)
    port = f"UDP {STATION_PORT}"
    if listening > 1:
        what = f"{listening} programs listen on {port}, and only one of them is told"
        yield DoctorFinding("MAVLink", Severity.WARN, what, "give one another port: --to")
    elif listening:
        yield DoctorFinding("MAVLink", Severity.OK, f"a ground station listens on {port}")
    else:
        what = f"no ground station listens on {port} of this machine"
        yield DoctorFinding("MAVLink", Severity.OK, what)


def _machine_code(machine: Machine) -> Iterable[DoctorFinding]:
    if machine.is_compiled():
        what = "built: campaigns and drives in lockstep use it"
        yield DoctorFinding("machine code", Severity.OK, what)
        return
    what = "none: virtual cars are computed by plain Python, at about half the speed"
    remedy = (
        machine.how_to_compile() or "install a C compiler; tandem doctor then says how to go on"
    )
    yield DoctorFinding("machine code", Severity.WARN, what, remedy)


Check = Callable[[Machine], Iterable[DoctorFinding]]
CHECKS: tuple[Check, ...] = (
    _python,
    _micropython,
    _machine_code,
    _ports,
    _served,
    _permission,
    _udev,
    _modem_manager,
    _brltty,
    _latency,
    _ros,
    _mavlink,
)
OF_LINUX: tuple[Check, ...] = (_udev, _modem_manager, _brltty, _latency, _mavlink)
