"""Open-loop simulation of a car's plant by a driver's log, with poses as its odometry has them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import cos, sin

import numpy as np

from calibration.arrays import Floats
from calibration.logs.run import Run
from calibration.simulation.board_loop import BoardLoop
from calibration.simulation.command_queue import CommandChange, command_changes, departures_s
from calibration.simulation.plant_numbers import Values, plant_parameters
from calibration.simulation.poses import Poses, as_odometry
from calibration.simulation.steering_model import STEERING_PARAMETERS
from calibration.simulation.tuned_plant import remapped_steering, with_values
from host_bridge.core import Vehicle
from host_bridge.core.errors import VehicleFileFault
from sim_mock.plant.body import BodyState
from sim_mock.plant.parameters import PlantParameters, SteeringChannel
from sim_mock.plant.vehicle_plant import FULL_DUTY, Plant

STEP_S = 0.001  # the step that the plant is tuned for
# After a speed controller has armed and before the first command, so that the wheels stand where
# steering 0 puts them
SETTLE_S = 0.5
QUIET_S = 0.1  # after a change: longer than any servo's dead time
KEPT = 64  # reshaped steering curves in the cache
HAIR_S = 1e-7  # shorter remainders are no step
# In m/s^2 and rad/s^2, for steps of STEP_S: below it the motion counts as steady, which costs a
# tenth of a millimetre in a run. It grows with the square of the step, as the step's own errors do.
STEADY_PER_S2 = 2e-5


class Twin:
    """A vehicle's plant, parsed once and simulated often.

    Raises errors.VehicleFileFault for a vehicle with channels that such a log does not drive.
    """

    def __init__(self, vehicle: Vehicle) -> None:
        self.vehicle = vehicle
        self._known = plant_parameters(vehicle)
        self._curves = [
            np.array(one["curve"]).T if one["kind"] == "servo_steering" else None
            for one in vehicle.channels
        ]
        self._bent: dict[
            tuple[float, ...], tuple[SteeringChannel, ...]
        ] = {}  # cache of steering channels by the values of MAP
        # A car with a speed controller follows a target speed by the loop of its board.
        self.has_loop = any(one["kind"] == "esc" for one in vehicle.channels)
        if not self.has_loop:
            self.outputs_of(CommandChange(0.0, 0.0, 0.0))

    def tuned(self, values: Values) -> PlantParameters:
        """Return the parameters of the vehicle's plant with these values."""
        key = tuple(values[name] for name in STEERING_PARAMETERS)
        if key not in self._bent:
            if len(self._bent) >= KEPT:
                self._bent.clear()
            self._bent[key] = remapped_steering(self._known, values, self.vehicle.steer_max_rad)
        return with_values(self._known, values, self._bent[key])

    def predict(self, values: Values, run: Run, step_s: float = STEP_S) -> Poses:
        """Return the poses at the odometry's times, from the run's start pose, never re-posed."""
        way = self.centre_poses(values, run, step_s)
        return as_odometry(way, run.start_pose(), values["mount_yaw_rad"], values["mount_x_m"])

    def centre_poses(self, values: Values, run: Run, step_s: float = STEP_S) -> Poses:
        """Return the centre of gravity's poses at the odometry's times, from rest in the origin."""
        return self.drive(
            self.tuned(values),
            commands_in_effect(run, values),
            run.odometry.t_s,
            step_s,
            is_ramped=run.commands.is_ramped,
            brakes=run.commands.brakes,
        )

    def drive(
        self,
        parameters: PlantParameters,
        schedule: Sequence[CommandChange],
        times_s: Floats,
        step_s: float,
        *,
        is_ramped: bool = False,
        brakes: Sequence[tuple[float, float]] = (),
    ) -> Poses:
        """Return the centre of gravity's poses at ``times_s``, from rest in the origin."""
        plant = Plant(parameters, seed=0)
        if self.has_loop:
            board = BoardLoop(self.vehicle.parameters, is_ramped=is_ramped)
            return self._drive_by_loop(plant, board, schedule, brakes, times_s, step_s)
        plan = [CommandChange(schedule[0].t_s - SETTLE_S, 0.0, 0.0), *schedule]
        track = _Track(plan[0].t_s, plant.truth)
        for now, then in pairwise([*plan, CommandChange(float(times_s[-1]), 0.0, 0.0)]):
            if now.t_s >= times_s[-1]:
                break
            if now is plan[-1] and not now.throttle_norm and not plant.truth.vx_mps:
                break
            _simulate(plant, track, min(then.t_s, float(times_s[-1])), self.outputs_of(now), step_s)
        return track.at(times_s)

    def _drive_by_loop(
        self,
        plant: Plant,
        board: BoardLoop,
        schedule: Sequence[CommandChange],
        brakes: Sequence[tuple[float, float]],
        times_s: Floats,
        step_s: float,
    ) -> Poses:
        """Drive with the board's program in the loop: the throttle is a share of the top speed."""
        armed_s = getattr(plant.parameters.esc, "arm_s", 0.0)  # a VESC has none: it arms at once
        begin_s = schedule[0].t_s - SETTLE_S - armed_s
        track = _Track(begin_s, plant.truth)
        substeps = max(round(board.step_s / step_s), 1)
        fine_s = board.step_s / substeps
        at, now = 0, CommandChange(begin_s, 0.0, 0.0)
        for step in range(int((float(times_s[-1]) - begin_s) / board.step_s) + 1):
            t_s = begin_s + step * board.step_s
            while at < len(schedule) and schedule[at].t_s <= t_s + HAIR_S:
                now, at = schedule[at], at + 1
            target_mps = now.throttle_norm * self.vehicle.speed_max_mps
            steer_rad = now.steering_norm * self.vehicle.steer_max_rad
            is_braking = any(start_s <= t_s < end_s for start_s, end_s in brakes)
            outputs = board.outputs(plant, target_mps, steer_rad, brakes=is_braking)
            for i in range(1, substeps + 1):
                plant.step(fine_s, outputs, True)
                track.rows.append((t_s + i * fine_s, *plant.truth.values()))
        return track.at(times_s)

    def outputs_of(self, now: CommandChange) -> list[int]:
        """Return the outputs of the board: the servos' pulses in ns, throttle as duty.

        They are those of the old stack that drove the logs: throttle goes to the motors directly.
        """
        steer_rad = now.steering_norm * self.vehicle.steer_max_rad
        pairs = zip(self.vehicle.channels, self._curves, strict=True)
        return [self._output(one, curve, steer_rad, now) for one, curve in pairs]

    def _output(
        self, channel: dict[str, object], curve: Floats | None, steer_rad: float, now: CommandChange
    ) -> int:
        kind = channel["kind"]
        if curve is not None:
            return round(float(np.interp(steer_rad, *curve)))
        if kind == "h_bridge":
            return round(now.throttle_norm * FULL_DUTY)
        if kind == "none":
            return 0
        raise VehicleFileFault(
            f"cannot replay throttle on a channel of kind {kind}",
            where=self.vehicle.path,
            expected="servo_steering, esc, h_bridge or none",
            remedy="name a vehicle whose drive is an ESC, a VESC or H-bridges",
        )


