"""Measurements of a person's acts on a car at the bench: opening its runstop, turning its wheels.

The car itself reports the results; the person only acts.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from firmware.protocol import codes
from host_bridge.core import Vehicle
from host_bridge.deploy.hil.bench import HilBench
from host_bridge.deploy.hil.host.paced_car import NotDriving, PacedCar
from host_bridge.deploy.hil.host.small_host import HELD, RELEASED
from host_bridge.deploy.hil.person import PERSON_TIMEOUT_S, Person, PersonTimeout
from host_bridge.deploy.hil.report.limits import judged, unmeasured
from host_bridge.deploy.hil.report.report import Measurement

RUNSTOP_KEYS = ("runstop_hand",)
ENCODER_KEYS = ("encoder_ahead", "encoder_turn")
_SETTLES_S = 3.0  # time for the car to stop, the relay to open, and both to be reported
_WRAP = 1 << 30  # a wheel's counts wrap here
_ARM_IT = (
    "RUNSTOP. Wheels off the ground, or the motor unplugged, and the runstop closed. The car will "
    "be armed and stand; then you are asked to open its runstop."
)
_OPEN_IT = "The car is armed. Open the runstop now: press its button, or pull its plug."
_CLOSE_IT = "It was opened. Close the runstop again: turn its button loose, or put the plug back."
_TURN_IT = (
    "ENCODER. Nothing is armed. Turn the driven wheels, left and right together, ahead (as the car "
    "drives forward) by one whole turn; a mark on a tyre helps."
)


def runstop(bench: HilBench, person: Person) -> Iterator[Measurement]:
    """Have the runstop opened while the car stands armed. Raises NotDriving, PersonTimeout."""
    person.ready(_ARM_IT)
    with bench.car(0) as car:
        car.connect()
        car.arm()
        car.host.events.clear()
        person.tell(_OPEN_IT)
        if not _until(car, lambda: car.host.state != codes.ACTIVE, PERSON_TIMEOUT_S, HELD):
            car.disarm()
            raise PersonTimeout(f"the runstop was not opened within {PERSON_TIMEOUT_S:g} s")
        signs = _signs_of_a_stop(car)
        signs |= _refuses_while_open(car)
        person.tell(_CLOSE_IT)
        signs["closed again, cleared and standing by"] = _closes(car)
    lacking = [sign for sign, came in signs.items() if not came]
    how = f"lacking: {', '.join(lacking)}" if lacking else "; ".join(signs)
    yield judged("runstop_hand", len(lacking), how, "", signs=signs)


def _signs_of_a_stop(car: PacedCar) -> dict[str, bool]:
    host = car.host
    _until(car, lambda: host.state == codes.STOPPED and not _is_enabled(car), _SETTLES_S)
    cause = codes.CAUSE_RUNSTOP_LOOP
    return {
        "STOPPED": host.state == codes.STOPPED,
        "the loop is the first cause": host.status.first_cause == cause
        and bool(host.status.causes >> cause & 1),
        "an event names the loop": host.has_event(codes.EVENT_STOP_LATCHED, cause),
        "the drive enable fell": not _is_enabled(car),
    }


def _refuses_while_open(car: PacedCar) -> dict[str, bool]:
    refusals = [car.act(action) for action in (codes.ACTION_CLEAR, codes.ACTION_ARM)]
    car.host.drive(300)  # ms: an answer, and some statuses
    is_armed = car.host.state in (codes.ACTIVE, codes.HOLD)
    return {"neither cleared nor armed while open": 0 not in refusals and not is_armed}


def _closes(car: PacedCar) -> bool:
    if not _until(car, lambda: bool(_inputs(car).runstop_closed), PERSON_TIMEOUT_S):
        return False
    with contextlib.suppress(NotDriving):  # a fault prevents it, such as a welded contact
        car.clear()
    return car.host.state == codes.STANDBY


def _is_enabled(car: PacedCar) -> bool:
    return bool(_inputs(car).enable_contact)


def _inputs(car: PacedCar) -> Any:
    return car.host.latest["Inputs"]


def _until(
    car: PacedCar, is_so: Callable[[], bool], within_s: float, deadman: int = RELEASED
) -> bool:
    """Keep claiming until the predicate is true; False if too late by the car's clock."""
    begun_us = car.port.car_us
    while not is_so():
        if car.port.car_us - begun_us > within_s * 1e6:
            return False
        car.host.drive(10, deadman=deadman)
    return True


def counts_per_turn(vehicle: Vehicle) -> float | None:
    """Return the counts of one turn of the wheels from the vehicle file; None if it has none."""
    given_counts = [it.value for it in vehicle.values if it.key == "encoder.counts_per_rev"]
    return float(str(given_counts[0])) if given_counts else None


def encoder(
    bench: HilBench, person: Person, counts_per_turn: float | None
) -> Iterator[Measurement]:
    """Have the wheels turned once, ahead. Raises PersonTimeout.

    ``counts_per_turn`` is the vehicle file's, if there is one.
    """
    before, nm_per_count, is_signed = _counts(bench)
    person.ready(_TURN_IT)
    after, _, _ = _counts(bench)
    turned = [_difference(now, then) for now, then in zip(after, before, strict=True)]
    most = max(turned, key=abs)
    rolled_mm = round(most * nm_per_count * 1e-6, 1)
    how = f"left {turned[0]}, right {turned[1]}, of one turn by hand; {rolled_mm} mm as configured"
    if not is_signed:
        how += "; it is configured to tell no direction, so the sign shows nothing"
    detail = {"left": turned[0], "right": turned[1], "nm_per_count": nm_per_count}
    yield judged("encoder_ahead", most, how, "", **detail)
    if not counts_per_turn:
        yield unmeasured("encoder_turn", "needs --vehicle, whose file says what a turn counts")
    else:
        off = 100 * abs(abs(most) / counts_per_turn - 1)
        how = f"{abs(most)} counts; the vehicle file says {counts_per_turn:g}"
        yield judged("encoder_turn", off, how, "", counts_per_turn=counts_per_turn)


def _counts(bench: HilBench) -> tuple[tuple[int, int], int, bool]:
    with bench.car(0) as car:
        car.connect()
        car.host.rest(300)  # a Motion comes with every other Status at least
        it = car.host.latest["Motion"]
        nm_per_count, is_signed = (car.parameter(n) for n in ("nm_per_count", "encoder_signed"))
        return (it.count_left, it.count_right), nm_per_count, bool(is_signed)


def _difference(now: int, then: int) -> int:
    return (now - then + _WRAP // 2) % _WRAP - _WRAP // 2
