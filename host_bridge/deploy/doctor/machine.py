"""This machine, as the checks see it. Knowledge of other packages is passed in."""

from __future__ import annotations

import grp
import os
import pwd
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol

from host_bridge.core.system.compiled_for import compiled_for
from host_bridge.deploy.doctor.contract import FoundPort, Interpreter, Served

# Debian's and its derivatives', Arch's and its derivatives', and one that some add for USB
SERIAL_GROUPS = ("dialout", "uucp", "plugdev")
_VERSION = "import sys; print('.'.join(str(n) for n in sys.implementation.version[:3]))"
_ANSWER_WITHIN_S = 10.0
_COMM_SIZE = 15  # the kernel truncates process names to this


class MicroPythonCommand(Protocol):
    """A command that may be a MicroPython (sim_mock.runtime.micropython.Candidate)."""

    @property
    def command(self) -> str: ...
    @property
    def fault(self) -> str: ...


class LocalMachine:
    """The machine that this runs on; ``root`` is the root of its files."""

    def __init__(
        self,
        ports: Callable[[], Sequence[FoundPort]],
        micropythons: Callable[[int], Iterable[MicroPythonCommand]],
        served: Callable[[], Sequence[Served]],
        is_compiled: Callable[[], bool],
        how_to_compile: Callable[[], str],
        root: Path = Path("/"),
    ) -> None:
        self.python: tuple[int, ...] = sys.version_info[:3]
        self.is_linux = sys.platform == "linux"
        self._ports: Sequence[FoundPort] | None = None
        self._find_ports = ports
        self.served = served
        self.is_compiled = is_compiled
        self.how_to_compile = how_to_compile
        self._find_micropythons = micropythons
        self._root = root

    def ports(self) -> Sequence[FoundPort]:
        if self._ports is None:
            self._ports = self._find_ports()
        return self._ports

    def micropythons(self, bits: int) -> Sequence[Interpreter]:
        return [
            Interpreter(found.command, "" if found.fault else _version(found.command), found.fault)
            for found in self._find_micropythons(bits)
        ]

    def may_open(self, device: str) -> bool:
        return os.access(device, os.R_OK | os.W_OK)

    @property
    def serial_group(self) -> str:
        there = {group.gr_name for group in grp.getgrall()}
        return next((name for name in SERIAL_GROUPS if name in there), "")

    def is_member(self, group: str) -> bool:
        return os.geteuid() == 0 or grp.getgrnam(group).gr_gid in {os.getegid(), *os.getgroups()}

    def is_listed(self, group: str) -> bool:
        return pwd.getpwuid(os.geteuid()).pw_name in grp.getgrnam(group).gr_mem

    def is_running(self, program: str) -> bool:
        names = (
            self.text(f"/proc/{entry.name}/comm") for entry in (self._root / "proc").glob("[0-9]*")
        )
        return any(name is not None and name.strip() == program[:_COMM_SIZE] for name in names)

    def text(self, path: str) -> str | None:
        try:
            return (self._root / path.lstrip("/")).read_text(encoding="utf-8", errors="replace")
        except OSError:
            return None

    def ros_distributions(self) -> Sequence[str]:
        return sorted(path.parent.name for path in (self._root / "opt/ros").glob("*/setup.bash"))

    def missing_modules(self, names: Sequence[str]) -> Sequence[str]:
        return [name for name in names if find_spec(name) is None]

    def compiled_for(self, package: str) -> str:
        return compiled_for(package)


def _version(command: str) -> str:
    try:
        done = subprocess.run(
            [command, "-c", _VERSION],
            capture_output=True,
            stdin=subprocess.DEVNULL,
            text=True,
            timeout=_ANSWER_WITHIN_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return "of unknown version"
    return done.stdout.strip() or "of unknown version"
