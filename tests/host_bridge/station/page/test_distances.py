"""How far a car goes for every cause of a stop: the station has the table of ``tandem faults``."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

import pytest

from host_bridge.station.backend.stop_tables import table
from tests.host_bridge.cli.programs import program, serving, tandem
from tests.host_bridge.sharing.desk import runtime_folder
from tests.host_bridge.station.chromium import Chromium, Page
from tests.host_bridge.station.stage import PORTS
from tests.support.evidence import every

pytestmark = pytest.mark.xdist_group("station")
PORT = PORTS + 60
CONTRAST = Path(__file__).with_name("contrast.js").read_text()
PANEL = "document.querySelector('details.distances')"
ROWS = (
    "[...document.querySelectorAll('.distances tr')].slice(1).map((row) =>"
    " [[...row.children].map((cell) => cell.textContent), row.className])"
)


def run(case: str, words: str, asked_mps: float, distance_m: float, **changes) -> dict:
    return {
        "case": case, "words": words, "asked_mps": asked_mps, "speed_mps": asked_mps + 0.03,
        "reaction_s": 0.04, "distance_m": distance_m, "friction_m": 0.5, "coasts": False, **changes,
    }  # fmt: skip


def test_one_row_for_each_cause_the_farthest_first_and_button_and_hang_are_marked():
    rows = table(
        [
            run("stranger-stops", "Stop", 4.0, 1.2),
            run("program-ends", "a hang", 4.0, 14.6, coasts=True, reaction_s=0.041),
            run("program-ends", "a hang", 3.0, 8.75, coasts=True),
            run("stranger-stops", "Stop", 3.0, 0.7),
        ]
    )
    assert [(row["words"], row["is_marked"]) for row in rows] == [("a hang", True), ("Stop", False)]
    assert [stop["metres"] for stop in rows[0]["from"]] == [8.75, 14.6]
    assert (rows[0]["reaction_ms"], rows[0]["from"][0]["coasts"]) == (41, True)
    assert rows[1]["from"][1]["times"] == pytest.approx(2.4)


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """A station that looks at one virtual car."""
    with (
        pytest.MonkeyPatch.context() as patch,
        runtime_folder(patch),
        serving("sim://nigel", "nigel"),
        program("station", "--port", str(PORT), "--no-plots") as station,
    ):
        yield station.stdout.readline().strip()


def worked_out(browser: Chromium, address: str) -> list:
    """The rows of the page that has the seat's address, when a page that watches has them, too."""
    watcher, page = browser.page(address.partition("#")[0]), browser.page(address)
    for it in (watcher, page):
        it.call("Page.bringToFront")  # what is behind draws nothing
        it.until(f"{PANEL} !== null")
        it.js(f"{PANEL}.open = true; document.getElementById('drawer').hidden = false; 1")
    assert watcher.js(f"{PANEL}.querySelector('button').hidden")
    page.until(f"!{PANEL}.querySelector('button').hidden")
    page.js(f"{PANEL}.querySelector('button').click(); 1")
    page.until(f"/stops are (done|being)|first stops/.test({PANEL}.textContent)")
    while page.js(f"/stops are (done|being)|first stops/.test({PANEL}.textContent)"):
        time.sleep(1.0)  # and leave the machine to what is waited for
    for it in (watcher, page):
        it.call("Page.bringToFront")
        it.until("document.querySelectorAll('.distances tr').length > 5")
    rows = page.js(ROWS)
    assert watcher.js(ROWS) == rows
    assert_readable(page)
    return rows


def assert_readable(page: Page) -> None:
    assert page.js("document.documentElement.scrollWidth <= innerWidth")
    told = json.loads(page.js(CONTRAST))
    assert len(told) > 100
    assert [it for it in told if it["ratio"] < 7.0] == []


@pytest.mark.browser(drives=True)
@pytest.mark.timeout(900)
def test_whoever_has_the_seats_address_has_it_worked_out_and_everybody_sees_it(address):
    browser = Chromium()
    try:
        rows = worked_out(browser, address)
    finally:
        browser.close()
    metres = [float(re.search(r"([\d.]+)\sm", cells[-1])[1]) for cells, _ in rows]
    assert metres == sorted(metres, reverse=True)
    marked = {cells[0]: cells[-1] for cells, kind in rows if kind == "marked"}
    assert set(marked) == {"runstop button: loop open", "program hangs for good"}
    assert every(cell.startswith("coasts ") for cell in marked.values())
    words = ("--stops", "--vehicle", "nigel", "--case", "runstop-opens", "stranger-stops", "--json")
    found = {it["words"]: it for it in json.loads(tandem("faults", *words, within_s=90.0).stdout)}
    shown = {cells[0]: cells[-1] for cells, _ in rows}
    for name, one in found.items():
        assert f"{one['distance_m']:.2f}" in shown[name]
    assert len(found) == 2
