"""How long ``tandem calibrate`` takes for a minute of log.

    python tests/bench/bench_calibrate.py

Virtual cars drive the minute that tells their numbers; the command reads their logs as a process of
its own, start of Python included, with the places that a camera saw.
"""

import contextlib
import io
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from tests.bench.support.sheet import Cell, Sheet, publish
from tests.calibration.hidden import DRIVE, HiddenCar, drive

ROOT = Path(__file__).resolve().parents[2]
VEHICLES = ("f1tenth", "f1tenth_vesc", "nigel")
AIM_SHARE = 1.0  # of the log's own time
RUNS = 3  # the best counts: the others were disturbed


def rows(folder: Path) -> Iterator[tuple[Cell, ...]]:
    for name in VEHICLES:
        place = folder / name
        place.mkdir()
        with contextlib.redirect_stdout(io.StringIO()):
            log, seen = drive(HiddenCar(name), place)
        seconds = min(timed(log, seen) for _ in range(RUNS))
        log_s = drive_s()
        said = "pass" if seconds < AIM_SHARE * log_s else "FAIL"
        yield name, log_s, round(log.stat().st_size / 1e6, 2), round(seconds, 2), said


def drive_s() -> float:
    """Until the last command."""
    return float(DRIVE.split()[-1].partition(",")[0])


def timed(log: Path, seen: Path) -> float:
    """Wall seconds of the command."""
    words = ["calibrate", str(log), "--places", str(seen), "--json"]
    begun_s = time.monotonic()
    subprocess.run(
        [sys.executable, "-m", "host_bridge.cli.main", *words],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=True,
        capture_output=True,
    )
    return time.monotonic() - begun_s


def measure() -> Iterator[Sheet]:
    with tempfile.TemporaryDirectory() as folder:
        yield Sheet(
            "tandem calibrate LOG --places FILE: wall seconds",
            ("car", "log s", "MB", "calibrate s", f"aim: {AIM_SHARE:g} of the log's time"),
            list(rows(Path(folder))),
        )


if __name__ == "__main__":
    publish("calibrate", measure)
