"""The station's own server: its page, and a socket each for status, stop and hold. Loopback only.

Nothing queues: an observer that does not read is left out until it does, and of a hold only the
newest frame counts. It depends on no web framework; the plots are another program's
(``plots_page.py``).
"""

from __future__ import annotations

import asyncio
import http
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from typing import Protocol
from urllib.parse import parse_qs, urlsplit

from websockets.asyncio.server import ServerConnection, broadcast, serve
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

from host_bridge.core import OperatorRequest
from host_bridge.core.errors import DeviceFault, TandemError
from host_bridge.station.server.access_rules import (
    DISTANCES,
    FLOOR,
    HOLD,
    STATUS,
    STOP,
    TIMELINE,
    WORK,
    AccessRules,
)
from host_bridge.station.server.connection_limit import ConnectionLimit
from host_bridge.station.server.page_files import PAGES, page_file, response
from host_bridge.station.server.page_messages import end, has_read_all, read_object, refuse, send
from host_bridge.station.server.page_seat import PageSeat
from host_bridge.station.server.rate_limited_listener import RateLimitedListener
from host_bridge.station.server.reserve_ports import reserved_ports
from host_bridge.station.server.seat_holder import SeatHolder, page_name
from host_bridge.station.server.stop_answers import StopAnswers

LOOPBACK = "127.0.0.1"
WHEELS_OFF_GROUND = "wheels-off-ground"  # what a person says before anything turns on a stand
_EVERY_S = 0.05  # 20 Hz
_MESSAGE_BYTES = 4096  # of one from a page, whose longest names eight cars
_AT_ONCE = 32  # let in before anything else has its turn: fewer than files are kept for Stop
_REQUESTS = {
    "unlock": OperatorRequest.UNLOCK,
    "arm": OperatorRequest.ARM,
    "stop": OperatorRequest.STOP,
    "end": OperatorRequest.QUIT,
}
_WHERE_PRINTED = "the address of the seat was printed where the station runs"


class StationBackend(Protocol):
    """The cars, as far as the station needs them."""

    def car_rows(self) -> list[dict[str, object]]:
        """Return each car of this machine, as the page shows it."""

    async def stop(
        self,
        names: tuple[str, ...],
        tell: Callable[[dict[str, object]], None],
        *,
        is_page: bool,
    ) -> None:
        """Stop these, or all; ``tell`` gets each car's own answer, or that there was none. What a
        page of the station asks for waits for nothing that others ask for.

        Raises errors.TandemError."""

    async def raise_flag(self, by: str) -> None:
        """Stop all cars, and keep them from being armed until the red flag is lifted."""

    async def lower_caps(self, by: str) -> None:
        """Lower the cap of every car that is faster than a marshal runs; raise none."""

    def start_drive(
        self,
        names: Sequence[str],
        seat: PageSeat,
        ended: Callable[[str], None],
        boards: Mapping[str, str],
        program: str,
    ) -> dict[str, float]:
        """Drive these cars, the first with its twins, by the page's seat; all get the same claims.
        ``ended`` gets why that is over, ``boards`` has what the page knew each car by, in
        hexadecimal. With a ``program`` of ``extras`` that drives, while the page is held.

        Returns how far each actuator may go, by name and unit. Raises errors.TandemError where
        another board is there: then it is another car."""

    def extras(self) -> dict[str, object]:
        """Return what the page shows besides cars: pairs driven together, the recording."""

    def distances(self, car: str) -> list[dict[str, object]]:
        """Return this car's stopping distances in m by cause, if they were computed."""

    async def handle_request(self, asked: dict[str, object]) -> dict[str, object]:
        """Answer a request of the seat's page that neither stops nor drives."""

    def timeline(self) -> dict[str, object] | None:
        """Return each car's series over a whole log; None where the cars are live."""

    def replay_position(self) -> dict[str, object] | None:
        """Return the moment of the log that is shown; None where the cars are live."""

    def seek(self, time_s: float, plays: bool) -> None:
        """Show this moment of the log, and go on from there if it ``plays``."""

    def now_us(self) -> int: ...


