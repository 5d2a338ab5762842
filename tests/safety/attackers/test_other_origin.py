"""A page of another origin, in the very browser of whoever has the seat: it reads nothing, drives
nothing, and starves no Stop. It may stop, as anybody may."""

from __future__ import annotations

import functools
import http.server
import json
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.host_bridge.cli.programs import program, serving
from tests.host_bridge.station.chromium import Chromium, Page
from tests.host_bridge.station.stage import STATE, STEP
from tests.safety.attackers import tries
from tests.safety.attackers.attack import Attack
from tests.safety.attackers.test_killed import below

pytestmark = [pytest.mark.browser, pytest.mark.timeout(900), pytest.mark.xdist_group("station")]
ANSWER = "document.getElementById('answer')"
HOSTILE = Path(__file__).with_name("other_origin.html").read_text()


class HostilePage:
    """The page that attacks, as one of an ``Attack``: what it did in all, and, as what it holds,
    how many processes its browser has."""

    def __init__(self, page: Page, browser: Chromium) -> None:
        self._page = page
        self._pid = browser.process.pid

    def is_running(self) -> bool:
        return os.path.exists(f"/proc/{self._pid}/task")

    def answer(self) -> str:
        return "its browser has ended"

    def read(self) -> tuple[int, int]:
        return sum(self._page.js("did").values()), 1 + len(below(self._pid))


class Served(http.server.BaseHTTPRequestHandler):
    """One page, for every path."""

    def __init__(self, page: bytes, *given: object) -> None:
        self._page = page
        super().__init__(*given)  # type: ignore[arg-type]

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(self._page)))
        self.end_headers()
        self.wfile.write(self._page)

    def log_message(self, *words: object) -> None:
        """Nobody reads it."""


@pytest.fixture
def port() -> int:
    return tries.free_port()


@pytest.fixture
def hostile(port) -> Iterator[str]:
    """The address of the hostile page: another port, and so another origin."""
    page = HOSTILE.replace("PORT", str(port)).encode()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Served, page))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


@pytest.fixture
def browser() -> Iterator[Chromium]:
    it = Chromium()
    yield it
    it.close()


def presses(page: Page, count: int) -> tries.Tries:
    """Press the Stop of a car so often, as its page has it: how long until its answer is good."""
    rows = []
    for _ in range(count):
        begun_s = time.monotonic()
        took_ms = page.js(
            "new Promise((done) => { const begun = performance.now();"
            " document.querySelector('.one').click();"
            f" const look = () => {ANSWER}.className === 'good' ? done(performance.now() - begun)"
            " : performance.now() - begun > 20000 ? done(null) : setTimeout(look, 4); look(); })"
        )
        rows.append((begun_s, took_ms))
        time.sleep(tries.PAUSE_S)
    return tries.of(rows)


@pytest.mark.exhaustive
@pytest.mark.parametrize("count", [6, 300])
def test_it_reads_and_drives_nothing_and_the_pages_stop_is_answered(
    shared, browser, hostile, port, count
):
    with (
        serving("sim://nigel", "car"),
        program("station", "--port", str(port), "--no-plots") as station,
    ):
        assert station.stdout is not None
        address = station.stdout.readline().split()[0]
        page = browser.page(address)
        page.until(f"document.querySelector('article') && {STATE} === 'STANDBY'")
        foreign = browser.page(hostile)
        page.call("Page.bringToFront")
        control = presses(page, count)
        foreign.js("begin(); 1")
        foreign.until("Object.values(did).every((it) => it > 2)")
        it = HostilePage(foreign, browser)
        attack = Attack([it], [it], f"page(s) of {urlsplit(hostile).netloc} in the same browser")
        before = foreign.js("did")
        attacked = attack.beside(lambda: presses(page, count))
        after = foreign.js("did")
        got, state, told = foreign.js("got"), page.js(STATE), page.js("told.textContent")
        foreign.js("end(); 1")
    deeds = {name: after[name] - before[name] for name in before}
    told_of = f"{attack.told('deeds')} (processes of the browser): {deeds}"
    tries.page_judged(control, attacked, f"{told_of}\n  the page's Stop")
    assert min(deeds.values()) > 0, "it did something of each kind beside the tries"
    assert got == [], json.dumps(got[:5])
    assert state in ("STANDBY", "STOPPED")
    assert "driving" not in told


def test_it_can_stop_an_armed_car_and_do_nothing_else(shared, browser, hostile, port):
    with (
        serving("sim://nigel", "car"),
        program("station", "--port", str(port), "--no-plots") as station,
    ):
        assert station.stdout is not None
        page = browser.page(station.stdout.readline().split()[0])
        page.until(f"document.querySelector('article') && {STATE} === 'STANDBY'")
        page.click("#take")
        page.until(f"{STEP} === 'arm'")
        page.click("#arm")
        page.until(f"told.dataset.phase === 'driving' && {STATE} === 'HOLD'")
        foreign = browser.page(hostile)
        page.call("Page.bringToFront")
        foreign.js("stopCar()")
        page.until(f"/STOP/.test({STATE})")
        foreign.js("begin(); 1")
        foreign.until("Object.values(did).every((it) => it > 2)")
        assert page.js(f"/STOP/.test({STATE})"), "nobody but the seat clears and arms it"
        assert foreign.js("got") == []
