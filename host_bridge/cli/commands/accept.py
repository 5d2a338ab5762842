"""``tandem accept``: keep a token that somebody gave you."""

from __future__ import annotations

import argparse
import getpass
import json
import sys
from pathlib import Path

from host_bridge.core.errors import DataFileFault
from host_bridge.core.system.printable import printable
from host_bridge.sharing.network.invitations import accept, forget, invitations
from host_bridge.sharing.services import Host

EPILOG = """\
examples:
  tandem accept                 asks for the token, and does not show it
  tandem accept token.txt
  tandem accept < token.txt
  tandem accept --list          what was accepted, the newest first
  tandem accept --forget 4f2a   whose id begins so; or all

A token is a key, so it is never an argument: other logins see those. It is kept in this login's
data folder, closed to others.
"""
_LONGEST = 4096  # bytes of a file; a token has some 190


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.description = "Keep a token, by which a car of another machine is reached."
    parser.epilog = EPILOG
    parser.add_argument("file", nargs="?", type=Path, help="a file with the token")
    parser.add_argument("--list", action="store_true", help="list the tokens that were accepted")
    parser.add_argument(
        "--forget", metavar="ID", help="remove the token whose id begins so; or all"
    )
    parser.add_argument("--json", action="store_true", help="with --list: print them as JSON")


def run(args: argparse.Namespace, host: Host) -> int:
    """Return 0 once the token is kept. Raises errors.TandemError."""
    if args.list:
        return _list(args.json)
    if args.forget:
        for token in forget(args.forget):
            print(f"forgotten: {printable(token.car_name)}, id {token.token_id.hex()}")
        return 0
    token = accept(_text(args.file))
    where = token.addresses[0][0] if token.addresses else "ADDRESS"
    role = (token.role.name or "").lower()
    print(f"kept: you may {role} {token.car_name}, as tandem://{where}/{token.car_name}")
    return 0


def _list(is_json: bool) -> int:
    rows = [
        {
            "id": it.token_id.hex(),
            "car": it.car_name,
            "board_id": it.board_id.hex(),
            "role": (it.role.name or "").lower(),
        }
        for it in invitations()
    ]
    if is_json:
        print(json.dumps(rows))
        return 0
    for row in rows:
        print(f"{row['id']}  {row['role']:<9}  {row['car']}, board {row['board_id']}")
    if not rows:
        print("no token was accepted yet: tandem invite makes one, at the car's computer")
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
