"""The beginning of every drive: its log, its state machine, and notes on what is limited."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path

from host_bridge.cars.fleet import Fleet
from host_bridge.drive.controls import Controls
from host_bridge.drive.drive import FleetDrive
from host_bridge.drive.options import DriveOptions
from host_bridge.logs.recorder import Recorder
from host_bridge.sharing.open_car import OpenCar
from host_bridge.sharing.owner.recording import new_recorder
from host_bridge.sharing.services import Host


async def start_log(
    path: Path | None, host: Host, cars: Sequence[OpenCar], stack: AsyncExitStack
) -> Recorder | None:
    """Start logging all cars' frames to ``path``; it is closed with the stack.

    None without a path.
    """
    if path is None:
        return None
    log = new_recorder(path, host.cars.clock)
    stack.callback(log.close)
    for opened in cars:
        await opened.record(log)
    return log


def begin_drive(
    options: DriveOptions, fleet: Fleet, controls: Controls, now_us: int, sender_name: str
) -> FleetDrive:
    """Return the drive of a fleet as its options ask for it; it begins with arming."""
    return FleetDrive(
        fleet,
        controls,
        now_us,
        sender_name=sender_name,
        seconds=options.seconds,
        profile=options.profile,
        cap_mps=options.cap_mps,
        is_unarmed=options.is_unarmed,
        is_armed_there=options.is_afar,
        notes=_notes(options, controls),
        arm_clears=options.arm_clears,
        record=options.record,
    )


def _notes(options: DriveOptions, controls: Controls) -> tuple[str, ...]:
    """Return sentences on what is driven otherwise than asked, by the limits and by the input."""
    notes = tuple(controls.input.limit_notes())
    most_mps = controls.limits.speed_mps
    if options.speed_mps is not None and options.speed_mps > most_mps:
        what = f"--speed {options.speed_mps:g} is more than these cars and this input may"
        notes = (f"{what}: {most_mps:g} m/s at most", *notes)
    return notes


def tell_notes(options: DriveOptions, notes: Sequence[str], log: Recorder | None) -> None:
    """Tell a person on stderr, and write into the log, what is driven otherwise than asked."""
    for note in notes:
        if not options.is_json:
            print(f"tandem: {note}", file=sys.stderr)
        if log:
            log.note(note)
