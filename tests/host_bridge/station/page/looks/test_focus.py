"""Where the keyboard goes in a real Chromium: to Stop, and to nothing that is covered."""

from __future__ import annotations

import pytest

from tests.host_bridge.cli.programs import tandem
from tests.host_bridge.sharing.desk import runtime_folder
from tests.host_bridge.station.chromium import Chromium, Page
from tests.host_bridge.station.stage import NAME, PORTS, stage

pytestmark = [pytest.mark.browser(drives=True), pytest.mark.xdist_group("station")]
PORT = PORTS + 56
SIZES = {"laptop": (1280, 800), "upright": (390, 844), "narrow": (320, 640),
         "sideways": (844, 390), "zoomed to 200 %": (640, 400)}  # fmt: skip
MOST_STOPS = 40  # a page has 25 buttons and fields at most
BAND = "document.querySelector('.state').dataset.band"
# What has the focus: its name, whether it is seen at its middle, and how wide its ring is
FOCUSED = """(() => { const it = document.activeElement, box = it.getBoundingClientRect();
  const x = (box.left + box.right) / 2, y = (box.top + box.bottom) / 2;
  const over = document.elementFromPoint(x, y);
  return [it.id || it.ariaLabel || it.parentElement.innerText,
    Boolean(over && (it.contains(over) || over.contains(it))),
    it.id === 'bar' ? 1 : parseFloat(getComputedStyle(it).outlineWidth)]; })()"""


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("focus")
    with (
        pytest.MonkeyPatch.context() as patch,
        runtime_folder(patch),
        stage(folder, PORT, "--no-plots") as it,
    ):
        browser = Chromium()
        yield it.page(browser)
        browser.close()


def press(page: Page, key: str, code: int, text: str = "") -> None:
    for kind in ("keyDown" if text else "rawKeyDown", "keyUp"):
        page.call("Input.dispatchKeyEvent", type=kind, key=key, code=key,
                  windowsVirtualKeyCode=code, text=text if kind == "keyDown" else "")  # fmt: skip


def order(page: Page, size: str, view: str) -> list[tuple[str, bool, float]]:
    """All that Tab goes to, from the top of a view to Stop."""
    width, height = SIZES[size]
    page.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
              deviceScaleFactor=1, mobile=False)  # fmt: skip
    page.js(f"document.getElementById('view-{view}').click(); scrollTo(0, 0)")
    page.js("document.body.tabIndex = -1; document.body.focus()")
    page.js("document.body.removeAttribute('tabindex')")
    found: list[tuple[str, bool, float]] = []
    while len(found) < MOST_STOPS and (not found or found[-1][0] != "bar"):
        press(page, "Tab", 9)
        found.append(tuple(page.js(FOCUSED)))
    return found


@pytest.mark.parametrize("view", ["drive", "wall"])
@pytest.mark.parametrize("size", SIZES)
def test_tab_goes_from_the_way_to_stop_to_stop_and_all_is_seen(page, size, view):
    page.until("document.getElementById('bar').classList.contains('there')")
    found = order(page, size, view)
    assert found[0][0] == "skip"
    assert found[-1][0] == "bar"
    assert len(found) > 5
    assert [name for name, is_seen, ring in found if not is_seen or not ring] == []


@pytest.mark.parametrize("size", ["sideways", "upright"])
def test_no_stop_of_a_marshals_row_has_the_focus_under_a_flag(page, size):
    view = "wall" if size == "upright" else "marshal"
    found = order(page, size, view)
    assert f"STOP 1, {NAME}" in [name for name, _, _ in found]
    assert [name for name, is_seen, _ in found if not is_seen] == []


@pytest.mark.parametrize("size", ["zoomed to 200 %", "sideways"])
def test_where_the_header_lies_below_the_seat_it_comes_after_it(page, size):
    names = [name for name, _, _ in order(page, size, "drive")]
    assert names.index("take") < names.index("view-drive") < names.index("bar")


def test_the_way_to_stop_leads_to_stop_and_enter_stops(page):
    assert tandem("clear", NAME).returncode in (0, 1)
    page.until(f"{BAND} === 'PARKED'")
    page.until("document.getElementById('bar').classList.contains('there')")
    page.js("document.getElementById('skip').focus()")
    press(page, "Enter", 13, "\r")
    page.until("document.activeElement.id === 'bar'")
    press(page, "Enter", 13, "\r")
    page.until(f"{BAND} === 'STOPPED'")
