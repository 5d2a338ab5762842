"""A drive of a log of Tandem, and what its twin's sensors would have told in the same drive.

What a log has of a car is what its own sensors told: counts of the wheels, the gyro, the
accelerometer, and what its program put out to the motors. The twin runs the car's program on the
commands of the log, as the speed loop answers to what the wheels do, and its sensors have no noise.
All are means over windows, by the board's own clock.
"""

from __future__ import annotations

from dataclasses import replace
from math import pi
from typing import NamedTuple

import numpy as np

from calibration.arrays import Floats
from calibration.logs.trace import DriveTrace, Series
from calibration.logs.trace_tandem import effort_of
from calibration.simulation.board_loop import BoardLoop
from calibration.simulation.causes import CAUSES, COMMAND_DELAY, GYRO, SingleCause
from calibration.simulation.plant_numbers import plant_parameters
from calibration.simulation.twin import SETTLE_S
from host_bridge.core import Vehicle
from host_bridge.core.errors import NotHeldFault
from sim_mock.plant.parameters import PlantParameters
from sim_mock.plant.vehicle_plant import Plant

WINDOW_S = 0.1  # five reports of the motion, and shorter than a turn of the steering
LONGEST_S = 60.0  # of a drive: the first minute tells as much as a person would wait for
# s: a plant's step. Twice as long as it is tuned for costs a millimetre, and half of the time
STEP_S = 0.002
_BEFORE_S, _AFTER_S = 0.3, 3.0  # before the first target, and after the last: it comes to rest
_HAIR_S = 1e-6  # of rounding in sums of steps
_LEAST_S = 2.0  # of a drive: twenty windows, twice as many as there are causes
_MOVED_M = 0.02  # while it should stand: a few counts are no drive
# Least noise of a window's mean, chosen near that of a good sensor: speed in m/s, yaw rate in
# rad/s, accelerations in m/s^2, effort as a share
_LEAST_NOISE = np.array([0.01, 0.002, 0.03, 0.03, 0.01])
CHANNELS = ("speed", "yaw rate", "acceleration ahead", "acceleration aside", "effort")
# Twins that differ by so little of what is usual from run to run would be the same but for chance
_PERTURBED, _PERTURBED_BY = ("strength", "mass", "friction"), 0.25
_SMOOTHED = 5  # windows: what comes apart now in one twin does in another a little later
_GYRO = CHANNELS.index("yaw rate")
_BIASES = {1: 0.003, 2: 0.1, 3: 0.1}  # of gyro and accelerometer, by channel: after zeroing


class _Grid(NamedTuple):
    """The times of the board's steps, and the commands of each."""

    t_s: Floats
    steer_rad: Floats
    target_mps: Floats
    brakes: Floats


