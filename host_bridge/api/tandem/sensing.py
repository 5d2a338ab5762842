"""The senses of a virtual car in a script, and where any car is by whoever says so."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import degrees, inf, isfinite, pi

import numpy as np
from numpy.typing import NDArray

from host_bridge.core import CarMotion, Vehicle, VirtualSensors
from host_bridge.core.errors import DeviceFault, UsageFault
from host_bridge.core.laps import Laps
from host_bridge.core.system.quickly_made import quickly_made
from host_bridge.logs.sensor_lines import TruePose
from host_bridge.mapping.poses.report import Pose
from host_bridge.mapping.poses.sources import ODOMETRY, open_source
from host_bridge.mapping.poses.tracker import PoseTracker
from sim_mock.virtual_car.on_board_sensors import LidarTurn, OnBoardSensors
from sim_mock.virtual_car.surroundings import Surroundings
from sim_mock.world import World
from tandem.arguments import number

_LAPS_EVERY_US = 10_000  # 100 times a second: at 5 m/s the line is crossed within 5 cm
_SECTOR_RAD = 0.1  # some twenty rays of a LIDAR with 1080
_TURN_RAD = 7.0  # more than a whole turn, which is 6.28
_TRACKED = "sim://f1tenth?track=corridor"


@dataclass(frozen=True, eq=False)
class Scan:
    """One turn of the LIDAR. Angles are in the car: 0 is straight ahead, to the left positive.

    ``ranges_m``, ray by ray: inf is nothing within its range, nan a ray without a return.
    ``taken_s`` is in the car's own time, in s since it was switched on.
    """

    taken_s: float
    angles_rad: NDArray[np.float64]
    ranges_m: NDArray[np.float64]

    def nearest_m(self, towards_rad: float, width_rad: float = _SECTOR_RAD) -> float:
        """Return the shortest range in m within a sector around an angle; inf if all is free."""
        away_rad = self.angles_rad - number("towards_rad", towards_rad)
        away_rad = np.abs((away_rad + pi) % (2.0 * pi) - pi)
        found = self.ranges_m[away_rad <= number("width_rad", width_rad, 0.0, _TURN_RAD) / 2.0]
        return float(np.fmin.reduce(found, initial=inf))

    def __repr__(self) -> str:
        finite = np.where(np.isfinite(self.ranges_m), self.ranges_m, inf)
        nearest = int(np.argmin(finite))
        head = f"<tandem.Scan at {self.taken_s:.3f} s: {len(self.ranges_m)} rays"
        if not isfinite(finite[nearest]):
            return f"{head}, nothing within their range>"
        where = f"{finite[nearest]:.2f} m at {degrees(self.angles_rad[nearest]):.0f}°"
        return f"{head}, the nearest {where}>"


@quickly_made
@dataclass(frozen=True, slots=True)
class LapTimes:
    """The laps over the line at the car's start: how many, and the times of them in s.

    ``time_s`` is the time of the lap that has begun; ``last_s`` and ``best_s`` are 0 before the
    first lap is over.
    """

    count: int = 0
    time_s: float = 0.0
    last_s: float = 0.0
    best_s: float = 0.0


@dataclass(frozen=True)
class Located:
    """The pose of the point that the car turns about, in the frame of whoever said it.

    ``age_s`` is that of the newest pose, from which dead reckoning goes on; ``std_m`` the standard
    deviation of the place, None if the source says none.
    """

    x_m: float
    y_m: float
    yaw_rad: float
    age_s: float
    std_m: float | None
    frame: str


class PoseReader:
    """The pose source of one car of a script."""

    def __init__(
        self,
        text: str,
        vehicle: Vehicle,
        sensors: VirtualSensors | None,
        now_us: Callable[[], int],
        start: Pose | None = None,
    ) -> None:
        """Open the source. Raises TandemError, UsageFault for dead reckoning, which needs none."""
        self.vehicle, self.sensors, self.now_us, self.start = vehicle, sensors, now_us, start
        source = open_source(text, self)
        if source is None:
            raise UsageFault(
                "dead reckoning is car.pose, and needs no source",
                expected="truth, localise:MAP.yaml, ros:/TOPIC, tf:map>base_link or a file",
                got=ODOMETRY,
            )
        self._tracker = PoseTracker(source, vehicle.turns_behind_centre_m)

    def read(self, motion: CarMotion) -> Located | None:
        """Return the pose now; None before the first one.

        Raises DeviceFault for one that is stale, jumps, diverges from the odometry or is unsure.
        """
        why = self._tracker.step(self.now_us(), motion)
        if why:
            raise DeviceFault(why, remedy="stop the car; locate_by() begins anew")
        frame, newest, age_s = self._tracker.frame, self._tracker.newest, self._tracker.age_s()
        if frame is None or newest is None or age_s is None:
            return None
        pose = frame((motion.x_m, motion.y_m, motion.yaw_rad))
        return Located(*pose, age_s, newest.std_m, newest.frame)

    def close(self) -> None:
        """Release the source."""
        self._tracker.close()


class CarSensors:
    """The sensors of a virtual car of this process, and its laps since it began."""

    def __init__(
        self, name: str, world: World, surroundings: Surroundings | None, wheelbase_m: float
    ) -> None:
        self._name = name
        self._wheelbase_m = wheelbase_m
        self._on_board = OnBoardSensors(world, surroundings or Surroundings())
        self._due_us = world.now_us
        self.begin_anew()
        world.observers.append(self._step)

    def begin_anew(self) -> None:
        """Count hits and laps anew, from where the car is now."""
        x_m, y_m, yaw_rad, *_ = self._on_board.truth()
        self._laps = Laps(x_m, y_m, yaw_rad, self._wheelbase_m)
        self._hits_before = self._on_board.hits

    def scan(self) -> Scan:
        """Return the newest turn of the LIDAR. Raises UsageFault, DeviceFault before the first."""
        turn = self._turn()
        angles_rad = turn.first_rad + turn.step_rad * np.arange(
            len(turn.ranges_m), dtype=np.float64
        )
        angles_rad = np.remainder(angles_rad + pi, 2.0 * pi) - pi
        return Scan(turn.taken_us * 1e-6, angles_rad, turn.ranges_m)

    def ranges_m(self) -> NDArray[np.float64]:
        """Return the ranges of that turn alone. Raises as ``scan``."""
        return self._turn().ranges_m

    def _turn(self) -> LidarTurn:
        if self._on_board.why_no_scan:
            raise UsageFault(
                "this car has no scan",
                where=self._name,
                expected=f"a car with a LIDAR between walls, such as {_TRACKED}",
                got=self._on_board.why_no_scan,
                remedy="name a track or a map in its URI",
            )
        turn = self._on_board.scan()
        if turn is None:
            raise DeviceFault("its LIDAR has not turned yet", where=self._name)
        return turn

    def truth(self) -> TruePose:
        """Return where the car's centre of gravity really is, and how it moves."""
        return TruePose(*self._on_board.truth())

    @property
    def on_board(self) -> OnBoardSensors:
        """The same sensors for a pose source."""
        return self._on_board

    @property
    def hits(self) -> int:
        return self._on_board.hits - self._hits_before

    @property
    def is_off_track(self) -> bool:
        return self._on_board.is_off_track

    @property
    def laps(self) -> LapTimes:
        laps = self._laps
        return LapTimes(laps.count, laps.time_s, laps.last_s, laps.best_s)

    def stands(self) -> bool:
        return self._on_board.stands()

    def put_back(self) -> None:
        """Put the car, which stands, at its start. Raises UsageFault where it does not fit."""
        if not self._on_board.put_back():
            raise UsageFault(
                "it cannot be put at its start",
                where=self._name,
                got="a wall, or another car of its scene, is in the way there",
                remedy="drive the other car away, or reset it first",
            )
        self.begin_anew()

    def _step(self, world: World) -> None:
        if world.now_us >= self._due_us:
            self._due_us = world.now_us + _LAPS_EVERY_US
            x_m, y_m, *_ = self._on_board.truth()
            self._laps.step(x_m, y_m, world.now_us)


def no_sensors(name: str, why: str) -> UsageFault:
    """Return the fault of a car whose sensors are not in this process."""
    return UsageFault(
        "scans, truth, hits, laps and reset() are those of a virtual car of this script",
        where=name,
        expected=f"tandem.open({_TRACKED!r}), with or without lockstep=True",
        got=why,
        remedy="a car that another program serves writes them to a file: sim://...&sensors=FILE",
    )
