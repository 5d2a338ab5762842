"""The look at a board before it is flashed, by its own protocol."""

from __future__ import annotations

from dataclasses import dataclass

from host_bridge.core import CarMatch, KnownCar, State, another_car_text, compare_cars
from host_bridge.core.errors import AnotherCarFault, DeviceFault, ProtocolFault, RefusedFault
from host_bridge.sharing.open_car import OpenCar
from host_bridge.sharing.services import Host

_ARMED = (State.ACTIVE, State.HOLD, State.STOPPING)


@dataclass
class FoundCar:
    """The car found on a board; empty for a board that runs no car of this version."""

    car_name: str = ""
    vehicle: str = ""
    board_id: bytes = b""  # its REPL says it too

    def at_repl(self, board_id: bytes, where: str) -> None:
        """Check that the board at the REPL is the one looked at before.

        A cable may have been out meanwhile. Nothing is written to another board. Raises
        errors.AnotherCarFault.
        """
        known = KnownCar(self.board_id, self.car_name, self.vehicle)
        seen = KnownCar(board_id, "the board at its REPL")
        if compare_cars(known, seen) is CarMatch.ANOTHER:
            raise AnotherCarFault(
                another_car_text(known, seen),
                where=where,
                remedy="nothing was written; leave the cables as they are, and run the command "
                "again",
            )
        self.board_id = board_id


def uri_of(port: str) -> str:
    """Return the URI of a serial port; a text that is a URI already stays as it is."""
    return port if "://" in port else f"serial://{port}"


async def precheck_car(port: str, host: Host, before: FoundCar) -> int:
    """Fill ``before``; return 0. Raises errors.RefusedFault for a car that is armed, or served."""
    uri = uri_of(port)
    owner = host.cars.find(uri)
    if owner:
        raise RefusedFault(
            "this car is served, and flashing would interrupt its users",
            where=uri,
            got=f"{owner.name}, by process {owner.pid}",
            remedy="end that program first",
        )
    try:
        opened = await host.cars.open(uri)
    except (DeviceFault, ProtocolFault):
        return 0  # no car, or one of another version: its board refuses the REPL while armed
    try:
        await opened.until(lambda: opened.car.status is not None, 1.0)
        _refuse_armed(opened)
        before.car_name = opened.identity.car_name
        before.vehicle = opened.car.vehicle.name if opened.car.vehicle else ""
        if not opened.identity.is_hitl:  # whose id is not the chip's
            before.board_id = opened.identity.board_id
    finally:
        await opened.close()
    return 0


def _refuse_armed(opened: OpenCar) -> None:
    status = opened.car.status
    state = status.state if status else opened.identity.state
    if state in _ARMED:
        raise RefusedFault(
            "this car is armed",
            where=opened.uri,
            expected=f"{State.STANDBY.word}, {State.STOPPED.word} or {State.FAULT.word}",
            got=state.word,
            remedy="tandem stop, or tandem disarm",
        )
