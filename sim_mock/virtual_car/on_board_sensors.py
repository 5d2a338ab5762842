"""The sensors of a virtual car for a program in its own process: no file, and no copy as text.

To look changes no byte of the car. A scan is computed only when it is asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from sim_mock.sensors.edge_casting import caster_of
from sim_mock.sensors.lidar import Lidar
from sim_mock.sensors.pose_feed import PoseFeed
from sim_mock.sensors.ray_casting import Floats
from sim_mock.tracks.shared_track import pose_of
from sim_mock.virtual_car.set_pose import stands

if TYPE_CHECKING:
    from sim_mock.sensors.parameters import LidarParameters
    from sim_mock.tracks.driving_area import Pose
    from sim_mock.virtual_car.surroundings import Surroundings
    from sim_mock.world import PlanarPose, World


class LidarTurn(NamedTuple):
    """One turn of the LIDAR; ray i looks along ``first_rad + i * step_rad`` in the car.

    ``ranges_m``: inf is no wall within its range, nan a ray without a return.
    """

    taken_us: int  # the car's own time
    first_rad: float
    step_rad: float
    ranges_m: Floats


class OnBoardSensors:
    """The LIDAR and the ground truth of one car; ``why_no_scan`` is "" if it has a LIDAR here."""

    def __init__(self, world: World, surroundings: Surroundings) -> None:
        self.world = world
        self.why_no_scan = _why_no_scan(world, surroundings)
        self._surroundings = surroundings
        self._lidar: TurningLidar | None = None
        self._poses: PoseFeed[Any] = PoseFeed(world.pose_fault)
        parameters = world.plant.parameters
        if not self.why_no_scan and parameters.lidar and surroundings.area:
            lidar = Lidar(
                parameters.lidar,
                caster_of(surroundings.area),
                parameters.body.lr_m,
                surroundings.noise_seed,
            )
            self._lidar = TurningLidar(lidar, parameters.lidar, surroundings, world)
            world.observers.append(self._lidar.step)

    def scan(self) -> LidarTurn | None:
        """Return the newest turn of the LIDAR; None for a car without one, or before the first."""
        return self._lidar.newest() if self._lidar else None

    def truth(self) -> tuple[float, ...]:
        """Return x, y (m), yaw (rad), their rates in the car (m/s), the yaw rate (rad/s)."""
        return tuple(self.world.plant.truth.values())

    @property
    def now_us(self) -> int:
        """The car's own time."""
        return self.world.now_us

    def say_pose(self, pose: PlanarPose, rest: Any) -> None:
        """Send a pose that somebody found, and what belongs to it, on its way to who drives."""
        self._poses.put(self.world.now_us, pose, rest)

    def heard_poses(self) -> list[tuple[PlanarPose, Any]]:
        """Return the poses that have arrived by now, as the car's faults let them pass."""
        return self._poses.due(self.world.now_us)

    @property
    def hits(self) -> int:
        """The number of collisions with walls and other cars."""
        return self._surroundings.contact.hits if self._surroundings.contact else 0

    @property
    def is_off_track(self) -> bool:
        """True while the car's centre is where no car may be."""
        return bool(self._surroundings.contact and self._surroundings.contact.is_off)

    def stands(self) -> bool:
        """Return whether the car stands, so that it can be put elsewhere."""
        return stands(self.world)

    def put_back(self) -> bool:
        """Put the car at its start, at rest; return False where something is in the way there."""
        start = self._surroundings.start
        if not self._surroundings.has_room(self.world, start):
            return False
        self.world.plant.truth.assign((*start, 0.0, 0.0, 0.0))
        return True


class TurningLidar:
    """A LIDAR that turns at its rate, whose turns are computed when they are looked at."""

    def __init__(
        self, lidar: Lidar, parameters: LidarParameters, surroundings: Surroundings, world: World
    ) -> None:
        self._lidar, self._parameters, self._surroundings = lidar, parameters, surroundings
        self._begun_us, self._turns = world.now_us, 0
        self._due_us = self._next_us()
        self._seen: tuple[int, Pose, Floats | None] | None = None
        self._newest: LidarTurn | None = None

    def step(self, world: World) -> None:
        """Note what a turn that is due sees; call it after each step of the plant."""
        if world.now_us < self._due_us:
            return
        self._turns += 1
        self._due_us = self._next_us()
        others = self._surroundings.others
        self._seen = world.now_us, pose_of(world), others(world) if others else None

    def newest(self) -> LidarTurn | None:
        """Return the newest turn, computed once."""
        if self._seen is not None:
            taken_us, pose, others = self._seen
            ranges_m = self._lidar.take(pose, others)
            first_rad, step_rad = self._parameters.first_rad, self._parameters.step_rad
            self._newest, self._seen = LidarTurn(taken_us, first_rad, step_rad, ranges_m), None
        return self._newest

    def _next_us(self) -> int:
        return self._begun_us + round((self._turns + 1) * 1e6 / self._parameters.rate_hz)


def _why_no_scan(world: World, surroundings: Surroundings) -> str:
    if world.plant.parameters.lidar is None:
        return "it has no LIDAR: its vehicle file has no [plant.lidar]"
    return "" if surroundings.area else "there are no walls where it is: no track and no map"
