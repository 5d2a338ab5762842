"""The attestation of a person beside a car that its wheels are off the ground, as a file.

A command at the car's own computer writes it; the program that serves the car takes it up, and
writes when and why it was over. It counts for no longer than that program runs.
"""

from __future__ import annotations

import secrets
from dataclasses import asdict, dataclass
from pathlib import Path

from host_bridge.core.errors import DataFileFault
from host_bridge.sharing.network.private_files import data_folder, read_private, write_private

LONGEST_S = 7200.0  # chosen: a bench's afternoon; whoever stays longer attests again
_NUMBER_BYTES = 4  # random, so that one attestation is told from the next


@dataclass(frozen=True)
class Attestation:
    """One attestation: ``opened`` once the server took it up, ``ended`` says why it is over."""

    number: str
    for_s: float
    login: str
    until_s: float = 0.0  # of the wall clock, for people; the server counts by its own
    opened: bool = False
    ended: str = ""


def new_attestation(for_s: float, login: str) -> Attestation:
    """Return an attestation for so long, from when the server takes it up."""
    return Attestation(secrets.token_hex(_NUMBER_BYTES), for_s, login)


class AttestationFile:
    """The attestation of the car with this board, of which there is one at a time at most."""

    def __init__(self, board_id: bytes, folder: Path | None = None) -> None:
        self._path = (folder or data_folder("guests")) / f"{board_id.hex()}.stand.json"

    def read(self) -> Attestation | None:
        """Return what is written; None without any. Raises errors.DataFileFault."""
        values = read_private(self._path)
        if values is None:
            return None
        try:
            return Attestation(**values)
        except TypeError:
            raise DataFileFault(
                "the attestation of this car's stand cannot be read",
                where=str(self._path),
                remedy="remove the file and attest again",
            ) from None

    def write(self, attestation: Attestation) -> None:
        """Write it in place of another. Raises errors.DataFileFault."""
        write_private(self._path, asdict(attestation))

    def changed_since(self, stamp: object) -> tuple[bool, object]:
        """Return whether the file is another than at this stamp, and the stamp of now."""
        try:
            status = self._path.stat()
        except OSError:
            return stamp is not None, None
        now = (status.st_mtime_ns, status.st_ino)
        return now != stamp, now

    def forget(self) -> None:
        self._path.unlink(missing_ok=True)
