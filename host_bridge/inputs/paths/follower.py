"""An input that drives along a path: ``--input 'path:FILE?law=stanley&laps=3'``.

The car's pose is its own dead reckoning (``CarMotion``). It starts on the path's first point,
looking along it, unless ``at=`` gives another start; with ``pose=`` a pose source corrects it. It
ends at rest: after the last lap of a loop, at the end of any other path. A car that is too far
beside the path, or reports no new pose, is stopped.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import cos, sin
from pathlib import Path as FilePath
from typing import Any
from urllib.parse import parse_qsl

from host_bridge.core import (
    NEUTRAL_US,
    CarMotion,
    CarStatus,
    DriveCommand,
    Input,
    InputContext,
    Observed,
    OperatorRequest,
    Vehicle,
    VirtualSensors,
    brake_for,
)
from host_bridge.core.errors import UsageFault
from host_bridge.core.files import parse_columns
from host_bridge.inputs.paths.laws import LAWS, VehicleState
from host_bridge.inputs.paths.mppi.opening import PlannedCar, plan_driving
from host_bridge.inputs.paths.mppi.plan_driving import PlanDriving, Setpoint
from host_bridge.inputs.paths.mppi.planner import PlanRequest
from host_bridge.inputs.paths.path import Path, PathProjection, Pose
from host_bridge.inputs.paths.path_file import read_path
from host_bridge.inputs.paths.path_options import EXAMPLE, MPPI, PathOptions, parse_options
from host_bridge.inputs.paths.speed_profile import SpeedProfile
from host_bridge.inputs.paths.tracking_error import PositionSample, TrackingError
from host_bridge.mapping.poses.report import Frame, frame_transform
from host_bridge.mapping.poses.sources import is_computed, open_source
from host_bridge.mapping.poses.tracker import PoseTracker

_PART = 0.5  # of the speed limit, if neither the path nor --speed gives a speed
_FAR_M, _FAR_BASES = 0.3, 2.0  # limit of the distance to the path: the larger of m and bases
_SILENT_US = 300_000  # ten of the slowest reports of motion
_AHEAD_S = 0.2  # a car's delay in following a speed setpoint
_END_M = 0.03  # chosen: a tenth of a small car's wheelbase
_REST_MPS = 0.02  # the noise of a measured speed
_ANY_MPS2 = 1e3  # the speed profile's limit in bends, where MPPI minds them itself


class PathFollower(Input):
    """The input that drives a path once, or a loop several times, while the deadman permits it."""

    is_computed = True

    def __init__(self, read: Callable[[], Path], options: PathOptions) -> None:
        self._read, self._options = read, options
        self.is_computed = is_computed(options.pose)
        self._poses: PoseTracker | None = None
        self._plans: PlanDriving | None = None  # of law=mppi
        self._planned: Setpoint | None = None
        self._steps = 0
        self._drive_us: int | None = None  # when it begins to drive, once the deadman is held
        self._frame: Frame | None = None
        self._captured_us: int | None = None
        self._heard_us = 0
        self._is_ending = self._is_over = self._has_ended = False
        self._lost = ""
        self._steer_rad = 0.0

    async def open(self, context: InputContext) -> None:
        """Read the path, and plan its speeds.

        Raises errors.DataFileFault for a file that is no path, errors.TandemError for a planner.
        """
        vehicle, limits = context.vehicles[0], context.limits(self.source)
        path = self._path = self._read()
        self._vehicle, self._most_rad = vehicle, limits.steer_rad
        self._base_m = vehicle.wheelbase_m - vehicle.turns_ahead_m
        has_speed = context.speed_mps is not None or path.speeds_mps is not None
        top_mps = limits.speed_mps * (1.0 if has_speed else _PART)
        chosen = self._options
        lateral_mps2 = _ANY_MPS2 if chosen.law == MPPI else chosen.lateral_mps2
        self._profile = SpeedProfile(path, top_mps, lateral_mps2, self._base_m, chosen.decel_mps2)
        source = open_source(chosen.pose, PathPoses(context, chosen.at))
        if source is not None:
            self._poses = PoseTracker(source, vehicle.turns_behind_centre_m)
        self._far_m = self._options.far_m or max(_FAR_M, _FAR_BASES * vehicle.wheelbase_m)
        self.tracking_error = TrackingError(path)
        if chosen.law == MPPI:
            car = PlannedCar(vehicle, top_mps, limits.steer_rad, self._far_m)
            self._plans = await plan_driving(
                car, path, self._profile, chosen, is_lockstep=context.is_lockstep
            )

    def step(self, now_us: int, observed: Observed) -> DriveCommand:
        self._steps += 1
        seen = observed.cars[0] if observed.cars else None
        may = observed.is_driving and observed.is_permitted and not self._is_over
        if not may or seen is None or seen.motion is None or seen.status is None:
            self._drive_us = None
            if self._plans:
                self._plans.begin_anew()
            return DriveCommand(input_count=self._steps)
        if self._drive_us is None:
            self._drive_us = now_us + NEUTRAL_US
            self._heard_us = now_us
        self._track(now_us, seen.motion, seen.status)
        if self._lost:
            return DriveCommand(input_count=self._steps, lost=self._lost)
        if now_us < self._drive_us:
            return DriveCommand(self._steer_rad, is_held=True, input_count=self._steps)
        now_mps = seen.status.speed_mps
        speed_mps = self._speed_mps(now_mps)
        brake = brake_for(now_mps, speed_mps)
        return DriveCommand(
            self._steer_rad, speed_mps, brake, is_held=True, input_count=self._steps
        )

    def requests(self) -> Sequence[OperatorRequest]:
        if not self._is_over or self._has_ended:
            return ()
        self._has_ended = True
        return (OperatorRequest.END,)

    def let_go(self) -> None:
        """Forget why it stopped: a person who arms again has seen it."""
        self._lost = ""
        if self._poses:
            self._poses.begin_anew()

    async def close(self) -> None:
        if self._poses:
            self._poses.close()
        if self._plans:
            self._plans.close()

    def status_text(self, now_us: int) -> str:
        if self._frame is None and self._poses:
            return f"It waits for the first pose of the {self._poses.title}."
        if self._frame is None:
            return "" if self._options.at else "Where the car stands is the path's first point."
        if not self._path.is_loop:
            return ""
        times_s = self.tracking_error.lap_times_s
        laps = self._options.laps
        lap = f"lap {min(len(times_s) + 1, laps)} of {laps}" if laps else f"lap {len(times_s) + 1}"
        if not times_s:
            return lap
        best_s = min(times_s)
        return f"{lap}, last {times_s[-1]:.2f} s, best {best_s:.2f} s ({times_s[-1] - best_s:+.2f})"

    def progress_s(self) -> tuple[float, float] | None:
        if self._path.is_loop and not self._options.laps:
            return None
        laps = self._options.laps if self._path.is_loop else 1
        done, rest_m = divmod(max(self.tracking_error.driven_m, 0.0), self._path.length_m)
        whole_s = self._profile.duration_s
        return done * whole_s + self._profile.time_at(rest_m), laps * whole_s

    def limit_notes(self) -> Sequence[str]:
        unread = self._path.unread
        return (unread, *self._profile.notes) if unread else self._profile.notes

    def report(self) -> Sequence[str]:
        return self.tracking_error.lines()

    def figures(self) -> Mapping[str, Any]:
        figures = {**self.tracking_error.figures(), "law": self._options.law}
        if self._poses:
            figures["pose"] = self._poses.figures()
        return {"path": figures}

    def _track(self, now_us: int, motion: CarMotion, status: CarStatus) -> None:
        """Update the car's place from its motion report, and compute the steering."""
        if motion.captured_us == self._captured_us:
            if now_us - self._heard_us > _SILENT_US:
                self._lost = "The car says nothing new of where it is"
            return
        self._captured_us, self._heard_us = motion.captured_us, now_us
        reckoned = motion.x_m, motion.y_m, motion.yaw_rad
        if self._poses:
            self._lost = self._poses.step(now_us, motion)
            self._frame = self._poses.frame
            if self._lost or self._frame is None:
                return
        self._frame = self._frame or frame_transform(reckoned, self._begin())
        x, y, yaw = self._frame(reckoned)
        projection = self.tracking_error.add(PositionSample(now_us * 1e-6, x, y))
        if projection.apart_m > self._far_m and not self._is_ending:
            self._lost = (
                f"The car is {projection.apart_m:.2f} m beside its path, at most {self._far_m:.2f}"
            )
        steer_rad = self._steering(now_us, (x, y, yaw), projection, motion, status)
        self._steer_rad = min(max(steer_rad, -self._most_rad), self._most_rad)
        self._watch_end(status.speed_mps)

    def _steering(
        self,
        now_us: int,
        pose: Pose,
        projection: PathProjection,
        motion: CarMotion,
        status: CarStatus,
    ) -> float:
        if self._plans is None:
            car = VehicleState(*pose, status.speed_mps, self._base_m)
            law = LAWS[self._options.law]
            return law(self._path, projection, car, self._options.lookahead_m)
        request = PlanRequest(
            now_us, *pose, status.speed_mps, motion.yaw_rate_radps, status.steer_rad,
            projection.along_m,
        )  # fmt: skip
        self._planned, lost = self._plans.step(request)
        self._lost = self._lost or lost
        return self._planned.steer_rad if self._planned else self._steer_rad

    def _watch_end(self, speed_mps: float) -> None:
        projection, laps = self.tracking_error.projection, self._options.laps
        if self._path.is_loop:
            self._is_ending |= 0 < laps <= len(self.tracking_error.lap_times_s)
        elif projection is not None:
            self._is_ending |= projection.along_m >= self._path.length_m - _END_M
        self._is_over |= self._is_ending and abs(speed_mps) < _REST_MPS

    def _speed_mps(self, now_mps: float) -> float:
        projection = self.tracking_error.projection
        if self._is_ending or projection is None:
            return 0.0
        speed_mps = self._profile.speed_at(projection.along_m + _AHEAD_S * now_mps)
        if self._plans is None:
            return speed_mps
        return min(self._planned.speed_mps, speed_mps) if self._planned else 0.0

    def _begin(self) -> Pose:
        """Return the car's pose at the start, in the path's frame."""
        if self._options.at is None:
            return (*self._path.at(0.0), self._path.yaw_at(0.0))
        x, y, yaw = self._options.at
        behind_m = self._vehicle.turns_behind_centre_m
        return x - behind_m * cos(yaw), y - behind_m * sin(yaw), yaw


