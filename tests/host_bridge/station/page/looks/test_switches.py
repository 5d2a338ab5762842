"""What a person may switch off in a real Chromium: keys of one letter, and the sound of a stop."""

from __future__ import annotations

import pytest

from tests.host_bridge.cli.programs import tandem
from tests.host_bridge.sharing.desk import runtime_folder
from tests.host_bridge.station.chromium import Chromium, Page
from tests.host_bridge.station.stage import NAME, PORTS, stage

pytestmark = [pytest.mark.browser(drives=True), pytest.mark.xdist_group("station")]
PORT = PORTS + 47
BAND = "document.querySelector('.state').dataset.band"
DRAWER = "!document.getElementById('drawer').hidden"
# A page that counts the tones and vibrations that it asks its browser for
COUNTED = """window.tones = 0; window.shaken = [];
const made = AudioContext.prototype.createOscillator;
AudioContext.prototype.createOscillator = function () { tones += 1; return made.call(this); };
navigator.vibrate = (pattern) => { shaken.push(pattern); return true; }; 1"""


@pytest.fixture(scope="module")
def set_up(tmp_path_factory):
    folder = tmp_path_factory.mktemp("switches")
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


def press(page: Page, key: str) -> None:
    for kind in ("keyDown", "keyUp"):
        page.call(
            "Input.dispatchKeyEvent", type=kind, key=key, text=key if kind == "keyDown" else ""
        )


def switch(page: Page, name: str, *, to: str) -> None:
    page.js(f"document.getElementById('switch-{name}').click(); 1")
    page.until(f"document.getElementById('switch-{name}').ariaChecked === '{to}'")


def test_letters_act_until_they_are_switched_off_and_the_browser_keeps_that(page):
    press(page, "p")
    page.until(DRAWER)
    switch(page, "letters", to="false")
    press(page, "p")
    press(page, "p")
    press(page, "p")
    assert page.js(DRAWER), "it would be closed"
    page.call("Page.reload")
    page.until("document.getElementById('switch-letters')?.ariaChecked === 'false'")
    press(page, "p")
    assert not page.js(DRAWER)
    switch(page, "letters", to="true")
    press(page, "p")
    page.until(DRAWER)


def test_a_number_opens_the_drawer_at_its_car(page):
    press(page, "2")
    assert not page.js(DRAWER), "there is no second car"
    press(page, "1")
    page.until(f"{DRAWER} && document.activeElement.id === 'facts-{NAME}'")


def parked(page: Page) -> None:
    assert tandem("clear", NAME).returncode in (0, 1)
    page.until(f"{BAND} === 'PARKED'")


@pytest.mark.parametrize(("view", "tones"), [("marshal", 1), ("wall", 0)])
def test_a_stop_that_nobody_asked_for_here_is_heard_where_somebody_marshals(page, view, tones):
    parked(page)
    page.click(f"#view-{view}")
    page.js(COUNTED)
    assert tandem("stop").returncode == 0
    page.until(f"{BAND} === 'STOPPED'")
    assert page.js("tones") == tones
    assert page.js("shaken") == [400] * tones


def test_ones_own_stop_is_heard_once_and_without_the_sound_only_felt(page):
    parked(page)
    page.js(COUNTED)
    page.click("#stop")
    page.until("tones === 1")
    assert page.js("shaken.at(-1)") == 400
    parked(page)
    switch(page, "sound", to="false")
    page.js("shaken = []; 1")
    page.click("#stop")
    page.until("shaken.at(-1) === 400")
    assert page.js("tones") == 1
