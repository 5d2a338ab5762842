"""A page of another origin, in the very browser of whoever has the seat: it reads nothing, drives
nothing, and starves no Stop. It may stop, as anybody may."""

from __future__ import annotations

import contextlib
import functools
import http.server
import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.host_bridge.cli.programs import program, serving
from tests.host_bridge.station.chromium import BrowserEnded, Chromium, Page
from tests.host_bridge.station.stage import STATE, STEP
from tests.safety.attackers import tries
from tests.safety.attackers.attack import Attack
from tests.safety.attackers.test_killed import below
from tests.support import patience

pytestmark = [pytest.mark.browser, pytest.mark.timeout(900), pytest.mark.xdist_group("station")]
# It says what it did by requests of its own, which a busy machine lets wait
PAGE_IDLE_S = 20.0
ANSWER = "document.getElementById('answer')"
HOSTILE = Path(__file__).with_name("other_origin.html").read_text()


class HostilePage:
    """The page that attacks, as one of an ``Attack``: what it did in all, as it says to its own
    server; it holds nothing."""

    def __init__(self, noted: list[int], browser: Chromium) -> None:
        self._noted = noted
        self._process = browser.process

    def is_running(self) -> bool:
        return self._process.poll() is None

    def answer(self) -> str:
        return "its browser has ended"

    def read(self) -> tuple[int, int]:
        return self._noted[-1], 0


class Served(http.server.BaseHTTPRequestHandler):
    """One page, for every path; what follows a ? is how much it has done."""

    def __init__(self, page: bytes, noted: list[int], *given: object) -> None:
        self._page = page
        self._noted = noted
        super().__init__(*given)  # type: ignore[arg-type]

    def do_GET(self) -> None:
        if did := urlsplit(self.path).query:
            self._noted.append(int(did))
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
def noted() -> list[int]:
    """How much the hostile page has done, each time that it said so."""
    return [0]


@pytest.fixture
def hostile(port, noted) -> Iterator[str]:
    """The address of the hostile page: another port, and so another origin."""
    page = HOSTILE.replace("PORT", str(port)).encode()
    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Served, page, noted)
    )
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


@contextlib.contextmanager
def a_crash_of_the_browser_shows_nothing() -> Iterator[None]:
    """Chromium itself ends now and then, by a trap of its own, more often the busier the machine
    is. That says nothing of the station, and is not passed. Raises patience.NotMeasured."""
    try:
        yield
    except BrowserEnded as error:
        raise patience.NotMeasured(str(error)) from error


@pytest.mark.exhaustive
@pytest.mark.parametrize("count", [6, 300])
@a_crash_of_the_browser_shows_nothing()
def test_it_reads_and_drives_nothing_and_the_pages_stop_is_answered(
    shared, browser, hostile, noted, port, count
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
        it = HostilePage(noted, browser)
        processes = 1 + len(below(browser.process.pid))
        who = f"page(s) of {urlsplit(hostile).netloc} in the same browser of {processes} processes"
        attack = Attack([it], [it], who, PAGE_IDLE_S)
        before = foreign.js("did")
        attacked = attack.beside(lambda: presses(page, count))
        after = foreign.js("did")
        got, state, told = foreign.js("got"), page.js(STATE), page.js("told.textContent")
        foreign.js("end(); 1")
    deeds = {name: after[name] - before[name] for name in before}
    told_of = f"{attack.told('deeds')}: {deeds}"
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
