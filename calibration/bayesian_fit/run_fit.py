"""The fit of a vehicle's parameters to measured runs, by simulating them open loop."""

from __future__ import annotations

from collections.abc import Sequence

from calibration.bayesian_fit.estimates import Fit
from calibration.bayesian_fit.fit import Stages, fit
from calibration.bayesian_fit.linearisation import (
    ROUGH_STEP_S,
    SimulatedRun,
    as_displacements,
    residual,
    thinned,
)
from calibration.bayesian_fit.parameters import known_values
from calibration.bayesian_fit.search import ResidualModel
from calibration.logs.run import Run
from calibration.simulation.twin import STEP_S, Twin
from host_bridge.core import Vehicle


def fit_runs(vehicle: Vehicle, runs: Sequence[Run]) -> Fit:
    """Return the fit of the parameters to these runs. Raises errors.VehicleFileFault."""
    known, twin = known_values(vehicle), Twin(vehicle)
    driven = [thinned(run) for run in runs]

    def models(step_s: float) -> ResidualModel:
        return ResidualModel(
            lambda values, run_effects: [
                residual(twin, values, own, run, step_s)
                for run, own in zip(driven, run_effects, strict=True)
            ],
            lambda point, run_effects: [
                SimulatedRun(twin, point.values, run, own, step_s).linearised(known, point)
                for run, own in zip(driven, run_effects, strict=True)
            ],
        )

    displacements = ResidualModel(
        lambda values, run_effects: [
            residual(twin, values, own, run, ROUGH_STEP_S, as_displacements)
            for run, own in zip(driven, run_effects, strict=True)
        ],
        lambda point, run_effects: [
            SimulatedRun(twin, point.values, run, own, ROUGH_STEP_S).linearised_displacements(
                known, point
            )
            for run, own in zip(driven, run_effects, strict=True)
        ],
    )
    return fit(Stages(displacements, models(ROUGH_STEP_S), models(STEP_S)), len(driven), known)
