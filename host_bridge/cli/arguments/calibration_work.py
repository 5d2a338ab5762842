"""Loads the work of calibrations by entry point, since the bridge does not import it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from importlib.metadata import entry_points
from typing import Any

from host_bridge.core import Vehicle
from host_bridge.core.errors import UsageFault
from host_bridge.sharing.services import Host

GROUP = "tandem.calibrations"
NONE = "none"
CHANNELS = 8  # outputs of a board (firmware/core/settings/params.py)


def calibration_work(name: str) -> Callable[..., Any]:
    """Load what a package offers in the group under this name. Raises errors.UsageFault."""
    for point in entry_points(group=GROUP, name=name):
        found: Callable[..., Any] = point.load()
        return found
    raise UsageFault(
        "nothing that calibrates is installed",
        expected=f"the entry point {name} in the group {GROUP}",
        remedy="install Tandem anew: make setup in a clone, else pip install its wheel",
    )


def board_half(vehicle: Vehicle, file: str, host: Host) -> Vehicle:
    """Return the vehicle with the parameters that a calibration puts on its board.

    ``file`` was written by tandem calibrate or tandem replay --fit, or is ``own``. Raises
    errors.VehicleFileFault.
    """
    found: Vehicle = calibration_work("board")(vehicle, file, host.vehicles)
    return replace(vehicle, parameters=found.parameters)


def changes_on_board(file: Vehicle, calibrated: Vehicle) -> list[dict[str, object]]:
    """Return the parameters that differ, as rows; of per-channel ones only the channels that do."""
    rows: list[dict[str, object]] = []
    for name, values in calibrated.parameters.items():
        before = file.parameters[name]
        if values == before:
            continue
        size = max(len(values) // CHANNELS, 1) if name.startswith("channel_") else len(values)
        for at in range(0, len(values), size):
            now, was = values[at : at + size], before[at : at + size]
            if now != was:
                label = f"{name} {at // size}" if len(values) > size else name
                rows.append({"parameter": label, "calibrated": now, "file": was})
    return rows
