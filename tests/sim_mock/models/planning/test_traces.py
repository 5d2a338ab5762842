"""Against the outputs of Autoware's own models, seven of the eight, over 40 s each."""

import csv
import json
from pathlib import Path

import pytest

from sim_mock.models.planning.model_types import MODEL_TYPES, make_car
from sim_mock.models.planning.motion import DriverCommand, MotionReport

DATA = Path(__file__).parents[5] / "shared" / "data"
TRACES = DATA / "simple_planning_simulator"
LOCKED = DATA / "simple_planning_simulator_locked"
WHEELBASE_M, STEP_S = 2.7898, 0.025  # as the traces' README says

pytestmark = pytest.mark.skipif(
    not TRACES.is_dir(), reason=f"no traces of Autoware's models beside the project ({TRACES.name})"
)


def rows(model_type: str, folder: Path = TRACES) -> list[dict[str, float]]:
    with (folder / f"{model_type}.csv").open(newline="") as file:
        return [{key: float(cell) for key, cell in row.items()} for row in csv.DictReader(file)]


def command(row: dict[str, float]) -> DriverCommand:
    return DriverCommand(
        row["vel_des_mps"], row["acc_des_mps2"], row["steer_des_rad"], int(row["gear"])
    )


def worst_deviation(model_type: str, as_type: str) -> float:
    """How far ``model_type`` strays from the trace of ``as_type``, in any quantity."""
    given = {"acceleration_map_path": str(DATA / "acceleration_map.csv")}
    car = make_car(model_type, given, WHEELBASE_M, STEP_S)
    return strayed(car, rows(as_type), STEP_S)


def strayed(car, trace, step_s: float) -> float:
    """How far ``car``, driven by a trace's commands, strays from it at most, in any quantity."""
    worst = 0.0
    for row in trace:
        car.step(step_s, command(row))
        report = car.report()
        worst = max(
            worst, *(abs(getattr(report, name) - row[name]) for name in MotionReport._fields)
        )
    return worst


@pytest.mark.parametrize("model_type", MODEL_TYPES)
def test_every_quantity_of_every_step_is_autowares_to_1e_6(model_type):
    assert len(rows(model_type)) == 1600
    assert worst_deviation(model_type, model_type) < 1e-6


@pytest.mark.parametrize("as_type", MODEL_TYPES)
@pytest.mark.parametrize("model_type", MODEL_TYPES)
def test_no_model_passes_for_another(model_type, as_type):
    if model_type != as_type:
        assert worst_deviation(model_type, as_type) > 0.01


@pytest.mark.skipif(not LOCKED.is_dir(), reason=f"no traces at the lock ({LOCKED.name})")
@pytest.mark.parametrize(
    "model_type", ["DELAY_STEER_VEL", "DELAY_STEER_ACC", "DELAY_STEER_ACC_GEARED"]
)
def test_with_bias_and_scaling_that_take_the_wheel_past_its_lock_it_still_is_autowares(model_type):
    given = json.loads((LOCKED / "parameters.json").read_text())
    assert given.pop("integration") == "RK4"
    step_s, wheelbase_m = given.pop("dt"), given.pop("wheelbase")
    car = make_car(model_type, given, wheelbase_m, step_s)
    trace = rows(model_type, LOCKED)
    assert len(trace) == 1500
    assert strayed(car, trace, step_s) < 1e-6