class Server:
    """Serves until it is closed. ``views`` is where the plots will be, as ``tell_views`` says,
    ``camera`` where pictures come from, ``floor`` what lies under the cars (``views/floor.py``)."""

    def __init__(
        self,
        backend: StationBackend,
        port: int,
        views: str = "",
        camera: str = "",
        floor: bytes = b"null",
    ) -> None:
        self.access = AccessRules(port)
        self._backend = backend
        self._stop_answers = StopAnswers(backend)
        self._has_views, self._views_words = False, ""
        self._views = views
        self._camera = camera
        self._floor = floor
        self._connection_limit: ConnectionLimit | None = None
        self._observers: set[ServerConnection] = set()
        self._seat: SeatHolder | None = None

    def tell_views(self, has_views: bool, words: str) -> None:
        """Show the plots or not; ``words`` is what is wrong with them, "" if nothing is."""
        self._has_views, self._views_words = has_views, words

    async def run(self, is_up: Callable[[], None]) -> None:
        """Serve until cancelled. Raises errors.DeviceFault where the port is taken."""
        framed = [urlsplit(it).port for it in (self._views, self._camera)]
        with reserved_ports([self.access.port, *(port for port in framed if port)]):
            await self._serve(is_up)

    async def _serve(self, is_up: Callable[[], None]) -> None:
        try:
            listener = RateLimitedListener(LOOPBACK, self.access.port, self._backend.now_us)
        except OSError as error:
            raise self._not_had(error) from None
        self._connection_limit = ConnectionLimit(listener.login_of)
        with closing(listener):
            server = serve(
                self._answer,
                sock=listener.admitted,
                backlog=_AT_ONCE,
                create_connection=self._connection_limit.connection_class(),
                process_request=self._request,
                compression=None,
                max_size=_MESSAGE_BYTES,
                ping_interval=None,
            )
            async with server:
                listener.open()
                is_up()
                await self._show()

    def _not_had(self, error: OSError) -> DeviceFault:
        return DeviceFault(
            "the station's port cannot be had",
            where=f"{LOOPBACK}:{self.access.port}",
            got=error.strerror or str(error),
            remedy="is a station open already? else: tandem station --port N",
        )

    async def _show(self) -> None:
        while True:
            if self._observers:
                broadcast([it for it in self._observers if has_read_all(it)], self._text())
            await asyncio.sleep(_EVERY_S)

    def _text(self) -> str:
        shown: dict[str, object] = {
            "cars": self._backend.car_rows(),
            "views": self._views * self._has_views,
            "views_words": self._views_words,
            "seat": self._seat.row(self._backend.now_us()) if self._seat else None,
            **self._backend.extras(),
        }
        replay_position = self._backend.replay_position()
        return json.dumps({**shown, "replayed": replay_position} if replay_position else shown)

    async def _request(self, connection: ServerConnection, request: Request) -> Response | None:
        address = urlsplit(request.path)
        headers = request.headers
        if self._connection_limit:
            is_stranger = not self._is_page(connection, headers)
            self._connection_limit.leave(connection, is_stranger=is_stranger)
        host, origin = headers.get("Host", ""), headers.get("Origin")
        if not self.access.may_request(address.path, host, origin):
            return response(http.HTTPStatus.FORBIDDEN, b"not from this station's page\n")
        if address.path in (STATUS, STOP, HOLD, WORK) and "Upgrade" in headers:
            return None
        if address.path == STOP:
            names = tuple(parse_qs(address.query).get("car", ()))
            rows = await self._stop_answers.stop(names, self._is_page(connection, headers))
            return response(http.HTTPStatus.OK, json.dumps(rows).encode(), "application/json")
        if address.path == TIMELINE:
            told = json.dumps(self._backend.timeline()).encode()
            return response(http.HTTPStatus.OK, told, "application/json")
        if address.path == FLOOR:
            return response(http.HTTPStatus.OK, self._floor, "application/json")
        if address.path == DISTANCES:
            (car,) = parse_qs(address.query).get("car", [""])[:1]
            told = json.dumps(self._backend.distances(car)).encode()
            return response(http.HTTPStatus.OK, told, "application/json")
        if address.path not in PAGES:
            return response(http.HTTPStatus.NOT_FOUND, b"there is nothing here\n")
        csp_sources = self.access.csp_sources()
        return page_file(address.path, self._views, self._camera, csp_sources)

    async def _answer(self, connection: ServerConnection) -> None:
        assert connection.request is not None, "it was let in"
        path = urlsplit(connection.request.path).path
        with suppress(ConnectionClosed):
            if path == STATUS:
                await self._watch(connection)
            elif path == STOP:
                headers = connection.request.headers
                await self._stop_answers.hear(
                    connection,
                    lambda: self._is_page(connection, headers),
                    lambda token: self._role(connection, headers, token),
                )
            elif path == WORK:
                await self._work(connection)
            else:
                await self._hold(connection)

    async def _watch(self, connection: ServerConnection) -> None:
        self._observers.add(connection)
        try:
            async for message in connection:  # of cars that are there, only to slow and to hold
                wanted = read_object(message)
                if wanted.get("do") == "red flag":
                    await self._backend.raise_flag(page_name(wanted))
                if wanted.get("do") == "slow":
                    await self._backend.lower_caps(page_name(wanted))
                if isinstance(wanted.get("seek_s"), int | float):
                    self._backend.seek(float(str(wanted["seek_s"])), wanted.get("plays") is True)
        finally:
            self._observers.discard(connection)

    def _role(self, connection: ServerConnection, headers: Headers, token: object) -> str:
        """Return what a page may at most: "drive", "watch", which stops too, or only "stop"."""
        if not self._is_page(connection, headers):
            return "stop"
        return "drive" if self.access.has_token(token) else "watch"

    def _is_page(self, connection: ServerConnection, headers: Headers) -> bool:
        is_own = self._connection_limit is None or self._connection_limit.is_own(connection)
        return is_own and self.access.is_page(headers.get("Origin"), headers.get("Sec-Fetch-Site"))

    # --- what neither stops nor drives

    async def _work(self, connection: ServerConnection) -> None:
        """Answer each message that has the token: whoever has the seat's address may, no other."""
        async for message in connection:
            asked = read_object(message)
            if not self.access.has_token(asked.pop("seat", None)):
                await refuse(connection, _WHERE_PRINTED)
                return
            await connection.send(json.dumps(await self._backend.handle_request(asked)))

    # --- hold

    async def _hold(self, connection: ServerConnection) -> None:
        """Give the seat to a page whose first message has token and car; then take its frames."""
        asked = read_object(await connection.recv())
        if not self.access.has_token(asked.get("seat")):
            await refuse(connection, _WHERE_PRINTED)
            return
        if asked.get("ask") is True:
            await self._ask(connection, asked)
            return
        if why := self._seat_refusal(asked):
            await refuse(connection, why)
            return
        is_on_stand = asked.get("profile") == "stand"
        seat = PageSeat(
            self._backend.now_us,
            lambda lines: send(connection, {"lines": lines}),
            is_on_stand=is_on_stand,
            is_guard=bool(asked.get("program")),
        )
        self._seat = SeatHolder.from_request(asked, seat, self._backend.now_us())
        try:
            try:
                limits = self._backend.start_drive(
                    self._seat.cars,
                    seat,
                    lambda why: end(connection, why),
                    self._seat.boards,
                    self._seat.program,
                )
            except TandemError as fault:
                await refuse(connection, str(fault))
                return
            granted = {"is_granted": True, "is_on_stand": is_on_stand, "limits": limits}
            await connection.send(json.dumps(granted))
            await _listen(connection, self._seat)
        finally:
            seat.leave()
            self._seat = None

    def _seat_refusal(self, asked: dict[str, object]) -> str:
        """Return why a page that asks so does not get the seat; "" if it does."""
        if self._seat is not None:
            return f"another page has the seat{self._seat.named()}"
        if asked.get("profile") != "stand":
            return ""
        if asked.get("program"):
            return "on the stand only the sliders drive"
        if asked.get("attest") != WHEELS_OFF_GROUND:
            return "say first that the wheels are off the ground"
        return ""

    async def _ask(self, connection: ServerConnection, asked: dict[str, object]) -> None:
        """Ask for the seat for as long as the page stays; it sees in the status what follows."""
        holder = self._seat
        if holder is None:
            await refuse(connection, "nobody has the seat")
            return
        asking = holder.ask(page_name(asked), self._backend.now_us())
        if asking is None:
            await refuse(connection, f"{holder.asked_by} asks for it already")
            return
        try:
            await connection.send(json.dumps({"is_asked": True}))
            async for message in connection:
                if read_object(message).get("do") == "take over":
                    is_taken = holder.take_over(asking, self._backend.now_us())
                    await connection.send(json.dumps({"is_taken_over": is_taken}))
        finally:
            holder.withdraw(asking)


async def _listen(connection: ServerConnection, holder: SeatHolder) -> None:
    async for message in connection:
        if isinstance(message, bytes):
            holder.seat.hear(message)
            continue
        asked = str(read_object(message).get("do"))
        if asked == "keep":
            holder.keep()
        elif asked in _REQUESTS:
            holder.seat.request(_REQUESTS[asked])