def predict(vehicle: Vehicle, values: Values, run: Run, step_s: float = STEP_S) -> Poses:
    """Return the twin's poses at the odometry's times. Raises as ``Twin`` does."""
    return Twin(vehicle).predict(values, run, step_s)


def commands_in_effect(run: Run, values: Values) -> list[CommandChange]:
    """Return the run's commands as changes at the times they leave the queue."""
    queue = values["queue_delay_s"], values["queue_s_per_message"]
    return command_changes(run.commands, departures_s(run.commands.t_s, *queue))


class _Track:
    """The car's pose and speeds after each step, interpolated in between.

    Between steps it is a cubic Hermite curve with the speeds of both ends; over a leap, an arc.
    """

    def __init__(self, t_s: float, truth: BodyState) -> None:
        self._truth = truth
        self.rows = [(t_s, *truth.values())]
        self._leaps: list[int] = []

    @property
    def t_s(self) -> float:
        """The time at which the track ends."""
        return self.rows[-1][0]

    def add_leap(self, t_s: float) -> None:
        """Add the car's present state; since the last row its speeds were constant."""
        self._leaps.append(len(self.rows))
        self.rows.append((t_s, *self._truth.values()))

    def at(self, times_s: Floats) -> Poses:
        """Return the poses at these times, held constant before the track and after its end."""
        rows = np.array([*self.rows, self.rows[-1]])  # the last pose holds after the end
        t_s = np.append(rows[:-1, 0], np.inf)
        place = np.clip(np.searchsorted(t_s, times_s, side="right") - 1, 0, len(rows) - 2)
        since_s = np.clip(times_s - t_s[place], 0.0, None)
        span_s = np.where(np.isfinite(t_s[place + 1]), t_s[place + 1] - t_s[place], 1.0)
        begin, end = rows[place], rows[place + 1]
        curved = _hermite(begin, end, span_s, np.minimum(since_s / span_s, 1.0))
        return Poses(*np.where(np.isin(place + 1, self._leaps), _circle(begin, since_s), curved))


