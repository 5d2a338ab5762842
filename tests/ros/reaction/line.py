"""Two network namespaces, and between them a line that is this process: a tun device at each end.

Whoever is at one end reaches the other through ``Line`` alone, so what that loses is lost. It needs
the right to make namespaces, which root has, and users where the kernel lets them: ``enter`` goes
where that right is, ``why_not`` says what is missing.
"""

from __future__ import annotations

import fcntl
import os
import select
import shutil
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType

from tests.ros.reaction.impairment import CLEAR, Impairment, LineSettings

TUN = Path("/dev/net/tun")
ADDRESSES = ("10.99.0.1", "10.99.0.2")
INSIDE = "TANDEM_TEST_NAMESPACE"
_TUNSETIFF, _IFF_TUN, _IFF_NO_PI = 0x400454CA, 0x0001, 0x1000
_PACKET_MAX = 65536
_WAIT_S = 0.05  # without a packet: how soon the end of the line is noticed


def _unshare() -> list[str]:
    """Root needs no user namespace, and where it is root of a container it may get none."""
    return ["unshare", "-n"] if os.geteuid() == 0 else ["unshare", "-U", "-r", "-n"]


def why_not() -> str | None:
    """What is missing for a line between namespaces; None if nothing is."""
    for program in ("unshare", "nsenter", "setpriv", "ip"):
        if shutil.which(program) is None:
            return f"there is no {program} (iproute2, util-linux)"
    if not os.access(TUN, os.R_OK | os.W_OK):
        return f"{TUN} is missing or not for this user"
    tried = subprocess.run([*_unshare(), "true"], capture_output=True, text=True, check=False)
    if tried.returncode:
        return f"no network namespace may be made: {tried.stderr.strip()}"
    return None


def enter(module: str, words: Sequence[str]) -> None:
    """Become ``python -m MODULE WORDS`` in a namespace of its own, unless this is it already."""
    if INSIDE not in os.environ:
        os.environ[INSIDE] = "1"
        command = [*_unshare(), sys.executable, "-m", module, *words]
        os.execvp(command[0], command)


class Namespace:
    """A network namespace with a tun or tap device, whose other side is ``file``.

    It lives while its holder waits for input, and ends with this process.
    """

    def __init__(self, name: str, kind: int, commands: Iterable[str]) -> None:
        """``kind`` is the device's flag; the commands set it up, in the namespace."""
        self._holder = subprocess.Popen(
            ["unshare", "-n", "sh", "-c", "echo ready; cat"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert self._holder.stdout is not None
        self._holder.stdout.readline()
        self.file = os.open(TUN, os.O_RDWR | os.O_NONBLOCK)
        fcntl.ioctl(self.file, _TUNSETIFF, struct.pack("16sH22x", name.encode(), kind | _IFF_NO_PI))
        _run("ip", "link", "set", name, "netns", str(self._holder.pid))
        for words in commands:
            _run(*self.words(*words.split()))

    def words(self, *command: str) -> list[str]:
        """What runs ``command`` there; it ends with this process, however that ends."""
        there = ["nsenter", "-t", str(self._holder.pid), "-n"]
        return [*there, "setpriv", "--pdeathsig", "KILL", *command]

    def close(self) -> None:
        os.close(self.file)
        assert self._holder.stdin is not None
        self._holder.stdin.close()
        self._holder.wait()


class End(Namespace):
    """One end of a line."""

    def __init__(self, name: str, own: str, other: str) -> None:
        super().__init__(name, _IFF_TUN, (
            f"ip addr add {own} peer {other} dev {name}",
            f"ip link set {name} up multicast on",
            "ip link set lo up multicast on",
            f"ip route add 224.0.0.0/4 dev {name}",
        ))  # fmt: skip


class Line(threading.Thread):
    """Both ends and what carries packets between them, until it is closed or its time is up."""

    def __init__(self, seed: int, *, packets_max: int, seconds_max: float) -> None:
        super().__init__(name="line", daemon=True)
        self.ways = [Impairment(f"{seed} {way}", packets_max) for way in ("there", "back")]
        self._ends_s = time.monotonic() + seconds_max
        self._is_open = True
        with ExitStack() as made:
            self.ends = []
            for name, own, other in (("tandem-a", *ADDRESSES), ("tandem-b", *ADDRESSES[::-1])):
                self.ends.append(End(name, own, other))
                made.callback(self.ends[-1].close)
            made.pop_all()
        self.start()

    def apply(self, settings: LineSettings) -> float:
        """From now on the way there is so; returns the moment of that. The way back stays clear."""
        self.ways[0].settings = settings
        return time.monotonic()

    def run(self) -> None:
        files = [end.file for end in self.ends]
        while self._is_open and (now_s := time.monotonic()) < self._ends_s:
            for way, file in zip(self.ways, reversed(files), strict=True):
                for packet in way.due(now_s):
                    _put(file, packet)
            ready, _, _ = select.select(files, [], [], self._wait_s(now_s))
            for way, file in zip(self.ways, files, strict=True):
                if file in ready:
                    way.take(os.read(file, _PACKET_MAX), time.monotonic())

    def _wait_s(self, now_s: float) -> float:
        due_s = [way.next_s for way in self.ways if way.next_s is not None]
        return min(max(min(due_s, default=now_s + _WAIT_S) - now_s, 0.0), _WAIT_S)

    def __enter__(self) -> Line:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.apply(CLEAR)
        self._is_open = False
        self.join()
        for end in self.ends:
            end.close()


def _put(file: int, packet: bytes) -> None:
    try:
        os.write(file, packet)
    except BlockingIOError:
        return  # nobody at that end takes it: as on any line


def _run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True)
