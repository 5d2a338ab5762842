"""Installs and removes the unit: shows what it will do, asks, does it, and says what was done."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Sequence

from host_bridge.core.errors import DeviceFault, RefusedFault, UsageFault
from host_bridge.core.system.atomic_file import write_atomically
from host_bridge.deploy.autostart.unit import Unit, refuse_foreign

_YES = ("y", "yes")
_WITHIN_S = 30.0  # chosen: systemctl answers at once, but for a manager that hangs
_FILE_MODE = 0o644  # as the units of packages: no secret is in it


def install(unit: Unit, *, is_agreed: bool) -> None:
    """Show the unit, ask, write it, and start it now and at each start.

    Raises UsageFault where nobody can be asked, RefusedFault for a no, DeviceFault for a folder or
    a service manager that refuses.
    """
    refuse_foreign(unit.path)
    print(f"{unit.path}:\n\n{unit.text}")
    when = "each start of this machine" if unit.is_system else "each login"
    _ask(f"Write it, and start it now and at {when}?", is_agreed)
    try:
        unit.path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(unit.path, unit.text)
        unit.path.chmod(_FILE_MODE)
    except OSError as error:
        raise _unwritable(unit, error) from error
    print(f"written: {unit.path}")
    _run([*unit.systemctl, "daemon-reload"])
    _run([*unit.systemctl, "enable", "--now", unit.name])
    print(f"it runs; see it: {' '.join(unit.systemctl)} status {unit.name}")
    if not unit.is_system:
        print("to begin with the machine, without a login: loginctl enable-linger")


def remove(unit: Unit, *, is_agreed: bool) -> None:
    """Say what is removed, ask, end it, and take its file away. Raises as ``install`` does."""
    refuse_foreign(unit.path)
    if not unit.path.exists():
        raise DeviceFault(
            f"there is no {unit.path}",
            expected="a unit that tandem serve --install-unit wrote",
            remedy="tandem serve --name NAME --remove-unit: with the name that it was installed "
            "by, and --system if it was given then",
        )
    _ask(f"End the service and remove {unit.path}? An armed car is stopped.", is_agreed)
    _run([*unit.systemctl, "disable", "--now", unit.name])
    try:
        unit.path.unlink()
    except OSError as error:
        raise _unwritable(unit, error) from error
    print(f"removed: {unit.path}")
    _run([*unit.systemctl, "daemon-reload"])


def _ask(question: str, is_agreed: bool) -> None:
    if is_agreed:
        return
    if not sys.stdin.isatty():
        raise UsageFault(
            f"nobody can be asked: {question}",
            expected="a terminal, or --yes",
            remedy="read what is shown, then say --yes",
        )
    if input(f"{question} [y/N] ").strip().lower() not in _YES:
        raise RefusedFault("nothing was changed", remedy="y or yes agrees")


def _run(words: Sequence[str]) -> None:
    shown = " ".join(words)
    if shutil.which(words[0]) is None:
        raise DeviceFault(
            "this machine has no systemctl: the file is all that was done",
            expected="systemd",
            remedy=f"where it has: {shown}",
        )
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=_WITHIN_S, check=False)
        output = (done.stderr or done.stdout).strip()
    except (OSError, subprocess.TimeoutExpired) as error:
        output = str(error)
    else:
        if done.returncode == 0:
            print(f"done: {shown}")
            return
    raise DeviceFault(
        f"{shown} failed",
        expected="exit code 0",
        got=output.splitlines()[-1] if output else "no word",
        remedy="the file stays as it is; run the command by hand, with journalctl at its side",
    )


def _unwritable(unit: Unit, error: OSError) -> DeviceFault:
    remedy = "a system unit is root's: sudo, with the path of tandem" if unit.is_system else ""
    return DeviceFault(
        f"{unit.path} cannot be changed", got=error.strerror or str(error), remedy=remedy
    )
