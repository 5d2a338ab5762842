"""The report of ``tandem calibrate``: what logs determine of a car, as text, JSON and files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

from calibration.files.calibration import Calibration
from calibration.files.calibration_text import calibration_text
from calibration.files.source import CalibrationSource
from calibration.logs.trace import DriveTrace
from calibration.parameters import BY_NAME, Estimate
from calibration.regression.identify import Identification
from calibration.vehicles.board import VehicleTypes, calibrated_vehicle
from calibration.vehicles.identified_car import vehicle_file_values
from calibration.vehicles.vesc_yaml import vesc_yaml
from host_bridge.core import Vehicle


@dataclass(frozen=True)
class CalibrationReport:
    """One car as its logs determine it, with the files that can be made of that."""

    found: Identification
    traces: Sequence[DriveTrace]
    vehicle: Vehicle
    calibration: Calibration

    @property
    def is_any_estimated(self) -> bool:
        return any(one.is_estimated for one in self.found.estimates)

    def toml(self) -> str:
        """Return the calibration's file."""
        return calibration_text(self.calibration)

    def vesc_yaml(self) -> str:
        """Return F1TENTH's vesc.yaml. Raises errors.UsageFault without a VESC."""
        return vesc_yaml(self.vehicle, self.calibration)

    def vehicle_file(self, vehicles: VehicleTypes) -> str:
        """Return a vehicle file. Raises errors.VehicleFileFault for numbers that none may have."""
        return calibrated_vehicle(self.vehicle, self.calibration, vehicles)[0]

    def row(self) -> dict[str, Any]:
        """Return the result as ``--json`` prints it."""
        known = vehicle_file_values(self.vehicle)
        steering_map = self.found.steering_map
        return {
            "vehicle": self.vehicle.name,
            "logs": [vars(CalibrationSource.of_trace(trace)) for trace in self.traces],
            "notes": [f"{trace.file}: {note}" for trace in self.traces for note in trace.notes],
            "parameters": {
                one.name: _estimate_row(one, known.get(one.name)) for one in self.found.estimates
            },
            "of_one_run": list(self.found.of_one_run),
            "steering_map": None
            if steering_map is None
            else {
                **steering_map.columns(),
                "is_bent": steering_map.is_bent,
                "residual_radps": steering_map.residual_radps,
            },
        }

    def lines(self) -> Iterator[str]:
        """Yield the result as lines for people."""
        known = vehicle_file_values(self.vehicle)
        for trace in self.traces:
            yield f"{trace.file}: {trace.kind}, {trace.seconds:.0f} s of {self.vehicle.name}"
            yield from (f"  {note}" for note in trace.notes)
        estimated = [one for one in self.found.estimates if one.is_estimated]
        yield ""
        head = ("told, with 95 % intervals", "value", "from", "to", "file says")
        yield "{:29}{:>10}  {:>9} {:>9}  {:>9}".format(*head)
        for one in estimated:
            known_text = f"{known[one.name]:9.4g}" if one.name in known else "        -"
            yield (
                f"{one.name:29}{one.value:10.4g}  {one.low:9.4g} {one.high:9.4g}  {known_text}"
                f"  {BY_NAME[one.name].unit}".rstrip()
            )
            if one.why:
                yield f"  {one.why}"
        if not estimated:
            yield "nothing"
        yield from _one_run_lines(self.found.of_one_run, is_all=len(self.traces) == 1)
        yield from _map_lines(self.found)
        yield from _not_identifiable_lines(self.found.estimates)


def _estimate_row(one: Estimate, known: float | None) -> dict[str, Any]:
    p = BY_NAME[one.name]
    row: dict[str, Any] = {"is_told": one.is_estimated, "unit": p.unit, "vehicle_file": known}
    if one.is_estimated:
        row |= {"value": one.value}
        row |= {k: v for k, v in (("low", one.low), ("high", one.high)) if isfinite(v)}
    else:
        row |= {"manoeuvre": p.manoeuvre}
    return {**row, "why": one.why}


def _one_run_lines(names: Sequence[str], *, is_all: bool) -> Iterator[str]:
    """Yield which intervals know nothing of what differs from run to run."""
    if names:
        which = "these intervals hold" if is_all else f"the interval of {', '.join(names)} holds"
        yield f"{which} for one run: another battery, floor or day may differ by more"
        yield "  to tell by how much: two logs or more that each tell it"


def _map_lines(found: Identification) -> Iterator[str]:
    steering_map = found.steering_map
    if steering_map is None:
        return
    bent = (
        "bent, as the log bears it" if steering_map.is_bent else "a straight line: no bend is seen"
    )
    yield ""
    yield f"steering map ({bent}); beyond these commands nothing was driven"
    yield "  commanded rad  wheels rad   from       to"
    rows = zip(
        steering_map.commanded_rad,
        steering_map.wheel_rad,
        steering_map.low_rad,
        steering_map.high_rad,
        strict=True,
    )
    for commanded, wheel, low, high in rows:
        yield f"  {commanded:13.4f} {wheel:11.4f} {low:8.4f} {high:8.4f}"


def _not_identifiable_lines(estimates: Sequence[Estimate]) -> Iterator[str]:
    """Yield the parameters that could not be identified, why, and the manoeuvre that would help.

    A manoeuvre that is the remedy for several is named once.
    """
    missing = [one for one in estimates if not one.is_estimated]
    if not missing:
        return
    yield ""
    yield "not told: stays as the vehicle file has it"
    by_manoeuvre: dict[str, list[Estimate]] = {}
    for one in missing:
        by_manoeuvre.setdefault(BY_NAME[one.name].manoeuvre, []).append(one)
    for manoeuvre, some in by_manoeuvre.items():
        for one in some:
            yield f"  {one.name}: {one.why}"
        yield f"    to tell: {manoeuvre}"
