"""The phones of a station while it runs: their server, and what the operator sees and types."""

from __future__ import annotations

import asyncio
import datetime
import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from importlib.util import find_spec

from host_bridge.station.phone.certificates import certificates_for
from host_bridge.station.phone.phone_access import PhoneAccess
from host_bridge.station.phone.phone_server import PhoneServer
from host_bridge.station.server.server import StationBackend

Tell = Callable[[str], None]
_READ_BYTES = 4096  # at once: the longest line of a terminal


@asynccontextmanager
async def phones_at(
    address: str | None, backend: StationBackend, *, has_seat: bool
) -> AsyncIterator[None]:
    """Let phones in at an address of this machine in the block; without one, nobody.

    What the operator types is the number that a phone shows: it may drive then, if this station
    ``has_seat``. Raises errors.TandemError.
    """
    if address is None:
        yield
        return
    certificates = certificates_for(address, _now)
    access = PhoneAccess(backend.now_us)
    server = PhoneServer(backend, address, certificates, access, _tell)
    async with server.serving():
        _draw(server.url(f"/join#key={access.watch_key}", is_secure=False))
        _tell("Phones: whoever scans this may watch and stop")
        if not has_seat:
            yield
            return
        _tell("For who is to drive the page has the steps. The certificate's SHA-256 is")
        _tell(certificates.fingerprint())
        with _Typed(lambda line: _let_drive(server, line)):
            yield


def _let_drive(server: PhoneServer, line: str) -> None:
    found = server.access.drive_key(line)
    if found is None:
        _tell("no phone shows this number, or it is older than two minutes")
        return
    key, address = found
    _draw(server.url(f"/seat#drive={key}", is_secure=True))
    _tell(f"For the phone at {address}: scan this within two minutes. It counts once")


class _Typed:
    """Calls back for each line that is typed, in the block; nothing where nobody can type."""

    def __init__(self, heard: Callable[[str], None]) -> None:
        self._heard = heard
        self._rest = b""  # of a line that is not over

    def __enter__(self) -> None:
        with suppress(OSError, ValueError):  # a file, or none: nobody types there
            asyncio.get_running_loop().add_reader(sys.stdin.fileno(), self._read)

    def __exit__(self, *_: object) -> None:
        self._end()

    def _end(self) -> None:
        with suppress(OSError, ValueError):
            asyncio.get_running_loop().remove_reader(sys.stdin.fileno())

    def _read(self) -> None:
        data = b""
        with suppress(OSError):  # the terminal is gone
            data = os.read(sys.stdin.fileno(), _READ_BYTES)  # never waits for the end of a line
        if not data:
            self._end()
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in filter(bytes.strip, lines):
            self._heard(line.decode(errors="replace"))


def _draw(url: str) -> None:
    """Print an address, and draw its QR code on a terminal."""
    print(url, flush=True)
    if sys.stdout.isatty() and find_spec("segno") is not None:
        import segno

        segno.make(url, error="m").terminal(compact=True)


def _tell(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _now() -> datetime.datetime:
    return datetime.datetime.now(datetime.timezone.utc)
