"""How soon a ROS command is a claim on the wire: ``python tests/bench/bench_ros.py``.

``tandem ros`` with all its topics listened to, the car's LIDAR among them, drives a car's process
over a serial line that this bench stands in the middle of. From before a command is published to
the claim that first has its steering; beside it, in the same run, a bare rclpy echo, which is what
this machine and rclpy take by themselves.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import tempfile
import threading
import time
import tty
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

from firmware.protocol.messages import Claim
from host_bridge.link.protocol import wire
from tests.bench.support.sheet import Cell, Sheet, publish, verdict
from tests.host_bridge.cli.programs import virtual_car
from tests.host_bridge.station.processes import processor_s
from tests.ros import real_ros
from tests.ros.real_ros import NODES, PYTHON, ROS

COMMANDS, SEED = 1500, 1
URAD_PER_NUMBER = 10
P50_MS, P99_MS = 2.0, 5.0
SHARE = 1 / 3
SHARE_S = 10.0
UP_WITHIN_S = 60.0
TRACK = "corridor"
HOW = "make setup makes one on Linux, x86_64"
HERE = Path(__file__).parent
LISTENED = (
    "odom=nav_msgs/msg/Odometry",
    "/tf=tf2_msgs/msg/TFMessage",
    "scan=sensor_msgs/msg/LaserScan",
    "ackermann_cmd=ackermann_msgs/msg/AckermannDriveStamped",
    "sensors/core=vesc_msgs/msg/VescStateStamped",
    "sensors/imu=vesc_msgs/msg/VescImuStamped",
    "sensors/imu/raw=sensor_msgs/msg/Imu",
    "sensors/servo_position_command=std_msgs/msg/Float64",
    "joint_states=sensor_msgs/msg/JointState",
    "/diagnostics=diagnostic_msgs/msg/DiagnosticArray",
)


class Tap:
    """A serial line with a listener in its middle; ``claims_ns`` has, by steering, when a claim
    with it came first."""

    def __init__(self, device: str) -> None:
        """``device`` leads to the car; ``self.device`` is for whoever drives it."""
        self.claims_ns: dict[int, int] = {}
        self._car = os.open(device, os.O_RDWR | os.O_NOCTTY)
        self._host, self._end = os.openpty()
        for line in (self._car, self._host, self._end):
            tty.setraw(line)
        self.device = os.ttyname(self._end)
        self._decoder = wire.MessageDecoder()
        self._stopped, self._stop = os.pipe()
        self._thread = threading.Thread(target=self._relay)
        self._thread.start()

    def close(self) -> None:
        os.close(self._stop)
        self._thread.join()
        for line in (self._car, self._host, self._end, self._stopped):
            os.close(line)

    def _relay(self) -> None:
        lines = {self._host: self._car, self._car: self._host}
        while True:
            ready, _, _ = select.select([*lines, self._stopped], [], [])
            now_ns = time.monotonic_ns()
            if self._stopped in ready:
                return
            for line in ready:
                with suppress(OSError):  # one end is gone: the other one notices by itself
                    data = os.read(line, 4096)
                    os.write(lines[line], data)
                    if line == self._host:
                        self._note(data, now_ns)

    def _note(self, data: bytes, now_ns: int) -> None:
        for message in self._decoder.feed(data):
            if isinstance(message, Claim):
                self.claims_ns.setdefault(message.steer_urad, now_ns)


class Programs:
    """Programs under the real rclpy, ended with the stack."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        log = stack.enter_context(tempfile.TemporaryDirectory())
        self._environment = real_ros.environment(log, 100 + os.getpid() % 50, "LOCALHOST")

    def start(self, *words: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [PYTHON, *words], env=self._environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        self._stack.callback(process.wait)
        self._stack.callback(process.kill)
        return process

    def driving(self, *words: str) -> subprocess.Popen[str]:
        """``tandem ros`` with these words, once it drives; its lines are read until its end."""
        process = self.start(
            "-m", "host_bridge.cli.main", "ros", "--json", "--seconds", "900", *words
        )
        assert process.stdout
        drives = threading.Event()
        lines = process.stdout

        def read() -> None:
            for line in lines:
                if json.loads(line).get("phase") == "driving":
                    drives.set()

        threading.Thread(target=read, daemon=True).start()
        if not drives.wait(UP_WITHIN_S):
            raise TimeoutError(f"tandem ros does not drive: {' '.join(words)}")
        return process

    def listening(self) -> subprocess.Popen[str]:
        """To all topics, for longer than this lasts."""
        return self.start(str(NODES / "listener.py"), "900", *LISTENED)


def measure() -> Iterator[Sheet]:
    """Both tables; or none, said plainly, where there is no ROS 2."""
    if not (ROS / ".set-up").exists():
        failed = ROS / ".failed"
        why = failed.read_text().strip() if failed.exists() else f"not set up; {HOW}"
        yield Sheet("ROS 2: not measured", ("why",), [[f"no ROS 2 in .ros: {why}"]])
        return
    with ExitStack() as stack:
        claims, share = over_a_line(stack)
    with ExitStack() as stack:
        alone = in_one_program(stack)
    yield claims
    yield Sheet(
        "tandem ros, every topic listened to, LIDAR at 40 Hz: shares of one core",
        ("the car", "share", "aim", "holds"),
        [
            ["in a process of its own", share, "under 1/3", verdict(share < SHARE)],
            [
                "sim://, its plant and its LIDAR included",
                alone,
                "under 1/3",
                verdict(alone < SHARE),
            ],
        ],
    )


def over_a_line(stack: ExitStack) -> tuple[Sheet, float]:
    """How soon commands are claims, and what the node takes meanwhile."""
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
    link, sensors = folder / "car", folder / "sensors"
    os.mkfifo(sensors)
    words = ("--track", TRACK, "--sensors", str(sensors))
    stack.enter_context(virtual_car("f1tenth", link, *words))
    tap = Tap(str(link.resolve()))
    stack.callback(tap.close)
    programs = Programs(stack)
    node = programs.driving("--car", f"serial://{tap.device}", "--sensors", str(sensors))
    programs.listening()
    programs.start(str(HERE / "support" / "ros_echo.py"))
    caller = programs.start(str(HERE / "support" / "ros_caller.py"), str(COMMANDS), str(SEED))
    time.sleep(5.0)  # they have found each other, and it drives
    share = share_of(node.pid)
    said = json.loads(caller.communicate()[0])
    took_ms = {
        int(number): (tap.claims_ns[int(number) * URAD_PER_NUMBER] - at_ns) * 1e-6
        for number, at_ns in said["sent_ns"].items()
        if int(number) * URAD_PER_NUMBER in tap.claims_ns
    }
    if not took_ms:
        raise TimeoutError(
            "no command became a claim: this machine is too busy, or the car stopped"
        )
    return claims(list(took_ms.values()), said["echo_ms"]), share


def in_one_program(stack: ExitStack) -> float:
    """What node, car and LIDAR take together."""
    programs = Programs(stack)
    node = programs.driving("--car", f"sim://f1tenth?track={TRACK}")
    programs.listening()
    programs.start(str(NODES / "talker.py"), "drive", "0.0", "0.0", "50", "found")
    time.sleep(5.0)
    return share_of(node.pid)


def share_of(pid: int) -> float:
    began_s, before_s = time.monotonic(), processor_s(pid)
    time.sleep(SHARE_S)
    return (processor_s(pid) - before_s) / (time.monotonic() - began_s)


def claims(took_ms: list[float], echo_ms: list[float]) -> Sheet:
    """The table of times; ratios are to the bare echo of the same column."""
    p50, p99, _ = quantiles(took_ms)
    bare = quantiles(echo_ms)
    holds = p50 <= P50_MS and p99 <= P99_MS
    holds_here = p50 <= max(P50_MS, bare[0]) and p99 <= max(P99_MS, bare[1])
    return Sheet(
        "From a command on /drive, published, to its claim on the wire: ms",
        ("what", "samples", "lost", "p50", "p99", "max", "aim", "beside the echo"),
        [
            ["command to claim", *row(took_ms), verdict(holds), verdict(holds_here)],
            ["bare rclpy echo", *row(echo_ms), None, None],
            ["times the echo", None, None, p50 / bare[0], p99 / bare[1], None, None, None],
        ],
        (
            f"The aim is {P50_MS:g} and {P99_MS:g} ms; where a bare echo, there and back, takes",
            "longer than that on this machine, it is what the echo takes.",
            "A lost command had a newer one before the next look.",
        ),
    )


def row(ms: list[float]) -> list[Cell]:
    return [len(ms), COMMANDS - len(ms), *quantiles(ms)]


def quantiles(ms: list[float]) -> list[float]:
    ordered = sorted(ms)
    return [ordered[int(q * len(ordered))] for q in (0.5, 0.99)] + [ordered[-1]]


if __name__ == "__main__":
    publish("ros", measure)
