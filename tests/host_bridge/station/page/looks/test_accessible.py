"""The page by the rules of WCAG 2.2 AA as axe-core checks them, in every view, by day and by night.

axe-core is no part of this repository: ``npm install axe-core`` in any folder, and ``$AXE_CORE`` is
its ``axe.min.js``. Without it these tests skip.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.host_bridge.sharing.desk import runtime_folder
from tests.host_bridge.station.chromium import Chromium, Page
from tests.host_bridge.station.stage import PORTS, SEATED, STATE, stage

pytestmark = [pytest.mark.browser(drives=True), pytest.mark.xdist_group("station")]
PORT = PORTS + 40
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
SIZES = {"laptop": (1280, 800), "zoomed to 200 %": (640, 400), "wall": (1920, 1080),
         "upright": (390, 844), "narrow": (320, 640)}  # fmt: skip
RUN = """axe.run(document, {runOnly: %s, resultTypes: ['violations']}).then((found) =>
  JSON.stringify({checked: found.passes.length, wrong: found.violations.flatMap((it) =>
    it.nodes.map((node) => `${it.id}: ${node.target.join(' ')}: ${node.failureSummary}`))}))"""


@pytest.fixture(scope="module")
def axe() -> str:
    path = Path(os.environ.get("AXE_CORE", ""))
    if not path.is_file():
        pytest.skip("needs axe-core: npm install axe-core, and its axe.min.js as $AXE_CORE")
    return path.read_text()


@pytest.fixture(scope="module")
def set_up(tmp_path_factory):
    folder = tmp_path_factory.mktemp("accessible")
    with (
        pytest.MonkeyPatch.context() as patch,
        runtime_folder(patch),
        stage(folder, PORT, "--no-plots") as it,
    ):
        yield it


@pytest.fixture
def page(set_up):
    browser = Chromium()
    yield set_up.page(browser)
    browser.close()


# The pad's scale is drawn in it, and hidden from screen readers: its numbers are no label of it
_DRAWN = "label-content-name-mismatch: #hold"


def look(page: Page, name: str) -> None:
    width, height = SIZES[name]
    page.call(
        "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
        mobile=width < 600,
    )  # fmt: skip


def wrong(page: Page) -> list[str]:
    """What axe-core complains of, by day and by night."""
    found = []
    for theme in ("day", "night"):
        page.js(f"document.documentElement.dataset.theme = '{theme}'; 1")
        said = json.loads(page.js(RUN % json.dumps(RULES)))
        assert said["checked"] > 5
        found += [f"{theme}: {it}" for it in said["wrong"] if not it.startswith(_DRAWN)]
    return found


@pytest.mark.parametrize("size", SIZES)
def test_no_rule_is_broken_in_any_view(set_up, page, axe, size):
    page.js(f"{axe}; 1")
    look(page, size)
    page.until("document.querySelector('article:not(.stale, .gone, .missing)') !== null")
    found = {"take": wrong(page)}
    page.click("#open-drawer")
    found["drawer"] = wrong(page)
    page.click("#close-drawer")
    page.click("#view-wall")
    found["wall"] = wrong(page)
    page.click("#view-drive")
    set_up.seated(page)
    found["armed"] = wrong(page)
    page.click("#stop")
    page.until(f"{STATE} === 'STOPPED'")
    found["locked"] = wrong(page)
    page.click("#end")
    page.until(f"!{SEATED}")
    assert {name: it for name, it in found.items() if it} == {}


def test_what_is_wrong_is_found(page, axe):
    page.js(f"{axe}; 1")
    page.js("document.getElementById('theme').removeAttribute('aria-label'); 1")
    assert any(it.startswith("day: button-name: #theme") for it in wrong(page))


@pytest.mark.parametrize("size", SIZES)
def test_at_twice_the_size_nothing_is_cut_off_and_stop_is_whole(page, size):
    """A browser's zoom of 200 % is a screen half as wide."""
    look(page, size)
    width, height = SIZES[size]
    assert page.js("document.documentElement.scrollWidth") <= width
    left, top, right, bottom = page.js(
        "(() => { const it = document.getElementById('stop').getBoundingClientRect();"
        " return [it.left, it.top, it.right, it.bottom]; })()"
    )
    assert 0 <= left < right <= width
    assert 0 <= top <= bottom - 64 <= height - 64
