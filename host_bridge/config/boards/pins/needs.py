"""The needs of a vehicle from its board, derived from the vehicle's file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from firmware.protocol.codes import STOP_SOURCE_LOOP, STOP_SOURCE_RC
from host_bridge.config.vehicle.schema import STOP_SOURCES
from host_bridge.config.vehicle.vehicle import load_vehicle, vehicle_tables

_STOP_SLOTS = {STOP_SOURCE_LOOP: "runstop", STOP_SOURCE_RC: "rc"}


@dataclass(frozen=True)
class Needs:
    """The needs of one vehicle from a board.

    ``wiring`` is the name of its table in board files; ``slots`` maps each part that the wiring
    must have to the reason; ``channels`` are the vehicle file's; ``parameters`` its firmware
    parameters; ``low_v`` is the voltage of its low battery, in volts; ``unwired`` says why no
    board can be wired for it; ``reminders`` what it allows and is not advised.
    """

    vehicle: str
    wiring: str
    channels: list[dict[str, Any]]
    slots: dict[str, str]
    parameters: dict[str, list[int]]
    has_wheels: bool = True
    is_signed: bool = False
    counts_per_rev: float = 0.0
    low_v: float = 0.0
    baud: int = 0
    unwired: str = ""
    reminders: tuple[str, ...] = ()


def needs_of(name_or_path: str) -> Needs:
    """Return the needs of a vehicle, given by its name or its file. Raises VehicleFileFault.

    Its wiring is the one that the file names (``wired_as``), or else has the vehicle's name.
    """
    document, tables = vehicle_tables(name_or_path)
    vehicle = load_vehicle(name_or_path)
    return Needs(
        vehicle=document.path.stem,
        wiring=tables["wired_as"] or document.path.stem,
        channels=tables["channels"],
        slots=_slots(tables),
        parameters=vehicle.parameters,
        is_signed=tables["encoder"]["is_signed"],
        counts_per_rev=tables["encoder"]["counts_per_rev"],
        low_v=tables["battery"]["low_v"],
        baud=tables["timing"]["baud"],
        unwired=tables["unwired"],
        reminders=vehicle.reminders,
    )


def box_needs(name: str) -> Needs:
    """Return the needs of a runstop box: a button, a radio and three lamps."""
    return Needs(name, name, channels=[], slots=_BOX_SLOTS, parameters={}, has_wheels=False)


_BOX_SLOTS = {
    "runstop": "the loop through its button",
    "link": "its radio",
    "lamps": "what it knows of the car",
}


def _slots(tables: dict[str, Any]) -> dict[str, str]:
    slots = {
        "runstop": "a closed loop is what lets any car drive",
        "enable": "what lets the drive move, and lets go when the board dies",
        "battery": "the vehicle file has limits of its voltage",
    }
    if tables["imu"]["gyro_fitted"]:
        slots["imu"] = "the vehicle file says gyro_fitted"
    return slots | _required(tables["stop"]["sources"])


def _required(sources: dict[str, dict[str, Any]]) -> dict[str, str]:
    return {
        _STOP_SLOTS[kind.kind]: f"its stop source {name} is required"
        for name, kind in STOP_SOURCES.items()
        if kind.kind in _STOP_SLOTS and "required" in sources.get(name, {}).values()
    }
