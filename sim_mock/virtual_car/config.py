"""The configuration of a virtual car, in a form that can be handed to another process."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from importlib.metadata import entry_points
from math import atan, cos, radians, sin
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar
from zlib import crc32

from sim_mock.board.firmware_runner import FlashContents
from sim_mock.board.pairing_keys import read_key_file, stored_key
from sim_mock.board.stored_image import VehicleSpec, board_id_of, stored_image
from sim_mock.board.transmitter import ScriptedHand
from sim_mock.faults.injector import FaultInjector, FaultyWireWorld, Runner
from sim_mock.faults.named import (
    describe_faults,
    describe_scenarios,
    options_of,
    parse_faults,
    read_scenario,
    scenario_path,
)
from sim_mock.files import numbers
from sim_mock.plant.parameters import Patch
from sim_mock.plant.tables import TABLES, read_table
from sim_mock.world import World, plant_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from sim_mock.plant.vehicle_plant import Plant
    from sim_mock.virtual_car.surroundings import Surroundings

_LOG = logging.getLogger(__name__)
W = TypeVar("W", bound=World)
AS_IN_ITS_FILE = "none"
SAMPLE_BEGINS = b'{"sensor": '  # as sim_mock.sensors.publishing writes its lines
WIND_MAX_MPS = 60.0  # a hurricane of category 3, in which no small car stays on the floor
SLOPE_MAX_PERCENT = 100.0  # 45 degrees: no tyre here holds a car there
CALIBRATIONS = "tandem.calibrations"  # its entry point `apply` applies a file to a vehicle


def parse_number(text: str) -> float:
    """Return a finite number; foreign digits, ``2_5``, inf and nan are none.

    Raises ValueError with what was expected.
    """
    try:
        return numbers.parse_number(text)
    except ValueError:
        raise ValueError(f"expected a number, got {text!r}") from None


def parse_seed(text: str) -> int:
    """Return the whole number. Raises ValueError with what was expected."""
    try:
        return numbers.parse_whole(text)
    except ValueError:
        raise ValueError("expected a whole number") from None


def parse_payload(key: str, text: str) -> float:
    """Return the number, within the range that a vehicle file's ``[plant]`` has for that key."""
    return float(read_table("plant", "payload", {key: parse_number(text)})[key])


def parse_patch(text: str) -> list[float]:
    """Return ``x,y,radius,mu`` as numbers: metres, and a factor of the floor's friction."""
    values = [parse_number(part) for part in text.split(",")]
    if len(values) != len(TABLES["patch"]):
        raise ValueError("a patch is x,y,radius,mu")
    read_table("patch", "patch", {k.name: n for k, n in zip(TABLES["patch"], values, strict=True)})
    return values


def parse_start(text: str) -> list[float]:
    """Return ``x,y,yaw_deg``, in metres and degrees, as x, y and yaw in rad."""
    values = [parse_number(part) for part in text.split(",")]
    if len(values) != 3:
        raise ValueError("a start is x,y,yaw_deg")
    return [*values[:2], radians(values[2])]


def parse_wind(text: str) -> list[float]:
    """Return ``speed,towards_deg`` as the air's speed along x and y in m/s."""
    speed_mps, towards_rad = _pair(text, "wind is speed_mps,towards_deg", WIND_MAX_MPS)
    return [speed_mps * cos(towards_rad), speed_mps * sin(towards_rad)]


def parse_slope(text: str) -> list[float]:
    """Return ``percent,up_deg`` as the sine of the floor's rise along x and y."""
    percent, up_rad = _pair(text, "a slope is percent,up_deg", SLOPE_MAX_PERCENT)
    rise = sin(atan(percent / 100.0))
    return [rise * cos(up_rad), rise * sin(up_rad)]


def _pair(text: str, form: str, most: float) -> tuple[float, float]:
    values = [parse_number(part) for part in text.split(",")]
    if len(values) != 2 or not 0.0 <= values[0] <= most:
        raise ValueError(f"{form}, the first from 0 to {most:g}")
    return values[0], radians(values[1])


def parse_output(text: str) -> str:
    """Return the absolute path of a file for samples.

    Raises ValueError without its folder, and for a file that holds anything but samples.
    """
    path = Path(text).absolute()
    if not path.parent.is_dir():
        raise ValueError(f"there is no folder {path.parent}")
    if path.is_dir():
        raise ValueError(f"{path} is a folder")
    if path.is_file():
        with path.open("rb") as file:
            begins = file.read(len(SAMPLE_BEGINS))
        if begins not in (b"", SAMPLE_BEGINS):
            raise ValueError(f"{path} holds something else than samples, and is not overwritten")
    return str(path)


def parse_pipe(text: str) -> str:
    """Return the absolute path of an existing named pipe. Raises ValueError without it."""
    path = Path(text).absolute()
    if not path.is_fifo():
        raise ValueError(f"there is no named pipe {path}: mkfifo makes one")
    return str(path)


def parse_key(text: str) -> str:
    """Return the key in a file of ``tandem pair``, in hexadecimal."""
    return read_key_file(text).hex()


