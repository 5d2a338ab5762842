"""The table of models that can move a virtual car, by name, and their requirements.

``twin`` is the plant's own body; every other model replaces it and its driveline.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from sim_mock.autodrive.cars import simulated_car
from sim_mock.bodies.autodrive import AutoDriveBody, AutomobileBody
from sim_mock.bodies.autorally import DOUBLE, FULL, SINGLE, AutoRallyBody, Kind
from sim_mock.bodies.commonroad import KinematicBody, SingleTrackBody
from sim_mock.bodies.planning import PlanningBody, numbers_of
from sim_mock.bodies.speed_loop import refuse_unstable_loop, speed_loop_of
from sim_mock.bodies.trust import is_trusted
from sim_mock.files.yaml_document import read_yaml
from sim_mock.models.autodrive.automobiles import OPENCAV, RZR
from sim_mock.models.autodrive.cars import F1TENTH, HUNTER_SE, NIGEL
from sim_mock.models.autodrive.parameters import AutomobileParameters, CarParameters
from sim_mock.models.autorally.parameters import AUTORALLY
from sim_mock.models.planning.model_types import ALL, LEARNED, refuse_unknown
from sim_mock.models.planning.simulator import SimulatorSettings
from sim_mock.plant.servo import ServoParameters

if TYPE_CHECKING:
    from sim_mock.plant.model import Model
    from sim_mock.plant.parameters import PlantParameters

TWIN = "twin"
_AT_ONCE = ServoParameters(rate_rad_s=1e3, dead_time_s=0.0)  # for models with their own steering
# Keys of Autoware's files that only its node uses: its measurements are those of sensors here.
_NODE_KEYS = (
    *SimulatorSettings._fields,
    "timer_sampling_time_ms",
    "enable_road_slope_simulation",
    "enable_pub_steer",
    "initial_engage_state",
    "x_stddev",
    "y_stddev",
)
_AUTODRIVE: dict[str, CarParameters | AutomobileParameters] = {
    "nigel": NIGEL,
    "f1tenth": F1TENTH,
    "hunter_se": HUNTER_SE,
    "opencav": OPENCAV,
    "rzr": RZR,
}
_AUTORALLY = {"autorally": AUTORALLY}


class ModelEntry(NamedTuple):
    """A model of the table.

    ``make`` takes the vehicle's name, its plant, a file's parameters and the step in s;
    ``vehicles`` are those that it has numbers for, or that can be driven with it (empty: all).
    """

    title: str
    make: Callable[[str, PlantParameters, Mapping[str, Any], float], Model]
    vehicles: tuple[str, ...] = ()
    steers: bool = False  # its own steering replaces the servo


def _autorally(title: str, kind: Kind) -> ModelEntry:
    return ModelEntry(
        title, lambda name, p, _given, _s: AutoRallyBody(p, _AUTORALLY[name], kind), (*_AUTORALLY,)
    )


def _autodrive(name: str, p: PlantParameters) -> Model:
    car = _AUTODRIVE[name]
    if isinstance(car, AutomobileParameters):
        return AutomobileBody(p, car)
    return AutoDriveBody(p, car, simulated_car(name))


def _planning(model: str) -> ModelEntry:
    def make(_name: str, p: PlantParameters, given: Mapping[str, Any], step_s: float) -> Model:
        return PlanningBody(p, model, given, step_s)

    # With IDEAL_STEER_VEL a speed loop of higher gain than Nigel's oscillates.
    whose = ("nigel",) if model == "IDEAL_STEER_VEL" else ()
    return ModelEntry("of Autoware's planning simulator", make, whose, steers=True)


MODELS: dict[str, ModelEntry] = {
    "kinematic": ModelEntry(
        "CommonRoad's kinematic single track: no wheel slips",
        lambda _name, p, _given, _s: KinematicBody(p),
    ),
    "single_track": ModelEntry(
        "CommonRoad's single track: linear tyres, load transfer",
        lambda _name, p, _given, _s: SingleTrackBody(p),
    ),
    "autorally_single_track": _autorally("AutoRally's single track: magic formula, spins", SINGLE),
    "autorally_double_track": _autorally("the same on four wheels, loads by equilibrium", DOUBLE),
    "autorally_full": _autorally("the same with ride, roll and pitch on springs, and air", FULL),
    "autodrive": ModelEntry(
        "AutoDRIVE's simulator: four sprung wheels, its motors, or engine, gearbox and brakes",
        lambda name, p, _given, _s: _autodrive(name, p),
        (*_AUTODRIVE,),
        steers=True,
    ),
    **{model: _planning(model) for model in ALL},
}


def parse_model(text: str) -> tuple[str, dict[str, Any]]:
    """Return a model's name and its parameters, from a name or from a parameter file (.yaml).

    The name is one of ``MODELS``, the file one of Autoware's planning simulator. Raises ValueError.
    """
    if text.endswith(".yaml"):
        return _of_file(Path(text))
    if text not in MODELS:
        raise ValueError(f"model={text}: there is no such; there is {TWIN}, {', '.join(MODELS)}")
    return text, {}


def _of_file(path: Path) -> tuple[str, dict[str, Any]]:
    """Read the parameters with which Autoware's node would be started, without the node's own."""
    table: Any = read_yaml(path).values
    for key in ("/**", "ros__parameters"):
        table = table.get(key) if isinstance(table, dict) else None
    if not isinstance(table, dict) or "vehicle_model_type" not in table:
        types = ", ".join(ALL)
        raise ValueError(f"{path}: expected /**: ros__parameters: vehicle_model_type: of {types}")
    refuse_unknown(table["vehicle_model_type"])
    given = {key: value for key, value in table.items() if key not in _NODE_KEYS}
    name = given.pop("vehicle_model_type")
    if name == LEARNED and not is_trusted(path):
        named = given.get("model_module_paths")
        raise ValueError(
            f"{path} brings Python code of its own ({named}), which runs with all that your login "
            f"may do; if you trust it: --trust-code {path}"
        )
    if "acceleration_map_path" in given:  # relative to the file, unless it is absolute
        given["acceleration_map_path"] = str(path.parent / given["acceleration_map_path"])
    return name, given


def describe_models() -> list[dict[str, str]]:
    """Return the list of all models, for a user interface."""
    rows = [
        {
            "name": TWIN,
            "title": "the plant's own: single track, brush tyres (unless another is said)",
        }
    ]
    for name, row in MODELS.items():
        whose = f" ({', '.join(row.vehicles)})" if row.vehicles else ""
        rows.append({"name": name, "title": row.title + whose})
    return rows


def models_for_vehicle(vehicle: str) -> list[str]:
    """Return the models that this type of car may have."""
    return [name for name, row in MODELS.items() if not row.vehicles or vehicle in row.vehicles]


def with_model(
    parameters: PlantParameters, vehicle: str, board: Mapping[str, Sequence[int]], step_s: float
) -> tuple[PlantParameters, Model | None]:
    """Return the plant's parameters for their ``model``, and that model (None: the plant's own).

    ``board`` is the configuration of the vehicle's board. Raises ValueError for a model that this
    vehicle cannot have.
    """
    if parameters.model == TWIN:
        return parameters, None
    name, given = parse_model(parameters.model)
    row = MODELS[name]
    if row.vehicles and vehicle not in row.vehicles:
        may_be = ", ".join((TWIN, *models_for_vehicle(vehicle)))
        raise ValueError(
            f"model={name} is only for {', '.join(row.vehicles)}; {vehicle} may have {may_be}"
        )
    if name in ALL:
        motor_s = numbers_of(parameters)["vel_time_constant"]
        loop = speed_loop_of(parameters, board, motor_s)
        refuse_unstable_loop(name, given, loop, vehicle, motor_s)
    try:
        moves = row.make(vehicle, parameters, given, step_s)
    except (ValueError, OSError) as fault:
        raise ValueError(f"model={name}: {fault}; model=FILE.yaml says parameters") from None
    return (replace(parameters, servo=_AT_ONCE) if row.steers else parameters), moves
