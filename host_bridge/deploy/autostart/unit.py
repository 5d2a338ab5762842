"""The systemd unit with which ``tandem serve`` starts by itself: its text and its place."""

from __future__ import annotations

import os
import pwd
import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from host_bridge.core.errors import DeviceFault, UsageFault
from sim_mock.programs.children import module

MARK = "# Written by tandem serve --install-unit; removed by tandem serve --remove-unit."
SYSTEM_FOLDER = Path("/etc/systemd/system")
_NAME = re.compile(r"[A-Za-z0-9_-]{1,40}")  # what needs no escape in a unit's name
_BY_ID = Path("/dev/serial/by-id")
# What a login has set for its own commands, and the service has to share to be found by them
_KEPT = ("TANDEM_DATA_DIR", "TANDEM_RUNTIME_DIR", "TANDEM_STOP_DIR")
_UNIT = """{mark}
[Unit]
Description=Tandem serves the car {name}
Documentation=man:systemd.service(5)
{after}
[Service]
Type=exec
ExecStart={command}
{login}# Ctrl-C: an armed car is stopped, then the line is let go
KillSignal=SIGINT
TimeoutStopSec=10
SuccessExitStatus=130
Restart=always
RestartSec=2
NoNewPrivileges=yes

[Install]
WantedBy={target}
"""


@dataclass(frozen=True)
class Login:
    """The login under which the service runs."""

    name: str
    uid: int
    config_home: Path


@dataclass(frozen=True)
class Unit:
    """A unit: its file, its text, and whether it is the machine's or the login's own."""

    path: Path
    text: str
    is_system: bool

    @property
    def name(self) -> str:
        return self.path.name

    @property
    def systemctl(self) -> tuple[str, ...]:
        return ("systemctl",) if self.is_system else ("systemctl", "--user")


def this_login(is_system: bool, environment: Mapping[str, str] = os.environ) -> Login:
    """Return who the service is to be: of a system unit that root writes, who called sudo."""
    uid = os.getuid()
    if is_system and uid == 0:
        uid = int(environment.get("SUDO_UID", "0"))
    row = pwd.getpwuid(uid)
    home = Path(environment.get("XDG_CONFIG_HOME") or Path(row.pw_dir) / ".config")
    return Login(row.pw_name, uid, home)


def unit_path(name: str, is_system: bool, login: Login) -> Path:
    """Return where the unit of a car is. Raises UsageFault for a name that cannot be one's."""
    if not _NAME.fullmatch(name):
        raise UsageFault(
            "a service needs the name of the car that it serves",
            expected="--name red: letters, digits, - and _, 40 at most",
            got=name or "nothing",
            remedy="the name is how every command finds the car",
        )
    folder = SYSTEM_FOLDER if is_system else login.config_home / "systemd" / "user"
    return folder / f"tandem-{name}.service"


def make_unit(
    name: str,
    words: Sequence[str],
    *,
    is_system: bool,
    login: Login,
    environment: Mapping[str, str] = os.environ,
) -> Unit:
    """Return the unit that serves a car by ``tandem WORDS``. Raises UsageFault."""
    path = unit_path(name, is_system, login)
    after: list[str] = []
    lines = [f"Environment={_quoted(f'{key}={environment[key]}')}" for key in _KEPT
             if environment.get(key)]  # fmt: skip
    if is_system:
        runtime = f"user-runtime-dir@{login.uid}.service"  # where its commands find the car
        after = [f"Wants={runtime}", f"After={runtime}"]
        lines = [f"User={login.name}", f"Environment=XDG_RUNTIME_DIR=/run/user/{login.uid}", *lines]
    text = _UNIT.format(
        mark=MARK,
        name=name,
        after="\n".join([*after, ""]) if after else "",
        command=" ".join(_quoted(word) for word in (*_program(), *words)),
        login="".join(f"{line}\n" for line in lines),
        target="multi-user.target" if is_system else "default.target",
    )
    return Unit(path, text, is_system)


def _program() -> tuple[str, ...]:
    """Return this very installation's command, whatever the service's folder and PATH are."""
    beside = Path(sys.executable).with_name("tandem")
    return (str(beside),) if beside.is_file() else tuple(module("host_bridge.cli.main"))


def _quoted(word: str) -> str:
    """Return a word as systemd reads it: % and $ stand for themselves."""
    text = word.replace("%", "%%").replace("$", "$$").replace("\\", "\\\\").replace('"', '\\"')
    return f'"{text}"' if text != shlex.quote(word) or not text else text


def lasting_port(uri: str, folder: Path = _BY_ID) -> str:
    """Return the URI with the port's name by its device, which a re-plug does not renumber."""
    scheme, mark, rest = uri.partition("://")
    port, query, options = rest.partition("?")
    if scheme != "serial" or not mark or not folder.is_dir():
        return uri
    for link in sorted(folder.iterdir()):
        if link.resolve() == Path(port).resolve():
            return f"{scheme}://{link}{query}{options}"
    return uri


def refuse_foreign(path: Path) -> None:
    """Refuse a unit of this name that Tandem did not write. Raises DeviceFault."""
    if path.is_symlink() or (path.exists() and MARK not in _text(path)):
        raise DeviceFault(
            f"{path} is there, and tandem serve did not write it",
            expected="no file, or one that begins as its own do",
            remedy="choose another --name, or move it away yourself",
        )


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""