def parse_model(text: str) -> str:
    """Return a model's name, or the absolute path of a file of parameters."""
    return str(Path(text).absolute()) if text.endswith(".yaml") else text


# query key -> its parser; a virtual car's URI takes no other keys
QUERY: dict[str, Callable[[str], Any]] = {
    "seed": parse_seed,
    "name": str,
    "board": str,
    "model": parse_model,
    "step_s": parse_number,  # this and ``calibration`` are read by ``vehicle_for``
    "calibration": str,
    "payload_kg": partial(parse_payload, "payload_kg"),
    "payload_x_m": partial(parse_payload, "payload_x_m"),
    "patch": lambda text: [parse_patch(part) for part in text.split(";")],
    "blank": lambda text: text not in ("", "0"),
    "stand": lambda text: text not in ("", "0"),
    "rc": lambda text: text not in ("", "0"),
    "track": str,
    "map": lambda text: str(Path(text).absolute()),
    "start": parse_start,
    "wind": parse_wind,
    "slope": parse_slope,
    "scene": str,
    "sensors": parse_output,
    "located": parse_output,
    "poses": parse_pipe,
    "key": parse_key,
    "fault": parse_faults,
    "scenario": lambda text: read_scenario(scenario_path(text)),
}


@dataclass(frozen=True)
class VirtualCarConfig:
    """The configuration of one virtual car: its vehicle file's tables and this car's options."""

    vehicle: str
    plant: Mapping[str, Any]
    channels: Sequence[Mapping[str, Any]]
    parameters: Mapping[str, Sequence[int]]
    seed: int = 0
    car_name: str = ""
    board: str = ""  # name of its virtual board; empty: the car's name
    payload_kg: float = 0.0
    payload_x_m: float = 0.0
    patch: Sequence[Sequence[float]] = field(default_factory=list)
    blank: bool = False  # nothing stored on the board yet
    stand: bool = False  # the wheels are off the ground
    rc: bool = False  # a scripted RC transmitter drives it
    track: str = ""  # a track's name; without track and map the floor is endless
    map: str = ""  # the absolute path of a ROS map's .yaml
    start: Sequence[float] = ()  # x, y, yaw of its centre of gravity; empty: the origin
    wind: Sequence[float] = ()  # the air's speed along x and y in m/s; empty: calm
    slope: Sequence[float] = ()  # sine of the floor's rise along x and y; empty: level
    scene: str = ""  # cars of one scene see each other
    sensors: str = ""  # the absolute path of a file for its sensors' samples
    located: str = ""  # the absolute path of a file for its poses, as a localiser says them
    poses: str = ""  # the absolute path of a named pipe with poses to put it at while it stands
    key: str = ""  # shared with its runstop box, in hexadecimal
    faults: Sequence[Mapping[str, Any]] = ()  # to be injected, as checked by ``faults.named``

    @property
    def name(self) -> str:
        return self.vehicle

    @property
    def noise_seed(self) -> int:
        """The seed of this car's own noise: it differs between cars of one seed and other names."""
        if self.car_name in ("", self.vehicle):
            return self.seed
        return self.seed ^ crc32(self.car_name.encode())

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @staticmethod
    def from_json(text: str) -> VirtualCarConfig:
        return VirtualCarConfig(**json.loads(text))

    def make_world(self, runner: Runner) -> World:
        """Return the car in its world, ready to begin.

        Raises ValueError for a place or start pose that is impossible.
        """
        return self.make_car(runner).world

    def make_car(self, runner: Runner) -> VirtualCar:
        """Return the car in its world, and what surrounds it there, as ``make_world`` does."""
        if not self.faults:
            world = self._world(World, runner)
            return VirtualCar(world, self._surround(world))
        injector = FaultInjector(self, self.faults, self.seed, runner)
        faulty = self._world(FaultyWireWorld, injector.runner)
        surroundings = self._surround(faulty)
        injector.apply(faulty)
        return VirtualCar(faulty, surroundings)

    def _world(self, kind: type[W], runner: Runner) -> W:
        plant = self.make_plant()
        plant.is_on_stand = self.stand
        name = self.car_name or self.vehicle
        board_id = board_id_of(self.board or name)
        image = b"" if self.blank else stored_image(self, board_id, name)
        if self.key:
            image = FlashContents(image, stored_key(bytes.fromhex(self.key), board_id))
        world = kind(
            self, self.seed, name=name, board=self.board, plant=plant, runner=runner, image=image
        )
        if self.rc:
            world.attach_rc(ScriptedHand)
        return world

    def _surround(self, world: World) -> Surroundings | None:
        if not self.is_surrounded:
            return None
        from sim_mock.virtual_car.surroundings import surround  # needs numpy; most cars do not

        return surround(world, self)

    def make_plant(self) -> Plant:
        """Return the plant with its load, its floor and its model. Raises ValueError."""
        patches = [Patch(*numbers) for numbers in self.patch]
        plant = plant_of(self, self.noise_seed, self.payload_kg, self.payload_x_m, patches)
        if self.wind or self.slope:
            if plant.model is not None:
                name = plant.parameters.model
                raise ValueError(f"model={name} knows of no wind and no slope: leave out one")
            (wind_x, wind_y), (rise_x, rise_y) = self.wind or (0.0, 0.0), self.slope or (0.0, 0.0)
            plant.put_outdoors((wind_x, wind_y), (rise_x, rise_y))
        return plant

    @property
    def is_surrounded(self) -> bool:
        """True if the car has a place, a start pose, or an output of its sensors."""
        outputs = self.sensors or self.located or self.poses
        return bool(self.track or self.map or self.start or outputs)


