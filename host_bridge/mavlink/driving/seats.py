"""Decides by the vehicle file whether a program at a station may drive a car."""

from __future__ import annotations

from host_bridge.core import Vehicle
from host_bridge.drive.controls import DriveContext
from host_bridge.mavlink.driving import hand, offboard
from host_bridge.mavlink.driving.driver import ProgramSeat

_NO_SOURCE = "This car's vehicle file lets no MAVLink program drive: it has no [sources.offboard]."
_OTHER_PERSON = (
    "A MAVLink program drives this car only while {needs} permits it, and no station is that: its "
    'vehicle file has to say needs = "remote" in [sources.offboard].'
)


def program_seat(vehicle: Vehicle, context: DriveContext) -> ProgramSeat | str:
    """Return how a program drives this car, or why none does, as a sentence."""
    found = [source for source in vehicle.sources if source.name == offboard.SOURCE]
    if not found:
        return _NO_SOURCE
    source = found[0]
    if source.needs not in (None, hand.SOURCE):
        return _OTHER_PERSON.format(needs=source.needs)
    program = offboard.OffboardProgram(
        vehicle, context.limits(source.name), round(source.lease_s * 1e6)
    )
    guardian = vehicle.source(hand.SOURCE) if source.needs else None
    return ProgramSeat(source, guardian, program)
