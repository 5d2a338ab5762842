"""A Devkit script as an input: its newest answer as a wish, for as long as that is fresh.

It decides; a person lets it. What it decided keeps the moment at which it was heard, so a script
that falls silent, raises or is cut off is out of its lease, and the car stops.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from host_bridge.domain import Wish
from host_bridge.interfaces.autodrive.exchange import Answer, Exchange

if TYPE_CHECKING:
    from host_bridge.interfaces.keyboard import Reach, Seat
    from sim_mock.autodrive.cars import SimulatedCar

_BEGIN_US = 100_000  # a few steps of the car, and as many lost frames: then the hand counts
_GAP_US = 50_000  # a read that comes later than this is a new beginning


class Script:
    """An input of the session. ``exchange`` is set while there is a connection.

    The deadman is the seat's; without one it is scripted, which is for virtual cars only. It counts
    from a hold that began after the script was there: whoever lets a script drive has seen it.
    """

    def __init__(
        self, place: str, like: SimulatedCar, reach: Reach, lease_s: float, seat: Seat | None
    ) -> None:
        self.place = place  # HOST:PORT
        self.like = like
        self.exchange: Exchange | None = None
        self.fault = ""  # why there is no connection
        self._reach = reach
        self._lease_us = round(lease_s * 1e6)
        self._seat = seat
        self._read_us = 0
        self._since_us: int | None = None  # from when on its answers have been fresh

    def read(self, now_us: int) -> Wish:
        answer = self.fresh(now_us)
        if answer is None or now_us - self._read_us > _GAP_US:
            self._since_us = None
        elif self._since_us is None:
            self._since_us = now_us
        self._read_us = now_us
        is_held, count = self._hand(now_us)
        if answer is None:
            return Wish(is_held=is_held, input_count=count)
        return self._wish(answer, is_held, count)

    def fresh(self, now_us: int) -> Answer | None:
        """What still counts of what it said."""
        latest = self.exchange.latest if self.exchange else None
        return latest if latest and now_us - latest.heard_us < self._lease_us else None

    def words(self, now_us: int) -> str:
        """What has to be known of it."""
        if self.exchange is None:
            return f"No script at {self.place}{': ' if self.fault else ''}{self.fault}."
        if self.fresh(now_us):
            return f"The script at {self.place} answers."
        if self.exchange.unread:
            return f"The script at {self.place} answers without a throttle and a steering."
        return f"The script at {self.place} does not answer."

    def _hand(self, now_us: int) -> tuple[bool, int]:
        is_open = self._since_us is not None and now_us - self._since_us >= _BEGIN_US
        if self._seat is None:
            return is_open, 0
        if not is_open:
            self._seat.let_go()
        hand = self._seat.read(now_us)
        return hand.is_held, hand.input_count

    def _wish(self, answer: Answer, is_held: bool, count: int) -> Wish:
        reach, command = self._reach, answer.command
        speed_mps = command.throttle * self.like.top_mps
        steer_rad = command.steering * self.like.steer_max_rad
        return Wish(
            steer_rad=min(max(steer_rad, -reach.steer_rad), reach.steer_rad),
            speed_mps=min(max(speed_mps, -reach.reverse_mps), reach.speed_mps),
            brake=answer.brake,
            is_held=is_held,
            permits_autonomy=is_held,
            input_count=count,
            decided_us=answer.heard_us,
        )
