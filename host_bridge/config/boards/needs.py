"""What a vehicle needs of a board, from its file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from host_bridge.config.schema import STOP_SOURCES
from host_bridge.config.vehicle import load_vehicle, vehicle_tables

_BY_PIN, _BY_RECEIVER = 1, 2  # kinds of stop source
_STOP_SLOTS = {_BY_PIN: "runstop", _BY_RECEIVER: "rc"}


@dataclass(frozen=True)
class Needs:
    """``channels`` as the file has them; ``parameters`` of its program; ``stops`` the slots of the
    stop sources that some profile requires; ``low_v`` where its battery is low."""

    vehicle: str
    channels: list[dict[str, Any]]
    parameters: dict[str, list[int]]
    stops: dict[str, str]  # slot to name of the stop source
    is_signed: bool
    counts_per_rev: float
    has_gyro: bool
    low_v: float
    baud: int


def needs_of(name_or_path: str) -> Needs:
    """Of a type by its name, or of a vehicle file. Raises VehicleFileFault."""
    document, tables = vehicle_tables(name_or_path)
    return Needs(
        vehicle=document.path.stem,
        channels=tables["channels"],
        parameters=load_vehicle(name_or_path).parameters,
        stops=_required(tables["stop"]["sources"]),
        is_signed=tables["encoder"]["is_signed"],
        counts_per_rev=tables["encoder"]["counts_per_rev"],
        has_gyro=tables["imu"]["gyro_fitted"],
        low_v=tables["battery"]["low_v"],
        baud=tables["timing"]["baud"],
    )


def _required(sources: dict[str, dict[str, Any]]) -> dict[str, str]:
    return {
        _STOP_SLOTS[kind.kind]: name
        for name, kind in STOP_SOURCES.items()
        if kind.kind in _STOP_SLOTS and "required" in sources.get(name, {}).values()
    }
