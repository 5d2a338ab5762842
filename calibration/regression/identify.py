"""The identification of all parameters of one car from its logs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from calibration.logs.trace import DriveTrace
from calibration.logs.turning import with_turning
from calibration.parameters import LOG_PARAMETER_NAMES, Estimate, not_identifiable
from calibration.regression.agreement import told_by_one_log, where_logs_agree
from calibration.regression.counts_per_metre import estimate_counts_per_metre
from calibration.regression.imu_bias import estimate_imu_biases
from calibration.regression.imu_mounting import estimate_imu_yaw
from calibration.regression.speed_map import estimate_speed_map
from calibration.regression.steering import TYRES, estimate_steering
from calibration.regression.steering_geometry import RollingGeometry
from calibration.regression.steering_map import SteeringMap
from host_bridge.core import Vehicle

_ROUNDS = 2  # counts per metre and steering map depend on each other (rolled_per_travel)


@dataclass(frozen=True)
class Identification:
    """The estimates in the order of the table, and the steering map if there is one.

    ``of_one_run`` are the parameters whose intervals know nothing of what differs between runs.
    """

    estimates: tuple[Estimate, ...]
    steering_map: SteeringMap | None
    of_one_run: tuple[str, ...] = ()

    def estimate(self, name: str) -> Estimate:
        return next(one for one in self.estimates if one.name == name)


def identify(traces: Sequence[DriveTrace], vehicle: Vehicle) -> Identification:
    """Identify the parameters of one car from its logs; in what they disagree, they tell nothing.

    What differs from log to log by less is in the intervals.
    Speeds use the counts per metre that were found, or else those of the vehicle file.
    """
    found = _identified(traces, vehicle)
    if len(traces) < 2:
        return replace(found, of_one_run=told_by_one_log(found.estimates, [found.estimates]))
    alone = [(trace.file, _identified([trace], vehicle).estimates) for trace in traces]
    agreed = where_logs_agree(found.estimates, alone)
    has_trim = any(one.name == "steer_trim_rad" and one.is_estimated for one in agreed)
    single = told_by_one_log(agreed, [estimates for _, estimates in alone])
    return Identification(agreed, found.steering_map if has_trim else None, single)


def _identified(traces: Sequence[DriveTrace], vehicle: Vehicle) -> Identification:
    turned = [with_turning(trace) for trace in traces]
    held = next((trace.counts_per_m for trace in turned if trace.counts_per_m), 0.0)
    steering_map: SteeringMap | None = None
    for _ in range(_ROUNDS):
        counted = estimate_counts_per_metre(turned, RollingGeometry.of(vehicle), steering_map)
        ratio = held / counted.value if counted.is_estimated and held else 1.0
        steered, steering_map = estimate_steering(turned, vehicle, ratio)
        if not counted.is_estimated:
            break
    every = [
        counted,
        *steered,
        *_tyres(steered),
        *estimate_speed_map(traces, ratio),
        *estimate_imu_biases(traces),
    ]
    every.append(estimate_imu_yaw(traces, ratio))
    by_name = {one.name: one for one in every}
    return Identification(tuple(by_name[name] for name in LOG_PARAMETER_NAMES), steering_map)


def _tyres(steered: Sequence[Estimate]) -> list[Estimate]:
    """Return the tyres' estimates as not determined, if there is no steering map."""
    named = {one.name for one in steered}
    why = "how it steers is not told"
    return [not_identifiable(name, why) for name in TYRES if name not in named]
