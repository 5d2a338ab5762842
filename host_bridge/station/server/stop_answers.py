"""The answers to a page's stops: each car's own, as it comes.

A car that hangs keeps no other waiting, and none that is asked for next.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Protocol

from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosed

from host_bridge.core.errors import TandemError
from host_bridge.station.server.page_messages import has_read_all, read_object

# A plain request is answered by then, with who answered: a car that hangs is waited for longer
_PLAIN_S = 0.75
_STOPS_AT_ONCE = 8  # of one page, which says it again each 0.3 s, for 1 s


class StoppableCars(Protocol):
    """The cars, as far as a stop needs them: see ``StationBackend.stop``."""

    async def stop(
        self,
        names: tuple[str, ...],
        tell: Callable[[dict[str, object]], None],
        *,
        is_page: bool,
    ) -> None: ...


class StopAnswers:
    """Stops the cars that a page or a plain request names, or all, and tells each car's answer.

    ``is_page``: a page of this station asks; it waits for nothing that others ask for.
    """

    def __init__(self, cars: StoppableCars) -> None:
        self._cars = cars

    async def hear(
        self,
        connection: ServerConnection,
        is_page: Callable[[], bool],
        role: Callable[[object], str] = lambda token: "stop",
    ) -> None:
        """Stop at each message of a page, and send each car's answer as it comes.

        A car that hangs keeps no other waiting, and none that is asked for next. ``is_page`` is
        asked at each message. A probe, a number and nothing about cars, stops nothing: it is
        answered at once with the ``role`` that its token has, so that a page knows that its line
        of Stop works. Whatever else comes is a stop.
        """
        going_on: set[asyncio.Task[None]] = set()
        try:
            async for message in connection:
                asked = read_object(message)
                if isinstance(asked.get("probe"), int) and "cars" not in asked:
                    row = {"probe": asked["probe"], "role": role(asked.get("seat"))}
                    if has_read_all(connection):
                        await connection.send(json.dumps(row))
                    continue
                if len(going_on) >= _STOPS_AT_ONCE:
                    await asyncio.wait(going_on, return_when=asyncio.FIRST_COMPLETED)
                task = asyncio.create_task(self._answer(connection, asked, is_page))
                going_on.add(task)
                task.add_done_callback(going_on.discard)
            if going_on:
                await asyncio.wait(going_on)
        finally:
            for task in going_on:
                task.cancel()

    async def _answer(
        self,
        connection: ServerConnection,
        asked: dict[str, object],
        is_page: Callable[[], bool],
    ) -> None:
        names = asked.get("cars", [])
        wanted = tuple(str(it) for it in names) if isinstance(names, list) else ()
        rows: asyncio.Queue[dict[str, object] | None] = asyncio.Queue()
        stopping = asyncio.create_task(self._tell(wanted, rows.put_nowait, is_page()))
        stopping.add_done_callback(lambda task: rows.put_nowait(None))
        with suppress(ConnectionClosed):
            while row := await rows.get():
                await connection.send(json.dumps({"token": asked.get("token"), **row}))
        await stopping

    async def stop(self, names: tuple[str, ...], is_page: bool) -> list[dict[str, object]]:
        """Stop the cars; return the answers that came in time, and that others did not."""
        rows: list[dict[str, object]] = []
        stopping = asyncio.create_task(self._tell(names, rows.append, is_page))
        try:
            done, _ = await asyncio.wait([stopping], timeout=_PLAIN_S)
        finally:
            stopping.cancel()  # nobody listens any more: it is said to its end all the same
        if not done:
            rows.append(_unheard(names, rows))
        return rows

    async def _tell(
        self, names: tuple[str, ...], tell: Callable[[dict[str, object]], None], is_page: bool
    ) -> None:
        try:
            await self._cars.stop(names, tell, is_page=is_page)
        except TandemError as fault:
            tell({"name": "", "is_seen": False, "text": str(fault)})


def _unheard(names: tuple[str, ...], rows: Sequence[dict[str, object]]) -> dict[str, object]:
    """Say that somebody has not answered yet, who is asked to the end of the second."""
    missing = ", ".join(sorted(set(names) - {str(row["name"]) for row in rows}))
    text = f"{missing or 'another car'}: no answer within {_PLAIN_S:g} s; it is still asked"
    return {"name": "", "is_seen": False, "text": text}
