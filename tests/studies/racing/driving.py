"""One race in lockstep: the virtual car, the host, and who tells it where it is."""

from __future__ import annotations

import tempfile
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import atan2, degrees
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from host_bridge.core import Profile
from host_bridge.drive.lockstep.car import LockstepCar, open_in_lockstep
from host_bridge.drive.lockstep.loop import LockstepDrive
from host_bridge.drive.options import DriveOptions
from host_bridge.drive.outcome import fault_of
from host_bridge.inputs.paths.follower import follow
from host_bridge.inputs.paths.path import Path as DrivenPath
from host_bridge.sharing.services import make_host

HOST = make_host()
LAP_S = 60.0  # a lap in more is no race
SLIDES_MPS = 1.0  # a slip angle is 0/0 at rest: it is told of a car that is faster than this


class Locator(Protocol):
    """Who tells the follower where the car is; ``errors_m`` are its errors so far."""

    errors_m: list[float]

    def tick(self) -> None: ...


class PoseFile:
    """Lines of poses that become readable when they are due."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = path.open("w")
        self._waiting: deque[tuple[int, str]] = deque()

    def put(self, due_us: int, line: str) -> None:
        self._waiting.append((due_us, line))

    def tick(self, now_us: int) -> None:
        while self._waiting and self._waiting[0][0] <= now_us:
            print(self._waiting.popleft()[1], file=self._file, flush=True)

    def close(self) -> None:
        self._file.close()


@dataclass(frozen=True)
class Course:
    """What is driven: a car's URI, changes of its vehicle file, the line, the path's options."""

    uri: str
    changes: Mapping[str, Any]
    line: DrivenPath
    query: str
    laps: int
    speed_mps: float
    profile: Profile


@dataclass(frozen=True)
class RaceResult:
    """What came of a race; ``why`` says what ended it early, ``slips_rad`` are by tick."""

    laps_s: list[float]
    hits: int
    why: str
    worst_m: float
    located_m: float  # of the locator, rms
    slips_rad: list[float] = field(repr=False)
    speeds_mps: list[float] = field(repr=False)


def started_on(line: DrivenPath) -> str:
    """The option of a virtual car that puts it on the line's beginning."""
    x, y = line.at(0.0)
    return f"start={x:.3f},{y:.3f},{degrees(line.yaw_at(0.0)):.2f}"


def raced(course: Course, locate: Callable[[LockstepCar, PoseFile], Locator]) -> RaceResult:
    """Drive it to its end, or to what stops it."""
    with tempfile.TemporaryDirectory() as folder:
        poses = PoseFile(Path(folder) / "poses")
        follower = follow(course.line, f"{course.query}&laps={course.laps}&pose={poses.path}")
        follower.is_computed = True  # its poses come in virtual time
        car = open_in_lockstep(HOST.vehicles, course.uri, course.changes)
        chosen = DriveOptions(
            cars=(), input=follower, speed_mps=course.speed_mps, is_lockstep=True,
            profile=course.profile,
        )  # fmt: skip
        drive = LockstepDrive([car], follower, chosen)
        locator = locate(car, poses)
        truth, slips, speeds = car.world.plant.truth, [], []
        give_up_us = drive.now_us + round((course.laps + 1) * LAP_S * 1e6)
        try:
            while not drive.drive.is_over() and drive.now_us < give_up_us:
                drive.tick()
                locator.tick()
                poses.tick(drive.now_us)
                speeds.append(truth.vx_mps)
                if truth.vx_mps > SLIDES_MPS:
                    slips.append(atan2(truth.vy_mps, truth.vx_mps))
            figures = follower.tracking_error.figures()
            fault = fault_of(drive.drive, has_hand=False, is_virtual=True)
            is_whole = len(figures["lap_times_s"]) == course.laps
        finally:
            drive.close()
            poses.close()
            car.close()
    why = "" if is_whole else " ".join(str(fault).split()) if fault else "its time was over"
    contact, errors_m = car.surroundings.contact, locator.errors_m or [0.0]
    return RaceResult(
        figures["lap_times_s"], contact.hits if contact else 0, why,
        figures["cross_track_worst_m"], float(np.sqrt(np.mean(np.square(errors_m)))),
        slips, speeds,
    )  # fmt: skip
