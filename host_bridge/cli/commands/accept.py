"""``tandem accept``: keep a token that somebody gave you."""

from __future__ import annotations

import argparse
import getpass
import sys
from pathlib import Path

from host_bridge.core.errors import DataFileFault
from host_bridge.sharing.network.invitations import accept
from host_bridge.sharing.services import Host

EPILOG = """\
examples:
  tandem accept                 asks for the token, and does not show it
  tandem accept token.txt
  tandem accept < token.txt

A token is a key, so it is never an argument: other logins see those. It is kept in this login's
data folder, closed to others.
"""
_LONGEST = 4096  # bytes of a file; a token has some 190


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.description = "Keep a token, by which a car of another machine is reached."
    parser.epilog = EPILOG
    parser.add_argument("file", nargs="?", type=Path, help="a file with the token")


def run(args: argparse.Namespace, host: Host) -> int:
    """Return 0 once the token is kept. Raises errors.TandemError."""
    token = accept(_text(args.file))
    where = token.addresses[0][0] if token.addresses else "ADDRESS"
    role = (token.role.name or "").lower()
    print(f"kept: you may {role} {token.car_name}, as tandem://{where}/{token.car_name}")
    return 0


def _text(path: Path | None) -> str:
    if path is not None:
        try:
            with path.open(encoding="utf-8", errors="replace") as file:
                return file.read(_LONGEST)
        except OSError as error:
            raise DataFileFault.unreadable(path, error) from None
    if sys.stdin.isatty():
        return getpass.getpass("token: ")
    return sys.stdin.read(_LONGEST)
