"""The hold of a phone as an input: each frame says how old it is."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import replace

from host_bridge.core import DriveCommand, InputContext, Observed
from host_bridge.station.phone.challenges import Challenges
from host_bridge.station.server.page_seat import FRAME, PAD_SPEED_MPS, PageSeat

SOURCE = "remote"  # below whoever stands beside the car (hardware/vehicles/bases/car.toml)
# As the page's frame; then the newest number, and how long ago it came
PHONE_FRAME = struct.Struct("<BBhhIIH")
_KIND, _PAGE_KIND = 3, 1  # on the wire: the first byte of a frame


class PhoneSeat(PageSeat):
    """The input of the one phone that drives. It arms nothing: a person beside the car does.

    A frame counts from when it was said at the latest (``challenges``), not from when it came. One
    that is older than the lease is no claim. While one in twenty frames is older than half of it,
    the car drives at 0.3 m/s at most.
    """

    is_afar = True

    def __init__(
        self,
        now_us: Callable[[], int],
        tell: Callable[[list[str]], None],
        challenges: Challenges,
    ) -> None:
        super().__init__(now_us, tell)
        self.source = SOURCE
        self._challenges = challenges
        self._clock_us = now_us
        self._hold_lease_us = 0
        self._frame_time_us = 0

    async def open(self, context: InputContext) -> None:
        await super().open(context)
        self._hold_lease_us = round(context.lease_s(self.source) * 1e6)

    def hear(self, frame: bytes) -> bool:
        """Take a frame; return False if it is none, or names a number that was not sent."""
        if len(frame) != PHONE_FRAME.size or frame[0] != _KIND:
            return False
        *_, number, since = PHONE_FRAME.unpack(frame)
        frame_time_us = self._challenges.frame_time_us(number, since, self._clock_us())
        if frame_time_us is None:
            return False
        if not super().hear(bytes((_PAGE_KIND,)) + frame[1 : FRAME.size]):
            return False
        # A socket keeps the order: what comes later was said later, whatever its number's way took
        self._frame_time_us = self._heard_us = max(frame_time_us, self._frame_time_us)
        return True

    def step(self, now_us: int, observed: Observed) -> DriveCommand:
        command = super().step(now_us, observed)
        if self._challenges.late_us() <= self._hold_lease_us // 2:
            return command
        slow_mps = min(max(command.speed_mps, -PAD_SPEED_MPS), PAD_SPEED_MPS)
        return replace(command, speed_mps=slow_mps)
