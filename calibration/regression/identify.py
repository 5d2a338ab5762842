"""The identification of all parameters of one car from its logs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from calibration.logs.trace import Trace
from calibration.regression.counts_per_metre import counts
from calibration.regression.imu_bias import biases
from calibration.regression.imu_mounting import mounting
from calibration.regression.parameters import NAMES, Finding, not_identifiable
from calibration.regression.speed_map import speed
from calibration.regression.steering import TYRES, steering
from calibration.regression.steering_geometry import Geometry
from calibration.regression.steering_map import Map
from host_bridge.core import Vehicle

_ROUNDS = (
    2  # the counts per metre depend on the steering map (see Geometry.farther), and vice versa
)


@dataclass(frozen=True)
class Found:
    """The findings in the order of the table, and the steering map if there is one."""

    findings: tuple[Finding, ...]
    steering_map: Map | None

    def of(self, name: str) -> Finding:
        return next(one for one in self.findings if one.name == name)


def identify(traces: Sequence[Trace], vehicle: Vehicle) -> Found:
    """Identify the parameters of one car from its logs.

    Speeds use the counts per metre that were found, or else those of the vehicle file.
    """
    held = next((trace.counts_per_m for trace in traces if trace.counts_per_m), 0.0)
    steering_map: Map | None = None
    for _ in range(_ROUNDS):
        counted = counts(traces, Geometry.of(vehicle), steering_map)
        ratio = held / counted.value if counted.is_estimated and held else 1.0
        steered, steering_map = steering(traces, vehicle, ratio)
        if not counted.is_estimated:
            break
    every = [counted, *steered, *_tyres(steered), *speed(traces, ratio), *biases(traces)]
    every.append(mounting(traces, ratio))
    by_name = {one.name: one for one in every}
    return Found(tuple(by_name[name] for name in NAMES), steering_map)


def _tyres(steered: Sequence[Finding]) -> list[Finding]:
    """Return the tyres' findings as not determined, if there is no steering map."""
    named = {one.name for one in steered}
    why = "how it steers is not told"
    return [not_identifiable(name, why) for name in TYRES if name not in named]
