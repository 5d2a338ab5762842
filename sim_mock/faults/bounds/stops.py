"""The table of stops: each cause, at 3 m/s and at the highest speed at which it can occur.

Each row is a case of the catalogue at the highest speed that its driver may have. What does not
depend on a host's driving is also begun in a race by the transmitter, where a vehicle is fastest.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from firmware.protocol import codes
from sim_mock.board.stored_image import VehicleSpec
from sim_mock.faults.cases import starts
from sim_mock.faults.cases.case import FaultCase
from sim_mock.faults.cases.catalogue import case_of
from sim_mock.faults.trial.fault_trial import FaultTrial
from sim_mock.faults.trial.vehicles import driver_of, has_rc

USUAL_MPS = 3.0  # fast for a small car, and below the top speed of most
_LEAST_APART_MPS = 0.1  # a row at the cap is added only if it differs by more than this


class StopCause(NamedTuple):
    """A cause of a stop, and the case that shows it.

    ``is_hosts``: it ends a host's driving, so that nobody else may be the driver. ``is_slow``: it
    begins at the case's own speed, as at its fastest a faulty car cannot be told from a sound one.
    """

    words: str
    case: str
    is_hosts: bool = False
    is_slow: bool = False


CAUSES = (
    StopCause("Stop, by anybody", "stranger-stops"),
    StopCause("deadman let go", "lets-go", is_hosts=True),
    StopCause("host silent, cable pulled", "total-silence", is_hosts=True),
    StopCause("claims silent", "heartbeat-only", is_hosts=True),
    StopCause("input frozen", "frozen-input", is_hosts=True),
    StopCause("clock jumps", "clock-jumps-ahead", is_hosts=True),
    StopCause("transmitter silent", "rc-silent"),
    StopCause("stop box pressed", "box-stops"),
    StopCause("stop box silent", "box-silent"),
    StopCause("runstop button: loop open", "runstop-opens"),
    StopCause("off-delay: loop opens", "delayed-opens"),
    StopCause("off-delay: no brake", "delayed-no-brake"),
    StopCause("off-delay: then it hangs", "delayed-then-hangs"),
    StopCause("off-delay: capacitor lost", "delay-open"),
    StopCause("charger", "charger"),
    StopCause("battery empty", "battery-empty"),
    StopCause("brown-out", "brown-out"),
    StopCause("too hot", "too-hot"),
    StopCause("an encoder dies", "left-encoder-dead"),
    StopCause("all encoders die", "encoders-dead"),
    StopCause("encoders count too much", "encoders-race"),
    StopCause("motor at full throttle", "throttle-stuck", is_slow=True),
    StopCause("the drive's contact opens", "contact-opens"),
    StopCause("the drive's output sticks", "pulse-stuck"),
    StopCause("steps overrun", "steps-overrun"),
    StopCause("program hangs for 150 ms", "loop-hangs"),
    StopCause("program hangs for good", "program-ends"),
    StopCause("hangs, then loop opens", "hangs-and-runstop"),
    StopCause("interrupts off for 150 ms", "interrupts-off"),
    StopCause("board resets", "board-resets"),
    StopCause("power lost", "power-lost"),
)


class StopRow(NamedTuple):
    """One run to make: a cause's case on a vehicle, at a speed that the vehicle can have there."""

    words: str
    case: str
    speed_mps: float
    is_cap: bool  # it is the highest speed at which this cause can occur


def rows(vehicle: VehicleSpec) -> Iterator[StopRow]:
    """Yield all rows that fit the vehicle."""
    for cause in CAUSES:
        case = case_of(cause.case)
        if not case.fits(vehicle):
            continue
        cap_mps = _fastest(cause, case, vehicle)[0]
        if cause.is_slow:
            cap_mps = case.speed_on(vehicle)
        if cap_mps > USUAL_MPS + _LEAST_APART_MPS:
            yield StopRow(cause.words, cause.case, USUAL_MPS, False)
        yield StopRow(cause.words, cause.case, cap_mps, True)


def begun_at(case_id: str, vehicle: VehicleSpec, speed_mps: float) -> FaultCase:
    """Return the case of a row, with the start condition that allows the vehicle this speed."""
    cause = next(cause for cause in CAUSES if cause.case == case_id)
    case = case_of(case_id)
    usual_mps = _reach_mps(case.start, vehicle)
    start = case.start if speed_mps <= usual_mps else _fastest(cause, case, vehicle)[1]
    return case.at(speed_mps, start)


_Start = Callable[[FaultTrial, float], None]


def _fastest(cause: StopCause, case: FaultCase, vehicle: VehicleSpec) -> tuple[float, _Start]:
    ways = [case.start]
    if case.start is starts.driving:
        ways.append(starts.racing)
        if has_rc(vehicle) and not cause.is_hosts:
            ways += [starts.by_rc, starts.racing_by_rc]
    found = [(_reach_mps(way, vehicle), way) for way in ways]
    return max(found, key=lambda one: one[0])


def _reach_mps(start: _Start, vehicle: VehicleSpec) -> float:
    """Return the highest speed allowed to the driver of this start condition."""
    parameters = vehicle.parameters
    races = start in starts.RACING
    is_rc = start in (starts.by_rc, starts.racing_by_rc)
    profile = codes.PROFILE_RACE if races else parameters["profile_default"][0]
    source = codes.SOURCE_RC if is_rc else driver_of(vehicle)
    caps_mm_s = (
        parameters["speed_max_mm_s"][0],
        parameters["profile_cap_mm_s"][profile],
        parameters["source_cap_mm_s"][source],
    )
    return min(caps_mm_s) * 1e-3
