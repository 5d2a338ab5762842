"""The surroundings of a virtual car: its track or map, and the output of its sensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from sim_mock.plant.parameters import PlantParameters
from sim_mock.sensors.instruments import Others, Sampler, instruments_of
from sim_mock.sensors.publishing import SampleWriter
from sim_mock.tracks.contact import Contact, Outline, touches
from sim_mock.tracks.driving_area import DrivingArea, Pose
from sim_mock.tracks.loading import load_area
from sim_mock.tracks.shared_track import NO_WALLS, shared_track_named
from sim_mock.virtual_car.located import LocatedLines
from sim_mock.virtual_car.set_pose import PoseSetter

if TYPE_CHECKING:
    from sim_mock.world import World


class Placement(Protocol):
    """The part of a ``VirtualCarConfig`` that says where the car drives."""

    @property
    def track(self) -> str: ...
    @property
    def map(self) -> str: ...
    @property
    def start(self) -> Sequence[float]: ...
    @property
    def sensors(self) -> str: ...
    @property
    def located(self) -> str: ...
    @property
    def poses(self) -> str: ...
    @property
    def noise_seed(self) -> int: ...
    @property
    def scene(self) -> str: ...
    @property
    def plant(self) -> Mapping[str, Any]: ...
    @property
    def channels(self) -> Sequence[Any]: ...


_ORIGIN = Pose(0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Surroundings:
    """The place of one virtual car; without an area it is an endless floor.

    ``others`` returns the sides of the other cars of its scene, ``contact`` counts its hits, and
    ``noise_seed`` is that of its sensors.
    """

    start: Pose = _ORIGIN
    area: DrivingArea | None = None
    outline: Outline | None = None
    contact: Contact | None = None
    others: Others | None = None
    noise_seed: int = 0

    def has_room(self, world: World, pose: Pose) -> bool:
        """Return whether the car fits there: on free ground, clear of walls and other cars."""
        if self.area and not self.area.is_free(pose.x_m, pose.y_m):
            return False
        if self.outline is None:
            return True
        walls = self.area.walls if self.area else NO_WALLS
        others = self.others(world) if self.others else NO_WALLS
        return not (touches(self.outline, pose, walls) or touches(self.outline, pose, others))


def area_of(config: Placement) -> DrivingArea | None:
    """Return the area where the car drives, or None for an endless floor.

    Raises ValueError, also if the car cannot start there.
    """
    area = load_area(config.track, config.map)
    if area:
        table = {**config.plant, "channels": list(config.channels)}
        start, outline = start_of(config), Outline.of(PlantParameters.from_mapping(table))
        is_free = area.is_free(start.x_m, start.y_m)
        if not is_free or touches(outline, start, area.walls):
            where = "a wall is in the way" if is_free else "nobody may be there"
            raise ValueError(f"start={config.start or '0,0,0'}: {where}; say start=X,Y,YAW_DEG")
    return area


def start_of(config: Placement) -> Pose:
    """Return the start pose of the centre of gravity."""
    return Pose(*config.start) if config.start else _ORIGIN


def surround(world: World, config: Placement) -> Surroundings:
    """Put the world's car at its start and attach what observes it. Raises ValueError."""
    start = start_of(config)
    world.plant.truth.assign((*start, 0.0, 0.0, 0.0))
    placed = _place(world, config, start, area_of(config))
    if config.poses:
        world.observers.append(PoseSetter(config.poses, placed.has_room).step)
    if placed.contact:
        world.observers.append(placed.contact.step)
    if config.located:
        world.observers.append(LocatedLines(config.located, world).step)
    if config.sensors:
        instruments = instruments_of(
            world, config.noise_seed, placed.area, placed.contact, placed.others
        )
        lines = SampleWriter(config.sensors)
        world.observers.append(Sampler(instruments, lines.put, world.now_us).step)
    return placed


def _place(world: World, config: Placement, start: Pose, area: DrivingArea | None) -> Surroundings:
    if area is None:
        return Surroundings(start, noise_seed=config.noise_seed)
    outline, others, near = Outline.of(world.plant.parameters), None, None
    if config.scene:
        shared = shared_track_named(config.scene, config.track or config.map)
        shared.enter(world, outline)
        others, near = shared.others, shared.within_reach
    contact = Contact(area, outline, start, near)
    return Surroundings(start, area, outline, contact, others, config.noise_seed)
