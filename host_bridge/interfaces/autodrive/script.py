"""A Devkit script as an input: its newest answer as a wish, for as long as that is fresh.

It decides; a person lets it. What it decided keeps the moment at which it was heard, so a script
that falls silent, raises or is cut off is out of its lease, and the car stops.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass

from host_bridge.domain import Input, Observed, Reach, Setting, Wish
from host_bridge.errors import DataFileFault, UsageFault
from host_bridge.interfaces.autodrive.exchange import Answer, Exchange
from host_bridge.interfaces.autodrive.frame import frame_of
from host_bridge.logbook.sensor_lines import SensorPipe
from sim_mock.autodrive.cars import SimulatedCar, simulated_car
from sim_mock.autodrive.values import packed

_BEGIN_US = 100_000  # a few steps of the car, and as many lost frames: then the hand counts
FIT = "fit"
_QUICK = "script"  # the source of programs that answer within its lease
_ABOUT = 1.01  # Nigel may 0.44 of its 0.442 m/s
_GAP_US = 50_000  # a step that comes later than this is a new beginning


@dataclass(frozen=True)
class Manner:
    """How a script drives. ``scale``: of its throttle; None: so that 1 is what the car may.

    ``is_quick``: it answers ten times a second, so it is a program as any other. ``lidar``: the
    file of a virtual car's sensors.
    """

    scale: float | None = 1.0
    is_quick: bool = False
    lidar: str = ""

    def full_mps(self, top_mps: float, may_mps: float) -> float:
        """The speed of throttle 1."""
        return may_mps if self.scale is None else self.scale * top_mps


_AS_EVER = Manner()


class Script(Input):
    """``exchange`` is set while there is a connection.

    Its deadman counts from a hold that began after the script was there: whoever lets a script
    drive has seen it. So it is ready only some time after its answers have become fresh.
    """

    source = "devkit"

    def __init__(self, place: str, like: str | None, manner: Manner = _AS_EVER) -> None:
        """``place`` is HOST:PORT, ``like`` the simulator's car that it was written for."""
        self.place = place
        self._manner = manner
        if manner.is_quick:
            self.source = _QUICK
        self.exchange: Exchange | None = None
        self.fault = ""  # why there is no connection
        self.like: SimulatedCar
        self._like = like
        self._reach: Reach
        self._lease_us = 0
        self._stepped_us = 0
        self._since_us: int | None = None  # from when on its answers have been fresh
        self._observed: Observed | None = None
        self._work: asyncio.Task[None] | None = None
        self._pipe: SensorPipe | None = None
        self._scan = ""

    async def open(self, setting: Setting) -> None:
        """Raises errors.UsageFault for a vehicle that is like none of the simulator's, and
        errors.DataFileFault for scans that cannot be read."""
        self.prepare(setting)
        from host_bridge.interfaces.autodrive.line import exchange_with  # its socket's library

        work = exchange_with(self, self._frame, setting.now_us)
        self._work = asyncio.ensure_future(work)

    def prepare(self, setting: Setting) -> None:
        """What it has to know of the cars; without a connection."""
        self.like = _like(self._like or setting.vehicles[0].name)
        self._reach = setting.reach(self.source)
        self._lease_us = round(setting.lease_s(self.source) * 1e6)
        self._full_mps = self._manner.full_mps(self.like.top_mps, self._reach.speed_mps)
        if self._manner.lidar:
            try:
                self._pipe = SensorPipe(self._manner.lidar)
            except OSError as error:
                raise DataFileFault.unreadable(self._manner.lidar, error) from None

    async def close(self) -> None:
        if self._pipe:
            self._pipe.close()
        if self._work:
            self._work.cancel()
            with suppress(asyncio.CancelledError):
                await self._work

    def step(self, now_us: int, observed: Observed) -> Wish:
        self._observed = observed
        if self._pipe:
            self._pipe.step(now_us)
        answer = self.fresh(now_us) if observed.is_driving else None
        if answer is None or now_us - self._stepped_us > _GAP_US:
            self._since_us = None
        elif self._since_us is None:
            self._since_us = now_us
        self._stepped_us = now_us
        is_ready = self._since_us is not None and now_us - self._since_us >= _BEGIN_US
        if answer is None:
            return Wish()
        return self._wish(answer, is_ready)

    def fresh(self, now_us: int) -> Answer | None:
        """What still counts of what it said."""
        latest = self.exchange.latest if self.exchange else None
        return latest if latest and now_us - latest.heard_us < self._lease_us else None

    def words(self, now_us: int) -> str:
        if self.exchange is None:
            return f"No script at {self.place}{': ' if self.fault else ''}{self.fault}."
        if self.fresh(now_us):
            return f"The script at {self.place} answers.{self._limit()}"
        if self.exchange.unread:
            return f"The script at {self.place} answers without a throttle and a steering."
        return f"The script at {self.place} does not answer."

    def _frame(self) -> Mapping[str, str]:
        assert self._observed is not None, "asked only once the drive has begun to step"
        scan = self._pipe.take_scan() if self._pipe else None
        if scan:
            self._scan = packed(scan.ranges_m)
        truth = self._pipe.truth if self._pipe else None
        return frame_of(self._observed.cars[0], self.like, self._scan, truth)

    def _limit(self) -> str:
        """That a throttle is cut, and what may be done about it."""
        may_mps = self._reach.speed_mps
        if self._full_mps <= may_mps * _ABOUT:
            return ""
        share = may_mps / self._full_mps
        return (
            f" A throttle above {share:.2g} is cut, for throttle 1 is {self._full_mps:g} m/s and"
            f" {self.source} may {may_mps:g}; --scale fit makes 1 of that."
        )

    def _wish(self, answer: Answer, is_ready: bool) -> Wish:
        reach, command = self._reach, answer.command
        speed_mps = command.throttle * self._full_mps
        steer_rad = command.steering * self.like.steer_max_rad
        return Wish(
            steer_rad=min(max(steer_rad, -reach.steer_rad), reach.steer_rad),
            speed_mps=min(max(speed_mps, -reach.reverse_mps), reach.speed_mps),
            brake=answer.brake,
            is_held=is_ready,
            heard_us=answer.heard_us,
        )


def make(rest: str, options: Mapping[str, str], now_us: Callable[[], int]) -> Script:
    """``--input devkit:HOST:PORT``."""
    scale = options.get("scale", "1")
    manner = Manner(
        None if scale == FIT else float(scale), bool(options.get("quick")), options.get("lidar", "")
    )
    return Script(rest, options.get("like"), manner)


def _like(name: str) -> SimulatedCar:
    try:
        return simulated_car(name)
    except ValueError as error:
        raise UsageFault(
            str(error), remedy="say which one the script was written for: --like roboracer"
        ) from None