@dataclass(frozen=True)
class PathPoses:
    """The context of a follower's pose source: the first car, and where ``at=`` has it begin."""

    context: InputContext
    start: Pose | None

    @property
    def vehicle(self) -> Vehicle:
        return self.context.vehicles[0]

    @property
    def sensors(self) -> VirtualSensors | None:
        return next(iter(self.context.sensors), None)

    def now_us(self) -> int:
        return self.context.now_us()


def make(rest: str, options: Mapping[str, str], now_us: Callable[[], int]) -> PathFollower:
    """Make the input of ``--input path:FILE?...``.

    Raises errors.UsageFault without a file, and for an unknown option.
    """
    file, _, query = rest.partition("?")
    if not file:
        raise UsageFault("which path?", expected=EXAMPLE, remedy="tandem path makes one")
    chosen = parse_options(dict(parse_qsl(query, keep_blank_values=True)))
    columns = parse_columns(options.get("columns", ""))
    return PathFollower(lambda: _with(read_path(FilePath(file), columns), chosen), chosen)


def follow(path: Path, query: str) -> PathFollower:
    """Make the input that drives a path which is no file; ``query`` is as in ``make``.

    Raises errors.UsageFault for an unknown option.
    """
    chosen = parse_options(dict(parse_qsl(query, keep_blank_values=True)))
    return PathFollower(lambda: _with(path, chosen), chosen)


def _with(path: Path, options: PathOptions) -> Path:
    if options.is_loop is None or options.is_loop == path.is_loop:
        return path
    points, speeds = path.points_m, path.speeds_mps
    if not options.is_loop:
        points, speeds = points[:-1], None if speeds is None else speeds[:-1]
    found = Path(points, speeds, options.is_loop)
    found.unread = path.unread
    return found
