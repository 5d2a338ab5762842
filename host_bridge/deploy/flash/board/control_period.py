"""The control period of a car on its board, by MicroPython release and runstop box's key."""

from __future__ import annotations

from dataclasses import replace

from host_bridge.config.boards import BoardType, on_board
from host_bridge.config.store.pairings import Pairing
from host_bridge.core import KnownCar, Vehicle
from host_bridge.core.system.progress import progress_count
from host_bridge.deploy.flash.board.reconnection import reconnect
from host_bridge.sharing.services import Host
from host_bridge.sharing.services.configurations import changed_from_file


def with_control_period(
    known: Pairing, file: Vehicle, board: BoardType, micropython: str, *, is_paired: bool
) -> Pairing:
    """Return a car's pairing with the control period that this board needs under this release.

    Raises VehicleFileFault if the vehicle's file is invalid with a longer one.
    """
    there = on_board(file, board, micropython, is_paired=is_paired)
    return replace(known, trim=changed_from_file(known.trim, file, there, ("step_s",)))


async def lengthen_control_period(
    uri: str, host: Host, board: BoardType, micropython: str, expected_car: KnownCar
) -> str:
    """Write the board's longer control period to a car that was given a box's key, if it needs it.

    Returns a sentence about what was written, or "" if the period stays. Raises
    errors.TandemError.
    """
    opened = await reconnect(uri, host, expected_car=expected_car)
    try:
        there = on_board(opened.vehicle, board, micropython, is_paired=True)
        has_us = await host.configurations.beat_us(opened)
        if round(there.step_s * 1e6) <= has_us:
            return ""
        await host.configurations.adjust(opened, {"step_s": there.step_s}, progress_count)
        return (
            f"{opened.name} has a control period of {there.step_s * 1e3:g} ms now, all read back: "
            f"with a box's key its steps do not hold {has_us / 1e3:g} ms on this board"
        )
    finally:
        await opened.close()
