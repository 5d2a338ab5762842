"""What the station costs, and how late it shows: ``python tests/bench/bench_station.py``.

Two virtual cars, a station and five pages of a real Chromium that watch at 20 Hz each. Processor
time is the station's own, and beside it the plots' program's; how late is from before a Stop is
sent to the animation frame after the page's DOM shows the state that the board reports.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.bench.support.sheet import Sheet, publish, verdict
from tests.host_bridge.cli.programs import program, serving
from tests.host_bridge.sharing.desk import runtime_folder
from tests.host_bridge.station.chromium import Chromium, Page
from tests.host_bridge.station.lateness import stop_lags_ms
from tests.host_bridge.station.processes import processor_s, programs_below

PORT = 18_990
SECONDS = 10.0
EVENTS = 40
OBSERVERS = (0, 1, 5)
SHARE, LATE_MS = 0.25, 200.0


def measure() -> Iterator[Sheet]:
    """Both tables."""
    with ExitStack() as stack:
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        stack.enter_context(runtime_folder(patch))
        patch.setenv("TANDEM_DATA_DIR", stack.enter_context(tempfile.TemporaryDirectory()))
        for name in ("one", "two"):
            stack.enter_context(serving("sim://f1tenth", name))
        station = stack.enter_context(program("station", "--port", str(PORT)))
        assert station.stdout
        address = station.stdout.readline().strip().partition("#")[0]
        browser = Chromium()
        stack.callback(browser.close)
        pages: list[Page] = []
        costs = []
        for count in OBSERVERS:
            while len(pages) < count:
                pages.append(browser.page(address))
                pages[-1].until("document.querySelectorAll('article').length === 2")
            costs.append(cost(station.pid, count))
        pages[-1].call("Page.bringToFront")
        lags = lateness(pages[-1])
    yield Sheet(
        "The station, shares of one core", ("observers", "station", "plots", "aim", "holds"), costs
    )
    yield Sheet("From a Stop that is sent to the frame that shows the board's state, ms",
                ("events", "p50", "p95", "worst", "aim for p95", "holds"), [lags])  # fmt: skip


def cost(station: int, count: int) -> list[str | float | int]:
    """Over some seconds: what it takes with so many pages."""
    plots = programs_below(station, "station.views.plots_page")
    time.sleep(1.0)
    begun_s = time.monotonic()
    before = [processor_s(station), sum(map(processor_s, plots))]
    time.sleep(SECONDS)
    lasted_s = time.monotonic() - begun_s
    after = [processor_s(station), sum(map(processor_s, plots))]
    shares = [(b - a) / lasted_s for a, b in zip(before, after, strict=True)]
    return [count, *shares, f"under {SHARE}", verdict(shares[0] < SHARE)]


def lateness(page: Page) -> list[str | float | int]:
    lags = stop_lags_ms(page, "one", EVENTS)
    p95 = lags[int(0.95 * len(lags))]
    holds = verdict(p95 <= LATE_MS)
    return [len(lags), lags[len(lags) // 2], p95, lags[-1], f"{LATE_MS:.0f} ms", holds]


if __name__ == "__main__":
    os.environ.setdefault("PYTHONUNBUFFERED", "1")
    publish("station", measure)
