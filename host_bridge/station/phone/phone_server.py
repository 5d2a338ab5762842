"""The server for phones on the network: HTTPS for who drives, HTTP for who only comes to look.

By HTTP a phone gets the page that watches and stops, and the certificate. By HTTPS the same, and
once it trusts the certificate a hold by WebSocket. Everybody may stop; only the holder of the
watch key sees the cars; only the holder of a cookie drives.
"""

from __future__ import annotations

import asyncio
import http
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

from host_bridge.core.errors import DeviceFault
from host_bridge.core.system.printable import one_line
from host_bridge.station.phone.certificates import Certificates
from host_bridge.station.phone.phone_access import DRIVES_US, PhoneAccess
from host_bridge.station.phone.phone_hold import PhoneHold
from host_bridge.station.phone.phone_status import STATE_S, phone_state, stream
from host_bridge.station.server.page_files import response
from host_bridge.station.server.page_messages import has_read_all
from host_bridge.station.server.server import StationBackend
from host_bridge.station.server.stop_answers import StopAnswers

HTTPS_PORT, HTTP_PORT = 27_443, 27_480  # chosen: as the well-known ones end, and free
LOST_S = 0.4  # of silence of a phone: with what a message takes, within half a second
# Whoever is on the network may begin handshakes that fail: nobody fills the terminal with them
_LOGGER = logging.getLogger(__name__)
_LOGGER.addHandler(logging.NullHandler())
_PAGES = Path(__file__).parent / "page"
# Path, file, media type, and whether by HTTPS only
_FILES = {
    "/join": ("phone.html", "text/html; charset=utf-8", False),
    "/phone.css": ("phone.css", "text/css; charset=utf-8", False),
    "/phone.js": ("phone.js", "text/javascript; charset=utf-8", False),
    "/hold.js": ("hold.js", "text/javascript; charset=utf-8", False),
    "/seat": ("phone.html", "text/html; charset=utf-8", True),
    "/trust": ("trust.html", "text/html; charset=utf-8", True),
    "/trust.js": ("trust.js", "text/javascript; charset=utf-8", True),
    "/worker.js": ("worker.js", "text/javascript; charset=utf-8", True),
}
_WITH_KEY = ("/status", "/state", "/events", "/trusted")
_COOKIE = "__Host-tandem"  # a browser sends it by HTTPS to this host alone
_MESSAGE_BYTES = 4096  # of a phone; its longest names one car
_SOCKETS = 64  # at a time: a class with its phones, twice
_OF_ONE = 12  # of one address: a phone has three


@dataclass
class _PhoneRequest:
    """A request: its path and words, and who asks."""

    path: str
    words: dict[str, list[str]]
    host: str
    origin: str | None
    cookie: str
    is_socket: bool

    def word(self, name: str) -> str:
        return self.words.get(name, [""])[0]


