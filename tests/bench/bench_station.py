"""What the station costs, and how late it shows: ``python tests/bench/bench_station.py``.

Four virtual cars, a station and up to five pages of a real Chromium that watch at 20 Hz each.
Processor time is the station's own, and beside it the plots' program's; how late is from before a
Stop is sent to the animation frame after the page's DOM shows the state that the board reports.
The first paint is the browser's own figure, from the navigation on.
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
CARS = ("one", "two", "three", "four")
OBSERVERS = (0, 1, 5)
MORE, LATE_MS, PAINT_MS = 0.02, 150.0, 500.0  # promised in host_bridge/station/README.md
PAINTS = 10
PAINT = "performance.getEntriesByName('first-contentful-paint').map((it) => it.startTime)[0] || 0"


def measure() -> Iterator[Sheet]:
    """Both tables."""
    with ExitStack() as stack:
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        stack.enter_context(runtime_folder(patch))
        patch.setenv("TANDEM_DATA_DIR", stack.enter_context(tempfile.TemporaryDirectory()))
        for name in CARS:
            stack.enter_context(serving("sim://f1tenth", name))
        station = stack.enter_context(program("station", "--port", str(PORT)))
        assert station.stdout
        address = station.stdout.readline().strip().partition("#")[0]
        browser = Chromium()
        stack.callback(browser.close)
        pages: list[Page] = []
        paints = [painted_ms(browser, address) for _ in range(PAINTS)]
        shares = []
        for count in OBSERVERS:
            while len(pages) < count:
                pages.append(watching(browser, address))
            shares.append(cost(station.pid))
            if count == 1:  # more of them take the processors from the one that is looked at
                lags = lateness(pages[0])
    yield Sheet(
        "The station with four cars, shares of one core",
        ("observers", "station", "plots", "aim", "holds"),
        list(costs(shares)),
    )
    yield Sheet("First paint of a page with four cars, ms",
                ("pages", "p50", "worst", "aim", "holds"), [paint_row(paints)])  # fmt: skip
    yield Sheet("From a Stop that is sent to the frame that shows the board's state, ms",
                ("events", "p50", "p95", "worst", "aim for p95", "holds"), [lags])  # fmt: skip


def watching(browser: Chromium, address: str) -> Page:
    """A page that shows all cars."""
    page = browser.page(address)
    page.until(f"document.querySelectorAll('article').length === {len(CARS)}")
    return page


def painted_ms(browser: Chromium, address: str) -> float:
    """When a new page first showed something."""
    page = watching(browser, address)
    page.until(f"{PAINT} > 0")
    at_ms = float(page.js(PAINT))
    page.call("Page.close")
    return at_ms


def paint_row(paints: list[float]) -> list[str | float | int]:
    paints = sorted(paints)
    holds = verdict(paints[-1] <= PAINT_MS)
    return [len(paints), paints[len(paints) // 2], paints[-1], f"{PAINT_MS:.0f} ms", holds]


def costs(shares: list[list[float]]) -> Iterator[list[str | float | int]]:
    """Each row beside the one without pages."""
    alone = shares[0][0]
    for count, (station, plots) in zip(OBSERVERS, shares, strict=True):
        aim = f"{MORE} more than none" if count == OBSERVERS[-1] else ""
        holds = verdict(station - alone <= MORE) if aim else ""
        yield [count, station, plots, aim, holds]


def cost(station: int) -> list[float]:
    """Over some seconds: what the station and its plots take."""
    plots = programs_below(station, "station.views.plots_page")
    time.sleep(1.0)
    begun_s = time.monotonic()
    before = [processor_s(station), sum(map(processor_s, plots))]
    time.sleep(SECONDS)
    lasted_s = time.monotonic() - begun_s
    after = [processor_s(station), sum(map(processor_s, plots))]
    return [(b - a) / lasted_s for a, b in zip(before, after, strict=True)]


def lateness(page: Page) -> list[str | float | int]:
    lags = stop_lags_ms(page, "one", EVENTS)
    p95 = lags[int(0.95 * len(lags))]
    holds = verdict(p95 <= LATE_MS)
    return [len(lags), lags[len(lags) // 2], p95, lags[-1], f"{LATE_MS:.0f} ms", holds]


if __name__ == "__main__":
    os.environ.setdefault("PYTHONUNBUFFERED", "1")
    publish("station", measure)