def _hermite(begin: Floats, end: Floats, span_s: Floats, share: Floats) -> Floats:
    """Return poses (3, times) at a share of the step between rows.

    A row is (t, x, y, yaw, vx, vy, yaw rate).
    """
    s = share
    own, slope = 1.0 + s**2 * (2.0 * s - 3.0), s * (1.0 - s) ** 2 * span_s
    end_slope = s**2 * (s - 1.0) * span_s
    return np.asarray(
        own * begin[:, 1:4].T + (1.0 - own) * end[:, 1:4].T
        + slope * _speeds(begin) + end_slope * _speeds(end)
    )  # fmt: skip


def _speeds(rows: Floats) -> Floats:
    """Return (3, rows): the speeds along x and y of the floor, and the yaw rate."""
    _, _, _, yaw, vx, vy, rate = rows.T
    c, s = np.cos(yaw), np.sin(yaw)
    return np.stack([c * vx - s * vy, s * vx + c * vy, rate])


def _circle(begin: Floats, since_s: Floats) -> Floats:
    """Return the poses after ``since_s`` (times,) on an arc at constant speeds, from each row.

    ``begin`` (times, 7) has t_s, x_m, y_m, yaw_rad on the floor, and vx_mps, vy_mps, yaw_rate_radps
    in the car's axes. Returns (3, times): x_m, y_m, yaw_rad.
    """
    _, x, y, yaw, vx, vy, rate = begin.T
    half = 0.5 * rate * since_s
    chord = since_s * np.sinc(half / np.pi)
    c, s = np.cos(yaw + half), np.sin(yaw + half)
    return np.stack(
        [x + chord * (c * vx - s * vy), y + chord * (s * vx + c * vy), yaw + 2.0 * half]
    )


def _simulate(
    plant: Plant, track: _Track, until_s: float, outputs: Sequence[int], step_s: float
) -> None:
    """Step the plant until ``until_s`` and record each state.

    Steps have one length, with a shorter one at the end, so that the moment of a change is not
    rounded and poses vary smoothly with it. Once the motion is steady the rest is one leap along an
    arc, which is exact and costs nothing.
    """
    truth, begun_s, rows = plant.truth, track.t_s, track.rows
    count = int((until_s - begun_s) / step_s)
    quiet = int(QUIET_S / step_s)
    least = step_s * STEADY_PER_S2 * (step_s / STEP_S) ** 2
    for i in range(1, count + 1):
        vx, vy, rate = truth.vx_mps, truth.vy_mps, truth.yaw_rate_radps
        plant.step(step_s, outputs, True)
        rows.append((begun_s + i * step_s, *truth.values()))
        if (
            i >= quiet
            and abs(truth.yaw_rate_radps - rate) <= least
            and abs(truth.vx_mps - vx) <= least
            and abs(truth.vy_mps - vy) <= least
        ):
            _leap(truth, until_s - rows[-1][0])
            track.add_leap(until_s)
            return
    rest_s = until_s - track.t_s
    if rest_s > HAIR_S:
        plant.step(rest_s, outputs, True)
    rows.append((until_s, *truth.values()))


def _leap(truth: BodyState, span_s: float) -> None:
    """Move the car along an arc, at constant speeds."""
    half_rad = 0.5 * truth.yaw_rate_radps * span_s
    chord = span_s * (sin(half_rad) / half_rad if half_rad else 1.0)
    c, s = cos(truth.yaw_rad + half_rad), sin(truth.yaw_rad + half_rad)
    truth.x_m += chord * (c * truth.vx_mps - s * truth.vy_mps)
    truth.y_m += chord * (s * truth.vx_mps + c * truth.vy_mps)
    truth.yaw_rad += 2.0 * half_rad
