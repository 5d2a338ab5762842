"""The page of logs beside live cars, in a real Chromium: two logs, download, CSV, PNG, Esc."""

from __future__ import annotations

import csv
import http.client
from pathlib import Path

import pytest

pytest.importorskip("nicegui", reason="the station's plots need tandem-cars[station]")

from host_bridge.station.log_views.series import read_run
from tests.host_bridge.cli.programs import until
from tests.host_bridge.sharing.desk import runtime_folder
from tests.host_bridge.station.chromium import Chromium, Page
from tests.host_bridge.station.log_views.made_logs import made_log
from tests.host_bridge.station.stage import PORTS, STATE, stage
from tests.support.evidence import every

pytestmark = [pytest.mark.browser(drives=True), pytest.mark.xdist_group("station")]
PORT = PORTS + 48
LINES = (
    "[...document.querySelectorAll('.nicegui-echart')].map((it) =>"
    " getElement(parseInt(it.id.slice(1))).chart.getOption())"
    ".map((it) => [it.title[0].text, it.series.map((one) => [one.name, one.data.length])])"
)
KEY = (
    "document.body.dispatchEvent(new KeyboardEvent('keydown',"
    " { key: '%s', shiftKey: true, bubbles: true, cancelable: true })); 1"
)
MARKED = "document.getElementById('marked').textContent"
RECORDED = "document.getElementById('recorded').textContent"
MARK_LINES = (
    "[...document.querySelectorAll('.nicegui-echart')].flatMap((it) =>"
    " getElement(parseInt(it.id.slice(1))).chart.getOption().series)"
    ".flatMap((it) => it.markLine?.data || []).map((it) => it.label?.formatter)"
)
NAMES = "[...document.querySelectorAll('.logs-list tr')].map((it) => it.innerText).join()"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    it = tmp_path_factory.mktemp("logs")
    made_log(it / "fast.mcap", 2.0, drives_s=30.0, marks=((3.0, "curb"),))
    made_log(it / "slow.mcap", 1.0, stands_s=2.0, cars=("red", "twin"))
    made_log(it.parent / "secret.mcap", 1.0)
    (it / "link.mcap").symlink_to(it.parent / "secret.mcap")
    return it


@pytest.fixture(scope="module")
def set_up(tmp_path_factory, folder):
    with (
        pytest.MonkeyPatch.context() as patch,
        runtime_folder(patch),
        stage(tmp_path_factory.mktemp("page"), PORT, "--record-to", str(folder)) as it,
    ):
        yield it


@pytest.fixture
def browser():
    it = Chromium()
    yield it
    it.close()


def logs_of(browser: Chromium, page: Page, name: str = "fast.mcap") -> Page:
    """The frame of the logs, once its list is there."""
    page.until("!!document.querySelector('#views iframe')", 180.0)
    page.click("#view-logs")
    it = browser.frame(page, "/logs")
    it.until(f"/{name}/.test(document.body?.innerText) && window.socket?.connected")
    return it


def chosen(logs: Page, *names: tuple[str, str]) -> None:
    """One log over the other."""
    for name, letter in names or (("fast.mcap", "A"), ("slow.mcap", "B")):
        button = f"document.querySelector('[aria-label=\"{name} as {letter}\"]')"
        logs.js(f"{button}.click(); 1")
        logs.until(f"{button}.getAttribute('aria-pressed') === 'true'")


def test_logs_are_listed_beside_live_cars_and_laid_over_one_another(set_up, browser):
    page = set_up.page(browser)
    logs = logs_of(browser, page)
    names = logs.js(NAMES)
    assert "secret.mcap" not in names
    assert "link.mcap" not in names
    assert "red, twin" in names
    assert not page.js("document.getElementById('stop').disabled"), "cars are live"
    chosen(logs)
    logs.until(f"{LINES}.length === 4")
    plots = dict(logs.js(LINES))
    (speed,) = (lines for title, lines in plots.items() if title.startswith("speed"))
    drawn = {name: count for name, count in speed if name}
    assert set(drawn) == {"A red", "B red", "B twin"}
    assert 400 < drawn["A red"] <= 900, "32 s of 100 a second are thinned"
    assert drawn["B red"] > 390, "what has few reports has all"
    logs.until("/B\\s+slow.mcap/.test(document.body.innerText)")
    before = logs.js("document.body.innerText.match(/(-?[0-9.]+) of 31/)[1]")
    logs.js(KEY % "ArrowRight")
    logs.until(f"document.body.innerText.match(/(-?[0-9.]+) of 31/)[1] > {before}")


