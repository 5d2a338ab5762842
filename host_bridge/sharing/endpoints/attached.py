"""The stations that gateways let in at a car, told to monitor and station.

One file beside the car's socket for each gateway, in the same private folder. It permits nothing:
it is only shown.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass

from host_bridge.core.system.atomic_file import write_atomically
from host_bridge.core.system.printable import printable
from host_bridge.sharing.endpoints.served import is_running, runtime_dir

_SUFFIX = ".attached"
_MOST_BYTES = 16_384  # sixteen stations at most, some hundred bytes each


@dataclass(frozen=True)
class Attached:
    """A station that a gateway lets in."""

    by: str  # the gateway's protocol: MAVLink
    who: str  # system and component
    address: str
    is_signed: bool
    drives: bool
    guest: str = ""  # the label of its invitation

    def __str__(self) -> str:
        signed = ", signed" if self.is_signed else ""
        who = f"{printable(self.guest)} ({self.who})" if self.guest else self.who
        return f"{self.by} {who} at {self.address}{signed}{', DRIVES' * self.drives}"


def tell_attached(car: str, stations: Sequence[Attached]) -> None:
    """Write who is at this car by way of this process, atomically. Raises errors.DeviceFault."""
    path = runtime_dir() / f"{car}.{os.getpid()}{_SUFFIX}"
    write_atomically(path, json.dumps([asdict(it) for it in stations]))


def withdraw_attached(car: str) -> None:
    """Remove what this process told. Raises errors.DeviceFault."""
    (runtime_dir() / f"{car}.{os.getpid()}{_SUFFIX}").unlink(missing_ok=True)


def attached(car: str) -> list[Attached]:
    """Return who is at this car, by gateways that still run. Raises errors.DeviceFault."""
    found: list[Attached] = []
    for path in sorted(runtime_dir().glob(f"{car}.*{_SUFFIX}")):
        pid = path.name.removeprefix(f"{car}.").removesuffix(_SUFFIX)
        if not pid.isdigit() or not is_running(int(pid)):
            continue
        with suppress(OSError, ValueError, TypeError):  # it went away, or is another version's
            text = path.read_bytes()[:_MOST_BYTES]
            found += [Attached(**row) for row in json.loads(text)]
    return found
