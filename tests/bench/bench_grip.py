"""What an IMU feels at most, against what tyres can give: ``python tests/bench/bench_grip.py``.

Random segments of drives of each car (``tests/sim_mock/plant/segments.py``), in machine code;
where nothing can be compiled fewer of them, in plain Python.
"""

from collections.abc import Iterator

from tests.bench.support.quick import with_machine_code
from tests.bench.support.sheet import Sheet, publish, verdict
from tests.sim_mock.plant import segments

MANY, FEW = 10_000, 300


def measure() -> Iterator[Sheet]:
    count = MANY
    found = with_machine_code("tests.sim_mock.plant.segments", str(count))
    if found is None:
        count = FEW
        found = {name: segments.worst_of(name, count) for name in segments.CARS}
    rows = [
        (name, f"{worst:.3f}", verdict(worst <= segments.MOST)) for name, worst in found.items()
    ]
    yield Sheet(
        f"The largest acceleration in {count} random segments of {segments.STEPS} ms, in mu g",
        ("car", "mu g", f"aim: {segments.MOST}"),
        rows,
    )


if __name__ == "__main__":
    publish("grip", measure)
