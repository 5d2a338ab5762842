"""How long a minute in lockstep takes a script: ``python tests/bench/bench_api.py [--json]``.

A figure-eight of a virtual Nigel, 60 s through ``import tandem``, plain Python and no LIDAR; beside
it the same car's world alone, which nobody drives.
"""

import json
import sys
from collections.abc import Callable
from time import perf_counter, process_time

import tandem

from host_bridge.config import load_vehicle
from sim_mock.board.firmware_runner import InProcessRunner
from sim_mock.virtual_car.config import virtual_car_config

SECONDS = 60.0
WITHIN_S = 3.0  # the aim, of one core


def eight() -> None:
    with tandem.open("sim://nigel", lockstep=True) as car:
        car.arm()
        for t_s in car.ticks(SECONDS):
            car.drive(0.4, 0.0745 if t_s % 30.0 < 15.0 else -0.0745)


def alone() -> None:
    virtual_car_config(load_vehicle("nigel"), {}).make_world(InProcessRunner).advance(
        round(SECONDS * 1e6)
    )


def timed(work: Callable[[], None]) -> dict[str, float]:
    cpu_s, wall_s = process_time(), perf_counter()
    work()
    return {"cpu_s": round(process_time() - cpu_s, 2), "wall_s": round(perf_counter() - wall_s, 2)}


def main() -> int:
    rows = {"through import tandem": timed(eight), "its world alone, standing": timed(alone)}
    if "--json" in sys.argv:
        print(json.dumps(rows))
    else:
        for name, row in rows.items():
            print(f"{name:26} {row['cpu_s']:5.2f} s of one core, {row['wall_s']:5.2f} s of time")
        is_met = rows["through import tandem"]["cpu_s"] <= WITHIN_S
        verdict = "pass" if is_met else "FAIL"
        print(f"{WITHIN_S:g} s of one core for {SECONDS:g} s: {verdict}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
