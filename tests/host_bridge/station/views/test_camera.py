"""A camera beside the map: an MJPEG server on loopback that sends pictures, and then hangs."""

from __future__ import annotations

import os
import signal
import subprocess
import time
import urllib.error
import urllib.request

import pytest

from host_bridge.station.views import camera_server as camera
from tests.host_bridge.cli.programs import tandem
from tests.host_bridge.sharing.desk import runtime_folder
from tests.host_bridge.station.chromium import Chromium
from tests.host_bridge.station.stage import PORTS, STATE, stage
from tests.host_bridge.station.stream import Stream
from tests.support import patience

pytest.importorskip("cv2", reason="--camera needs tandem-cars[camera]")
pytestmark = [pytest.mark.browser(drives=True), pytest.mark.xdist_group("station")]
PORT = PORTS + 40
ANSWER = "document.getElementById('answer')"
PICTURED = "document.getElementById('pictured').textContent"


@pytest.fixture(scope="module")
def stream():
    it = Stream()
    yield it
    it.shutdown()


@pytest.fixture(scope="module")
def set_up(tmp_path_factory, stream):
    folder = tmp_path_factory.mktemp("camera")
    words = ("--no-plots", "--camera", stream.url)
    with (
        pytest.MonkeyPatch.context() as patch,
        runtime_folder(patch),
        stage(folder, PORT, *words) as it,
    ):
        yield it


@pytest.fixture(scope="module")
def browser():
    it = Chromium()
    yield it
    it.close()


@pytest.fixture
def page(set_up, browser, stream):
    stream.hangs.clear()
    it = set_up.page(browser)
    it.until(f"/, live$/.test({PICTURED})")
    it.until("document.getElementById('picture').naturalWidth === 320")
    yield it
    it.call("Page.close")


def stopped(page) -> None:
    """Within what a stop takes, whatever else hangs."""
    begun_s = time.monotonic()
    page.click("#stop")
    page.until(f"{ANSWER}.className === 'good'")
    patience.took(begun_s, 3.0, "a stop", 0.3)
    page.until(f"{STATE} === 'STOPPED' || {STATE} === 'STANDBY'")


def test_its_picture_is_shown_and_only_to_pages_that_were_told_where_it_is(page):
    url = page.js("document.getElementById('picture').src")
    assert url.startswith(f"http://localhost:{PORT + 2}/")
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with pytest.raises(urllib.error.HTTPError, match="404"):
        opener.open(f"http://localhost:{PORT + 2}/", timeout=5)


def test_a_camera_that_hangs_is_told_and_is_in_no_way_of_a_stop(page, stream):
    stream.hangs.set()
    page.until(f"/^THE PICTURE IS [0-9]+ s OLD/.test({PICTURED})")
    assert page.js("document.getElementById('picture').classList.contains('old')")
    stopped(page)
    stream.hangs.clear()
    page.until(f"/, live$/.test({PICTURED})")


def test_a_camera_program_that_hangs_is_told_and_is_in_no_way_of_a_stop(page):
    pid = process_of(PORT + 2)
    os.kill(pid, signal.SIGSTOP)
    try:
        page.until(f"/its program has said nothing/.test({PICTURED})")
        stopped(page)
    finally:
        os.kill(pid, signal.SIGCONT)
    page.until(f"/, live$/.test({PICTURED})")


def test_a_camera_program_that_is_killed_is_started_again(page):
    os.kill(process_of(PORT + 2), signal.SIGKILL)
    page.until(f"!/, live$/.test({PICTURED})")
    page.until(f"/, live$/.test({PICTURED})")


def process_of(port: int) -> int:
    words = ["ps", "-eww", "-o", "pid,args"]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    servers = [it for it in done.stdout.splitlines() if "station.views.camera_server " in it]
    (found,) = [it for it in servers if it.endswith(f" {port}")]
    return int(found.split()[0])


def test_help_names_a_device_and_a_stream():
    said = " ".join(tandem("station", "--help").stdout.split())
    assert "/dev/video0, or the URL of an MJPEG stream" in said


@pytest.mark.parametrize(
    ("source", "opened"),
    [("2", 2), ("/dev/video2", 2), ("/dev/video-front", "/dev/video-front"),
     ("/dev/v4l/by-id/cam", "/dev/v4l/by-id/cam")],
)  # fmt: skip
def test_a_camera_is_opened_by_its_number_or_by_the_link_that_udev_made(
    source, opened, monkeypatch
):
    asked = []
    monkeypatch.setattr(camera.cv2, "VideoCapture", lambda *words: asked.append(words))
    camera._opened(source)
    assert asked == [(opened, camera.cv2.CAP_V4L2)]
