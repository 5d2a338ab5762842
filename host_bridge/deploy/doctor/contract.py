"""Types between the checks and a machine: what they may ask of it, and their findings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Protocol


class Severity(Enum):
    """The meaning of a finding."""

    OK = "ok"
    WARN = "warn"  # works, but not as well as it might
    FAIL = "fail"  # will not work


@dataclass(frozen=True)
class DoctorFinding:
    """The result of one check, with a remedy where one is needed."""

    subject: str
    verdict: Severity
    what: str
    remedy: str = ""


class FoundPort(Protocol):
    """A serial port as the system lists it, see transports.serial_port.SerialPortInfo."""

    @property
    def device(self) -> str: ...
    @property
    def description(self) -> str: ...
    @property
    def serial_number(self) -> str | None: ...
    @property
    def latency_timer_ms(self) -> int | None: ...


class Served(Protocol):
    """A car that is served here (transports.served.ServedCar)."""

    @property
    def name(self) -> str: ...
    @property
    def uri(self) -> str: ...
    @property
    def is_hitl(self) -> bool: ...


@dataclass(frozen=True)
class Interpreter:
    """A MicroPython, or a command taken for one; then ``fault`` says why it is none."""

    command: str
    version: str
    fault: str = ""


class Machine(Protocol):
    """The properties of a machine that the checks use."""

    @property
    def python(self) -> tuple[int, ...]: ...
    @property
    def is_linux(self) -> bool: ...
    def micropythons(self, bits: int) -> Sequence[Interpreter]: ...
    def ports(self) -> Sequence[FoundPort]: ...
    def served(self) -> Sequence[Served]: ...
    def may_open(self, device: str) -> bool: ...
    def is_member(self, group: str) -> bool:
        """Return whether this process has the group's rights."""

    def is_listed(self, group: str) -> bool:
        """Return whether the user will have them from the next login on."""

    @property
    def serial_group(self) -> str:
        """The system's group for serial ports; empty if it has none."""

    def is_compiled(self) -> bool:
        """Return whether the virtual car is compiled to machine code, from the present sources."""

    def how_to_compile(self) -> str:
        """Return the command that does it; empty without a C compiler."""

    def is_running(self, program: str) -> bool: ...
    def text(self, path: str) -> str | None: ...
    def ros_distributions(self) -> Sequence[str]:
        """Return the names under /opt/ros, sorted."""

    def missing_modules(self, names: Sequence[str]) -> Sequence[str]:
        """Return those of these modules that this Python does not find."""

    def compiled_for(self, package: str) -> str:
        """Return another Python for which a package was compiled; "" for this one."""
