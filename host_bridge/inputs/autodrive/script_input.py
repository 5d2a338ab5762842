"""A Devkit script as an input: its newest answer is the command, for as long as that is fresh.

The script decides, and a person permits it. A command has the time at which its answer was
received, so if a script falls silent, raises or is cut off, its lease expires and the car stops.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace

from host_bridge.core import DriveCommand, Input, InputContext, InputLimits, Observed
from host_bridge.core.errors import DataFileFault, UsageFault
from host_bridge.core.texts.table import source_subject
from host_bridge.inputs.autodrive.exchange import ScriptAnswer, ScriptExchange
from host_bridge.inputs.autodrive.script_address import resolve_address
from host_bridge.inputs.autodrive.telemetry_frame import ExtraTelemetry, make_frame
from host_bridge.inputs.autodrive.virtual_car import NOT_HERE, VirtualCarPipes
from sim_mock.autodrive.cars import SimulatedCar, simulated_car
from sim_mock.autodrive.command import ScriptCommand

_BEGIN_US = 100_000  # the deadman is shown released so long: a few steps of a car and lost frames
FIT = "fit"
_QUICK = "script"  # the source of programs that answer within its lease
_ABOUT = 1.01  # a hundredth more is the rounding of a vehicle file, and worth no note
_GAP_US = 50_000  # after a longer gap between steps the script begins anew
_COUNT_MASK = 0xFFFF
_LATE = 1.25  # an answer may take this factor longer than --every says


@dataclass(frozen=True)
class ScriptOptions:
    """The options of a script.

    ``scale`` multiplies its throttle; None: throttle 1 is the speed limit. ``is_quick``: it answers
    ten times a second, so it drives as any other program. ``every_s`` is the time between its
    answers; 0: it answers within the lease of its source. ``sensors`` and ``poses`` are the pipes
    of a virtual car.
    """

    scale: float | None = 1.0
    is_quick: bool = False
    every_s: float = 0.0
    sensors: str = ""
    poses: str = ""

    def full_mps(self, top_mps: float, may_mps: float) -> float:
        """Return the speed of throttle 1."""
        return may_mps if self.scale is None else self.scale * top_mps

    def counts_for_s(self, lease_s: float) -> float:
        """Return for how long an answer is valid, in s."""
        return max(lease_s, _LATE * self.every_s)


_DEFAULTS = ScriptOptions()


class ScriptInput(Input):
    """The input that drives by a script's answers; ``exchange`` is set while one is connected.

    It counts as ready only after the script's answers have been fresh for a while. A deadman has to
    be held after that, so nobody can permit a script to drive that is not there yet.
    """

    source = "devkit"

    def __init__(
        self, place: str, like: str | None, script_options: ScriptOptions = _DEFAULTS
    ) -> None:
        """Set up the input.

        ``place`` is HOST:PORT, ``like`` the simulator's car that the script was written for.
        Raises errors.TandemError for a place that is not one, or whose machine nobody knows.
        """
        self.place = place
        self.address = resolve_address(place)
        self._options = script_options
        if script_options.is_quick:
            self.source = _QUICK
        self.exchange: ScriptExchange | None = None
        self.fault = ""  # why there is no connection
        self.has_driven = False
        self.like: SimulatedCar
        self._like = like
        self._limits: InputLimits
        self._lease_us = self._counts_us = 0
        self._stepped_us = 0
        self._since_us: int | None = None  # since when its answers have been fresh
        self._observed: Observed | None = None
        self._work: asyncio.Task[None] | None = None
        self._virtual: VirtualCarPipes | None = None
        self._command = ScriptCommand()  # the script's command that is obeyed

    async def open(self, context: InputContext) -> None:
        """Connect to the script.

        Raises errors.UsageFault for a vehicle that no car of the simulator resembles, and
        errors.DataFileFault for pipes that cannot be opened.
        """
        self.prepare(context)
        from host_bridge.inputs.autodrive.script_socket import run_exchange  # imports websockets

        work = run_exchange(self, self._frame, context.now_us)
        self._work = asyncio.ensure_future(work)

    def prepare(self, context: InputContext) -> None:
        """Compute limits and lease from the cars; nothing is connected."""
        self.like = _like(self._like or context.vehicles[0].name)
        lease_s = context.lease_s(self.source)
        counts_s = self._options.counts_for_s(lease_s)
        self._lease_us, self._counts_us = round(lease_s * 1e6), round(counts_s * 1e6)
        blind_m = min(vehicle.blind_m for vehicle in context.vehicles)
        self._limits = _within(context.limits(self.source), blind_m / counts_s)
        self._full_mps = self._options.full_mps(self.like.top_mps, self._limits.speed_mps)
        if self._options.sensors:
            try:
                self._virtual = VirtualCarPipes(self._options.sensors, self._options.poses)
            except OSError as error:
                raise DataFileFault.unreadable(self._options.sensors, error) from None

    async def close(self) -> None:
        if self._virtual:
            self._virtual.close()
        if self._work:
            self._work.cancel()
            with suppress(asyncio.CancelledError):
                await self._work

    def step(self, now_us: int, observed: Observed) -> DriveCommand:
        self._observed = observed
        if self._virtual:
            self._virtual.step(observed.cars[0], now_us)
        answer = self.fresh_answer(now_us) if observed.is_driving else None
        if answer is None or now_us - self._stepped_us > _GAP_US:
            self._since_us = None
        elif self._since_us is None:
            self._since_us = now_us
        self._stepped_us = now_us
        is_ready = self._since_us is not None and now_us - self._since_us >= _BEGIN_US
        if answer is None:
            self._command = ScriptCommand()
            return DriveCommand(input_count=self._count())
        self.has_driven |= is_ready
        self._command = answer.command
        return self._drive_command(answer, is_ready, now_us)

    def fresh_answer(self, now_us: int) -> ScriptAnswer | None:
        """Return the newest answer if it is still valid, else None."""
        latest = self.exchange.latest if self.exchange else None
        return latest if latest and now_us - latest.heard_us < self._counts_us else None

    def status_text(self, now_us: int) -> str:
        if self.exchange is None:
            return f"No script at {self.place}{': ' if self.fault else ''}{self.fault}."
        if self.fresh_answer(now_us):
            elsewhere = self._virtual.words if self._virtual else _not_here(self._command)
            more = [self.address.note(), self._limit(), self._slowness(), elsewhere]
            return " ".join([f"The script at {self.place} answers.", *filter(None, more)])
        if self.exchange.unread:
            return f"The script at {self.place} answers without a throttle and a steering."
        return f"The script at {self.place} does not answer."

    def _frame(self) -> Mapping[str, str]:
        assert self._observed is not None, "asked only once the drive has begun to step"
        extra = ExtraTelemetry(command=self._command)
        if self._virtual:
            extra = self._virtual.extra_telemetry(self._command)
        return make_frame(self._observed.cars[0], self.like, extra)

    def _limit(self) -> str:
        """Return a note that the speed limit cuts the throttle, with the remedy, or ""."""
        may_mps = self._limits.speed_mps
        if self._full_mps <= may_mps * _ABOUT:
            return ""
        share = self.like.throttle(may_mps / self._full_mps * self.like.top_mps)
        return (
            f"A throttle above {share:.2g} is cut, for throttle 1 is {self._full_mps:g} m/s and"
            f" {source_subject(self.source)} may {may_mps:g}; --scale fit makes 1 of that."
        )

    def _slowness(self) -> str:
        """Return a note on the distance that the car may go after the script fell silent.

        It is "" if answers are valid no longer than the lease.
        """
        if self._counts_us <= self._lease_us:
            return ""
        counts_s = self._counts_us * 1e-6
        far_m = counts_s * self._limits.speed_mps
        return f"Each answer counts for {counts_s:g} s: {far_m:.2g} m at most, then the car stops."

    def _drive_command(self, answer: ScriptAnswer, is_ready: bool, now_us: int) -> DriveCommand:
        limits, command = self._limits, answer.command
        speed_mps = self.like.speed_mps(command.throttle) / self.like.top_mps * self._full_mps
        steer_rad = command.steering * self.like.steer_max_rad
        wanted = DriveCommand(
            steer_rad=min(max(steer_rad, -limits.steer_rad), limits.steer_rad),
            speed_mps=min(max(speed_mps, -limits.reverse_mps), limits.speed_mps),
            brake=command.pulled,
            is_held=is_ready,
            input_count=self._count(),
            heard_us=self._stamp_us(answer, now_us),
        )
        if self._virtual.must_stand(command) if self._virtual else command.holds:
            return replace(wanted, speed_mps=0.0, brake=1.0)
        return wanted

    def _count(self) -> int:
        """Return the count of answers: a source with a counter stops the car if it stands still."""
        return self.exchange.answers & _COUNT_MASK if self.exchange else 0

    def _stamp_us(self, answer: ScriptAnswer, now_us: int) -> int:
        """Return a stamp for the claim such that its lease ends when the answer's validity ends."""
        return min(now_us, answer.heard_us + self._counts_us - self._lease_us)


def make(rest: str, options: Mapping[str, str], now_us: Callable[[], int]) -> ScriptInput:
    """Make the input of ``--input devkit:HOST:PORT``."""
    scale = options.get("scale", "1")
    script_options = ScriptOptions(
        None if scale == FIT else float(scale),
        bool(options.get("quick")),
        float(options.get("every", "0")),
        options.get("sensors", ""),
        options.get("poses", ""),
    )
    return ScriptInput(rest, options.get("like"), script_options)


def _not_here(command: ScriptCommand) -> str:
    return NOT_HERE if command.holds else ""


def _within(limits: InputLimits, most_mps: float) -> InputLimits:
    """Return the limits with the speeds limited to ``most_mps``."""
    return replace(
        limits,
        speed_mps=min(limits.speed_mps, most_mps),
        reverse_mps=min(limits.reverse_mps, most_mps),
    )


def _like(name: str) -> SimulatedCar:
    try:
        return simulated_car(name)
    except ValueError as error:
        raise UsageFault(
            str(error), remedy="say which one the script was written for: --like roboracer"
        ) from None
