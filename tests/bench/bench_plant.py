"""The plants alone, and beside CommonRoad's model: ``python tests/bench/bench_plant.py``."""

import time
from collections.abc import Callable, Iterator
from math import sin
from typing import Any

import numpy as np
from scipy.integrate import odeint, solve_ivp
from vehiclemodels.vehicle_dynamics_st import vehicle_dynamics_st
from vehiclemodels.vehicle_parameters import setup_vehicle_parameters

from host_bridge.inputs.paths.mppi.planner import PERIOD_US, SAMPLES, STEP_S, STEPS, Planner
from sim_mock.models.integration import rk4
from sim_mock.models.single_track.linear import linear_rates
from sim_mock.models.single_track.parameters import DriverInput
from sim_mock.plant.batch import Batch
from tests.bench.support import plants_alone
from tests.bench.support.plants_alone import DT_S, best_s
from tests.bench.support.quick import with_machine_code
from tests.bench.support.sheet import Cell, Sheet, publish, verdict
from tests.host_bridge.inputs.paths.mppi.made_planner import ROUND, request_at, task_of
from tests.sim_mock.models.test_commonroad import converted
from tests.sim_mock.plant.cars import f1tenth

AIM = 1000.0  # times real time, the single track in machine code, one core
CARS = 1000
SLALOM_S = 2.0
START = (0.0, 0.0, 0.0, 10.0, 0.0, 0.0, 0.0)
TOLERANCE = 1e-6
THEIRS = setup_vehicle_parameters(vehicle_id=1)
OURS = converted(THEIRS)
SINGLE_TRACK = "single track, rk2"
PLANNING = "A plan of law=mppi, in CPU time of one core"
PLAN_S = STEP_S  # forty plans a second
PLANS = 400  # ten seconds


def inputs(time_s: float) -> tuple[float, float]:
    """The manoeuvre: a slalom at 10 m/s; steering rate, acceleration."""
    return 0.1 * sin(3.0 * time_s), 0.2


def theirs(x: Any, time_s: float) -> list[float]:
    return list(vehicle_dynamics_st(list(x), list(inputs(time_s)), THEIRS))


def by_odeint() -> Any:
    times = np.arange(0.0, SLALOM_S + 0.005, 0.01)
    return odeint(theirs, START, times, rtol=TOLERANCE, atol=TOLERANCE)[-1]


def by_solve_ivp() -> Any:
    whole = solve_ivp(
        lambda t, x: theirs(x, t), (0.0, SLALOM_S), START, rtol=TOLERANCE, atol=TOLERANCE
    )
    return whole.y[:, -1]


def by_rk4() -> Any:
    """Ours, plain Python, inputs held over each millisecond."""
    x = START
    for step in range(round(SLALOM_S / DT_S)):
        x = rk4(linear_rates, x, DriverInput(*inputs(step * DT_S)), OURS, DT_S)
    return x


def batch_s() -> float:
    """One step of a thousand cars, each with its own wheel angle, over the thousand."""
    p = f1tenth()
    batch = Batch(p.body, p.mu, CARS)
    batch.state[3] = 3.0
    angles = np.linspace(-0.1, 0.1, CARS)

    def run() -> None:
        for _ in range(100):
            batch.step(DT_S, angles, 1.0)

    return best_s(run, 100 * CARS)


def plants(plain: dict[str, float], quick: dict[str, float]) -> Sheet:
    rows = [
        (name, 1e6 * step_s, 1 / step_s, DT_S / step_s, *machine_code(quick.get(name)))
        for name, step_s in plain.items()
    ]
    columns = ("plant, integrator", "us/step", "steps/s", "x real time")
    return Sheet(
        "The plants alone, in steps of 1 ms, per CPU second",
        (*columns, "machine code: us/step", "steps/s ", "x real time "),
        rows,
        () if quick else ("machine code: nothing can be compiled on this machine",),
    )


def machine_code(step_s: float | None) -> tuple[Cell, ...]:
    return (1e6 * step_s, 1 / step_s, DT_S / step_s) if step_s else (None, None, None)


def beside(plain: dict[str, float], quick: dict[str, float]) -> Sheet:
    """Virtual seconds of one car per CPU second of one core."""
    manoeuvres: tuple[tuple[str, Callable[[], Any]], ...] = (
        ("CommonRoad's ST, scipy's odeint", by_odeint),
        ("CommonRoad's ST, scipy's solve_ivp (RK45)", by_solve_ivp),
        ("the same model of ours, rk4 at 1 ms", by_rk4),
    )
    reached = [np.asarray(run()) for _, run in manoeuvres]
    assert np.ptp([x[:2] for x in reached], axis=0).max() < 0.02, "not the same manoeuvre"
    rates = {name: SLALOM_S / best_s(run, 1) for name, run in manoeuvres}
    rates["single track with tyre law and load transfer, rk2 at 1 ms"] = DT_S / plain[SINGLE_TRACK]
    if quick:
        rates["the same in machine code"] = DT_S / quick[SINGLE_TRACK]
    rates[f"the same, {CARS} cars at once in NumPy, each"] = DT_S / batch_s()
    base = rates[manoeuvres[0][0]]
    rows = [(name, rate, rate / base, aim(name, rate)) for name, rate in rates.items()]
    return Sheet(
        "Single tracks: virtual seconds of a car per CPU second of one core",
        ("model and integrator", "x real time", "to odeint", f"aim: {AIM:.0f}"),
        rows,
        ("The first three drive the same slalom, and end within 2 cm of each other.",),
    )


def aim(name: str, rate: float) -> str | None:
    return verdict(rate >= AIM) if "machine code" in name or "at once" in name else None


def plan_seconds() -> list[float]:
    """CPU seconds of each plan but the first, which loads the kernel. Needs numba."""
    planner = Planner(task_of(ROUND))
    took_s: list[float] = []
    for i in range(PLANS + 1):
        along_m = 0.075 * i  # 3 m/s
        x_m, y_m = ROUND.at(along_m)
        request = request_at(
            i * PERIOD_US, x_m, y_m, ROUND.yaw_at(along_m), 3.0, along_m % ROUND.length_m
        )
        began_s = time.process_time()
        planner.plan(request)
        took_s.append(time.process_time() - began_s)
    return took_s[1:]


def planning() -> Sheet:
    """Plans of MPPI round a loop: 1000 drives of 2 s each, on one core."""
    try:
        took_s = plan_seconds()
    except ModuleNotFoundError:
        return Sheet(PLANNING, (), [], ("numba is not installed: not measured",))
    rows = [
        (
            name,
            1e3 * float(np.percentile(took_s, part)),
            verdict(np.percentile(took_s, part) <= PLAN_S),
        )
        for name, part in (("half of the plans within", 50), ("99 of 100 within", 99))
    ]
    notes = (f"{SAMPLES} samples of {STEPS} steps of {STEP_S * 1e3:.0f} ms; {len(took_s)} plans.",)
    return Sheet(PLANNING, ("share", "ms", f"aim: {PLAN_S * 1e3:.0f}"), rows, notes)


def measure() -> Iterator[Sheet]:
    plain = plants_alone.measured()
    quick = with_machine_code("tests.bench.support.plants_alone") or {}
    yield plants(plain, quick)
    yield beside(plain, quick)
    yield planning()


if __name__ == "__main__":
    publish("plant", measure)
