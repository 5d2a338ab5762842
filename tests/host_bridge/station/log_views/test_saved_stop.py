"""A stop in the drawer's black box, in a real Chromium: saved, it is a log that explains itself."""

from __future__ import annotations

import json

import pytest

from host_bridge.logs.reading import cars_in, summary
from host_bridge.sharing.owner.black_box import LINE_LOST
from tests.host_bridge.cli.programs import tandem
from tests.host_bridge.sharing.desk import runtime_folder
from tests.host_bridge.station.chromium import Chromium
from tests.host_bridge.station.stage import PORTS, STATE, stage

pytestmark = [pytest.mark.browser(drives=True), pytest.mark.xdist_group("station")]
PORT = PORTS + 52
BOX = "document.querySelector('.black-box')"


@pytest.fixture
def set_up(tmp_path):
    with (
        pytest.MonkeyPatch.context() as patch,
        runtime_folder(patch),
        stage(tmp_path, PORT, "--record-to", str(tmp_path / "logs")) as it,
    ):
        (tmp_path / "logs").mkdir()
        yield it


@pytest.fixture
def browser():
    it = Chromium()
    yield it
    it.close()


def laptop(page):
    page.call(
        "Emulation.setDeviceMetricsOverride", width=1280, height=800, deviceScaleFactor=1,
        mobile=False,
    )  # fmt: skip
    return page


def stop(set_up, page):
    """Drive, let go, and press the big Stop while it still rolls."""
    x, y = set_up.driven(page)
    page.mouse("mouseReleased", x, y)  # a pad that is held has every press
    page.click("#stop")
    page.until(f"{STATE} === 'STOPPED'")


def test_the_seat_saves_a_stop_and_why_explains_it(set_up, browser, tmp_path):
    page = laptop(set_up.page(browser))
    page.click("#open-drawer")
    page.until(f"/No stop since/.test({BOX}.innerText)")
    page.click("#close-drawer")
    stop(set_up, page)
    page.click("#open-drawer")
    page.until(f"{BOX}.querySelectorAll('li').length > 0")  # 2 s after it
    asked = f"{BOX}.querySelector('li').innerText"
    page.until(f"/before it/.test({asked})")
    assert "asked for a stop" in page.js(asked)
    page.click(".black-box button")
    page.until(f"/saved: car-stopped-.*[.]mcap/.test({BOX}.innerText)")
    assert "tandem why" in page.js(f"{BOX}.innerText")
    (log,) = (tmp_path / "logs").glob("car-stopped-*.mcap")
    found = summary(log)
    assert found.is_complete
    assert found.counts["car", "claim"] > 10
    assert len(found.notes) == 1
    why = json.loads(tandem("why", str(log), "--json").stdout)
    assert "asked for a stop" in why["stopped"]


def test_the_stop_of_a_car_that_is_gone_is_saved_from_its_tombstone(set_up, browser, tmp_path):
    page = laptop(set_up.page(browser))
    set_up.driven(page)
    set_up.owner.kill()
    set_up.owner.wait()
    page.until("/GONE/.test(document.querySelector('article').innerText)")
    page.mouse("mouseReleased", 10, 10)
    page.click("#open-drawer")
    page.until(f"/ended while the car was armed/.test({BOX}.innerText)")
    page.click(".black-box button")
    page.until(f"/saved: car-stopped-.*[.]mcap/.test({BOX}.innerText)")
    (log,) = (tmp_path / "logs").glob("car-stopped-*.mcap")
    found = summary(log)
    assert found.notes == [f"stopped: {LINE_LOST}"]
    assert found.counts["car", "claim"] > 10
    assert cars_in(found.facts)["car"]["vehicle"]


def test_who_only_watches_sees_it_and_gets_no_button(set_up, browser):
    page = laptop(set_up.page(browser))
    stop(set_up, page)
    watcher = laptop(set_up.page(browser, set_up.watching))
    watcher.click("#open-drawer")
    watcher.until(f"{BOX}.querySelectorAll('li').length > 0")
    assert not watcher.js(f"{BOX}.querySelectorAll('button').length")