class PhoneServer:
    """Serves phones at one address until it is cancelled. ``tell`` gets lines for the operator."""

    def __init__(
        self,
        backend: StationBackend,
        address: str,
        certificates: Certificates,
        access: PhoneAccess,
        tell: Callable[[str], None],
        ports: tuple[int, int] = (HTTPS_PORT, HTTP_PORT),
    ) -> None:
        self.access = access
        self._backend = backend
        self._certificates = certificates
        self._tell = tell
        self._address = address
        self._https_port, self._http_port = ports
        self._stops = StopAnswers(backend)
        self._hold = PhoneHold(backend, LOST_S, tell)
        self._open: dict[ServerConnection, str] = {}

    def url(self, path: str, *, is_secure: bool) -> str:
        """Return the address of one of its pages."""
        host = f"[{self._address}]" if ":" in self._address else self._address
        port = self._https_port if is_secure else self._http_port
        return f"{'https' if is_secure else 'http'}://{host}:{port}{path}"

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[None]:
        """Serve in the block. Raises errors.DeviceFault where a port is taken."""
        async with self._listening(True), self._listening(False):
            yield

    @asynccontextmanager
    async def _listening(self, is_secure: bool) -> AsyncIterator[Server]:
        port = self._https_port if is_secure else self._http_port
        try:
            server = await serve(
                self._answer,
                self._address,
                port,
                ssl=self._certificates.server_context() if is_secure else None,
                process_request=self._requested(is_secure),
                compression=None,
                max_size=_MESSAGE_BYTES,
                ping_interval=None,
                logger=_LOGGER,
            )
        except OSError as error:
            raise DeviceFault(
                "the station cannot listen for phones there",
                where=f"{self._address}:{port}",
                got=error.strerror or str(error),
                remedy="ip address lists the addresses of this machine; is a station open already?",
            ) from None
        async with server:
            yield server

    def _requested(
        self, is_secure: bool
    ) -> Callable[[ServerConnection, Request], Awaitable[Response | None]]:
        async def request(connection: ServerConnection, asked: Request) -> Response | None:
            return await self._respond(connection, _read(asked), is_secure)

        return request

    async def _respond(
        self, connection: ServerConnection, asked: _PhoneRequest, is_secure: bool
    ) -> Response | None:
        refusal = self._refusal(connection, asked, is_secure)
        if refusal:
            return response(http.HTTPStatus.FORBIDDEN, refusal.encode())
        if asked.is_socket:
            return None
        if asked.path == "/stop":
            rows = await self._stops.stop(tuple(asked.words.get("car", ())), is_page=False)
            return _json(rows)
        if asked.path == "/state":
            return _json(phone_state(self._backend, self._hold.row()))
        if asked.path == "/events":
            await stream(connection, lambda: phone_state(self._backend, self._hold.row()))
            return response(http.HTTPStatus.OK, b"")
        if asked.path == "/ca.crt":
            kind = "application/x-x509-ca-cert"
            return response(http.HTTPStatus.OK, self._certificates.authority, kind)
        if asked.path == "/facts":
            return _json(self._facts())
        if asked.path == "/trusted":
            return _json({"code": self._trusted(connection)})
        if asked.path == "/exchange":
            return self._exchanged(connection, asked.word("key"))
        return self._file(asked.path, is_secure)

    def _refusal(self, connection: ServerConnection, asked: _PhoneRequest, is_secure: bool) -> str:
        """Return why nothing is answered; "" if it is."""
        if asked.path == "/stop":
            return "" if self._has_room(connection, asked) else "too many connections\n"
        port = self._https_port if is_secure else self._http_port
        scheme = "https" if is_secure else "http"
        hosts = [urlsplit(self.url("", is_secure=is_secure)).netloc]
        hosts += [f"{name}:{port}" for name in self._certificates.names[1:]]
        if asked.host not in hosts:
            return "this station has another name\n"
        if asked.origin not in (None, *(f"{scheme}://{it}" for it in hosts)):
            return "not from this station's page\n"
        cookie = asked.cookie if is_secure else ""
        if asked.path in _WITH_KEY and not self.access.may_watch(asked.word("key"), cookie):
            return "the station shows a code with the key\n"
        if asked.path == "/hold" and not self.access.may_drive(cookie):
            return "no leave to drive\n"
        if asked.path in ("/trusted", "/exchange") and not is_secure:
            return "by HTTPS only\n"
        if asked.is_socket and asked.path not in ("/status", "/hold"):
            return "no socket there\n"
        return "" if self._has_room(connection, asked) else "too many connections\n"

    def _has_room(self, connection: ServerConnection, asked: _PhoneRequest) -> bool:
        mine = _peer(connection)
        own = sum(it == mine for it in self._open.values())
        return not asked.is_socket or (len(self._open) < _SOCKETS and own < _OF_ONE)

    def _facts(self) -> dict[str, object]:
        return {
            "fingerprint": self._certificates.fingerprint(),
            "trust": self.url("/trust", is_secure=True),
        }

    def _trusted(self, connection: ServerConnection) -> str:
        address = _peer(connection)
        code = self.access.new_code(address)
        self._tell(
            f"A phone at {address} has taken the certificate. If it showed no warning, type the "
            "four digits that it shows, and Enter: it may drive then"
        )
        return code

    def _exchanged(self, connection: ServerConnection, key: str) -> Response:
        cookie = self.access.exchange(key)
        if cookie is None:
            return response(http.HTTPStatus.FORBIDDEN, b"this code counts no more\n")
        self._tell(f"the phone at {_peer(connection)} may drive now")
        found = _json({"may_drive": True})
        age_s = DRIVES_US // 1_000_000
        found.headers["Set-Cookie"] = (
            f"{_COOKIE}={cookie}; Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age={age_s}"
        )
        return found

    def _file(self, path: str, is_secure: bool) -> Response:
        name, kind, needs_tls = _FILES.get(path, ("", "", False))
        if not name or (needs_tls and not is_secure):
            return response(http.HTTPStatus.NOT_FOUND, b"there is nothing here\n")
        here = urlsplit(self.url("", is_secure=is_secure))
        policy = (
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; "
            f"worker-src 'self'; connect-src 'self' ws{'s' * is_secure}://{here.netloc}; "
            "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
        )
        return response(http.HTTPStatus.OK, (_PAGES / name).read_bytes(), kind, policy)

    async def _answer(self, connection: ServerConnection) -> None:
        assert connection.request is not None, "it was let in"
        path = urlsplit(connection.request.path).path
        self._open[connection] = _peer(connection)
        try:
            with suppress(ConnectionClosed):
                if path == "/stop":
                    await self._stops.hear(connection, lambda: False)
                elif path == "/hold":
                    await self._hold.serve(connection, _peer(connection))
                else:
                    await self._watch(connection)
        finally:
            del self._open[connection]

    async def _watch(self, connection: ServerConnection) -> None:
        """Show the cars 20 times a second, while the phone says each 100 ms that it is there."""
        showing = asyncio.create_task(self._show(connection))
        try:
            while True:
                await asyncio.wait_for(connection.recv(), LOST_S)
        except asyncio.TimeoutError:
            self._tell(f"the phone at {_peer(connection)} is lost, or looks elsewhere")
            connection.transport.abort()
        finally:
            showing.cancel()

    async def _show(self, connection: ServerConnection) -> None:
        with suppress(ConnectionClosed):
            while True:
                if has_read_all(connection):
                    await connection.send(json.dumps(phone_state(self._backend, self._hold.row())))
                await asyncio.sleep(STATE_S)


def _read(request: Request) -> _PhoneRequest:
    address = urlsplit(request.path)
    jar = SimpleCookie()
    with suppress(CookieError):
        jar.load(request.headers.get("Cookie", ""))
    return _PhoneRequest(
        address.path,
        parse_qs(address.query),
        request.headers.get("Host", "").lower(),
        request.headers.get("Origin"),
        jar[_COOKIE].value if _COOKIE in jar else "",
        "Upgrade" in request.headers,
    )


def _peer(connection: ServerConnection) -> str:
    return one_line(str(connection.remote_address[0]))


def _json(value: object) -> Response:
    return response(http.HTTPStatus.OK, json.dumps(value).encode(), "application/json")
