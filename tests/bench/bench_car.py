"""How much faster than time a complete virtual car is: ``python tests/bench/bench_car.py``.

The car's program, its plant at 1 ms, and the link both ways with a host that sends 100 claims a
second through the bridge's own codec. All of it is counted, the host's share too.
"""

import json
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from time import perf_counter_ns
from typing import Any

from host_bridge.config import load_vehicle
from sim_mock.board.firmware_runner import InProcessRunner, SubprocessRunner
from sim_mock.runtime import micropython
from sim_mock.world import World
from tests.bench.support.pilot import Pilot
from tests.bench.support.quick import with_machine_code
from tests.bench.support.sheet import Cell, Sheet, publish, verdict

AIM = 160.0  # virtual seconds per second of one core, in process, as machine code
PLAIN_AIM = 50.0  # the same without
SPEED_MM_S = {"f1tenth": 2000, "nigel": 350}
BEATS_PER_S = 100
WARM_UP_BEATS = 300  # up to speed: the tyres are at work
ROUND_BEATS = 300
ROUNDS = 8  # the best counts: the others were disturbed

IN_PROCESS = f"in process, CPython {sys.version_info.major}.{sys.version_info.minor}"
# what the program runs in -> the command for it; None is this process
RUNTIMES: dict[str, Callable[[], list[str] | None]] = {
    "process, CPython": lambda: [sys.executable],
    "process, MicroPython 64 bit": lambda: micropython.find(64),
    "process, MicroPython 32 bit": lambda: micropython.find(32),
}
# in the order of the step; the rest of it decides and moves
PARTS = ("receiver", "telemetry")


@dataclass
class Rate:
    """Virtual seconds per second, best of the rounds."""

    wall: float = 0.0
    cpu: float = 0.0


class Stopwatch:
    """Adds up how long methods take that it is put around, by the names it was given."""

    def __init__(self) -> None:
        self.ns: dict[str, int] = {}

    def around(self, owner: Any, method: str, name: str) -> None:
        timed = getattr(owner, method)
        self.ns[name] = 0

        def step(*arguments: Any) -> Any:
            began_ns = perf_counter_ns()
            result = timed(*arguments)
            self.ns[name] += perf_counter_ns() - began_ns
            return result

        setattr(owner, method, step)


def world_of(vehicle: str, command: list[str] | None) -> World:
    def process(board_id: bytes, image: bytes, seed: int) -> SubprocessRunner:
        assert command is not None
        return SubprocessRunner(command, board_id, image, seed)

    return World(load_vehicle(vehicle), seed=1, runner=process if command else InProcessRunner)


def cpu_s(world: World) -> float:
    """Of this process and, if it has one of its own, the car's."""
    own_s = time.process_time()
    if not isinstance(world.runner, SubprocessRunner):
        return own_s
    # Linux numbers the clocks of processes so: ~pid in the upper bits, 2 for "scheduled time"
    return own_s + time.clock_gettime(~world.runner.pid << 3 | 2)


def rate_of(world: World, pilot: Pilot) -> Rate:
    rate = Rate()
    virtual_s = ROUND_BEATS / BEATS_PER_S
    for _ in range(ROUNDS):
        wall_s, used_s = time.perf_counter(), cpu_s(world)
        pilot.drive(ROUND_BEATS)
        rate.wall = max(rate.wall, virtual_s / (time.perf_counter() - wall_s))
        rate.cpu = max(rate.cpu, virtual_s / (cpu_s(world) - used_s))
    return rate


def measured(vehicle: str, command: list[str] | None) -> Rate:
    world = world_of(vehicle, command)
    try:
        pilot = Pilot(world, SPEED_MM_S[vehicle])
        pilot.drive(WARM_UP_BEATS)
        return rate_of(world, pilot)
    finally:
        world.close()


def rates(vehicle: str) -> Iterator[tuple[Cell, ...]]:
    """A row per way of running the program."""
    base = measured(vehicle, None)
    yield vehicle, IN_PROCESS, base.wall, base.cpu, 1.0, aim(base.cpu, PLAIN_AIM)
    yield quick_row(vehicle, base)
    for name, find in RUNTIMES.items():
        command = find()
        if command is None:
            yield vehicle, name, None, None, None, "none on this machine"
            continue
        rate = measured(vehicle, command)
        yield vehicle, name, rate.wall, rate.cpu, rate.cpu / base.cpu, None


