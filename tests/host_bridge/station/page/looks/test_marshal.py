"""The marshal's view in a real Chromium: who hears it, who does not, and whether its Stop works."""

from __future__ import annotations

from contextlib import ExitStack

import pytest

from tests.host_bridge.cli.programs import serving
from tests.host_bridge.sharing.desk import runtime_folder
from tests.host_bridge.station.chromium import Chromium, Page
from tests.host_bridge.station.stage import PORTS, stage
from tests.support.evidence import every

pytestmark = [pytest.mark.browser(drives=True), pytest.mark.xdist_group("station")]
PORT = PORTS + 54
SIZES = {"laptop": (1280, 800), "upright": (390, 844), "sideways": (844, 390)}
LINE = "document.getElementById('stop-line').innerText"
ANSWER = "document.getElementById('answer').textContent"
SMALL = "document.querySelector('#stop small').textContent"
BOXES = """[...document.querySelectorAll('%s')].map((it) => {
  const box = it.getBoundingClientRect(); return [box.width, box.height]; })"""


@pytest.fixture
def scene(tmp_path, monkeypatch):
    """A page that watches, with a car that is there, and one that its fixture takes away."""
    with (
        runtime_folder(monkeypatch),
        stage(tmp_path, PORT, "--no-plots") as it,
        ExitStack() as blue,
    ):
        blue.enter_context(serving("sim://nigel?name=blue", "blue"))
        browser = Chromium()
        page = browser.page(it.watching)
        page.until("document.querySelectorAll('article').length === 2")
        yield page, blue, it
        browser.close()


def sized(page: Page, name: str) -> None:
    width, height = SIZES[name]
    page.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
              deviceScaleFactor=1, mobile=width < 600)  # fmt: skip
    page.click("#view-wall" if name == "upright" else "#view-marshal")


def test_a_marshal_sees_that_stop_works_who_hears_it_and_to_whom_to_go(scene):
    page, blue, _ = scene
    for name in SIZES:
        sized(page, name)
        page.until(f"/Stop line works/.test({LINE})")
        page.until(f"{SMALL} === '2 of 2 hear you'")
        page.until("document.body.classList.contains('rows')")
        stops = page.js(BOXES % ".others .one")
        assert len(stops) == 2
        assert every(width >= 88 and height >= 64 for width, height in stops), (name, stops)
        flags = page.js(BOXES % "#flags button")
        assert every(width >= 88 and height >= 64 for width, height in flags), (name, flags)
    assert "watches and stops" in page.js("document.getElementById('stop-trip').innerText")
    blue.close()
    page.until("document.querySelector('article.gone') !== null")
    page.until(f"{SMALL} === '1 of 2 hear you'")
    page.until("document.getElementById('stop').ariaLabel === 'STOP car'")
    page.until(f"/Not reachable: 2 blue. Go to it./.test({ANSWER})")
    page.click("#view-drive")
    page.until(f"{SMALL} === 'Esc, from anywhere'")
    page.until(f"{ANSWER} === ''")


def test_the_line_of_the_view_comes_and_goes_with_it_and_moves_nothing_later(scene):
    page, _, _ = scene
    sized(page, "laptop")
    shown = page.js(
        "['drive', 'marshal', 'drive'].map((view) => {"
        " document.getElementById(`view-${view}`).click();"
        " return !document.getElementById('marshal').hidden; })"
    )
    assert shown == [False, True, False]


def test_a_stop_line_that_answers_no_probe_is_told_in_two_seconds(scene):
    page, _, _ = scene
    sized(page, "laptop")
    page.until(f"/Stop line works/.test({LINE})")
    page.js(
        "(() => { const its = WebSocket.prototype.send; WebSocket.prototype.send = function (it) {"
        " if (!/probe/.test(it)) return its.call(this, it); }; })()"
    )
    page.until(f"/NO STOP LINE. Use the runstop/.test({LINE})")
    page.until(f"{SMALL} === '0 of 2 hear you'")
    assert not page.js("document.getElementById('stop').disabled")


def test_whoever_has_the_printed_address_is_told_that_it_may_drive(scene):
    page, _, it = scene
    page.call("Page.navigate", url="about:blank")  # else only what is behind # changes
    page.until("location.href === 'about:blank'")
    page.call("Page.navigate", url=it.address)
    page.until("document.querySelectorAll('article').length === 2")
    sized(page, "laptop")
    page.until("/may drive/.test(document.getElementById('stop-trip').innerText)")
