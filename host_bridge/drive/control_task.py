"""The control task: a hundred times a second, one command becomes one claim, the same for all cars.

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
from host_bridge.core import Claim, DriveCommand, SourceFacts
from host_bridge.core.system.clock import Clock

TICK_US = 10_000  # 100 claims a second: one for each step of a car at 10 ms


class ControlTask:
    """The control task of one source for one fleet; ``late`` counts the ticks that were skipped.

    ``read_command`` returns the input's command at a time. A command that was heard longer ago than
    its source's lease is not sent: the source falls silent at the cars. An autonomous source has a
    ``guardian``: the source whose deadman lets it drive. Each tick then sends the guardian's
    deadman, and the program's setpoint until the lease of that is over.
    """

    def __init__(
        self,
        fleet: Fleet,
        source: SourceFacts,
        read_command: Callable[[int], DriveCommand],
        guardian: SourceFacts | None = None,
    ) -> None:
        self.fleet = fleet
        self.source = source
        self._read_command = read_command
        self.guardian = guardian
        self.ticks = 0
        self.late = 0
        self.latest: Claim | None = None

    def tick(self, now_us: int) -> Claim | None:
        """Ask for the command and offer one claim of it to all cars.

        Returns None if the command is too old. Raises ValueError if the command is not finite.
        """
        self.ticks += 1
        command = self._read_command(now_us)
        claim = (
            self._claim_own(command, now_us)
            if self.guardian is None
            else self._claim_under_guardian(command, now_us)
        )
        self.fleet.step(now_us)
        return claim

    def claim_between_ticks(self, command: DriveCommand, now_us: int) -> Claim | None:
        """Offer the fleet a claim of a new command between two ticks, and return it.

        Returns None if nothing is claimed: the command is older than the source's lease, or it is
        a supervising person's, whose deadman waits for the tick. Raises ValueError as ``tick``
        does.
        """
        if self.guardian is None:
            return self._claim_own(command, now_us)
        return None if command.is_by_hand else self._claim_decision(command, now_us)

    def _claim_own(self, command: DriveCommand, now_us: int) -> Claim | None:
        heard_us = now_us if command.heard_us is None else command.heard_us
        if now_us - heard_us >= self.source.lease_s * 1e6:
            return None
        mask = 0 if command.permits_autonomy and self.source.is_attended else self.source.mask
        return self._offer(command, self.source, mask, heard_us)

    def _claim_under_guardian(self, command: DriveCommand, now_us: int) -> Claim | None:
        """Claim for a program that drives under a supervising person.

        Two claims go out: the person's deadman with an empty actuator mask, and the program's
        setpoint without a deadman. Once the person has taken over, only their claim does.
        """
        assert self.guardian is not None
        if command.is_by_hand:
            return self._offer(command, self.guardian, self.guardian.mask, now_us)
        permission = DriveCommand(
            is_held=command.is_held,
            permits_autonomy=command.is_held,
            input_count=command.input_count,
        )
        claim = self._offer(permission, self.guardian, 0, now_us)
        return claim if command.heard_us is None else self._claim_decision(command, now_us)

    def _claim_decision(self, command: DriveCommand, now_us: int) -> Claim | None:
        """Claim the program's setpoint without a deadman; None if it has decided nothing yet."""
        if command.heard_us is None:
            return None
        return self._claim_own(replace(command, is_held=False), now_us)

    def _offer(self, command: DriveCommand, source: SourceFacts, mask: int, stamp_us: int) -> Claim:
        claim = self._claim_of(command, source, mask, stamp_us)
        self.latest = claim
        self.fleet.offer(claim)
        return claim

    def _claim_of(
        self, command: DriveCommand, source: SourceFacts, mask: int, stamp_us: int
    ) -> Claim:
        for value in (command.steer_rad, command.speed_mps, command.brake):
            if not math.isfinite(value):
                raise ValueError(f"an input asked for {command}, which is not finite")
        return Claim(
            source_id=source.id,
            sequence=self.fleet.next_sequence(),
            mask=mask,
            steer_rad=command.steer_rad,
            speed_mps=command.speed_mps,
            brake=command.brake,
            is_held=command.is_held,
            lease_s=source.lease_s,
            stamp_us=stamp_us,
            permits_autonomy=command.permits_autonomy,
            input_count=command.input_count,
            lights=command.lights,
        )


def next_tick_us(tick_us: int, now_us: int) -> tuple[int, int]:
    """Return the next tick of the grid after ``now_us``, and how many ticks were skipped for it."""
    late = max((now_us - tick_us) // TICK_US, 0)
    return tick_us + (late + 1) * TICK_US, late


async def run(control_task: ControlTask, clock: Clock) -> None:
    """Tick until cancelled, on a fixed grid of time: no drift, and no burst after a stall."""
    tick_us = clock.now_us()
    while True:
        control_task.tick(clock.now_us())
        tick_us, late = next_tick_us(tick_us, clock.now_us())
        control_task.late += late
        await asyncio.sleep((tick_us - clock.now_us()) * 1e-6)
