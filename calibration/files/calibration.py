"""The calibration of one car, with the record of how it was obtained.

Fitting by replay and estimating from logs are the two methods that find one. Each adds what only it
knows: a fit its joint uncertainty, logs their steering map.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from calibration.bayesian_fit.estimates import Fit
from calibration.files.source import COMMANDS, CalibrationSource
from calibration.logs.run import Run
from calibration.logs.trace import DriveTrace
from calibration.parameters import Estimate
from calibration.regression.identify import Identification
from calibration.regression.steering_map import SteeringMap


@dataclass(frozen=True)
class Calibration:
    """The parameters of one vehicle, with their provenance.

    ``date`` and ``command`` say when and how it was made; ``data`` lists its logs or, of each run
    of a fit, the commands and the odometry. ``steering_map`` is what logs told, ``fit`` what a fit
    by replay did; None, where it was the other method.
    """

    vehicle: str
    date: str
    command: str
    data: tuple[CalibrationSource, ...]
    estimates: tuple[Estimate, ...]
    steering_map: SteeringMap | None = None
    fit: Fit | None = None

    @classmethod
    def of_logs(
        cls,
        found: Identification,
        traces: Sequence[DriveTrace],
        vehicle: str,
        date: str,
        command: str,
    ) -> Calibration:
        data = tuple(map(CalibrationSource.of_trace, traces))
        return cls(vehicle, date, command, data, found.estimates, found.steering_map)

    @classmethod
    def of_fit(
        cls, fit: Fit, runs: Sequence[Run], vehicle: str, date: str, command: str
    ) -> Calibration:
        data = tuple(one for run in runs for one in CalibrationSource.of_run(run))
        return cls(vehicle, date, command, data, fit.estimates, fit=fit)

    @property
    def values(self) -> dict[str, float]:
        """The values of the parameters that were determined."""
        return {one.name: one.value for one in self.estimates if one.is_estimated}

    def was_fitted_on(self, run: Run) -> bool:
        files = CalibrationSource.of_run(run)
        pairs = zip(self.data, self.data[1:], strict=False)
        return any(all(map(CalibrationSource.is_same_file, files, pair)) for pair in pairs)

    @property
    def fitted_on(self) -> list[str]:
        """The names of the commands' files."""
        return [one.file for one in self.data if one.kind == COMMANDS]
