"""How long a stop takes from exec: ``python tests/bench/bench_stop.py``.

``tandem stop`` as a person starts it, by its console script, of a virtual car that ``tandem serve``
owns: from before the fork until it has said that the car acknowledged, and how much processor it
takes. On this machine as it is, and beside four programs that compute all the time; there the car's
owner is one more that wants the processor.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from tests.bench.support.sheet import Sheet, publish, verdict
from tests.tools.running.busy import hogs

SAMPLES = 100
TANDEM = [
    sys.executable,
    "-c",
    "import sys; from host_bridge.cli.main import main; sys.exit(main())",
]
HOGS = 4
IDLE_P99_MS, LOADED_P99_MS, LOADED_CPU_MS = 150.0, 300.0, 60.0
PAUSE_S = 0.05


@contextlib.contextmanager
def served() -> Iterator[None]:
    """A car, in folders that no other program looks into."""
    with tempfile.TemporaryDirectory(prefix="tandem-") as folder:
        for name in ("TANDEM_RUNTIME_DIR", "TANDEM_STOP_DIR", "TANDEM_DATA_DIR"):
            os.environ[name] = str(Path(folder, name[7:10].lower()))
        os.mkdir(os.environ["TANDEM_STOP_DIR"])
        process = subprocess.Popen(
            [*TANDEM, "serve", "--car", "sim://nigel", "--name", "car"],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
        assert process.stdout is not None
        if "is served as" not in process.stdout.readline():
            raise SystemExit("the car is not served")
        try:
            yield
        finally:
            process.terminate()
            process.communicate()


def one_stop() -> tuple[float, float]:
    """From exec to its word, and processor time, in ms."""
    began_s = time.perf_counter()
    process = subprocess.Popen([*TANDEM, "stop"], stdout=subprocess.PIPE)
    assert process.stdout is not None
    said = process.stdout.readline()
    took_s = time.perf_counter() - began_s
    process.stdout.close()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode or b"acknowledged after" not in said:
        raise SystemExit(f"a stop was not acknowledged: {said!r}, exit code {process.returncode}")
    return took_s * 1e3, (usage.ru_utime + usage.ru_stime) * 1e3


def quantile(sorted_ms: list[float], share: float) -> float:
    return sorted_ms[min(int(share * len(sorted_ms)), len(sorted_ms) - 1)]


def row(what: str, count: int, p99_ms: float, cpu_ms: float) -> list[str | float | int]:
    with hogs(count):
        time.sleep(1.0 if count else 0.0)  # they are all there
        samples = []
        for _ in range(SAMPLES):
            samples.append(one_stop())
            time.sleep(PAUSE_S)
    took = sorted(it for it, _ in samples)
    cpu = sorted(it for _, it in samples)
    holds = quantile(took, 0.99) <= p99_ms and quantile(cpu, 0.99) <= cpu_ms
    aim = f"{p99_ms:.0f} ms" + (f", {cpu_ms:.0f} ms cpu" if cpu_ms < 1e3 else "")
    found = [quantile(took, 0.5), quantile(took, 0.99), took[-1], quantile(cpu, 0.5)]
    return [what, len(samples), *found, quantile(cpu, 0.99), aim, verdict(holds)]


def measure() -> Iterator[Sheet]:
    with served():
        rows = [
            row("as it is", 0, IDLE_P99_MS, 1e9),
            row(f"{HOGS} programs that compute", HOGS, LOADED_P99_MS, LOADED_CPU_MS),
        ]
    yield Sheet(
        "tandem stop, from exec to acknowledged, ms",
        ("beside", "stops", "p50", "p99", "worst", "cpu p50", "cpu p99", "aim for p99", "holds"),
        rows,
    )


if __name__ == "__main__":
    publish("stop", measure)
