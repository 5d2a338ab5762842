"""The tokens that this login was given, one file each."""

from __future__ import annotations

import contextlib
from pathlib import Path

from host_bridge.core.errors import TandemError, UsageFault
from host_bridge.sharing.network.private_files import data_folder, read_private, write_private
from host_bridge.sharing.network.tokens import Token


def accept(text: str, folder: Path | None = None) -> Token:
    """Keep a token. Raises errors.UsageFault, errors.DataFileFault."""
    token = Token.parse(text)
    folder = folder or data_folder("invitations")
    name = f"{token.board_id.hex()}.{token.token_id.hex()}.json"
    write_private(folder / name, {"token": token.text()})
    return token


def invitations(folder: Path | None = None) -> list[Token]:
    """Return the tokens that were accepted, the newest first. Raises errors.DataFileFault."""
    folder = folder or data_folder("invitations")
    paths = sorted(folder.glob("*.json"), key=lambda it: it.stat().st_mtime_ns, reverse=True)
    found: list[Token] = []
    for path in paths:
        values = read_private(path) or {}
        with contextlib.suppress(UsageFault):  # another version's
            found.append(Token.parse(str(values.get("token", ""))))
    return found


def invitation_to(car_name: str, where: str) -> Token:
    """Return the newest token for a car of this name. Raises errors.TandemError."""
    known = invitations()
    for token in known:
        if token.car_name == car_name:
            return token
    raise no_token(car_name, where, sorted({it.car_name for it in known}))


def no_token(car_name: str, where: str, known: list[str]) -> TandemError:
    """Return the fault of a car to which nobody has invited this login."""
    return UsageFault(
        f"nobody has invited you to a car by the name of {car_name}",
        where=where,
        expected="a token that tandem accept has taken",
        got=f"tokens for {', '.join(known)}" if known else "no token at all",
        remedy="on the car's computer: tandem invite CAR --role drive; then here: tandem accept. "
        "To stop it needs no token: tandem stop " + where,
    )
