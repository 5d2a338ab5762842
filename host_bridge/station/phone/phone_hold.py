"""The one hold of a station's phones: who has it, and its socket."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from contextlib import suppress

from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosed

from host_bridge.core import OperatorRequest
from host_bridge.core.errors import TandemError
from host_bridge.station.phone.challenges import Challenges
from host_bridge.station.phone.phone_seat import PhoneSeat
from host_bridge.station.server.page_messages import end, has_read_all, read_object, refuse, send
from host_bridge.station.server.seat_holder import SeatHolder
from host_bridge.station.server.server import StationBackend

_CHALLENGE_S = 0.05  # s: a hold's age is known to that much at worst
_REQUESTS = {"stop": OperatorRequest.STOP, "end": OperatorRequest.QUIT}  # and no arm


class PhoneHold:
    """The hold of one phone at a time; it drives one car."""

    def __init__(self, backend: StationBackend, lost_s: float, tell: Callable[[str], None]) -> None:
        self._backend = backend
        self._lost_s = lost_s
        self._tell = tell
        self._holder: SeatHolder | None = None

    def row(self) -> dict[str, object] | None:
        """Return what every phone shows of who drives; None if no phone does."""
        return self._holder.row(self._backend.now_us()) if self._holder else None

    async def serve(self, connection: ServerConnection, address: str) -> None:
        """Give the hold to a phone whose first message names a car; take its frames until it goes.

        A phone that is not heard for as long as ``lost_s`` is gone: the car that it held stops.
        """
        try:
            asked = read_object(await asyncio.wait_for(connection.recv(), self._lost_s))
        except asyncio.TimeoutError:
            return
        if self._holder is not None:
            await refuse(connection, f"another phone drives{self._holder.named()}")
            return
        challenges = Challenges()
        seat = PhoneSeat(
            self._backend.now_us, lambda lines: send(connection, {"lines": lines}), challenges
        )
        words = {**asked, "with": [], "program": ""}
        self._holder = SeatHolder.from_request(words, seat, self._backend.now_us())
        challenging = asyncio.create_task(self._challenge(connection, challenges))
        try:
            limits = self._backend.start_drive(
                self._holder.cars, seat, lambda why: end(connection, why), self._holder.boards, ""
            )
            await connection.send(json.dumps({"is_granted": True, "limits": limits}))
            self._tell(f"the phone at {address} drives {', '.join(self._holder.cars)}")
            await self._listen(connection, seat, address)
        except TandemError as fault:
            await refuse(connection, str(fault))
        finally:
            challenging.cancel()
            seat.leave()
            self._holder = None

    async def _listen(self, connection: ServerConnection, seat: PhoneSeat, address: str) -> None:
        while True:
            try:
                message = await asyncio.wait_for(connection.recv(), self._lost_s)
            except asyncio.TimeoutError:
                self._tell(f"the phone at {address} that drives is lost")
                connection.transport.abort()
                return
            if isinstance(message, bytes):
                seat.hear(message)
                continue
            request = _REQUESTS.get(str(read_object(message).get("do")))
            if request:
                seat.request(request)

    async def _challenge(self, connection: ServerConnection, challenges: Challenges) -> None:
        with suppress(ConnectionClosed):
            while True:
                if has_read_all(connection):
                    number = challenges.new(self._backend.now_us())
                    await connection.send(json.dumps({"challenge": number}))
                await asyncio.sleep(_CHALLENGE_S)
