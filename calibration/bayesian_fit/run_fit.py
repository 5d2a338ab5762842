"""The fit of a vehicle's parameters to measured runs, by simulating them open loop."""

from __future__ import annotations

from collections.abc import Sequence

from calibration.bayesian_fit.estimates import Fit
from calibration.bayesian_fit.fit import Looks, Stages, fit
from calibration.bayesian_fit.linearisation import ROUGH_STEP_S, Look, residual, thinned, unrolled
from calibration.bayesian_fit.parameters import known_values
from calibration.logs.run import Run
from calibration.simulation.twin import STEP_S, Twin
from host_bridge.core import Vehicle


def calibrate(vehicle: Vehicle, runs: Sequence[Run]) -> Fit:
    """Return the fit of the parameters to these runs. Raises errors.VehicleFileFault."""
    known, twin = known_values(vehicle), Twin(vehicle)
    driven = [thinned(run) for run in runs]

    def looks(step_s: float) -> Looks:
        return Looks(
            lambda values, owns: [
                residual(twin, values, own, run, step_s)
                for run, own in zip(driven, owns, strict=True)
            ],
            lambda point, owns: [
                Look(twin, point.values, run, own, step_s).sight(known, point)
                for run, own in zip(driven, owns, strict=True)
            ],
        )

    ways = Looks(
        lambda values, owns: [
            residual(twin, values, own, run, ROUGH_STEP_S, unrolled)
            for run, own in zip(driven, owns, strict=True)
        ],
        lambda point, owns: [
            Look(twin, point.values, run, own, ROUGH_STEP_S).sight_of_ways(known, point)
            for run, own in zip(driven, owns, strict=True)
        ],
    )
    return fit(Stages(ways, looks(ROUGH_STEP_S), looks(STEP_S)), len(driven), known)
