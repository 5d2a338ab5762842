"""The plots' program beside the page, in a real Chromium: live, of a log, hung, killed."""

from __future__ import annotations

import json
import logging
import os
import signal
import subprocess
import time
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.host_bridge.cli.programs import program, tandem
from tests.host_bridge.sharing.desk import runtime_folder
from tests.host_bridge.station.chromium import Chromium, Page
from tests.host_bridge.station.stage import PORTS, stage
from tests.support import patience

pytest.importorskip("nicegui", reason="the station's plots need tandem-cars[station]")
uvicorn = pytest.importorskip("uvicorn")
views = pytest.importorskip("host_bridge.station.views.plots_page")
pytestmark = [pytest.mark.browser(drives=True), pytest.mark.xdist_group("station")]
PORT, LOG_PORT = PORTS + 4, PORTS + 6
ANSWER = "document.getElementById('answer')"
STATES = "[...document.querySelectorAll('.state')].map((it) => it.dataset.state)"
PAUSE = "[...document.querySelectorAll('button')].find((it) => /^Pause/.test(it.innerText))"
NEWEST = (
    "getElement(parseInt(document.querySelectorAll('.nicegui-echart')[3].id.slice(1)))"
    ".chart.getOption().series.map((it) => it.data)"
)
CHARTS = "document.querySelectorAll('canvas').length"


@pytest.fixture(scope="module")
def set_up(tmp_path_factory):
    folder = tmp_path_factory.mktemp("views")
    with pytest.MonkeyPatch.context() as patch, runtime_folder(patch), stage(folder, PORT) as it:
        yield it


@pytest.fixture(scope="module")
def browser():
    it = Chromium()
    yield it
    it.close()


def plots(browser: Chromium, port: int) -> Page:
    """The plots alone, once they are served."""
    page = browser.page(f"http://localhost:{port + 1}/")
    deadline = patience.Deadline(30.0)
    while page.js(CHARTS) is None or page.js(CHARTS) < 4:
        deadline.check(page.text)
        time.sleep(0.5)
        if page.js("location.protocol") == "chrome-error:":
            page.call("Page.navigate", url=f"http://localhost:{port + 1}/")
    return page


def process_of(port: int) -> int:
    done = subprocess.run(
        ["ps", "-eww", "-o", "pid,args"], capture_output=True, text=True, check=True
    )
    wanted = f"station.views.plots_page 127.0.0.1:{port} "
    return next(int(it.split()[0]) for it in done.stdout.splitlines() if wanted in it)


def hosts_of(page: Page) -> set[str | None]:
    asked = [
        it["params"]["request"]["url"]
        for it in page.events
        if it["method"] == "Network.requestWillBeSent"
    ]
    assert len(asked) > 3
    return {urlsplit(it).hostname for it in asked if not it.startswith(("data:", "blob:"))}


def test_live_plots_are_drawn_and_nothing_is_asked_of_another_machine(set_up, browser):
    page = plots(browser, PORT)
    time.sleep(1.0)
    assert hosts_of(page) <= {"localhost", "127.0.0.1"}
    page.call("Page.close")


def test_any_signal_is_plotted_by_words_and_the_plots_stand_still_on_demand(set_up, browser):
    page = plots(browser, PORT)
    page.call("Page.bringToFront")
    before = page.js(CHARTS)
    page.click("input[aria-label='+ any signal']")
    page.call("Input.insertText", text="gyrosc")
    page.until("/turning, to the left/.test(document.querySelector('.q-menu')?.innerText)")
    page.click(".q-menu .q-item")
    page.until(f"{CHARTS} === {before + 1}")
    page.until(
        "[...document.querySelectorAll('.nicegui-echart')].map((it) =>"
        " getElement(parseInt(it.id.slice(1))).chart.getOption())"
        ".some((it) => /turning/.test(it.title[0].text) && it.series[0]?.data.length > 5)"
    )
    page.call("Input.dispatchKeyEvent", type="keyDown", key="Tab", code="Tab")
    page.js(f"{PAUSE}.click(); 1")
    page.until("/Paused [1-9] s ago/.test(document.body.innerText)")
    drawn = page.js(NEWEST)
    time.sleep(1.0)
    assert page.js(NEWEST) == drawn
    page.js(f"{PAUSE}.click(); 1")
    page.until("!/Paused/.test(document.body.innerText)")
    page.call("Page.close")


@pytest.mark.parametrize("number", [signal.SIGSTOP, signal.SIGKILL], ids=["hung", "killed"])
def test_a_stop_works_while_the_plots_program_does_not(set_up, browser, number):
    page = set_up.page(browser)
    page.until("!!document.querySelector('#views iframe')")
    victim = process_of(PORT)
    os.kill(victim, number)
    try:
        time.sleep(0.5)
        page.click("#stop")
        page.until(f"{ANSWER}.className === 'good'")
    finally:
        if number is signal.SIGSTOP:
            os.kill(victim, signal.SIGCONT)
    page.call("Page.close")


