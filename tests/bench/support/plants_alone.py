"""CPU seconds of one step: whole plants, and the single track alone; JSON, run by bench_plant."""

import json
import sys
from collections.abc import Callable
from time import process_time

from sim_mock.plant.body import BodyInput, BodyState
from sim_mock.plant.integrators import step_body
from sim_mock.plant.parameters import PlantParameters
from sim_mock.plant.vehicle_plant import Plant
from tests.sim_mock.plant.cars import f1tenth, f1tenth_outputs, nigel, nigel_outputs

DT_S = 1e-3
STEPS = 4000
ROUNDS = 12  # the best counts: the others were disturbed

Outputs = tuple[int, ...]
CASES: tuple[tuple[str, Callable[..., PlantParameters], str, Outputs, Outputs], ...] = (
    ("nigel", nigel, "rk2", nigel_outputs(0.1, 0), nigel_outputs(0.1, 8_000)),
    ("f1tenth", f1tenth, "euler", f1tenth_outputs(0.1, 0), f1tenth_outputs(0.1, 100_000)),
    ("f1tenth", f1tenth, "rk2", f1tenth_outputs(0.1, 0), f1tenth_outputs(0.1, 100_000)),
    ("f1tenth", f1tenth, "rk4", f1tenth_outputs(0.1, 0), f1tenth_outputs(0.1, 100_000)),
)


def best_s(run: Callable[[], object], calls: int) -> float:
    """CPU seconds of one of ``calls`` that ``run`` makes, in the quickest of the rounds."""
    took_s = []
    for _ in range(ROUNDS):
        began_s = process_time()
        run()
        took_s.append(process_time() - began_s)
    return min(took_s) / calls


def run_plant(plant: Plant, outputs: Outputs, steps: int) -> None:
    for _ in range(steps):
        plant.step(DT_S, outputs, True)


def plant_s(make: Callable[..., PlantParameters], integrator: str, *outputs: Outputs) -> float:
    """Turning under power, the tyres at work."""
    still, driving = outputs
    plant = Plant(make(body={"integrator": integrator}), 1)
    run_plant(plant, still, 600)  # arms the ESC
    run_plant(plant, driving, 2_000)  # up to speed
    return best_s(lambda: run_plant(plant, driving, STEPS), STEPS)


def single_track_s() -> float:
    """The body of an F1TENTH at 3 m/s into a turn of 0.1 rad, as in the tests of convergence."""
    p = f1tenth()
    s, u = BodyState(vx_mps=3.0), BodyInput(p.body, p.mu)
    u.steer(0.1, 0.0, p.body)
    u.force_rear_n = 1.0

    def run() -> None:
        for _ in range(STEPS):
            step_body(s, DT_S, u, p.body, p.integrate)

    return best_s(run, STEPS)


def measured() -> dict[str, float]:
    found = {
        f"{name}, {integrator}": plant_s(make, integrator, still, driving)
        for name, make, integrator, still, driving in CASES
    }
    return {**found, "single track, rk2": single_track_s()}


if __name__ == "__main__":
    json.dump(measured(), sys.stdout)
