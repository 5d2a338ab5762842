"""The cars that are served on this machine: sockets and descriptions in one private folder."""

from __future__ import annotations

import contextlib
import json
import os
import re
import stat
from dataclasses import asdict, dataclass
from pathlib import Path

from host_bridge.core.errors import DeviceFault, UsageFault
from host_bridge.core.system.atomic_file import write_atomically
from host_bridge.sharing.endpoints.folders import private_folder

_NAME = re.compile(r"[A-Za-z0-9_-]{1,32}")


@dataclass(frozen=True)
class ServedCar:
    """The description that the owner of a car publishes."""

    name: str
    uri: str  # the car's, as the owner opened it
    pid: int  # the owner's
    vehicle: str
    started: str  # ISO 8601, UTC
    fleet: str = ""  # the name of the cars that are stopped together
    board_id: str = ""  # in hexadecimal; empty until the car was identified

    @property
    def is_hitl(self) -> bool:
        """True for hardware in the loop: a bare board whose peripherals are a simulated plant."""
        options = self.uri.partition("?")[2].split("&")  # importing ``uri`` would slow a stop
        return any(option.startswith("hitl=") for option in options)


def runtime_dir() -> Path:
    """Return the folder of the sockets, created if it does not exist. Raises errors.DeviceFault.

    Whoever can write in it can drive the cars, so it must be this user's own and closed to others.
    """
    folder = Path(private_folder())
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = folder.lstat()
    except OSError as error:
        raise _folder_fault(folder, str(error)) from None
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid():
        raise _folder_fault(folder, f"something of user {status.st_uid}")
    if status.st_mode & 0o077:
        raise _folder_fault(folder, f"mode {stat.S_IMODE(status.st_mode):04o}")
    return folder


def socket_path(name: str) -> Path:
    """Return the path at which the car's owner listens.

    Raises errors.UsageFault, errors.DeviceFault.
    """
    return _path(name, ".sock")


def announce(car: ServedCar) -> None:
    """Write a car's description beside its socket, atomically.

    Raises errors.UsageFault, errors.DeviceFault.
    """
    path = _path(car.name, ".json")
    write_atomically(path, json.dumps(asdict(car), indent=2) + "\n")


def withdraw(name: str) -> None:
    """Remove the car's description and socket. Raises errors.UsageFault, DeviceFault."""
    _path(name, ".json").unlink(missing_ok=True)
    _path(name, ".sock").unlink(missing_ok=True)


def served() -> list[ServedCar]:
    """Return the cars whose owners are running, by name. Raises errors.DeviceFault."""
    cars = map(_read, sorted(runtime_dir().glob("*.json")))
    return [car for car in cars if car and is_running(car.pid)]


def _path(name: str, suffix: str) -> Path:
    if not _NAME.fullmatch(name):
        raise UsageFault(
            "not the name of a car",
            expected="up to 32 letters, digits, - and _",
            got=repr(name),
            remedy="such as tandem:///nigel",
        )
    return runtime_dir() / (name + suffix)


def _read(path: Path) -> ServedCar | None:
    """Return the description in this file; None for another version's, or a file that went away."""
    with contextlib.suppress(OSError, ValueError, TypeError):
        car = ServedCar(**json.loads(path.read_text(encoding="utf-8")))
        return car if car.name == path.stem and isinstance(car.pid, int) else None
    return None


def is_running(pid: int) -> bool:
    """Return whether there is a process of this id, whosever it is."""
    try:
        os.kill(pid, 0)
    except (OverflowError, ProcessLookupError):
        return False
    except PermissionError:  # another user's process: it runs
        return True
    return True


def _folder_fault(folder: Path, got: str) -> DeviceFault:
    return DeviceFault(
        "the folder of the cars' sockets cannot be trusted",
        where=str(folder),
        expected="a folder of your own, mode 0700",
        got=got,
        remedy=f"chmod 700 {folder}, or set TANDEM_RUNTIME_DIR to a folder of your own",
    )
