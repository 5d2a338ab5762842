"""The control task: a hundred times a second, one wish becomes one claim, the same for all cars.

Each claim is made from the input of that moment and never sent again: if the host stalls nothing
is sent, and the cars stop by themselves. An input that hears something new may wake the session
once between two ticks, so a source makes at most 200 claims a second.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from dataclasses import replace

from host_bridge.cars.fleet import Fleet
from host_bridge.core import Claim, SourceFacts, Wish
from host_bridge.core.system.clock import Clock

TICK_US = 10_000


class Session:
    """The control task of one source for one fleet; ``late`` counts the ticks that were skipped.

    ``ask`` returns the input's wish at a time. A wish that was heard longer ago than its source's
    lease is not sent: the source falls silent at the cars. An autonomous source has a
    ``guardian``: the source whose deadman lets it drive. Each tick then sends the guardian's
    deadman, and the program's setpoint until the lease of that is over.
    """

    def __init__(
        self,
        fleet: Fleet,
        source: SourceFacts,
        ask: Callable[[int], Wish],
        guardian: SourceFacts | None = None,
    ) -> None:
        self.fleet = fleet
        self.source = source
        self._ask = ask
        self.guardian = guardian
        self.ticks = 0
        self.late = 0
        self.latest: Claim | None = None

    def tick(self, now_us: int) -> Claim | None:
        """Ask for the wish and offer one claim of it to all cars.

        Returns None if the wish is too old. Raises ValueError if the wish is not finite.
        """
        self.ticks += 1
        wish = self._ask(now_us)
        claim = self._own(wish, now_us) if self.guardian is None else self._let(wish, now_us)
        self.fleet.step(now_us)
        return claim

    def woken(self, wish: Wish, now_us: int) -> Claim | None:
        """Make a claim of a new wish between two ticks; return None if there is nothing to claim.

        A supervising person's deadman waits for the tick. Raises ValueError as ``tick`` does.
        """
        if self.guardian is None:
            return self._own(wish, now_us)
        return None if wish.is_by_hand else self._own_decision(wish, now_us)

    def _own(self, wish: Wish, now_us: int) -> Claim | None:
        heard_us = now_us if wish.heard_us is None else wish.heard_us
        if now_us - heard_us >= self.source.lease_s * 1e6:
            return None
        mask = 0 if wish.permits_autonomy and self.source.is_attended else self.source.mask
        return self._offer(wish, self.source, mask, heard_us)

    def _let(self, wish: Wish, now_us: int) -> Claim | None:
        """Claim for a program that drives under a supervising person.

        Two claims go out: the person's deadman with an empty actuator mask, and the program's
        setpoint without a deadman. Once the person has taken over, only their claim does.
        """
        assert self.guardian is not None
        if wish.is_by_hand:
            return self._offer(wish, self.guardian, self.guardian.mask, now_us)
        hand = Wish(
            is_held=wish.is_held, permits_autonomy=wish.is_held, input_count=wish.input_count
        )
        claim = self._offer(hand, self.guardian, 0, now_us)
        return claim if wish.heard_us is None else self._own_decision(wish, now_us)

    def _own_decision(self, wish: Wish, now_us: int) -> Claim | None:
        """Claim the program's setpoint without a deadman; None if it has decided nothing yet."""
        if wish.heard_us is None:
            return None
        return self._own(replace(wish, is_held=False), now_us)

    def _offer(self, wish: Wish, source: SourceFacts, mask: int, stamp_us: int) -> Claim:
        claim = self._claim(wish, source, mask, stamp_us)
        self.latest = claim
        self.fleet.offer(claim)
        return claim

    def _claim(self, wish: Wish, source: SourceFacts, mask: int, stamp_us: int) -> Claim:
        for value in (wish.steer_rad, wish.speed_mps, wish.brake):
            if not math.isfinite(value):
                raise ValueError(f"an input wished for {wish}, which is not finite")
        return Claim(
            source_id=source.id,
            sequence=self.fleet.next_sequence(),
            mask=mask,
            steer_rad=wish.steer_rad,
            speed_mps=wish.speed_mps,
            brake=wish.brake,
            is_held=wish.is_held,
            lease_s=source.lease_s,
            stamp_us=stamp_us,
            permits_autonomy=wish.permits_autonomy,
            input_count=wish.input_count,
            lights=wish.lights,
        )


def next_tick_us(tick_us: int, now_us: int) -> tuple[int, int]:
    """Return the next tick of the grid after ``now_us``, and how many ticks were skipped for it."""
    late = max((now_us - tick_us) // TICK_US, 0)
    return tick_us + (late + 1) * TICK_US, late


async def run(session: Session, clock: Clock) -> None:
    """Tick until cancelled, on a fixed grid of time: no drift, and no burst after a stall."""
    tick_us = clock.now_us()
    while True:
        session.tick(clock.now_us())
        tick_us, late = next_tick_us(tick_us, clock.now_us())
        session.late += late
        await asyncio.sleep((tick_us - clock.now_us()) * 1e-6)