@pytest.mark.parametrize(("width", "height"), [(390, 844), (640, 400), (320, 640)])
def test_on_a_narrow_screen_the_logs_are_whole(set_up, browser, width, height):
    """All of it is reached by scrolling down, and the time is set by a finger."""
    page = set_up.page(browser)
    page.call(
        "Emulation.setDeviceMetricsOverride",
        width=width, height=height, deviceScaleFactor=1, mobile=False,
    )  # fmt: skip
    logs = logs_of(browser, page)
    logs.until("document.querySelector('.q-slider')?.getBoundingClientRect().width >= 120")
    wide = "document.scrollingElement.scrollWidth - document.scrollingElement.clientWidth"
    assert logs.js(wide) == 0
    at = "[...document.querySelectorAll('button, .q-slider')].map((it) => it.getClientRects()[0])"
    assert logs.js(f"{at}.filter((it) => it && it.right > innerWidth + 1).length") == 0


def test_what_is_recorded_from_the_page_has_its_marks_and_opens_in_logs(set_up, browser, folder):
    page = set_up.page(browser)
    page.click("#record")
    page.until(f"/^recording for [0-9]+ s, [0-9.]+ [kM]B/.test({RECORDED})")
    page.until("/Recording 00:0[0-9]/.test(document.getElementById('recording-mark').innerText)")
    set_up.driven(page)
    page.mouse("mouseReleased", 0, 0)
    page.click("#mark-word")
    page.call("Input.insertText", text="gate")
    page.click("#mark")
    page.until(f"{MARKED} === 'gate set'")
    assert page.js("document.getElementById('mark-word').value") == ""
    for kind in ("keyDown", "keyUp"):  # at the button now: no field takes the letter
        page.call("Input.dispatchKeyEvent", type=kind, key="m", code="KeyM",
                  text="m" if kind == "keyDown" else "")  # fmt: skip
    page.until(f"{MARKED} === 'Mark set'")
    page.click("#record")
    page.until(f"/tandem station --log/.test({RECORDED})")
    log = Path(page.js(RECORDED).rpartition("--log ")[2])
    assert log.parent == folder
    run = read_run(log, 1.0, lambda part: None)
    assert [words for _, words in run.marks] == ["gate", "2"]
    assert max(run.cars["car"].series("speed_mps").values) > 1.5
    logs = logs_of(browser, page, log.name)
    chosen(logs, (log.name, "A"))
    logs.until(f"['gate', '2'].every((it) => {MARK_LINES}.includes(it))")


def test_a_log_is_downloaded_whole_and_what_is_drawn_as_csv_and_png(
    set_up, browser, folder, tmp_path
):
    page = set_up.page(browser)
    page.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path))
    logs = logs_of(browser, page)
    logs.js("document.querySelector('[aria-label=\"Download fast.mcap\"]').click(); 1")
    chosen(logs)
    for words in ("CSV", "PNG"):
        logs.js(
            "[...document.querySelectorAll('button')].find((it) =>"
            f" it.innerText === '{words}').click(); 1"
        )
    saved = [tmp_path / name for name in ("fast.mcap", "fast-slow.csv", "logs.png")]
    until(lambda: every(it.exists() and it.stat().st_size for it in saved), "the three files")
    assert saved[0].read_bytes() == Path(folder, "fast.mcap").read_bytes()
    with saved[1].open(newline="") as file:
        lines = {row["line"] for row in csv.DictReader(file)}
    assert lines == {"A red", "B red", "B twin"}
    assert saved[2].read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("name", [
    "../secret.mcap", "%2e%2e/secret.mcap", "..%2fsecret.mcap", "%2e%2e%2fsecret.mcap",
    "link.mcap", "%00", "fast.mcap%00", "",
])  # fmt: skip
def test_no_other_file_is_sent_whatever_name_is_asked_for(set_up, browser, name):
    logs_of(browser, set_up.page(browser))
    line = http.client.HTTPConnection("127.0.0.1", PORT + 1, timeout=20)
    line.putrequest("GET", f"/logs/file/{name}", skip_host=True)
    line.putheader("Host", "localhost")
    line.endheaders()
    answer = line.getresponse()
    assert answer.status in (400, 404)
    assert b"MCAP0" not in answer.read()


def test_esc_stops_from_the_frame_of_the_logs(set_up, browser):
    page = set_up.page(browser)
    set_up.seated(page)
    logs = logs_of(browser, page)
    logs.js(KEY % "Escape")
    page.until(f"{STATE} === 'STOPPED'")