class LogDrive:
    """One drive as its sensors told it; ``simulated`` tells what a changed twin's would have.

    ``seen`` has all means (channels, windows), ``twin`` those of the twin, and ``least_noise`` the
    least noise of each channel.
    ``measured`` and ``noise`` are flat, one number for each channel and window; what the log lacks
    is left out. ``constants`` are columns of what may be off throughout, in its usual size.
    """

    least_noise = _LEAST_NOISE

    def __init__(
        self, vehicle: Vehicle, trace: DriveTrace, known: PlantParameters | None = None
    ) -> None:
        """``known`` is the twin's plant, None: that of the vehicle file.

        Raises errors.NotHeldFault for a drive that does not begin at rest, or that is none.
        """
        self._vehicle, self._trace = vehicle, trace
        _refuse_unfit(trace)
        self._known = _quiet(known or plant_parameters(vehicle))
        self._grid = _grid(vehicle, trace, self._known)
        begin_s, end_s = _span(trace)
        self._edges_s = np.arange(begin_s, end_s, WINDOW_S)
        seen = self.seen = self._windows(trace.travel, trace.inertial, trace.effort)
        self._is_there = np.isfinite(seen)
        self.measured = seen[self._is_there]
        own = self.twin = self._whole(self._known)
        rough = np.array([roughness(row) for row in seen - own])
        self._noise = np.maximum(rough, _LEAST_NOISE)
        self.noise = np.hypot(self._noise[:, None], self._chance())[self._is_there]
        self.own = own[self._is_there]
        self.constants = [self._constant(at, size) for at, size in _BIASES.items()]

    def can_have(self, cause: SingleCause) -> bool:
        """Return whether this log could show the cause at all."""
        if cause.name == "brake":
            return bool(self._known.brake or self._known.esc)
        return cause.name != COMMAND_DELAY  # the log has the commands as the program had them

    def simulated(self, cause: SingleCause, amount: float) -> Floats:
        """Return what the twin's sensors tell if it differs by this."""
        if cause.name == GYRO:
            whole = self.twin.copy()
            whole[_GYRO] *= 1.0 + amount
        else:
            whole = self._whole(cause.change(self._known, amount))
        return np.asarray(whole[self._is_there])

    def _whole(self, p: PlantParameters) -> Floats:
        return self._windows(*_simulated(self._vehicle, p, self._grid))

    def _chance(self) -> Floats:
        """Return how far twins that are all but the same come apart (channels, windows).

        A count more or less is enough for a speed loop to brake here and not there.
        """
        apart = []
        for cause in CAUSES:
            if cause.name in _PERTURBED:
                for side in (-_PERTURBED_BY, _PERTURBED_BY):
                    made = self._whole(cause.change(self._known, side * cause.usual))
                    apart.append(made - self.twin)
        square = np.nan_to_num(np.mean(np.square(apart), axis=0))
        near = np.ones(_SMOOTHED) / _SMOOTHED
        return np.sqrt([np.convolve(row, near, "same") for row in square])

    def _windows(self, travel: Series, inertial: Series, effort: Series) -> Floats:
        """Return the means of each channel (channels, windows); nan where there is none."""
        edges = self._edges_s
        rolled_m = np.interp(edges, travel.t_s, travel.values[0])
        rows = [np.diff(rolled_m) / WINDOW_S]
        kept = self._trace.inertial.t_s
        for at in range(3):
            if not inertial.is_present:
                rows.append(np.full(len(edges) - 1, np.nan))
                continue
            place = np.clip(np.searchsorted(inertial.t_s, kept + _HAIR_S) - 1, 0, None)
            rows.append(_means(edges, kept, inertial.values[at][place]))
        if self._trace.effort.is_present:
            there = self._trace.effort.t_s
            place = np.clip(np.searchsorted(effort.t_s, there + _HAIR_S) - 1, 0, None)
            rows.append(_means(edges, there, effort.values[0][place]))
        else:
            rows.append(np.full(len(edges) - 1, np.nan))
        return np.array(rows)

    def _constant(self, channel: int, size: float) -> Floats:
        column = np.zeros(self._is_there.shape)
        column[channel] = size
        return np.asarray(column[self._is_there])


def _means(edges: Floats, t_s: Floats, values: Floats) -> Floats:
    """Return the mean of the values in each window, nan where there is none."""
    place = np.searchsorted(edges, t_s, side="right") - 1
    is_in = (place >= 0) & (place < len(edges) - 1) & np.isfinite(values)
    count = np.bincount(place[is_in], minlength=len(edges) - 1)
    total = np.bincount(place[is_in], values[is_in], minlength=len(edges) - 1)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def roughness(row: Floats) -> float:
    """Return the deviation of white noise whose steps from window to window are as rough."""
    steps = np.diff(row[np.isfinite(row)])
    if not len(steps):
        return 0.0
    # 1.4826 MAD is a deviation; a step has the noise of two windows
    return float(1.4826 * np.median(np.abs(steps - np.median(steps))) / 2.0**0.5)


