"""Steps per second of the plants alone, in pure CPython: ``python tests/bench/bench_plant.py``."""

from collections.abc import Callable, Iterator
from time import perf_counter

from sim_mock.plant.parameters import PlantParameters
from sim_mock.plant.vehicle_plant import Plant
from tests.bench.sheet import Sheet, publish
from tests.sim_mock.plant.cars import f1tenth, f1tenth_outputs, nigel, nigel_outputs

DT_S = 1e-3
STEPS = 20_000
ROUNDS = 5  # the best counts: the others were disturbed

Outputs = tuple[int, ...]
CASES: tuple[tuple[str, Callable[..., PlantParameters], str, Outputs, Outputs], ...] = (
    ("nigel", nigel, "rk2", nigel_outputs(0.1, 0), nigel_outputs(0.1, 8_000)),
    ("f1tenth", f1tenth, "euler", f1tenth_outputs(0.1, 0), f1tenth_outputs(0.1, 100_000)),
    ("f1tenth", f1tenth, "rk2", f1tenth_outputs(0.1, 0), f1tenth_outputs(0.1, 100_000)),
    ("f1tenth", f1tenth, "rk4", f1tenth_outputs(0.1, 0), f1tenth_outputs(0.1, 100_000)),
)


def run(plant: Plant, outputs: Outputs, steps: int) -> float:
    """Wall seconds for so many steps."""
    start = perf_counter()
    for _ in range(steps):
        plant.step(DT_S, outputs, True)
    return perf_counter() - start


def measure() -> Iterator[Sheet]:
    """A row per car and integrator, turning under power."""
    rows = []
    for name, make, integrator, still, driving in CASES:
        plant = Plant(make(body={"integrator": integrator}), 1)
        run(plant, still, 600)  # arms the ESC
        run(plant, driving, 2_000)  # up to speed, so that the tyres are at work
        step_s = min(run(plant, driving, STEPS) for _ in range(ROUNDS)) / STEPS
        rows.append((name, integrator, 1e6 * step_s, 1 / step_s, DT_S / step_s))
    columns = ("plant", "integrator", "us/step", "steps/s", "x real time")
    yield Sheet("The plants alone, in steps of 1 ms", columns, rows)


if __name__ == "__main__":
    publish("plant", measure)
