"""How late a page shows what a board does."""

from __future__ import annotations

import asyncio
import time

from host_bridge.core import Sender
from host_bridge.sharing.services import make_host
from tests.host_bridge.station.chromium import Page

_WATCH = """(() => {
  window.changes = [];
  let before = "";
  new MutationObserver(() => requestAnimationFrame(() => {
    const now = document.getElementById("events").textContent;
    if (now !== before) changes.push(Date.now());
    before = now;
  })).observe(document.getElementById("events"),
    {subtree: true, childList: true, characterData: true});
})()"""
_REST_S = 0.35  # and not in step with the twenty pictures a second


def stop_lags_ms(page: Page, name: str, count: int) -> list[float]:
    """Stop a car that stands so many times, and clear it: from just before the Stop is sent until
    the animation frame after the page's list of events shows it. The way to the board is in it."""
    page.js(_WATCH)
    said_ms = asyncio.run(_stops(name, count))
    time.sleep(1.0)
    drawn = page.js("changes")
    found = []
    for begun_ms in said_ms:
        later = [at - begun_ms for at in drawn if at >= begun_ms - 1.0]
        found.append(min(later, default=float("inf")))
    return sorted(found)


async def _stops(name: str, count: int) -> list[float]:
    host = make_host()
    opened = await host.cars.open(name, epoch=host.cars.new_epoch())
    car, said_ms = opened.car, []
    try:
        for i in range(count):
            await asyncio.sleep(_REST_S + 0.007 * (i % 7))
            said_ms.append(time.time() * 1e3)
            car.stop(Sender.COMMAND, "bench", host.cars.clock.now_us())
            await asyncio.sleep(_REST_S)
            request = car.clear(host.cars.clock.now_us(), Sender.COMMAND)
            await opened.until(lambda request=request: request.result is not None, 2.0)
    finally:
        await opened.close()
    return said_ms
