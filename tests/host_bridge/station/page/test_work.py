"""A car and its twin in the station's page, recorded from it, and the log on the same page."""

from __future__ import annotations

import json
import os
import re
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from PIL import Image, ImageDraw

from host_bridge.logs.reading import facts, read
from tests.host_bridge.cli.programs import program, until
from tests.host_bridge.sharing.desk import runtime_folder
from tests.host_bridge.station.chromium import Chromium, Page
from tests.host_bridge.station.processes import programs_below
from tests.host_bridge.station.stage import PORTS
from tests.support import patience

pytest.importorskip("nicegui", reason="the station's plots need tandem-cars[station]")
pytestmark = [pytest.mark.browser(drives=True), pytest.mark.xdist_group("station")]
PORT, LOG_PORT = PORTS + 20, PORTS + 24
ANSWER = "document.getElementById('answer')"
RECORDED = "document.getElementById('recorded').textContent"
TOGETHER = "document.getElementById('together').innerText"
CIRCLES = "t_s,channel,value_norm\n0,steering,0.6\n0,throttle,0.1\n600,throttle,0\n"  # 0.7 m/s
# How many pixels of the map have this colour of the page
PIXELS = """(name) => {
  const hex = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const want = [1, 3, 5].map((n) => parseInt(hex.slice(n, n + 2), 16));
  const it = document.querySelector('#map canvas');
  const seen = it.getContext('2d').getImageData(0, 0, it.width, it.height).data;
  let count = 0;
  for (let n = 0; n < seen.length; n += 4) count += want.every((v, k) => seen[n + k] === v);
  return count;
}"""
SERIES = (
    "[...document.querySelectorAll('.nicegui-echart')].map((it) =>"
    " getElement(parseInt(it.id.slice(1))).chart.getOption().series"
    ".map((one) => [one.type, one.name || '', one.data.length]))"
)


@dataclass
class Drive:
    """Where its files are, and the station's address."""

    folder: Path
    address: str
    station_pid: int


@contextmanager
def kept(*words: str, times: int = 1000) -> Iterator[None]:
    """A drive that is begun anew when it ended: a busy machine stops cars, as it has to."""
    is_over = threading.Event()

    def keep() -> None:
        for _ in range(times):
            if is_over.is_set():
                break
            with program("drive", *words) as driving:
                reader = threading.Thread(target=driving.stdout.read, daemon=True)
                reader.start()  # so that it never has to wait
                while driving.poll() is None and not is_over.wait(0.1):
                    pass
                if driving.poll() is None:
                    driving.send_signal(signal.SIGINT)
                    driving.wait(20)
                reader.join(5)

    keeper = threading.Thread(target=keep)
    keeper.start()
    try:
        yield
    finally:
        is_over.set()
        keeper.join(30)


def room(folder: Path) -> Path:
    """A map of four walls, 8 m apart, as ROS has them."""
    image = Image.new("L", (80, 80), 254)
    ImageDraw.Draw(image).rectangle((0, 0, 79, 79), outline=0, width=2)
    image.save(folder / "room.png")
    words = ("image: room.png", "resolution: 0.1", "origin: [-4.0, -4.0, 0.0]", "negate: 0",
             "occupied_thresh: 0.65", "free_thresh: 0.2")  # fmt: skip
    path = folder / "room.yaml"
    path.write_text("\n".join(words) + "\n")
    return path


@contextmanager
def driven(folder: Path, times: int = 1000) -> Iterator[Drive]:
    """A car and its twin in circles in a room, and a station."""
    commands, scans = folder / "circles.csv", folder / "run.jsonl"
    commands.write_text(CIRCLES)
    scans.touch()
    place = room(folder)
    car = f"sim://f1tenth?map={place}&sensors={scans}"
    twin = f"sim://f1tenth?name=twin&map={place}&payload_kg=1.0"
    with ExitStack() as stack:
        words = ("--car", car, "--twin", twin, "--input", f"csv:{commands}", "--json")
        stack.enter_context(kept(*words, times=times))
        station = stack.enter_context(
            program(
                "station", "--port", str(PORT), "--record-to", str(folder),
                "--lidar", f"f1tenth={scans}", "--map", str(place),
            )
        )  # fmt: skip
        assert station.stdout
        yield Drive(folder, station.stdout.readline().strip(), station.pid)