class VirtualCar(NamedTuple):
    """A virtual car in its world; ``surroundings`` is None on an endless floor."""

    world: World
    surroundings: Surroundings | None


class VehicleReader(Protocol):
    """A reader of vehicle files; ``changes`` are values that replace a file's."""

    def vehicle(self, name: str, changes: Mapping[str, Any] | None = None) -> VehicleSpec: ...


def vehicle_for(query: Mapping[str, str], name: str, vehicles: VehicleReader) -> VehicleSpec:
    """Return the vehicle of a URI, with the step and the calibration that it asks for.

    Raises ValueError, and what reading the vehicle raises.
    """
    changes = {"timing.step_s": parse_number(query["step_s"])} if "step_s" in query else None
    vehicle = vehicles.vehicle(name, changes)
    file = query.get("calibration", AS_IN_ITS_FILE)
    return vehicle if file == AS_IN_ITS_FILE else _calibrated(vehicle, file)


def _calibrated(vehicle: VehicleSpec, file: str) -> VehicleSpec:
    """Return the calibrated vehicle, by entry point: this package does not import calibration."""
    for point in entry_points(group=CALIBRATIONS, name="apply"):
        try:
            apply = point.load()
        except ImportError as error:
            raise ValueError(f"calibration={file}: {_in_the_way(point.module, error)}") from None
        config: VehicleSpec = apply(vehicle, file)
        return config
    raise ValueError(f"calibration={file}: no package offers {CALIBRATIONS}; install Tandem anew")


def _in_the_way(module: str, error: ImportError) -> str:
    """Return why a module of ours was not imported: a user's file may have its package's name."""
    name = module.partition(".")[0]
    found = getattr(sys.modules.get(name), "__file__", None)
    ours = Path(__file__).resolve().parents[2] / name
    if found is None or ours in Path(found).resolve().parents:
        return str(error)
    return f"{found} has the name of a package that Tandem needs: rename that file"


def virtual_car_config(vehicle: VehicleSpec, query: Mapping[str, str]) -> VirtualCarConfig:
    """Return a virtual car's configuration from a vehicle and a URI's query.

    Raises ValueError that names the wrong key.
    """
    options: dict[str, Any] = {}
    for key, text in query.items():
        if key not in QUERY:
            known = ", ".join(sorted(QUERY))
            raise ValueError(f"unknown option {key!r} of a virtual car; known are {known}")
        try:
            options["car_name" if key == "name" else key] = QUERY[key](text)
        except ValueError as fault:
            raise ValueError(f"option {key}={text!r} of a virtual car: {fault}") from None
    if options.get("rc") and not vehicle.parameters["rc_fitted"][0]:
        raise ValueError(f"rc=1: {vehicle.name} has no RC receiver ([rc] in its vehicle file)")
    options.pop("step_s", None)
    options.pop("calibration", None)
    options.update(_made_different(options))
    model = options.pop("model", None)
    plant = vehicle.plant if model is None else {**vehicle.plant, "model": model}
    if options.get("scene") and not (options.get("track") or options.get("map")):
        raise ValueError("scene=NAME: say the track=NAME or the map=FILE that its cars share, too")
    car = VirtualCarConfig(vehicle.name, plant, vehicle.channels, vehicle.parameters, **options)
    car.make_plant()  # report errors now and not in another process
    if car.is_surrounded:
        from sim_mock.virtual_car.surroundings import area_of

        area = area_of(car)
        for note in area.notes if area else ():
            _LOG.warning("%s", note)
    return car


def choices() -> dict[str, list[dict[str, Any]]]:
    """Return the models, tracks, faults and scenarios that can be chosen by name."""
    from sim_mock.bodies.table import describe_models
    from sim_mock.tracks.loading import load_track, track_names

    tracks = [{"name": name, "title": load_track(name).title} for name in track_names()]
    return {
        "models": describe_models(),
        "tracks": tracks,
        "faults": describe_faults(),
        "scenarios": describe_scenarios(),
    }


def _made_different(options: dict[str, Any]) -> dict[str, Any]:
    """Take the faults of URI and scenario out of ``options``; return them and their options.

    Raises ValueError if an option and a fault set the same key.
    """
    faults = [*options.pop("fault", ()), *options.pop("scenario", ())]
    changes = options_of(faults)
    for key in changes:
        if key in options:
            raise ValueError(f"{key} is said by an option and by a fault: leave one of them out")
    return {**changes, "faults": faults}
