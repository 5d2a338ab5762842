"""The fault that a drive ends with, which makes the exit code of its command."""

from __future__ import annotations

from host_bridge.core.errors import (
    AnotherCarFault,
    DeviceFault,
    NotHeldFault,
    OverrunFault,
    RefusedFault,
    TandemError,
)
from host_bridge.drive.drive import FleetDrive

_MOVED_M = 0.01  # two counts of the coarsest encoder
_ASKED_S = 0.5  # a shorter command may end before a car has begun to move


def fault_of(driven: FleetDrive, *, has_hand: bool, is_virtual: bool) -> TandemError | None:
    """Return the fault that makes the exit code: refused, lost, different bytes, or ended early."""
    if driven.begun_us is None and driven.refusal:
        remedy = "put that right; a stop whose cause is gone: tandem clear; then try again"
        fault = OverrunFault if driven.overrunning_cars else RefusedFault
        refused = fault(driven.refusal, remedy=remedy)
        if isinstance(refused, OverrunFault):
            refused.cars = tuple(car.cli_name for car in driven.overrunning_cars)
            refused.boards = tuple(car.as_known_car().board_id for car in driven.overrunning_cars)
        return refused
    if strangers := [car for car in driven.fleet.cars if car.stranger]:
        return AnotherCarFault(strangers[0].stranger, remedy=strangers[0].remedy)
    if driven.lost():
        names = ", ".join(driven.lost())
        what = "its program, or who serves it, has ended" if is_virtual else "cable and power"
        return DeviceFault(
            f"the link to {names} was lost, and did not come back before the end",
            remedy=f"see to it: {what}; a car that hears nothing has stopped by itself",
        )
    differs_at = driven.fleet.agreement().differs_at
    if differs_at is not None:
        return NotHeldFault(
            "the cars did not accept the same bytes",
            expected="the same running CRC over the claims on all cars",
            got=f"a difference at or before claim {differs_at}",
        )
    is_shown = len(driven.fleet.cars) == 1 or driven.fleet.agreement().agreed > 0
    if not has_hand and driven.is_completed and not is_shown:
        return NotHeldFault(
            "nothing shows that the cars accepted the same bytes",
            expected="both cars' reports of the same claim",
            got="none",
            remedy="is the drive long enough, and the line to each car good?",
        )
    halted = [trip.car for trip in driven.trips if trip.is_halted()]
    if halted and not driven.is_completed and not driven.controls.input.is_person:
        why = "; ".join(f"{car.name}: {car.why_stopped()}" for car in halted)
        return NotHeldFault("the cars stopped before the end", got=why)
    if not has_hand and not driven.is_completed:
        return NotHeldFault("the cars stopped before the end", got=driven.notice)
    return _motionless(driven)


def _motionless(driven: FleetDrive) -> TandemError | None:
    """Return the fault of a drive that asked for motion, and in which a car did not move."""
    if driven.asked_s < _ASKED_S:
        return None
    still = [trip.car.name for trip in driven.trips if trip.distance_m < _MOVED_M]
    if not still:
        return None
    return NotHeldFault(
        f"{', '.join(still)} did not move, though motion was asked for",
        expected=f"more than {_MOVED_M:g} m by its own count",
        got=f"{driven.asked_s:.1f} s of commands to drive",
        remedy="is its motor powered, its cap above 0, and does its encoder count? tandem monitor",
    )