@pytest.fixture(scope="module")
def drive(tmp_path_factory):
    folder = tmp_path_factory.mktemp("work")
    with pytest.MonkeyPatch.context() as patch, runtime_folder(patch), driven(folder) as it:
        yield it


@pytest.fixture(scope="module")
def browser():
    it = Chromium()
    yield it
    it.close()


@pytest.fixture
def page(drive, browser):
    it = seen(browser, drive.address)
    it.until("document.querySelectorAll('.state.is_driving').length === 2", 120.0)
    yield it
    it.call("Page.close")


def seen(browser: Chromium, address: str) -> Page:
    page = browser.page(address)
    page.until("document.querySelectorAll('article').length === 2", 120.0)
    return page


def plots(browser: Chromium, port: int) -> Page:
    page = browser.page("about:blank#plots")
    deadline = patience.Deadline(180.0)  # its program has a lot to load
    while not page.js("document.querySelectorAll('canvas').length > 3"):
        deadline.check(page.text)
        page.call("Page.navigate", url=f"http://localhost:{port + 1}/")
        time.sleep(2.0)
    page.call("Page.bringToFront")
    return page


def recorded(page: Page, seconds: float) -> Path:
    """From the page, for so long: the file that it names. Begun anew where a busy machine stopped
    the cars, and with them the drive that serves them."""
    for _ in range(4):
        page.until("document.querySelectorAll('.state.is_driving').length === 2", 120.0)
        page.click("#record")
        page.until(f"/recording for [0-9]+ s|recording ended/.test({RECORDED})")
        time.sleep(seconds)
        if page.js("document.getElementById('record').classList.contains('on')"):
            page.click("#record")
        page.until(f"/tandem station --log|recording ended/.test({RECORDED})")
        if "--log " in page.js(RECORDED):
            return Path(page.js(RECORDED).rpartition("--log ")[2])
        time.sleep(2.0)
    raise AssertionError(page.js(RECORDED))


def test_skew_and_divergence_of_a_car_and_its_twin_are_shown_to_whoever_watches(page):
    page.until(f"/f1tenth and twin/.test({TOGETHER})")
    page.until(f"/Place\\s+0\\.[0-9]+ m/.test({TOGETHER})")
    text = page.js(TOGETHER)
    assert re.search(r"Skew\s+[0-9.]+ ms", text)
    assert {"Steering", "Speed", "Turning", "Place"} <= set(re.split(r"\s*\n\s*", text))


def test_the_link_says_age_loss_round_trip_and_how_far_it_would_go(page):
    page.js("document.getElementById('open-drawer').click(); 1")
    link = "document.querySelector('#facts-f1tenth [data-key=link]').textContent"
    page.until(
        f"/^[0-9]+ ms old, round trip [0-9.]+ ms, nothing lost(; a busy machine left out [0-9.]+ %"
        f" of its beats)?$/.test({link})"
    )
    blind = "parseFloat(document.querySelector('#facts-f1tenth [data-key=blind]').textContent)"
    page.until(f"0.1 < {blind} && {blind} < 0.3")  # 0.7 m/s for a lease, and the brake


