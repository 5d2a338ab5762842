"""Errors for a serial port that did not open, with their remedies."""

from __future__ import annotations

import errno
import grp
import os
import pwd
import stat
from collections.abc import Callable, Sequence

from host_bridge.core.errors import DeviceFault
from host_bridge.link.transports.port_holders import Holder, holders

_GROUP_MAY = stat.S_IRGRP | stat.S_IWGRP

Explain = Callable[[str, str, Sequence[str]], DeviceFault]


def open_fault(label: str, device: str, error: Exception, ports: Sequence[str]) -> DeviceFault:
    """Return the fault for ``error``, as pyserial raised it; ``ports`` are the ports that exist."""
    explain = _EXPLAINED.get(getattr(error, "errno", None) or 0)
    if explain:
        return explain(label, device, ports)
    return DeviceFault(
        "this did not open as a serial port",
        where=label,
        got=str(error),
        remedy=_others(ports),
    )


def busy_fault(label: str, held_by: Sequence[Holder]) -> DeviceFault:
    """Return the fault for a port that another program has open."""
    names = ", ".join(map(str, held_by))
    return DeviceFault(
        "the port is in use",
        where=label,
        got=f"held by {names or 'a program of another user (sudo would show which)'}",
        remedy="end that program; if it is tandem serve, use its tandem:///NAME (tandem cars)",
    )


def _missing(label: str, device: str, ports: Sequence[str]) -> DeviceFault:
    return DeviceFault("no such port", where=label, got="nothing there", remedy=_others(ports))


def _busy(label: str, device: str, ports: Sequence[str]) -> DeviceFault:
    return busy_fault(label, holders(device))


def _forbidden(label: str, device: str, ports: Sequence[str]) -> DeviceFault:
    user, group = _user(), _group_of(device)
    join = f"sudo usermod -aG {group} {user}, and log in again; or "
    return DeviceFault(
        "no permission to open the port",
        where=label,
        expected=f"you in the group {group}" if group else "a device that a group may use",
        got=f"user {user}, who may not, or has not logged in again since being allowed",
        remedy=(join if group else "") + "install the udev rules: tandem doctor --udev",
    )


_EXPLAINED: dict[int, Explain] = {
    errno.ENOENT: _missing,
    errno.ENXIO: _missing,
    errno.ENODEV: _missing,
    errno.EBUSY: _busy,
    errno.EAGAIN: _busy,  # another program has locked it
    errno.EACCES: _forbidden,
    errno.EPERM: _forbidden,
}


def _others(ports: Sequence[str]) -> str:
    if ports:
        return f"ports that are there: {', '.join(ports)}"
    return "there are no serial ports: check the cable (some only charge) and the board's power"


def _group_of(device: str) -> str:
    """Return the group that may read and write the device; "" if a user should join none."""
    try:
        status = os.stat(device)
        name = grp.getgrgid(status.st_gid).gr_name
    except (KeyError, OSError):
        return ""
    return name if name != "root" and status.st_mode & _GROUP_MAY == _GROUP_MAY else ""


def _user() -> str:
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return str(os.getuid())
