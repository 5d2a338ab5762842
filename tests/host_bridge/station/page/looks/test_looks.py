"""How a tile and the notices look in a real Chromium: in their own room, and stale in time."""

from __future__ import annotations

import json

import pytest

from tests.host_bridge.sharing.desk import runtime_folder
from tests.host_bridge.station.chromium import Chromium, Page
from tests.host_bridge.station.stage import PORTS, stage

pytestmark = [pytest.mark.browser(drives=True), pytest.mark.xdist_group("station")]
PORT = PORTS + 44
SIZES = {"laptop": (1280, 800), "short": (1024, 640), "zoomed to 200 %": (640, 400),
         "sideways": (844, 390), "wall": (1920, 1080)}  # fmt: skip
CAR = {"name": "red", "driver": "nobody", "state": "STANDBY", "word": "PARKED", "is_locked": False}
# Where things are before and while all notices are there, in one go: the next status hides them
PLACES = """(() => {
  const places = () => ['#seat', '#focused article', '#stop', '#notices'].map((it) => {
    const box = document.querySelector(it).getBoundingClientRect();
    return [box.left, box.top, box.right, box.bottom]; });
  scrollTo(0, 0);
  const before = places();
  for (const it of document.querySelectorAll('#notices p')) {
    it.hidden = false;
    (it.firstElementChild || it).textContent = 'Red flag by Laptop: 1 of 1 car held. '.repeat(3);
  }
  return [before, places()]; })()"""


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("looks")
    with (
        pytest.MonkeyPatch.context() as patch,
        runtime_folder(patch),
        stage(folder, PORT, "--no-plots") as it,
    ):
        browser = Chromium()
        yield it.page(browser)
        browser.close()


def looks(page: Page, age_ms: int, **words: object) -> dict[str, object]:
    """What the page makes of a car whose newest report is so old."""
    car = json.dumps({**CAR, "age_ms": age_ms, **words})
    return page.js(f"import('/scripts/car/look.js').then((it) => it.look({car}, 0))")


@pytest.mark.parametrize("words", [{}, {"state": "NO_LINK", "last_state": "STANDBY"}])
def test_what_is_half_a_second_old_at_most_is_fresh_and_has_no_age(page, words):
    """Also of a car whose link has just ended: "0.0 s" in a stale tile says nothing."""
    for age_ms, is_, age in ((0, "fresh", ""), (500, "fresh", ""), (501, "stale", "0.5 s"),
                             (2999, "stale", "3.0 s"), (3000, "gone", "3.0 s")):  # fmt: skip
        found = looks(page, age_ms, **words)
        assert (found["is"], found["age"]) == (is_, age)
        assert found["band"] != "NO LINK"


@pytest.mark.parametrize("size", SIZES)
def test_the_age_of_a_state_is_beside_it_and_not_over_it(page, size):
    width, height = SIZES[size]
    page.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
              deviceScaleFactor=1, mobile=False)  # fmt: skip
    for word in ("PARKED", "STOPPING", "STARTING"):
        car = json.dumps({**CAR, "age_ms": 1250, "word": word, "speed_mps": 0.0, "steer_deg": 0.0})
        right, left = page.js(
            "Promise.all(['car/tile', 'car/look'].map((it) => import(`/scripts/${it}.js`)))"
            f".then(([tiles, looks]) => {{ const car = {car};"
            " const it = document.querySelector('#focused article');"
            " for (const silent of [0, -1000, 0]) tiles.fill(it, car, looks.look(car, silent),"
            " null, false, '');"
            " return [it.querySelector('.band .word text').getBoundingClientRect().right,"
            " it.querySelector('.band .age').getBoundingClientRect().left]; })"
        )
        assert 0 < right <= left, word


@pytest.mark.parametrize("size", SIZES)
def test_notices_come_and_go_and_move_nothing_and_cover_neither_seat_nor_tile_nor_stop(page, size):
    width, height = SIZES[size]
    page.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
              deviceScaleFactor=1, mobile=False)  # fmt: skip
    (*before, _), (*after, notices) = page.js(PLACES)
    assert after == before
    left, top, right, bottom = notices
    assert 0 <= left < right <= width
    assert 0 <= top < bottom <= height
    for box in after:
        assert right <= box[0] or box[2] <= left or bottom <= box[1] or box[3] <= top