def test_what_a_page_records_is_shown_by_the_same_page_with_a_slider(drive, page, browser):
    log = recorded(page, 4.0)
    assert log.parent == drive.folder
    rows = list(read(log))
    for car in ("f1tenth", "twin"):
        assert sum(it.car == car and it.topic == "down" for it in rows) > 50
        assert sum(it.car == car and it.topic == "up" for it in rows) > 50
        assert facts(log)[f"car/{car}"]["vehicle"] == "f1tenth"
    scans = [it.value for it in rows if (it.car, it.topic) == ("f1tenth", "lidar")]
    assert len(scans) > 10
    assert len(scans[0]["ranges_m"]) == 1081
    with program("station", "--port", str(LOG_PORT), "--log", str(log)) as station:
        shown = seen(browser, station.stdout.readline().strip())
        shown.click("#view-drive")  # whoever watches has the wall first
        shown.js(
            "new Promise((done) => { const s = new WebSocket(`ws://${location.host}/status`);"
            ' s.onopen = () => { s.send(\'{"seek_s": 3, "plays": false}\');'
            " setTimeout(done, 300, 1); }; })"
        )
        assert re.fullmatch(
            r"earlier|\d+\.\d\d s", shown.js("document.querySelector('time').textContent")
        )
        shown.until(f"/Place\\s+0\\.[0-9]+ m/.test({TOGETHER})")
        assert "there" in shown.js("document.querySelector('[data-key=stops]').textContent")
        assert shown.js("document.getElementById('work').hidden")
        drawn = plots(browser, LOG_PORT)
        assert_drawn(drawn)
        drawn.call("Page.close")
        shown.call("Page.close")


def test_paths_skew_divergence_and_lidar_are_drawn_live(drive, browser):
    drawn = plots(browser, PORT)
    assert_drawn(drawn)
    drawn.call("Page.close")


def assert_drawn(page: Page) -> None:
    """A map with two paths and a scan; a plot of the distance and one of the skew."""
    page.until(f"JSON.stringify({SERIES}).includes('f1tenth lidar')")
    every = page.js(SERIES)
    on_map = {name: (kind, count) for kind, name, count in every[0] if name}
    assert on_map["f1tenth lidar"][1] > 50
    for name in ("f1tenth", "twin"):
        kind, count = on_map[name]
        assert (kind, count > 5) == ("line", True)
    of_pairs = [it for it in every if [one[1] for one in it] == ["f1tenth and twin"]]
    assert len(of_pairs) == 2
    assert min(one[2] for it in of_pairs for one in it) > 5


def test_the_room_lies_under_the_cars_and_names_their_frame(page):
    page.click("#view-drive")
    page.until("/^Frame of .*room/.test(document.getElementById('map-frame').textContent)")
    assert "from its start" in page.js("document.getElementById('map-from').textContent")
    page.press("#map-tools [data-mode=all]", f"({PIXELS})('--wall') > 500")


def test_without_the_seats_token_nothing_is_recorded(drive, browser):
    before = sorted(drive.folder.glob("*.mcap"))
    watcher = seen(browser, drive.address.partition("#")[0])
    assert watcher.js("document.getElementById('record').hidden")
    said = watcher.js(
        "new Promise((done) => { const s = new WebSocket(`ws://${location.host}/work`);"
        ' s.onopen = () => s.send(\'{"do": "record", "seat": "guessed"}\');'
        " s.onmessage = (it) => done(it.data); })"
    )
    assert json.loads(said)["is_granted"] is False
    time.sleep(0.5)
    assert sorted(drive.folder.glob("*.mcap")) == before
    watcher.call("Page.close")


def test_a_stop_works_while_the_recording_hangs_and_the_hang_is_seen(drive, page):
    page.click("#record")
    page.until(f"/recording for/.test({RECORDED})")
    pid = recorder_of(drive)
    os.kill(pid, signal.SIGSTOP)
    try:
        page.click("#stop")
        page.until(f"{ANSWER}.className === 'good'")
        page.until(
            "[...document.querySelectorAll('.state')].every((it) => it.dataset.state === 'STOPPED')"
        )
    finally:
        os.kill(pid, signal.SIGCONT)
    page.click("#record")
    page.until(f"!/recording for/.test({RECORDED})")


def recorder_of(drive: Drive) -> int:
    found: list[int] = []

    def is_there() -> bool:
        found[:] = programs_below(drive.station_pid, "host_bridge.cli.main record")
        return bool(found)

    until(is_there, "the recording's program")
    return found[0]