def test_plots_that_died_or_hang_are_told_and_started_again(set_up, browser):
    """In their place; meanwhile nothing else of the page waits for them."""
    page = set_up.page(browser)
    words = "document.getElementById('views-words')"
    for number in (signal.SIGKILL, signal.SIGSTOP):
        page.until("!!document.querySelector('#views iframe')", 180.0)
        page.until(f"{words}.hidden", 180.0)
        victim = process_of(PORT)
        os.kill(victim, number)
        page.until(f"/Plots (stopped|are silent)/.test({words}.textContent)")
        page.until("!document.querySelector('#views iframe')")
        page.until("!!document.querySelector('#views iframe')", 180.0)
        assert process_of(PORT) != victim
    page.call("Page.close")


def driven_through(folder: Path) -> Path:
    """The log of a short drive of a car and its twin that nothing stopped: a busy machine does."""
    for n in range(8):
        log = folder / f"drive{n}.mcap"
        done = tandem(
            "drive", "--car", "sim://f1tenth", "--twin", "sim://f1tenth?name=twin", "--json",
            "--input", "script:slalom", "--seconds", "3", "--record", str(log),
        )  # fmt: skip
        if done.returncode == 0:
            return log
    raise AssertionError(done.stderr)


def test_a_log_is_shown_on_the_same_page_at_the_sliders_time(tmp_path, monkeypatch, browser):
    with runtime_folder(monkeypatch):
        log = driven_through(tmp_path)
        with program("station", "--port", str(LOG_PORT), "--log", str(log)) as station:
            address = station.stdout.readline().strip()
            assert "seat" not in address
            page = browser.page(address)
            page.until("document.querySelectorAll('article').length > 0")
            length_s = _length_s(page)
            assert length_s > 3.0
            _seek(page, length_s / 2)
            page.until("document.querySelectorAll('article').length === 2")
            page.until(f"{STATES}.every((it) => it === 'ACTIVE')")
            assert page.js("document.getElementById('stop').disabled")
            page.until("document.querySelectorAll('ol li').length > 8")
            page.until("/f1tenth and twin/.test(document.getElementById('together').innerText)")
            _seek(page, length_s)
            page.until(f"{STATES}.every((it) => it !== 'ACTIVE')")
            shown = plots(browser, LOG_PORT)
            shown.call("Page.bringToFront")
            shown.until(
                "[...document.querySelectorAll('.nicegui-echart')].filter((it) =>"
                " getElement(parseInt(it.id.slice(1))).chart.getOption().series"
                ".some((one) => one.name === 'f1tenth and twin' && one.data.length > 20))"
                ".length === 2"
            )
            slider = "[role=slider]"
            at = f"parseFloat(document.querySelector('{slider}').getAttribute('aria-valuenow'))"
            shown.until(f"{at} > {0.9 * length_s}")  # as another page has it
            shown.click(slider)  # its middle
            page.call("Page.bringToFront")
            page.until(
                "Math.abs(parseFloat(document.querySelector('h1').textContent.split('log, ')[1])"
                f" - {length_s / 2}) < {length_s / 4}"
            )


def _length_s(page: Page) -> float:
    page.until("/of [0-9.]+ s/.test(document.querySelector('h1').textContent)")
    return float(page.js("document.querySelector('h1').textContent.match(/of ([0-9.]+) s/)[1]"))


def _seek(page: Page, time_s: float) -> None:
    message = json.dumps(json.dumps({"seek_s": time_s, "plays": False}))
    page.js(
        "new Promise((done) => { const s = new WebSocket(`ws://${location.host}/status`);"
        f" s.onopen = () => {{ s.send({message}); setTimeout(done, 200, 1); }}; }})"
    )


def test_a_browser_that_leaves_while_it_is_answered_is_no_fault(caplog):
    """It is said with a traceback by Starlette; the filter outlives uvicorn's own set-up."""
    log = logging.getLogger("uvicorn.error")
    log.addFilter(views.is_worth_logging)
    try:
        uvicorn.Config("nowhere:app")  # which sets its loggers up
        log.propagate = True
        log.parent, before = logging.getLogger(), log.parent
        for error in (RuntimeError("No response returned."), RuntimeError("another"), None):
            log.error("Exception in ASGI application", exc_info=error)
        log.parent = before
    finally:
        log.removeFilter(views.is_worth_logging)
    told = [record.exc_info[1] if record.exc_info else None for record in caplog.records]
    assert [str(error) for error in told] == ["another", "None"]
