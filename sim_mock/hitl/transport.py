"""``serial:///dev/ttyACM0?hitl=nigel``: a bare board on a cable, with a plant for its peripherals.

Options: those of ``sim://`` but blank, for the plant; any other is the inner URI's (``baud``).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sim_mock.facts import QUERY, CarFacts, facts_of
from sim_mock.hitl.rehearsal import TICK_S, Rehearsal

if TYPE_CHECKING:
    from sim_mock.transport import Context, Uri
    from sim_mock.world import World

OPTION = "hitl"
_CABLES = ("serial", "lossy+serial")


class HitlTransport:
    """A transport around the one of the board's cable. Each ``open`` is a new car at its start."""

    def __init__(self, label: str, facts: CarFacts, cable: Any) -> None:
        self.label = label
        self._facts = facts
        self._cable = cable
        self._rehearsal: Rehearsal | None = None
        self._task: asyncio.Task[None] | None = None
        self._on_closed: Callable[[Exception | None], None] = lambda why: None
        self._why: Exception | None = None

    @property
    def world(self) -> World | None:
        """The plant around the board; None while it is closed."""
        return self._rehearsal.bench.world if self._rehearsal else None

    async def open(
        self, on_bytes: Callable[[bytes], None], on_closed: Callable[[Exception | None], None]
    ) -> None:
        """Does not wait for the board: what it is told meanwhile, but for a stop, is lost."""
        rehearsal = Rehearsal(self._facts, self._cable.send, on_bytes)
        await self._cable.open(rehearsal.hear_board, self._ended)
        self._rehearsal, self._on_closed, self._why = rehearsal, on_closed, None
        self._task = asyncio.get_running_loop().create_task(self._run(rehearsal))

    def send(self, data: bytes) -> int:
        return self._rehearsal.hear_host(data) if self._rehearsal else 0

    def close(self) -> None:
        self._cable.close()

    async def _run(self, rehearsal: Rehearsal) -> None:
        while not rehearsal.fault:
            rehearsal.tick()
            await asyncio.sleep(TICK_S)
        self._why = RuntimeError(rehearsal.fault)
        self._cable.close()

    def _ended(self, why: Exception | None) -> None:
        if self._task:
            self._task.cancel()
        self._task = self._rehearsal = None
        self._on_closed(self._why or why)


def make(uri: Uri, context: Context) -> HitlTransport:
    """The transport of a URI with ``hitl=VEHICLE``. Raises ValueError for what does not fit."""
    scheme, _, _ = uri.text.partition("://")
    if scheme not in _CABLES:
        raise ValueError(
            f"hitl= is for a board on a cable: serial:///dev/ttyACM0?hitl=nigel, not {scheme}://"
        )
    if "blank" in uri.query:
        raise ValueError("blank=1: a board with a plant has the configuration that the plant sends")
    own = {key: value for key, value in uri.query.items() if key in QUERY}
    facts = facts_of(context.vehicle(uri.query[OPTION]), own)
    return HitlTransport(uri.text, facts, context.transport(_cable_text(uri.text)))


def _cable_text(text: str) -> str:
    """As written, without what is the plant's."""
    head, _, query = text.partition("?")
    items = [it for it in query.split("&") if it.partition("=")[0] not in (OPTION, *QUERY)]
    return "?".join([head, "&".join(items)] if items else [head])
