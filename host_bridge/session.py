"""The control task: a hundred times a second one wish becomes one claim, the same for all cars.

A claim is made on each tick from what the person does at that moment, and never sent again: where
the host stalls, nothing is sent, and the cars stop by themselves.
"""

from __future__ import annotations

import asyncio
import math

from host_bridge.cars.fleet import Fleet
from host_bridge.clock import Clock
from host_bridge.domain import Claim, Input, SourceFacts, Wish

TICK_US = 10_000


class Session:
    """One source at one fleet. ``late`` counts ticks that were left out because time had passed."""

    def __init__(self, fleet: Fleet, source: SourceFacts, person: Input) -> None:
        self.fleet = fleet
        self.source = source
        self.person = person
        self.ticks = 0
        self.late = 0
        self.latest: Claim | None = None

    def tick(self, now_us: int) -> Claim:
        """Ask the person, make one claim, offer it to all cars.

        Raises ValueError if the input wishes for what is not a number.
        """
        self.ticks += 1
        claim = self._claim(self.person.read(now_us), now_us)
        self.latest = claim
        self.fleet.offer(claim)
        self.fleet.step(now_us)
        return claim

    def _claim(self, wish: Wish, now_us: int) -> Claim:
        for value in (wish.steer_rad, wish.speed_mps, wish.brake):
            if not math.isfinite(value):
                raise ValueError(f"an input wished for {wish}, which is not finite")
        return Claim(
            source_id=self.source.id,
            sequence=self.fleet.next_sequence(),
            mask=self.source.mask,
            steer_rad=wish.steer_rad,
            speed_mps=wish.speed_mps,
            brake=wish.brake,
            is_held=wish.is_held,
            lease_s=self.source.lease_s,
            stamp_us=now_us,
            permits_autonomy=wish.permits_autonomy,
            input_count=wish.input_count,
            lights=wish.lights,
        )


def next_tick_us(tick_us: int, now_us: int) -> tuple[int, int]:
    """The tick after ``tick_us`` that is still to come, and how many were left out for it."""
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
