"""One car of an environment: its program, host and plant in lockstep, and what it sees."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import remainder, tau
from typing import Any
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from host_bridge.core import NEUTRAL_US, DriveCommand, Input, Observed, brake_for
from host_bridge.core.errors import DataFileFault, RefusedFault
from host_bridge.core.system.quickly_made import quickly_made
from host_bridge.drive import DriveOptions, Phase
from host_bridge.drive.lockstep.car import VehicleFiles, open_in_lockstep
from host_bridge.drive.lockstep.loop import LockstepDrive
from host_bridge.inputs.paths.path import Path, resampled
from host_bridge.logs.sensor_lines import TruePose
from sim_mock.tracks.contact import Outline
from tandem.sensing import CarSensors

_ARMS_S = 10.0  # virtual: arming takes 2 s
_SPACING_M = 0.05  # of a track's centre line, as tandem path centre has it

Observation = dict[str, NDArray[np.float32]]


@quickly_made
@dataclass(frozen=True, slots=True)
class Moment:
    """The truth of one moment, for rewards. Units are in the names.

    ``progress_m`` counts along the centre line, on and on over laps; ``lateral_m`` is left of it,
    ``heading_rad`` relative to it. Without a centre line the three are 0.
    """

    t_s: float
    x_m: float
    y_m: float
    yaw_rad: float
    speed_mps: float
    steer_rad: float
    steer_max_rad: float
    progress_m: float
    lateral_m: float
    heading_rad: float
    hits: int
    is_off: bool
    laps: int
    lap_time_s: float
    last_lap_s: float
    best_lap_s: float


class Agent(Input):
    """The input whose command is the newest action.

    Each action is one decision: if no further one comes, the source falls silent and the car stops.
    """

    is_computed = True

    def __init__(self) -> None:
        self._steer_rad = self._speed_mps = 0.0
        self._decided_us: int | None = None
        self._count = 0

    def decide(self, steer_rad: float, speed_mps: float, now_us: int) -> None:
        self._steer_rad, self._speed_mps, self._decided_us = steer_rad, speed_mps, now_us

    def step(self, now_us: int, observed: Observed) -> DriveCommand:
        self._count += 1
        if not observed.is_driving:
            return DriveCommand(input_count=self._count)
        status = observed.cars[0].status
        now_mps = status.speed_mps if status else 0.0
        return DriveCommand(
            self._steer_rad,
            self._speed_mps,
            brake_for(now_mps, self._speed_mps),
            is_held=True,
            input_count=self._count,
            heard_us=self._decided_us,
        )


class Racer:
    """A car that is armed and waits for its first action; made anew for each episode."""

    def __init__(
        self,
        files: VehicleFiles,
        vehicle: str,
        query: Mapping[str, str],
        changes: Mapping[str, Any],
        line: Path | None,
    ) -> None:
        """Make the car of ``sim://VEHICLE?QUERY``. Raises errors.TandemError."""
        words = "&".join(f"{key}={quote(value, safe='/,:;@.-')}" for key, value in query.items())
        self._stepped = open_in_lockstep(
            files, f"sim://{quote(vehicle, safe='/.')}?{words}", changes
        )
        self.agent = Agent()
        self.drive = LockstepDrive(
            [self._stepped],
            self.agent,
            DriveOptions(cars=(), input=self.agent, is_lockstep=True),
        )
        self.vehicle = self._stepped.vehicle
        self.surroundings = self._stepped.surroundings
        self._sensors = CarSensors(
            self._stepped.car.name, self._stepped.world, self.surroundings, self.vehicle.wheelbase_m
        )
        self._line = line
        self._seen: tuple[object, NDArray[np.float32]] = (None, np.zeros(0, np.float32))
        self._along_m = 0.0
        self._progress_m = 0.0
        self._begun_us = 0

    def prepare(self) -> bool:
        """Make one tick of arming; return True once the car may drive. Raises RefusedFault."""
        self.agent.decide(0.0, 0.0, self.drive.now_us)
        self.drive.tick()
        driven = self.drive.drive
        if driven.phase is Phase.OVER or self.drive.now_us > _ARMS_S * 1e6:
            raise RefusedFault(driven.refusal or driven.notice or "it was not armed in time")
        return driven.begun_us is not None and self.drive.now_us >= driven.begun_us + NEUTRAL_US

    def begin(self) -> None:
        """Count time, progress, hits and laps from now on."""
        self._begun_us = self.drive.now_us
        self._sensors.begin_anew()
        truth = self._sensors.truth()
        if self._line is not None:
            self._along_m = self._line.project(truth.x_m, truth.y_m).along_m
            self._progress_m = 0.0

    def truth(self) -> TruePose:
        """Return where the car's centre of gravity is, and how it moves."""
        return self._sensors.truth()

    def walls(self) -> NDArray[np.float64]:
        """Return the walls of its place: rows of x1, y1, x2, y2 in m."""
        area = self.surroundings.area if self.surroundings else None
        return area.walls if area else np.zeros((0, 4))

    def outline(self) -> Outline | None:
        """Return the car's rectangle, if its vehicle file has one."""
        return self.surroundings.outline if self.surroundings else None

    def act(self, steer_rad: float, speed_mps: float) -> None:
        """Decide for the ticks that follow."""
        self.agent.decide(steer_rad, speed_mps, self.drive.now_us)

    def tick(self) -> None:
        """Run for 10 ms."""
        self.drive.tick()

    @property
    def has_stopped(self) -> bool:
        """True once the car stopped, whatever for; it drives no more in this episode."""
        return self.drive.drive.phase is not Phase.DRIVING

    @property
    def why_stopped(self) -> str:
        trip = self.drive.drive.trips[0]
        return trip.stops[0] if trip.stops else self.drive.drive.notice if self.has_stopped else ""

    def moment(self) -> Moment:
        """Return the truth of now; progress counts from one call to the next."""
        truth, laps = self._sensors.truth(), self._sensors.laps
        lateral_m = heading_rad = 0.0
        if self._line is not None:
            place = self._line.project(truth.x_m, truth.y_m, self._along_m)
            made_m = remainder(place.along_m - self._along_m, self._line.length_m)
            self._progress_m += made_m
            self._along_m = place.along_m
            lateral_m = place.left_m
            heading_rad = remainder(truth.yaw_rad - place.yaw_rad, tau)
        status = self._stepped.car.status
        return Moment(
            t_s=(self.drive.now_us - self._begun_us) * 1e-6,
            x_m=truth.x_m,
            y_m=truth.y_m,
            yaw_rad=truth.yaw_rad,
            speed_mps=truth.vx_mps,
            steer_rad=status.steer_rad if status else 0.0,
            steer_max_rad=self.vehicle.steer_max_rad,
            progress_m=self._progress_m,
            lateral_m=lateral_m,
            heading_rad=heading_rad,
            hits=self._sensors.hits,
            is_off=self._sensors.is_off_track,
            laps=laps.count,
            lap_time_s=laps.time_s,
            last_lap_s=laps.last_s,
            best_lap_s=laps.best_s,
        )

    def scan(self, rays: int, most_m: float) -> NDArray[np.float32]:
        """Return ``rays`` of the newest turn, evenly chosen: no wall is ``most_m``, no return 0."""
        found = self._sensors.ranges_m()
        if self._seen[0] is not found or len(self._seen[1]) != rays:  # steps are more than turns
            chosen = found[_evenly(len(found), rays)]
            chosen = np.where(np.isnan(chosen), 0.0, np.minimum(chosen, most_m))
            self._seen = found, np.asarray(chosen, dtype=np.float32)
        return np.array(self._seen[1])

    def observation(self, moment: Moment, *, is_true_pose: bool) -> Observation:
        """Return what the car reports, and ``pose`` in truth if asked for."""
        status, motion = self._stepped.car.status, self._stepped.car.motion
        assert status is not None, "prepare() saw to it"
        assert motion is not None, "likewise"
        pose = (
            (moment.x_m, moment.y_m, moment.yaw_rad)
            if is_true_pose
            else (motion.x_m, motion.y_m, motion.yaw_rad)
        )
        values = {
            "pose": (pose[0], pose[1], remainder(pose[2], tau)),
            "speed": (status.speed_mps,),
            "steer": (status.steer_rad,),
            "yaw_rate": (motion.yaw_rate_radps,),
            "accel": (motion.accel_x_mps2, motion.accel_y_mps2),
            "laps": (moment.laps,),
            "lap_time": (moment.lap_time_s,),
            "collision": (float(moment.hits > 0),),
        }
        return {name: np.array(value, dtype=np.float32) for name, value in values.items()}

    def close(self) -> None:
        """End the car's program."""
        self.drive.close()
        self._stepped.close()


@lru_cache(maxsize=64)  # of LIDARs and numbers of rays: a handful
def _evenly(count: int, rays: int) -> NDArray[np.intp]:
    """Return the places of ``rays`` of ``count``, the first and the last among them."""
    return np.asarray(np.linspace(0, count - 1, rays).round(), dtype=np.intp)


def centre_line(track: str, map_file: str) -> Path:
    """Return the centre line of a track, or of a map with a closed track.

    Raises errors.DataFileFault.
    """
    from pathlib import Path as FilePath

    from sim_mock.tracks.loading import load_centre_line
    from sim_mock.tracks.map_centre_line import centre_line_of_map
    from sim_mock.tracks.ros_map import load_grid

    try:
        points = (
            load_centre_line(track)[:-1]
            if track
            else centre_line_of_map(load_grid(FilePath(map_file))).points_m
        )
    except (ValueError, OSError) as error:
        raise DataFileFault("no centre line", where=track or map_file, got=str(error)) from None
    return Path(resampled(points, _SPACING_M, is_loop=True), is_loop=True)
