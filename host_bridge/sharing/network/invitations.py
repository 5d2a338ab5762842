"""The tokens that this login was given, one file each."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from host_bridge.core.errors import TandemError, UsageFault
from host_bridge.sharing.network.private_files import data_folder, read_private, write_private
from host_bridge.sharing.network.sealed.handshake import Address
from host_bridge.sharing.network.tokens import Token, name_in_token


@dataclass(frozen=True)
class Reached:
    """A car that this login has a token for, and where it was reached last."""

    token: Token
    place: Address | None  # None: never, and the token has no hint
    fleet_tag: int | None  # of its fleet as its host said; None: never reached

    @property
    def name(self) -> str:
        return self.token.car_name

    @property
    def board_id(self) -> bytes:
        return self.token.board_id


def note_reached(token: Token, place: Address, fleet_tag: int, folder: Path | None = None) -> None:
    """Keep where a car was reached, and its fleet. Raises errors.DataFileFault."""
    path = _path(token, folder or data_folder("invitations"))
    values = read_private(path) or {}
    now = {"token": token.text(), "place": list(place), "fleet_tag": fleet_tag}
    if values != now:
        write_private(path, now)


def reached_cars(fleet_tag: int, folder: Path | None = None) -> list[Reached]:
    """Return the cars of a fleet, and those whose fleet nobody knows; tag 0 means every car.

    The newest token of each board counts. Raises errors.DataFileFault.
    """
    found: dict[bytes, Reached] = {}
    for token, values in _rows(folder or data_folder("invitations")):
        known = Reached(token, _place(token, values.get("place")), _tag(values.get("fleet_tag")))
        if not fleet_tag or known.fleet_tag in (fleet_tag, None):
            found.setdefault(token.board_id, known)
    return list(found.values())


def accept(text: str, folder: Path | None = None) -> Token:
    """Keep a token. Raises errors.UsageFault, errors.DataFileFault."""
    token = Token.parse(text)
    folder = folder or data_folder("invitations")
    write_private(_path(token, folder), {"token": token.text()})
    return token


def forget(begin: str, folder: Path | None = None) -> list[Token]:
    """Remove the token whose id begins so, or ``all``; return what was removed.

    Raises errors.UsageFault if there is none, or more than one; errors.DataFileFault.
    """
    folder = folder or data_folder("invitations")
    known = invitations(folder)
    meant = known if begin == "all" else [it for it in known if it.token_id.hex().startswith(begin)]
    if not meant or (len(meant) > 1 and begin != "all"):
        raise UsageFault(
            f"{len(meant) or 'no'} tokens have an id that begins with {begin}",
            expected="the id of one token, or all",
            remedy="tandem accept --list shows them",
        )
    for token in meant:
        _path(token, folder).unlink(missing_ok=True)
    return meant


def invitations(folder: Path | None = None) -> list[Token]:
    """Return the tokens that were accepted, the newest first. Raises errors.DataFileFault."""
    return [token for token, _ in _rows(folder or data_folder("invitations"))]


def _rows(folder: Path) -> Iterator[tuple[Token, dict[str, Any]]]:
    """Yield each token and what is kept with it, the newest first. Raises errors.DataFileFault."""
    for path in sorted(folder.glob("*.json"), key=lambda it: it.stat().st_mtime_ns, reverse=True):
        values = read_private(path) or {}
        with contextlib.suppress(UsageFault):  # another version's
            yield Token.parse(str(values.get("token", ""))), values


def _path(token: Token, folder: Path) -> Path:
    return folder / f"{token.board_id.hex()}.{token.token_id.hex()}.json"


def _place(token: Token, kept: object) -> Address | None:
    """Return where a car was reached; else the token's first hint, if it has one."""
    if isinstance(kept, list) and len(kept) == 2:
        return str(kept[0]), int(kept[1])
    return token.addresses[0] if token.addresses else None


def _tag(kept: object) -> int | None:
    return kept if isinstance(kept, int) else None


def invitations_to(car_name: str, where: str) -> list[Token]:
    """Return the tokens for cars of this name, the newest first. Raises errors.TandemError."""
    known = invitations()
    if meant := [token for token in known if token.car_name == name_in_token(car_name)]:
        return meant
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