def quick_row(vehicle: str, base: Rate) -> tuple[Cell, ...]:
    found = with_machine_code("tests.bench.bench_car", "--alone", vehicle)
    name = f"{IN_PROCESS}, as machine code"
    if found is None:
        return vehicle, name, None, None, None, "nothing can be compiled here"
    return (
        vehicle,
        name,
        found["wall"],
        found["cpu"],
        found["cpu"] / base.cpu,
        aim(found["cpu"], AIM),
    )


def aim(rate: float, least: float) -> str:
    return f"{least:.0f}: {verdict(rate >= least)}"


def shares(vehicle: str) -> dict[str, float]:
    """Where the time of a beat goes in process: microseconds by part, of the quickest round."""
    world = world_of(vehicle, None)
    pilot = Pilot(world, SPEED_MM_S[vehicle])
    pilot.drive(WARM_UP_BEATS)
    rounds = [one_round(world, pilot) for _ in range(ROUNDS)]
    return min(rounds, key=lambda parts: parts["all of it"])


def one_round(world: World, pilot: Pilot) -> dict[str, float]:
    app = world.runner.app  # type: ignore[attr-defined]  # it is InProcessRunner
    watch = Stopwatch()
    methods = [(getattr(app, part), "step", part) for part in PARTS]
    methods += [
        (app, "step", "app"),
        (world.runner, "step", "runner"),
        (world, "_run_plant", "plant"),
    ]
    for owner, method, name in methods:
        watch.around(owner, method, name)
    pilot.codec_ns = 0
    began_ns = perf_counter_ns()
    pilot.drive(ROUND_BEATS)
    total_ns = perf_counter_ns() - began_ns
    for owner, method, _ in methods:
        delattr(owner, method)
    return split(watch.ns, pilot.codec_ns, total_ns)


def split(ns: dict[str, int], codec_ns: int, total_ns: int) -> dict[str, float]:
    known_ns = ns["runner"] + ns["plant"] + codec_ns
    parts_ns = {
        "program: receive (frames, messages, claims)": ns["receiver"],
        "program: decide, control, put out": ns["app"] - ns["receiver"] - ns["telemetry"],
        "program: report (messages, frames)": ns["telemetry"],
        "its virtual board": ns["runner"] - ns["app"],
        "plant, 10 steps of 1 ms": ns["plant"],
        "host's codec, both ways": codec_ns,
        "world and pilot": total_ns - known_ns,
        "all of it": total_ns,
    }
    return {name: value / ROUND_BEATS / 1000 for name, value in parts_ns.items()}


def share_sheet() -> Sheet:
    by_vehicle = {vehicle: shares(vehicle) for vehicle in SPEED_MM_S}
    columns = ["part"]
    for vehicle in by_vehicle:
        columns += [vehicle, f"{vehicle} %"]
    rows = []
    for part in next(iter(by_vehicle.values())):
        row: list[Cell] = [part]
        for found in by_vehicle.values():
            row += [found[part], 100 * found[part] / found["all of it"]]
        rows.append(row)
    return Sheet("Where it goes in process: us per beat of 10 ms", columns, rows)


def measure() -> Iterator[Sheet]:
    yield Sheet(
        "A complete virtual car: virtual seconds per second",
        ("car", "its program runs", "per wall s", "per CPU s", "to in process", "aim"),
        [row for vehicle in SPEED_MM_S for row in rates(vehicle)],
        (
            f"Best of {ROUNDS} rounds of {ROUND_BEATS / BEATS_PER_S:.0f} virtual s, a slalom.",
            "CPU seconds are those of both processes together. In process they are one core's, and",
            "the aim is held to them: what a wall second is worth depends on who else is at work.",
        ),
    )
    yield share_sheet()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--alone"]:  # as with_machine_code runs it
        json.dump(asdict(measured(sys.argv[2], None)), sys.stdout)
    else:
        publish("car", measure)
