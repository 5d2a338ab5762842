"""The gamepad input: opens a pad, reads it, notices its loss, and takes it again later."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from host_bridge.core import (
    DriveCommand,
    Input,
    InputContext,
    InputLimits,
    Observed,
    OperatorRequest,
)
from host_bridge.core.errors import DeviceFault
from host_bridge.inputs.gamepad.mapping import LivenessCheck, PadMapping, PadMappings
from host_bridge.inputs.gamepad.sdl import OpenPad, PadFacts, PadReport, ReportKind, Sdl
from host_bridge.inputs.gamepad.seat import DeadmanButtons, PadSeat

GAMEPAD, SLOW_SEAT = "gamepad", "seat_slow"  # sources of the vehicle file
_RUMBLE_S = 0.6  # clearly felt, and over before the next thing happens
_SLOW = (
    "This pad does not show that it lives (tandem pads test tells): move or press something at "
    "least once a second;"
)


class GamepadInput(Input):
    """The input of a person at a pad: LB drives by hand, RB permits a program to drive.

    START arms, BACK ends, and every other button stops.
    """

    is_person = True
    has_separate_enable = True

    def __init__(self, wanted: str, mappings: PadMappings) -> None:
        self.source = GAMEPAD
        self.seat: PadSeat | None = None
        self.pad: OpenPad | None = None
        self.liveness = LivenessCheck.PRESSES
        self._wanted = wanted
        self._mappings = mappings
        self._mapping = PadMapping("")
        self._sdl: Sdl | None = None
        self._limits: InputLimits | None = None
        self._lost = ""
        self._was_driving = False

    async def open(self, context: InputContext) -> None:
        """Open the pad, and choose the source by how the pad's silence is detected.

        Raises errors.DeviceFault if there is no such pad, or several.
        """
        self._sdl = Sdl()
        try:
            facts = choose_pad(load_mappings(self._sdl, self._mappings), self._wanted)
            self._mapping = self._mappings.of(facts.guid)
            self.pad = OpenPad(self._sdl, facts.index)
            self.liveness = self._mapping.liveness or _liveness_of(self.pad)
            self.source = SLOW_SEAT if self.liveness is LivenessCheck.PRESSES else GAMEPAD
            self._limits = context.limits(self.source)
            self._make_seat(self.pad)
            self._sdl.open_speaker()
            list(self._sdl.poll())  # discard reports from before it was opened
        except BaseException:
            await self.close()
            raise

    def step(self, now_us: int, observed: Observed) -> DriveCommand:
        for report in self._sdl.poll() if self._sdl else ():
            self._hear(report, now_us)
        self._signal_stop(observed)
        if self._lost or self.seat is None:
            return DriveCommand(lost=self._lost)
        self.seat.step(now_us)
        return self.seat.read()

    def requests(self) -> Sequence[OperatorRequest]:
        if self.seat is None:
            return ()
        requests, self.seat.requests = self.seat.requests, []
        return requests

    def let_go(self) -> None:
        if self.seat:
            self.seat.let_go()

    def status_text(self, now_us: int) -> str:
        if self.liveness is not LivenessCheck.PRESSES or self._limits is None:
            return ""
        return f"{_SLOW} {self._limits.speed_mps:.2g} m/s at most."

    def hint(self, now_us: int) -> str:
        if self._lost or self.seat is None:
            return self._lost
        if self.seat.began_off_neutral:
            return "let go, bring the triggers to rest, then hold LB"
        left_us = self.seat.left_us(now_us)
        if left_us is not None:
            return f"move something within {left_us * 1e-6:.1f} s"
        return (
            "hold LB to drive"
            if self.seat.deadman in (DeadmanButtons.OPEN, DeadmanButtons.NEEDS_RELEASE)
            else ""
        )

    async def close(self) -> None:
        if self.pad:
            self.pad.close()
            self.pad = None
        if self._sdl:
            self._sdl.close()
            self._sdl = None

    def _make_seat(self, pad: OpenPad) -> None:
        assert self._limits is not None, "taken by open"
        self.seat = PadSeat(pad, self._mapping.roles, self.liveness, self._limits)

    def _hear(self, report: PadReport, now_us: int) -> None:
        if report.kind is ReportKind.ADDED:
            self._reconnect(report.device)
        elif self.pad is None or report.device != self.pad.device:
            return  # another pad's report is ignored
        elif report.kind is ReportKind.REMOVED:
            self._disconnect()
        elif self.seat:
            self.seat.hear(report, now_us)

    def _disconnect(self) -> None:
        assert self.pad is not None, "it reported its end"
        self._lost = f"Gamepad is gone: {self.pad.facts.name}, unplugged or switched off"
        self.pad.close()
        self.pad, self.seat = None, None

    def _reconnect(self, index: int) -> None:
        """Take a pad of the same kind that was plugged in again.

        It drives only after a person has armed again and has released the deadman before.
        """
        if self.pad or self._sdl is None or not self._lost:
            return
        if self._sdl.facts(index).guid != self._mapping.guid:
            return
        try:
            self.pad = OpenPad(self._sdl, index)
        except DeviceFault:
            return  # unplugged again meanwhile
        self._lost = ""
        self._make_seat(self.pad)

    def _signal_stop(self, observed: Observed) -> None:
        """Rumble and beep when the cars stop: a driver who looks at the car sees no screen."""
        statuses = [car.status for car in observed.cars]
        is_halted = any(it is not None and it.state.is_halted for it in statuses)
        if self._was_driving and not observed.is_driving and (is_halted or self._lost):
            if self.pad:
                self.pad.rumble(_RUMBLE_S)
            if self._sdl:
                self._sdl.beep()
        self._was_driving = observed.is_driving or (self._was_driving and not is_halted)


def load_mappings(sdl: Sdl, mappings: PadMappings) -> list[PadFacts]:
    """Return the pads that are plugged in, after giving SDL this user's mappings of them.

    Raises TandemError.
    """
    for facts in sdl.pads():
        line = mappings.of(facts.guid).sdl
        if line:
            sdl.add_mapping(line)
    return sdl.pads()


def choose_pad(pads: Iterable[PadFacts], wanted: str) -> PadFacts:
    """Return the pad whose name contains the text or whose GUID begins with it, or the only one.

    Raises errors.DeviceFault.
    """
    every = list(pads)
    text = wanted.lower()
    fitting = [it for it in every if text in it.name.lower() or it.guid.startswith(text)]
    if len(fitting) == 1:
        return fitting[0]
    names = ", ".join(f"{it.name} ({it.guid[:8]}...)" for it in every) or "none"
    raise DeviceFault(
        "which gamepad?" if fitting else "no such gamepad is plugged in",
        expected="a part of one pad's name, or the begin of its GUID: --input gamepad:xbox",
        got=names,
        remedy="tandem pads lists them",
    )


def _liveness_of(pad: OpenPad) -> LivenessCheck:
    """Return the pad's liveness check: its reports if it has a gyro, as a gyro always reports.

    Whether its axes do so has to be measured, by tandem pads test.
    """
    return LivenessCheck.REPORTS if pad.has_sensor else LivenessCheck.PRESSES


def make(rest: str, options: Mapping[str, str], now_us: Callable[[], int]) -> GamepadInput:
    """Make the input of ``--input gamepad[:NAME]``."""
    return GamepadInput(rest, PadMappings())
