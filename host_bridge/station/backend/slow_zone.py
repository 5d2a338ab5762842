"""Slow: the cap of every car is lowered on its board, by ``tandem cap``; none is raised by it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping

from host_bridge.station.backend.programs import run_json_command

SLOW_MPS = 1.0  # a brisk walk: a marshal who runs is faster
_LOWER = 1e-3  # m/s: caps are whole mm/s
Run = Callable[..., Awaitable[tuple[bool, object]]]


class SlowZone:
    """Lowers caps to a marshal's pace, and keeps which cars have not followed the newest press.

    ``run`` runs a command.
    """

    def __init__(self, run: Run = run_json_command) -> None:
        self._run = run
        self._by = ""
        self._missing: dict[str, str] = {}  # by name, why it is not slow
        self._waits_for: set[str] = set()

    async def lower(self, by: str, caps_mps: Mapping[str, float | None]) -> None:
        """Lower the caps of these cars, each by its name with the cap that it has now."""
        self._by, self._missing = by, {}
        fast = [name for name, cap in caps_mps.items() if cap is None or cap > SLOW_MPS + _LOWER]
        self._waits_for = set(fast)
        await asyncio.gather(*(self._lower(name) for name in fast))

    def row(self, caps_mps: Mapping[str, float | None]) -> dict[str, object] | None:
        """Return what every page shows of it; None before anybody pressed it, and once it is over.

        It is over when no car is slow any more: each was given another cap, which takes a parked
        car, or was switched off.
        """
        slow = sorted(
            name
            for name, cap in caps_mps.items()
            if cap is not None and cap <= SLOW_MPS + _LOWER and name not in self._waits_for
        )
        missing = {name: why for name, why in self._missing.items() if name not in slow}
        if not self._by or not (slow or missing or self._waits_for):
            return None
        return {"by": self._by, "cap_mps": SLOW_MPS, "slow": slow, "missing": missing}

    async def _lower(self, name: str) -> None:
        is_done, answer = await self._run("cap", f"{SLOW_MPS:g}", "--car", name)
        self._waits_for.discard(name)
        if not is_done:
            self._missing[name] = str(answer)
