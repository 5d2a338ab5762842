"""The surroundings of a virtual car: its track or map, and the output of its sensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from sim_mock.plant.parameters import PlantParameters
from sim_mock.sensors.instruments import Sampler, instruments_of
from sim_mock.sensors.publishing import SampleWriter
from sim_mock.tracks.contact import Contact, Outline, touches
from sim_mock.tracks.driving_area import DrivingArea, Pose
from sim_mock.tracks.loading import load_area
from sim_mock.tracks.shared_track import shared_track_named
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
    def poses(self) -> str: ...
    @property
    def noise_seed(self) -> int: ...
    @property
    def scene(self) -> str: ...
    @property
    def plant(self) -> Mapping[str, Any]: ...
    @property
    def channels(self) -> Sequence[Any]: ...


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
    return Pose(*config.start) if config.start else Pose(0.0, 0.0, 0.0)


def surround(world: World, config: Placement) -> None:
    """Put the world's car at its start and attach what observes it. Raises ValueError."""
    start, contact = start_of(config), None
    world.plant.truth.assign((*start, 0.0, 0.0, 0.0))
    area = area_of(config)
    outline, others = None, None
    if area:
        outline = Outline.of(world.plant.parameters)
        if config.scene:
            shared = shared_track_named(config.scene, config.track or config.map)
            shared.enter(world, outline)
            others = shared.others
        contact = Contact(area, outline, start, others)
    if config.poses:
        world.observers.append(PoseSetter(config.poses, area, outline, others).step)
    if contact:
        world.observers.append(contact.step)
    if config.sensors:
        instruments = instruments_of(world, config.noise_seed, area, contact, others)
        lines = SampleWriter(config.sensors)
        world.observers.append(Sampler(instruments, lines.put, world.now_us).step)
