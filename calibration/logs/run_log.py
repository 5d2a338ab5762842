"""Reader of runs from a log of Tandem, one for each car that was driven in it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from math import inf, pi
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from calibration.logs.run import Run
from calibration.logs.run_csv import read_run_csv
from calibration.logs.trace import DriveTrace
from calibration.logs.trace_tandem import logged_cars, read_tandem_log
from host_bridge.config import vehicle_word
from host_bridge.core import Vehicle
from host_bridge.core.errors import DataFileFault
from host_bridge.logs.bags.bag import sha256_of
from host_bridge.logs.reading import cars_in, facts, read
from host_bridge.logs.recorder import LIDAR
from host_bridge.logs.tables import write_run

_DRIVEN = "ACTIVE"  # the state in which a car's program follows a target


class LoggedRun(NamedTuple):
    """One car's drive; ``is_virtual`` if it was a virtual car.

    A virtual car had the vehicle file's numbers, or those of the calibration that its URI named.
    ``trace`` reads the same drive as the car's sensors told it: None where they told too little.
    """

    vehicle: str
    is_virtual: bool
    run: Run
    trace: Callable[[], DriveTrace | None]


def read_log_runs(log: Path, wanted: str, load: Callable[[str], Vehicle]) -> list[LoggedRun]:
    """Read the drives of a log, or only those of the wanted car; at least one.

    Raises errors.DataFileFault for a file that is no log or has no such drive, and
    VehicleFileFault.
    """
    types = logged_cars(log)
    if wanted and wanted not in types:
        raise DataFileFault(
            f"no car {wanted} in this log",
            where=str(log),
            expected=" or ".join(sorted(types)) or "a car",
            got=wanted,
            remedy=f"tandem log {log}",
        )
    chosen = {wanted: types[wanted]} if wanted else types
    _warn_of_calibrations(log, set(chosen))
    _tell_unused(log, set(types) - set(chosen))
    runs = [run for car, vehicle in chosen.items() for run in _runs_of(log, car, load(vehicle))]
    if not runs:
        raise DataFileFault(
            "nobody drives in this log",
            where=str(log),
            expected="a car that was ACTIVE, and its motion",
            got=", ".join(chosen) or "no car",
            remedy="tandem drive CAR --record FILE.mcap makes such a log",
        )
    return runs


def _warn_of_calibrations(log: Path, cars: set[str]) -> None:
    """Warn of virtual cars that were driven with a calibration: their twins do not have it."""
    for name, row in cars_in(facts(log)).items():
        uri = row.get("uri", "")
        if name in cars and "calibration=" in uri:
            print(
                f"tandem: in this log {name} was {uri}; without its calibration, as here, "
                "a twin is off by what that changed",
                file=sys.stderr,
            )


def _tell_unused(log: Path, others: set[str]) -> None:
    """Tell on stderr what the log holds besides, and which option or command would use it."""
    notes = [f"{name} was not used: --car {name} takes it" for name in sorted(others)]
    if any(it.topic == LIDAR for it in read(log)):
        notes.append("its scans were not used: tandem map and tandem localise read them")
    for words in notes:
        print(f"tandem: {log.name}: {words}", file=sys.stderr)


def _runs_of(log: Path, car: str, vehicle: Vehicle) -> Iterator[LoggedRun]:
    """Read the drive by way of the tables of ``tandem log --csv``, so that both say the same."""
    with TemporaryDirectory() as folder:
        written = write_run(log, Path(folder), car, vehicle)
        if written is None:
            return
        for note in (*written.notes, *_late_odometry(vehicle)):
            print(f"tandem: {log.name}, {car}: {note}", file=sys.stderr)
        run = read_run_csv(written.commands, written.odometry)
    for channel, (count, most) in written.clipped.items():
        print(
            f"tandem: {count} commands of {channel} of {car} are clipped, the farthest from "
            f"{most:.2f} to 1 of the limit in {vehicle.name}'s file",
            file=sys.stderr,
        )
    name, sha256 = f"{log.name}:{car}", sha256_of(log)
    commands = replace(
        run.commands,
        file=name,
        sha256=sha256,
        is_ramped=True,
        brakes=tuple(_brakes(log, car)),
    )
    odometry = replace(run.odometry, file=name, sha256=sha256)
    logged = Run(commands, odometry)
    trace = partial(_trace_of, log, car, vehicle)
    yield LoggedRun(vehicle_word(vehicle), written.is_virtual, logged, trace)


def _trace_of(log: Path, car: str, vehicle: Vehicle) -> DriveTrace | None:
    try:
        return read_tandem_log(log, car, vehicle)
    except (KeyError, DataFileFault):  # a report of an older version lacks some fields
        return None


def _late_odometry(vehicle: Vehicle) -> Iterator[str]:
    """Yield a sentence on a car that seems to start after its twin, because it counts magnets.

    From rest it takes two of them to know a speed; what the wheels rolled before is not counted.
    """
    gap_m = magnet_gap_m(vehicle)
    if gap_m:
        yield (
            f"its wheels are seen by magnets {gap_m:.2f} m apart, so from rest its odometry "
            f"begins up to {2.0 * gap_m:.2f} m late; the twin does not"
        )


def magnet_gap_m(vehicle: Vehicle) -> float:
    """Return how far a car rolls from one of its magnets to the next; 0 if it has none."""
    plant: Mapping[str, Any] = vehicle.plant
    magnets = plant["encoder"].get("magnets", 0)
    return 2.0 * pi * plant["drive"]["wheel_radius_m"] / magnets if magnets else 0.0


def _brakes(log: Path, car: str) -> Iterator[tuple[float, float]]:
    """Yield from when to when the car's program braked instead of following a target."""
    start_us = begun_us = None
    for row in read(log):
        if row.car != car or row.topic not in ("status", "motion"):
            continue
        start_us = row.time_us if start_us is None else start_us
        if row.topic != "status" or not isinstance(row.value, dict):
            continue
        is_braking = row.value["state"] != _DRIVEN and row.value.get("brake", 0.0) > 0.0
        if is_braking and begun_us is None:
            begun_us = row.time_us
        elif not is_braking and begun_us is not None:
            yield (begun_us - start_us) * 1e-6, (row.time_us - start_us) * 1e-6
            begun_us = None
    if begun_us is not None and start_us is not None:
        yield (begun_us - start_us) * 1e-6, inf
