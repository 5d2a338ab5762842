"""One station at a time drives the car: arms it, holds its deadman, or lets go.

A station claims nothing before it armed the car here, or pressed the button that is its deadman. So
one that merely has a joystick ends no autonomy, and no other driver's silence is its own. From then
on, until the car is no longer armed, its silence is a stop.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from host_bridge.cars.car import ConnectedCar
from host_bridge.cars.fleet import Fleet
from host_bridge.core import (
    Action,
    DriveCommand,
    InputLimits,
    OperatorAction,
    Sender,
    SourceFacts,
    State,
    Vehicle,
    arm_action,
)
from host_bridge.drive.control_task import ControlTask
from host_bridge.drive.controls import DriveContext
from host_bridge.station.mavlink.driving.arming import Arming, is_armed, needs_clear
from host_bridge.station.mavlink.driving.hand import SOURCE as HAND_SOURCE
from host_bridge.station.mavlink.driving.hand import StickHand, Sticks
from host_bridge.station.mavlink.driving.offboard import SOURCE as PROGRAM_SOURCE
from host_bridge.station.mavlink.driving.offboard import OffboardProgram
from host_bridge.station.mavlink.keys import StationKey
from host_bridge.station.mavlink.messages.modes import HOLD, MANUAL, OFFBOARD, Mode
from host_bridge.station.mavlink.stations import Right, Station

_KEPT_US = 3_000_000  # as long as a session is kept after its last word
BY_A_PERSON = (
    "A real car is armed by the person who sees where it stands: tandem arm, or its transmitter."
)
NEEDS_KEY = (
    "This car is driven by the signed messages of a station that was invited to drive: "
    "tandem invite CAR --mavlink --role drive."
)
NEEDS_DEADMAN = "A real car needs a deadman: start tandem mavlink with --deadman BUTTON."
DISARM_FIRST = "Disarm first: the source that drives now would fall silent."
_NO_SOURCE = "This car's vehicle file lets no MAVLink program drive: it has no [sources.offboard]."
_OTHER_PERSON = (
    "A MAVLink program drives this car only while {needs} permits it, and no station is that: its "
    'vehicle file has to say needs = "remote" in [sources.offboard].'
)
NO_RIGHT = "Not signed with this car's key."


@dataclass(frozen=True)
class ProgramSeat:
    """The seat of a program at a station: its source, whose permission that needs, itself."""

    source: SourceFacts
    guardian: SourceFacts | None
    program: OffboardProgram


def program_seat(vehicle: Vehicle, context: DriveContext) -> ProgramSeat | str:
    """Return how a program drives this car, or why none does, as a sentence."""
    found = [source for source in vehicle.sources if source.name == PROGRAM_SOURCE]
    if not found:
        return _NO_SOURCE
    source = found[0]
    if source.needs not in (None, HAND_SOURCE):
        return _OTHER_PERSON.format(needs=source.needs)
    program = OffboardProgram(vehicle, context.limits(source.name), round(source.lease_s * 1e6))
    guardian = vehicle.source(HAND_SOURCE) if source.needs else None
    return ProgramSeat(source, guardian, program)


class Driver:
    """The seat of a car for stations. Call ``step`` a hundred times a second.

    ``program_seat`` is why no program drives this car, as a sentence, or how one does.
    """

    def __init__(
        self,
        car: ConnectedCar,
        fleet: Fleet,
        source: SourceFacts,
        limits: InputLimits,
        deadman: int | None,
        program_seat: ProgramSeat | str,
        *,
        is_virtual: bool,
    ) -> None:
        self.mode: Mode = MANUAL
        self.holder: Station | None = None
        self._holders_key: StationKey | None = None
        self._car = car
        self._is_virtual = is_virtual
        self._deadman = deadman
        self._limits = limits
        self._lease_us = round(source.lease_s * 1e6)
        self._hand = StickHand(limits, self._lease_us, deadman)
        self._held_us = 0
        self._may_claim = False
        self._fleet = fleet
        self._hand_task = self._task = ControlTask(fleet, source, self._read)
        self._program_seat = program_seat
        self._arming: Arming | None = None

    # --- what a station asks

    def arm(self, station: Station, right: Right, now_us: int) -> Arming:
        """Begin to arm for this station; its ``result`` is set at once if it is refused."""
        why = self._refusal(station, right, now_us)
        if not why and not self._is_virtual:
            why = BY_A_PERSON
        if why:
            return Arming([], result=False, why=why)
        self._take(station, now_us)
        self._may_claim = True
        if is_armed(self._car):
            return Arming([], result=True)
        sender = Sender.COMMAND if station.is_local else Sender.GUEST
        clear = [OperatorAction(Action.CLEAR, sender)] if needs_clear(self._car) else []
        self._arming = Arming([*clear, arm_action(self._car.profile(), sender)])
        return self._arming

    def hear_sticks(
        self, station: Station, right: Right, sticks: Sticks, times_us: tuple[int, int]
    ) -> str:
        """Take the sticks of a station; return why they are not followed, "" if they are.

        ``times_us``: when they were sent at the latest, and now, by our clock.
        """
        heard_us, now_us = times_us
        why = self._refusal(station, right, now_us)
        if not why and not self._is_virtual and self._deadman is None:
            why = NEEDS_DEADMAN
        if why:
            return why
        self._take(station, now_us)
        self._hand.hear(sticks, heard_us, now_us)
        is_pressed = self._deadman is not None and sticks.buttons >> self._deadman & 1
        if is_pressed and not self._may_claim and is_armed(self._car):
            self._may_claim = self._hand.begin(now_us)
        return ""

    def set_age_told(self, *, is_told: bool) -> None:
        """Say whether it is known how old the holder's packets are when they arrive."""
        self._hand.is_age_told = is_told

    def set_mode(self, mode: Mode, station: Station, right: Right, now_us: int) -> str:
        """Change whose setpoints the car follows; return why not, "" if done."""
        why = self._refusal(station, right, now_us)
        if not why and mode is not HOLD:
            why = self._choose(self._task_of(mode))
        if not why:
            self.mode = mode
            self._hand.let_go()
            self._let_program_go()
        return why

    def hear_program(self, station: Station, right: Right, message: Any, now_us: int) -> str:
        """Take a program's setpoint; return why it is not followed, "" if it may be."""
        why = self._refusal(station, right, now_us)
        if why or isinstance(self._program_seat, str):
            return why or str(self._program_seat)
        why = self._program_seat.program.hear(message, now_us)
        if not why:
            self._take(station, now_us)
        return why

    def _task_of(self, mode: Mode) -> ControlTask | str:
        """Return what claims in this mode; a sentence if nothing does."""
        if mode is MANUAL:
            return self._hand_task
        seat = self._program_seat
        if isinstance(seat, str) or self._task is not self._hand_task:
            return seat if isinstance(seat, str) else self._task
        return ControlTask(self._fleet, seat.source, self._read_program, seat.guardian)

    def _choose(self, task: ControlTask | str) -> str:
        """Claim by this task from now on; return why not.

        While the car is armed the other source would fall silent, which is a stop.
        """
        if isinstance(task, str):
            return task
        if task is not self._task and self._is_driving():
            return DISARM_FIRST
        self._task = task
        return ""

    # --- what time does

    def step(self, now_us: int) -> None:
        if self._arming:
            self._arming.step(self._car, now_us)
            self._arming = None if self._arming.result is not None else self._arming
        is_driving = self._is_driving()
        if not is_driving and self._arming is None:
            self._may_claim = False
            self._hand.let_go()
            self._let_program_go()
        if self.holder and now_us - self._held_us >= _KEPT_US and not self.drives(self.holder):
            self.holder = None
        if self._may_claim and is_driving:
            self._task.tick(now_us)
        else:
            self._hand.step(now_us)
            self._fleet.step(now_us)

    def drives(self, station: Station) -> bool:
        """Return whether this station has the armed car."""
        return station is self.holder and self._may_claim and is_armed(self._car)

    def _is_driving(self) -> bool:
        """Return whether the car is armed, or brakes: then it is still steered by who drives it."""
        status = self._car.status
        is_stopping = status is not None and status.state is State.STOPPING
        return is_armed(self._car) or (self._car.is_online() and is_stopping)

    def _read(self, now_us: int) -> DriveCommand:
        command = self._hand.step(now_us)
        if self.mode is MANUAL:
            return command
        return DriveCommand(heard_us=command.heard_us, input_count=command.input_count)

    def _read_program(self, now_us: int) -> DriveCommand:
        assert isinstance(self._program_seat, ProgramSeat), "its task is only made for one"
        is_permitted = None
        if not self._is_virtual or self._deadman is not None:
            by_hand = self._hand.step(now_us)
            is_heard = now_us - (by_hand.heard_us or 0) < self._lease_us
            is_permitted = by_hand.is_held and is_heard
        command = self._program_seat.program.step(now_us, is_permitted=is_permitted)
        if self.mode is OFFBOARD:
            return command
        return DriveCommand(heard_us=command.heard_us, input_count=command.input_count)

    def _let_program_go(self) -> None:
        if isinstance(self._program_seat, ProgramSeat):
            self._program_seat.program.let_go()

    def _take(self, station: Station, now_us: int) -> None:
        if station is not self.holder or station.key not in (None, self._holders_key):
            self.holder, self._holders_key = station, station.key
            limits = _capped(self._limits, station.key)
            self._hand = StickHand(limits, self._lease_us, self._deadman)
            if isinstance(self._program_seat, ProgramSeat):
                self._program_seat.program.cap_mps = station.key.cap_mps if station.key else None
        self._held_us = now_us

    def _refusal(self, station: Station, right: Right, now_us: int) -> str:
        if Right.DRIVE not in right:
            return NO_RIGHT if Right.WATCH not in right else NEEDS_KEY
        if self.holder in (None, station):
            return ""
        return f"Station {self.holder} has the car; it is free 3 s after that falls silent."


def _capped(limits: InputLimits, key: StationKey | None) -> InputLimits:
    if key is None or key.cap_mps is None:
        return limits
    cap_mps = key.cap_mps
    return InputLimits(
        min(limits.speed_mps, cap_mps), min(limits.reverse_mps, cap_mps), limits.steer_rad
    )
