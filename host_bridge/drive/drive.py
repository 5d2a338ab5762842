"""The state machine of a drive, from arming to rest, with the operator's requests. No I/O.

It stands between input and session, so that no held deadman counts before all cars are armed or
after the end has begun. Cars that are driven together stop together.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from enum import Enum
from pathlib import Path

from host_bridge.cars.actions import short_sender
from host_bridge.cars.car import ConnectedCar
from host_bridge.cars.car_text import why_apart
from host_bridge.cars.divergence import Divergence, MotionSample
from host_bridge.cars.fleet import Fleet, FleetRequest
from host_bridge.cars.stop_source_heartbeat import SEAT
from host_bridge.core import (
    NEUTRAL_US,
    Action,
    DriveCommand,
    OperatorRequest,
    Profile,
    SeenCar,
    Sender,
    State,
)
from host_bridge.core.errors import DataFileFault
from host_bridge.core.inputs import in_pythons_types
from host_bridge.drive.controls import Controls
from host_bridge.drive.trip_statistics import TripStatistics

_LOGGER = logging.getLogger(__name__)
_REST_MPS = 0.02  # a hundredth of walking pace; encoders cannot tell it from standing
_REST_US = 5_000_000  # longer than any vehicle file lets a car brake
_STARTED_US = 3_000_000  # an ESC needs neutral for up to two seconds at first
_ANSWER_US = 1_500_000  # an action is done or has failed within a second
_INPUT_LOST, _FROZEN = "input lost", "frozen terminal"  # the names under which stops are sent
ARM_AGAIN = "press R to clear it and to arm again"
CLEARED_THERE = (
    "whoever stands beside the car clears it (tandem clear there) and arms it again (tandem arm)"
)
UNARMED = "Nothing is armed yet: press R to arm."
ARMED_THERE = (
    "Nothing is armed yet. Whoever stands beside the car arms it (tandem arm there); then hold the "
    "deadman."
)
LOCKED = "Not armed: a stop is locked. Unlock it first."
UNLOCKED = "Unlocked. Nothing is armed."


class Phase(Enum):
    """The phases of a drive."""

    ARMING = "arming"
    DRIVING = "driving"
    STOPPED = "stopped"
    RESTING = "coming to rest"
    DISARMING = "disarming"
    OVER = "over"


def _lets_no_guest_arm(fleet: Fleet) -> bool:
    """Return whether some car is afar and its file names no guest among those who arm it."""
    afar = [car.vehicle for car in fleet.cars if car.is_afar]
    return any(vehicle is None or "guest" not in vehicle.may_arm for vehicle in afar)


def _unsure_clock(fleet: Fleet) -> str:
    """Return why a car afar takes no claim over this path; "" if each one does."""
    for car in fleet.cars:
        if car.is_afar and car.connection.is_bound() and not car.is_clock_known():
            is_known = car.connection.clock.bound_us is not None
            known = car.clock_text() if is_known else "not known yet"
            return (
                f"{car.name} cannot be driven over this path: its clock is {known}. It "
                "needs a path with a shorter round trip, as by a nearer access point, or a wider "
                "clock_bound_s in its vehicle file: 0.03 s and a quarter of the lease at most."
            )
    return ""


class FleetDrive:
    """One drive of a fleet: it arms all cars once they have started, and clears no stop by itself.

    Clearing is a person's decision. ``notice`` is the message for the person; ``refusal`` says why
    driving never began.
    """

    skew_us: int | None
    worst_skew_us: int | None

    def __init__(
        self,
        fleet: Fleet,
        controls: Controls,
        now_us: int,
        *,
        sender_name: str,
        seconds: float | None = None,
        profile: Profile | None = None,
        cap_mps: float | None = None,
        is_unarmed: bool = False,
        is_armed_there: bool = False,
        arm_clears: bool = True,
        notes: Sequence[str] = (),
        record: Path | None = None,
    ) -> None:
        """Begin in ARMING; with ``is_unarmed`` in STOPPED, until a person asks to arm.

        Without a profile each car is armed in its vehicle file's default. Without ``arm_clears`` a
        locked stop has to be unlocked before. With ``is_armed_there`` nobody arms here, whatever
        the cars' files say of guests: a person beside the cars does.
        """
        self.fleet = fleet
        self._is_armed_there = is_armed_there
        self.controls = controls
        self.phase = Phase.STOPPED if is_unarmed else Phase.ARMING
        self.command = DriveCommand()  # the latest
        self.notice = self._first_notice(is_unarmed=is_unarmed)
        self.log_fault: DataFileFault | None = None  # why nothing is recorded any more
        self.refusal = ""
        # Refused for overruns; a longer control period would help
        self.overrunning_cars: list[ConnectedCar] = []
        self.trips = tuple(TripStatistics(car) for car in fleet.cars)
        self.divergences = tuple(_divergence(car) for car in fleet.cars[1:])
        self.skew_us = self.worst_skew_us = None
        self.begun_us: int | None = None  # when driving began first
        self._held_us: int | None = None  # since when the deadman is held without a break
        self.notes = tuple(notes)  # on what is driven otherwise than asked
        self.asked_s = 0.0  # for how long a speed was asked for while driving
        self._read_us: int | None = None
        self.is_completed = False  # the input or the requested time ran to its end
        self._sender_name = sender_name
        self._seconds = seconds
        self._request: FleetRequest | None = None
        self._profile = profile
        self._cap_mps = cap_mps
        self._record = record
        self._arm_clears = arm_clears
        self._pending_actions = self._to_arm()
        self._is_to_arm = True
        self._patience_us = now_us + _STARTED_US
        self._steps: dict[Phase, Callable[[int], None]] = {
            Phase.ARMING: self._step_arming,
            Phase.DRIVING: self._step_driving,
            Phase.STOPPED: self._step_stopped,
            Phase.RESTING: self._step_resting,
            Phase.DISARMING: self._step_disarming,
            Phase.OVER: lambda now_us: None,
        }

    def _waits_for_arming(self) -> bool:
        """Return whether a person beside a car arms it, and nobody here."""
        return self._is_armed_there or _lets_no_guest_arm(self.fleet)

    def _first_notice(self, *, is_unarmed: bool) -> str:
        if self._waits_for_arming():
            return ARMED_THERE
        return UNARMED if is_unarmed else ""

    def _arm_again(self) -> str:
        return CLEARED_THERE if self._waits_for_arming() else ARM_AGAIN

    # --- what the person does

    def read(self, now_us: int, *, is_between_ticks: bool = False) -> DriveCommand:
        """Return the input's command; outside DRIVING, one that lets go of the deadman.

        If the input reports that its device is lost, all cars are stopped.
        """
        is_driving = self.phase is Phase.DRIVING
        cars = tuple(car.seen() for car in self.fleet.cars)
        command = self._ask_input(now_us, cars, is_driving, is_between_ticks)
        if is_driving and command.lost:
            self._stop_all(now_us, _INPUT_LOST)
            self._halt(f"{command.lost}. Stopped all cars: {self._arm_again()}.")
            command = DriveCommand()
        self.command = self._from_neutral(command, now_us) if is_driving else DriveCommand()
        self._count_asked(now_us)
        return self.command

    def _count_asked(self, now_us: int) -> None:
        if self._read_us is not None and self.command.is_held and self.command.speed_mps:
            self.asked_s += (now_us - self._read_us) * 1e-6
        self._read_us = now_us

    def _ask_input(
        self, now_us: int, cars: tuple[SeenCar, ...], is_driving: bool, is_between_ticks: bool
    ) -> DriveCommand:
        """Ask the input for its command.

        An input may be foreign code: an exception counts as a lost device.
        """
        try:
            asked = self.controls.step(now_us, cars, is_driving, is_between_ticks=is_between_ticks)
            return in_pythons_types(asked)
        except Exception as error:
            _LOGGER.exception("the input failed")
            return DriveCommand(lost=f"The input failed ({type(error).__name__}: {error})")

    def _from_neutral(self, command: DriveCommand, now_us: int) -> DriveCommand:
        """Hold the speed at 0 for NEUTRAL_US after the deadman is held anew.

        The car requires neutral from an attended source at that moment.
        """
        if not command.is_held or self.controls.guardian:
            self._held_us = None
            return command
        if self._held_us is None:
            self._held_us = now_us
        is_fresh = now_us - self._held_us < NEUTRAL_US
        return replace(command, speed_mps=0.0) if is_fresh else command

    def handle(self, request: OperatorRequest, now_us: int) -> None:
        if request in (OperatorRequest.QUIT, OperatorRequest.INTERRUPT):
            self.quit(now_us)
        elif request is OperatorRequest.ARM:
            self.arm(now_us)
        elif request is OperatorRequest.UNLOCK:
            self.unlock(now_us)
        elif request is OperatorRequest.END:
            self._end(now_us)
        else:
            self._stop_all(now_us, _FROZEN if request is OperatorRequest.FROZE else "")
            self._halt(f"Stopped all cars: {self._arm_again()}.")

    def _stop_all(self, now_us: int, sender_name: str = "") -> None:
        """Stop all cars, and assert the stop by the seat's heartbeat until a person arms again.

        ``sender_name`` has room for 16 bytes, so no sentence is sent; the notice has that.
        """
        self.fleet.set_heartbeat(SEAT, runs=False)
        self.fleet.stop(Sender.SEAT, sender_name or self._sender_name, now_us)

    def arm(self, now_us: int) -> None:
        """Arm all cars at a person's request.

        Stops whose causes are gone are cleared first, unless a person has to unlock them.
        """
        needs_clear = any(_needs_clear(car) for car in self.fleet.cars)
        if self.phase is Phase.STOPPED and needs_clear and not self._arm_clears:
            self.notice = LOCKED
        elif self.phase is Phase.STOPPED:
            self._begin([*([Action.CLEAR] if needs_clear else []), *self._to_arm()], now_us)

    def unlock(self, now_us: int) -> None:
        """Clear the stops of all cars whose causes are gone, and arm nothing."""
        if self.phase is Phase.STOPPED:
            self._begin([Action.CLEAR], now_us)

    def _begin(self, actions: list[Action], now_us: int) -> None:
        self.phase = Phase.ARMING
        self.notice = ""
        self._pending_actions = actions
        self._is_to_arm = Action.ARM in actions
        self._patience_us = now_us + _ANSWER_US
        self.fleet.set_heartbeat(SEAT, runs=True)

    def _to_arm(self) -> list[Action]:
        """Return the actions that arm. The requested cap is set only before the first driving.

        After that somebody else may have lowered it.
        """
        is_to_cap = self._cap_mps is not None and self.begun_us is None
        return [Action.CAP, Action.ARM] if is_to_cap else [Action.ARM]

    def quit(self, now_us: int) -> None:
        """Let go, wait for rest, disarm. If asked again meanwhile: stop, and end at once."""
        self.controls.let_go()
        if self.phase in (Phase.RESTING, Phase.DISARMING):
            self._stop_all(now_us)
            self.phase = Phase.OVER
        elif self.phase is not Phase.OVER:
            self.phase = Phase.RESTING
            self._patience_us = now_us + _REST_US

    # --- what time does

    def step(self, now_us: int) -> None:
        """Advance the state machine; call it once per tick, after the session's tick."""
        for trip in self.trips:
            trip.step()
        self._compare()
        self._steps[self.phase](now_us)

    def log_fault_text(self) -> str:
        """Return a line that says that recording has failed; "" while it works."""
        lost = self.log_fault
        return f"NOT RECORDED ANY MORE: {lost.where}: {lost.got}" if lost else ""

    def is_over(self) -> bool:
        return self.phase is Phase.OVER

    def lasted_s(self, now_us: int) -> float:
        return (now_us - self.begun_us) * 1e-6 if self.begun_us is not None else 0.0

    def lost(self) -> list[str]:
        """Return the names of the cars whose link is down."""
        return [car.name for car in self.fleet.cars if not car.is_online()]

    def _ask(self, now_us: int) -> None:
        """Send the next pending action."""
        action = self._pending_actions.pop(0)
        if action is Action.CAP:
            self._request = self.fleet.cap(now_us, self._cap_mps or 0.0)
        elif action is Action.CLEAR:
            self._request = self.fleet.clear(now_us)
        else:
            self._request = self.fleet.arm(now_us, self._profile)
        self._patience_us = now_us + _ANSWER_US

    def _step_arming(self, now_us: int) -> None:
        if self._waits_for_arming():
            self._drive_on_if_armed(now_us)
            return
        if self._request is None:
            if self._is_ready(now_us) or now_us >= self._patience_us:
                self._ask(now_us)
            return
        if self._request.results is None:
            return
        request, self._request = self._request, None
        if not request.is_done():
            self.refusal = str(request)
            self.overrunning_cars = request.overrunning_cars()
            self._halt(f"{self.refusal} {self._what_to_do()}")
        elif self._pending_actions:
            self._ask(now_us)
        elif not self._is_to_arm:
            self._halt(UNLOCKED)
        elif all(trip.is_armed() for trip in self.trips):
            self._drive_on(now_us)
        elif now_us < self._patience_us:
            self._request = request  # the statuses that show it have not come yet
        else:
            self._halt(f"Armed, and stopped at once. {self._what_to_do()}")

    def _is_ready(self, now_us: int) -> bool:
        """Return whether all cars have started and have heard their stop sources' heartbeats."""
        statuses = [car.status for car in self.fleet.cars]
        has_started = all(s is not None and s.state is not State.STARTING for s in statuses)
        return has_started and self.fleet.are_heartbeats_heard(now_us)

    def _what_to_do(self) -> str:
        reasons = [car.why_stopped() for car in self.fleet.cars if not car.stranger]
        return " ".join([*filter(None, reasons), "Press R to clear and arm."])

    def _drive_on(self, now_us: int) -> None:
        self.phase = Phase.DRIVING
        self.refusal = ""
        if self.begun_us is None:
            self.begun_us = now_us
        for divergence in self.divergences:
            divergence.reset()

    def _step_driving(self, now_us: int) -> None:
        fallen = [trip.car for trip in self.trips if not trip.is_armed()]
        apart = [divergence for divergence in self.divergences if divergence.must_stop()]
        if fallen:
            self._stop_the_others(fallen, now_us)
        elif apart:
            self._stop_for_being_apart(apart[0], now_us)
        elif self._seconds is not None and self.lasted_s(now_us) >= self._seconds:
            self._end(now_us)

    def _end(self, now_us: int) -> None:
        """End the drive as completed: its time is over, or the input has come to its end."""
        if self.phase is Phase.DRIVING:
            self.is_completed = True
            self.quit(now_us)

    def _stop_the_others(self, fallen: Sequence[ConnectedCar], now_us: int) -> None:
        for trip in self.trips:
            if trip.is_armed():
                trip.car.stop(Sender.FLEET, short_sender(fallen[0].name, "fell out"), now_us)
        lost = [car.name for car in fallen if not car.is_online()]
        again = CLEARED_THERE if self._waits_for_arming() else "press R to arm again"
        if lost:
            self._halt(
                f"Lost {', '.join(lost)}; a car that hears nothing stops by itself. See to its "
                f"cable and power; when it is back, {again}."
            )
        else:
            self._halt(f"{', '.join(car.name for car in fallen)} stopped: {self._arm_again()}.")

    def _step_stopped(self, now_us: int) -> None:
        """Drive on where a person beside cars that are afar has armed them."""
        self._tell_strangers()
        if self._waits_for_arming():
            self._drive_on_if_armed(now_us)

    def _drive_on_if_armed(self, now_us: int) -> None:
        unsure = _unsure_clock(self.fleet)
        if unsure and self.begun_us is None:
            self.refusal = unsure
            self._halt(unsure)
        elif self.refusal and not unsure:
            self.refusal, self.notice = "", ARMED_THERE
        elif all(trip.is_armed() for trip in self.trips):
            self.notice = ""
            self._drive_on(now_us)

    def _tell_strangers(self) -> None:
        """Tell that another car answers, which shows once a cable is back in, after the stop."""
        for car in self.fleet.cars:
            if car.stranger and car.remedy not in self.notice:
                self.notice = car.why_stopped()

    def why_apart(self) -> str:
        """Return by which command the cause is told that the cars are apart."""
        return why_apart(self._record, self.fleet.cars[0].name)

    def _stop_for_being_apart(self, divergence: Divergence, now_us: int) -> None:
        for trip in self.trips:
            trip.car.stop(Sender.FLEET, f"apart: {divergence.must_stop()}", now_us)
        differs = "; ".join(str(alarm) for alarm in divergence.alarms())
        self._halt(
            f"A car and its twin are too far apart: {differs}. Stopped: {self._arm_again()}. "
            f"{self.why_apart()}"
        )

    def _halt(self, notice: str) -> None:
        self.controls.let_go()
        self.notice = notice
        if self.phase in (Phase.ARMING, Phase.DRIVING):
            self.phase = Phase.STOPPED
            self._request = None

    def _step_resting(self, now_us: int) -> None:
        if not all(_is_at_rest(car) for car in self.fleet.cars) and now_us < self._patience_us:
            return
        self.phase = Phase.OVER
        if any(trip.is_armed() for trip in self.trips):
            self.phase = Phase.DISARMING
            for trip in self.trips:
                if trip.is_armed():
                    trip.car.disarm(now_us, Sender.SEAT)
            self._patience_us = now_us + _ANSWER_US

    def _step_disarming(self, now_us: int) -> None:
        armed = [trip.car for trip in self.trips if trip.is_armed()]
        if armed and now_us >= self._patience_us:
            self.notice = f"{', '.join(car.name for car in armed)} did not disarm: stopped."
            self._stop_all(now_us)
            armed = []
        if not armed:
            self.phase = Phase.OVER

    def _compare(self) -> None:
        self.skew_us = self.fleet.skew_us()
        if self.skew_us is not None and self.phase is Phase.DRIVING:
            self.worst_skew_us = max(self.worst_skew_us or 0, self.skew_us)
        first, *twins = (_drained(car) for car in self.fleet.cars)
        for divergence, samples in zip(self.divergences, twins, strict=True):
            for sample in first:
                divergence.car.add(sample)
            for sample in samples:
                divergence.twin.add(sample)
            divergence.step()


def _divergence(twin: ConnectedCar) -> Divergence:
    assert twin.vehicle is not None, "the controls were chosen by the vehicles of all cars"
    return Divergence(twin.vehicle.divergence)


def _drained(car: ConnectedCar) -> list[MotionSample]:
    samples = list(car.samples)
    car.samples.clear()
    return samples


def _needs_clear(car: ConnectedCar) -> bool:
    return car.status is not None and car.status.needs_clear


def _is_at_rest(car: ConnectedCar) -> bool:
    """Return whether the car stands. A lost car counts as at rest: it stops by itself, unseen."""
    status = car.status
    if status is None or not car.is_online():
        return True
    is_moving = abs(status.speed_mps) > _REST_MPS or status.state is State.STOPPING
    return status.state is not State.ACTIVE and not is_moving