def _span(trace: DriveTrace) -> tuple[float, float]:
    """Return from when to when the drive is looked at, by the board's clock."""
    times_s, (target_mps, _) = trace.program
    moves = np.flatnonzero(target_mps)
    if not moves.size:
        return float(times_s[0]), float(times_s[0])
    begin_s = float(times_s[moves[0]]) - _BEFORE_S
    end_s = min(float(trace.travel.t_s[-1]), float(times_s[moves[-1]]) + _AFTER_S)
    return begin_s, min(end_s, begin_s + LONGEST_S)


def _refuse_unfit(trace: DriveTrace) -> None:
    begin_s, end_s = _span(trace)
    if end_s - begin_s < _LEAST_S:
        raise NotHeldFault(
            "the drive is too short to look for a cause",
            expected=f"{_LEAST_S:g} s of driving",
            got=f"{max(end_s - begin_s, 0.0):.1f} s",
        )
    moved_m = np.ptp(
        np.interp([begin_s, begin_s + _BEFORE_S], trace.travel.t_s, trace.travel.values[0])
    )
    if moved_m > _MOVED_M:
        raise NotHeldFault(
            "the car rolled already when this drive began, and its twin begins at rest",
            expected="a log that begins before the car drives",
        )


def _quiet(p: PlantParameters) -> PlantParameters:
    """Return the plant with an inertial sensor that tells the truth."""
    quiet = {
        name: 0.0
        for name in p.imu.__dataclass_fields__
        if name not in ("rate_hz", "yaw_rate_bias_s", "accel_bias_s")
    }
    return replace(p, imu=replace(p.imu, **quiet))


def _grid(vehicle: Vehicle, trace: DriveTrace, p: PlantParameters) -> _Grid:
    """Return the steps of the board, from where an ESC would have begun to arm."""
    step_s = vehicle.parameters["step_us"][0] * 1e-6
    begin_s, end_s = _span(trace)
    status_s = trace.steering.t_s
    first_s = status_s[np.searchsorted(status_s, begin_s) % len(status_s)]
    settle = int((SETTLE_S + getattr(p.esc, "arm_s", 0.0)) / step_s) + 1
    count = max(int((end_s - first_s) / step_s), 0) + 1
    t_s = first_s + step_s * np.arange(-settle, count)
    held = np.maximum(t_s + _HAIR_S, status_s[0])
    times_s, program = trace.program
    target_mps, brakes = program[:, np.searchsorted(times_s, held, side="right") - 1]
    target_mps[:settle] = 0.0
    return _Grid(t_s, trace.at("steering", held), target_mps, brakes)


def _simulated(vehicle: Vehicle, p: PlantParameters, grid: _Grid) -> tuple[Series, Series, Series]:
    """Return travel, readings of the inertial sensor and effort as the twin has them, by step."""
    plant, board = Plant(p, seed=0), BoardLoop(vehicle.parameters, is_ramped=True)
    substeps = max(round(board.step_s / STEP_S), 1)
    fine_s = board.step_s / substeps
    # m on the floor of a true wheel, in what the log's counts say of it
    told = p.encoder.counts_per_rev / (2.0 * pi * p.drive.wheel_radius_m)
    told *= vehicle.parameters["nm_per_count"][0] * 1e-9
    channels = range(len(vehicle.channels))
    rows = []
    for steer_rad, target_mps, brakes in zip(*grid[1:], strict=True):
        encoder, read = plant.encoder, plant.imu.measured
        outputs = board.outputs(plant, float(target_mps), float(steer_rad), brakes=brakes > 0.0)
        efforts = [it for at in channels if (it := effort_of(vehicle, at, outputs[at])) is not None]
        rolled_m = 0.5 * told * (encoder.left_m + encoder.right_m)
        rows.append((rolled_m, *read[:3], sum(efforts) / max(len(efforts), 1)))
        for _ in range(substeps):
            plant.step(fine_s, outputs, True)
    columns = np.array(rows).T
    return (
        Series(grid.t_s, columns[:1]),
        Series(grid.t_s, columns[1:4]),
        Series(grid.t_s, columns[4:]),
    )
