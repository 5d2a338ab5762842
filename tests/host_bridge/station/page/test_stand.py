"""A car on its stand, from the page: sliders of each actuator, trim, configuration; and refused."""

from __future__ import annotations

import json
import time

import pytest

from tests.host_bridge.cli.programs import tandem
from tests.host_bridge.sharing.desk import runtime_folder
from tests.host_bridge.station.chromium import Chromium, Page
from tests.host_bridge.station.stage import NAME, PORTS, SEATED, SPEED, STATE, stage

pytestmark = [pytest.mark.browser(drives=True), pytest.mark.xdist_group("station")]
PORT = PORTS + 30
ADJUSTED = "document.getElementById('adjusted').textContent"
STEER = "document.querySelector('[data-key=steer]').textContent"
SENT = (
    "new Promise((done) => {{ const s = new WebSocket(`ws://${{location.host}}/{path}`);"
    " s.onopen = () => s.send(JSON.stringify({{seat: location.hash.slice(6), ...{asked}}}));"
    " s.onmessage = (it) => done(it.data); }})"
)


@pytest.fixture(scope="module")
def set_up(tmp_path_factory):
    folder = tmp_path_factory.mktemp("stand")
    with pytest.MonkeyPatch.context() as patch, runtime_folder(patch):
        patch.setenv("TANDEM_DATA_DIR", str(folder / "data"))
        with stage(folder, PORT, "--no-plots") as it:
            yield it


@pytest.fixture(scope="module")
def browser():
    it = Chromium()
    yield it
    it.close()


@pytest.fixture
def page(set_up, browser):
    it = set_up.page(browser)
    yield it
    if it.js(SEATED):
        it.click("#end")
        it.until(f"!{SEATED}")
    it.call("Page.close")


def on_stand(set_up, page: Page) -> None:
    if not page.js("offground.checked"):
        page.click("#offground")
    set_up.seated(page)
    page.until("!document.getElementById('sliders').hidden")


def slid(page: Page, selector: str, part: float) -> tuple[float, float]:
    """Pressed in its middle and moved: from -1, its left end, to 1."""
    x, y = page.centre(selector)
    end_x, _ = page.centre(selector, part)
    page.mouse("mousePressed", x, y)
    page.mouse("mouseMoved", end_x, y, is_down=True)
    return end_x, y


def test_a_slider_moves_its_actuator_while_it_is_held_and_goes_back(set_up, page):
    on_stand(set_up, page)
    page.until("document.getElementById('steer-words').textContent")

    def deed():
        where = slid(page, "#slide-steer", -0.5)
        set_up.until(page, f"parseFloat({STEER}) > 8 && {STEER}.endsWith('left')")
        set_up.until(page, "/0: [0-9]+ µs/.test(document.getElementById('outputs').textContent)")
        page.mouse("mouseReleased", *where)
        set_up.until(page, f"{STATE} === 'HOLD'")

    set_up.undisturbed(page, deed)
    assert "at most 24" in page.js("document.getElementById('steer-words').textContent")
    assert float(page.js("document.getElementById('slide-steer').value")) == 0.0


def test_the_stands_cap_holds_whatever_the_slider_says(set_up, page):
    on_stand(set_up, page)
    cap = page.js("document.getElementById('speed-words').textContent").rpartition("+")[2]
    assert 0 < float(cap) <= 1.0
    target = "parseFloat(document.querySelector('[data-key=asked]').textContent.split('asked ')[1])"

    def deed():
        where = slid(page, "#slide-speed", 1.0)
        set_up.until(page, f"{SPEED} > {0.7 * float(cap)} && {target} > {0.98 * float(cap)}")
        time.sleep(0.5)
        set_up.until(page, f"{STATE} === 'ACTIVE'")
        assert page.js(target) <= float(cap) + 0.01
        page.mouse("mouseReleased", *where)
        set_up.until(page, f"{STATE} === 'HOLD'")

    set_up.undisturbed(page, deed)


def test_a_finger_whose_hold_a_stop_has_ended_moves_no_slider_until_it_has_left(set_up, page):
    on_stand(set_up, page)
    values = (
        "['steer', 'speed', 'brake'].map((it) => +document.getElementById('slide-' + it).value)"
    )

    def deed():
        x, y = slid(page, "#slide-speed", 1.0)
        set_up.until(page, f"{STATE} === 'ACTIVE'")
        assert page.js(values) == [0, 1, 0]
        page.call("Input.dispatchKeyEvent", type="keyDown", key="Escape", code="Escape")
        page.until(f"{STATE} === 'STOPPED'")
        for move in (0.5, 1.0):
            page.mouse("mouseMoved", x * move, y, is_down=True)
            assert page.js(values) == [0, 0, 0]
        page.mouse("mouseReleased", x, y)
        assert page.js(values) == [0, 0, 0]

    set_up.undisturbed(page, deed)


# Keeps the newest report of the car, beside the page's own scripts
REPORT = (
    "window.reported = null; (() => { const s = new WebSocket(`ws://${location.host}/status`);"
    " s.onmessage = (it) => { window.reported = JSON.parse(it.data).cars[0]; }; })(); 1"
)


def test_the_brakes_slider_brakes_by_as_much_as_it_says_until_it_is_let_go(set_up, page):
    on_stand(set_up, page)
    page.js(REPORT)
    brake = "reported?.signals?.brake_percent"

    def deed():
        where = slid(page, "#slide-brake", 0.5)
        set_up.until(page, f"{STATE} === 'ACTIVE' && {brake} > 60 && {brake} < 90")
        words = page.js("document.getElementById('brake-words').textContent")
        assert 60 < int(words.partition(" ")[0]) < 90
        assert words.endswith("%, 0 to 100")
        page.mouse("mouseReleased", *where)
        set_up.until(page, f"{STATE} === 'HOLD'")

    set_up.undisturbed(page, deed)
    assert float(page.js("document.getElementById('slide-brake').value")) == 0.0
    assert page.js("document.getElementById('brake-words').textContent") == "0 %, 0 to 100"


def test_what_is_left_of_the_stands_minute_stands_beside_the_sliders(set_up, page):
    on_stand(set_up, page)
    left = "document.getElementById('seat-unit').textContent"
    page.until(f"/^[01]:[0-5][0-9] left$/.test({left})")
    before = page.js(left)
    page.until(f"{left} < '{before}'")
    cap = "document.querySelector('.cell.profile small').textContent"
    assert page.js(f"{cap}.split(', ')[1] === {left}.split(' ')[0]")


def test_a_slider_is_held_by_the_keyboard_alone(set_up, page):
    on_stand(set_up, page)

    def deed():
        page.js("document.getElementById('slide-steer').focus()")
        for _ in range(30):
            key(page, "ArrowLeft")
        key(page, "Space", "keyDown")
        try:
            set_up.until(page, f"{STATE} === 'ACTIVE' && parseFloat({STEER}) > 5")
        finally:
            key(page, "Space", "keyUp")
        set_up.until(page, f"{STATE} === 'HOLD'")

    set_up.undisturbed(page, deed)


def key(page: Page, code: str, kind: str = "") -> None:
    name, number = {"Space": (" ", 32), "ArrowLeft": ("ArrowLeft", 37)}[code]
    for it in [kind] if kind else ["keyDown", "keyUp"]:
        page.call(
            "Input.dispatchKeyEvent", type=it, key=name, code=code, windowsVirtualKeyCode=number
        )


def asked(page: Page, path: str, **words):
    return json.loads(page.js(SENT.format(path=path, asked=json.dumps(words))))


@pytest.mark.parametrize("what", ["trims", "trim", "config", "write"])
def test_nothing_of_it_without_a_word_that_the_wheels_are_off_the_ground(page, what):
    said = asked(page, "work", do=what, car=NAME, changes={"steering": 10})
    assert said["is_done"] is False
    assert "off the ground" in said["text"]


def test_the_seat_on_the_stand_needs_that_word_too(page):
    said = asked(page, "hold", car=NAME, profile="stand")
    assert (said["is_granted"], "off the ground" in said["why"]) == (False, True)


def test_the_seat_on_the_stand_is_given_the_stands_limits(page):
    said = asked(page, "hold", car=NAME, profile="stand", attest="wheels-off-ground")
    assert (said["is_granted"], said["is_on_stand"]) == (True, True)
    assert 0 < said["limits"]["speed_mps"] <= 1.0


def test_trim_is_written_read_back_and_the_same_as_the_commands(set_up, page):
    page.click("#offground")
    page.until("!document.getElementById('stand').hidden")
    page.click("#open-drawer")
    page.click("#readtrim")
    page.until("document.querySelectorAll('#trims input').length === 2")
    page.js("const it = document.querySelector('#trims input'); it.value = 12; it.oninput(); 1")
    page.click("#trims button")
    page.until(f"/trim written and read back/.test({ADJUSTED})")
    rows = json.loads(tandem("trim", "--car", NAME, "--json").stdout)
    assert {it["channel"]: it["trim_us"] for it in rows}[0] == 12.0
    page.until(f"{STATE} === 'STANDBY'")
    done = tandem("trim", "--car", NAME, "0=0")  # as its file has it, for the tests below
    assert done.returncode == 0, done.stderr


def test_a_trim_beyond_its_limit_is_refused_in_the_commands_words(page):
    attest = "wheels-off-ground"
    said = asked(page, "work", do="trim", car=NAME, changes={"0": 500}, attest=attest)
    assert (said["is_done"], "is no trim of this vehicle" in said["text"]) == (False, True)


def test_the_board_refuses_a_trim_while_it_is_armed(set_up, page):
    on_stand(set_up, page)
    attest = "wheels-off-ground"
    said = asked(page, "work", do="trim", car=NAME, changes={"0": 5}, attest=attest)
    assert said["is_done"] is False
    assert "only in PARKED or FAULT" in said["text"]


# A row's words, what it holds, and its parts
ROW = "document.querySelector('#parameters tr[data-name=%s]')"


def configured(page: Page) -> None:
    """The drawer with the car's parameters, read."""
    page.click("#offground")
    page.until("!document.getElementById('stand').hidden")
    page.click("#open-drawer")
    page.js(
        "window.told = []; new MutationObserver(() => window.told.push(adjusted.textContent))"
        ".observe(document.getElementById('adjusted'), {childList: true, characterData: true,"
        " subtree: true}); 1"
    )
    page.click("#readconfig")
    page.until("document.querySelectorAll('#parameters tr').length > 400", 120.0)


def test_the_configuration_has_human_units_limits_and_where_it_comes_from(set_up, page):
    configured(page)
    assert page.js(f"{ROW % 'step_us'}.innerText").split() == [
        "step", "step_us", "10000", "ms", "1", "to", "20", "vehicle", "file",
    ]  # fmt: skip
    assert page.js(f"{ROW % 'steer_rate_urad_s'}.querySelector('input').value") == "183.3"
    assert page.js(f"{ROW % 'brake_decel_mm_s2'}.querySelector('input')") is None
    told = page.js("window.told")
    assert any(f"{NAME}: read: " in it for it in told), told
    counts = [
        page.js(
            "(() => { const it = document.getElementById('find-parameter');"
            f" it.value = '{words}'; it.oninput(); return it.nextSibling.textContent; }})()"
        )
        for words in ("", "editable", "differs", "battery mv")
    ]
    whole = page.js("document.querySelectorAll('#parameters tr').length - 1")
    assert counts == [f" {n} of {whole}" for n in (whole, 7, 0, 2)]


def test_two_values_are_edited_written_together_and_read_back(set_up, page):
    configured(page)
    edit = (
        "(() => {{ const it = {row}.querySelector('input'); it.value = '{value}'; it.oninput();"
        " return {row}.querySelector('.origin').textContent; }})()"
    )
    values = {"steer_rate_urad_s": ("171.9", "183.3"), "battery_low_mv": ("10.8", "10.5")}
    for name, (value, was) in values.items():
        assert page.js(edit.format(row=ROW % name, value=value)) == f"edited, was {was}"
    page.until("/Write 2, then read back/.test(document.getElementById('changes').innerText)")
    page.click("#changes .next")
    page.until(f"/read back/.test({ROW % 'battery_low_mv'}.querySelector('.origin').textContent)")
    told = page.js("window.told")
    assert any(f"{NAME}: read back: " in it for it in told), told
    for name, (value, was) in values.items():
        cell = page.js(f"{ROW % name}.querySelector('.origin').textContent")
        assert cell == f"this car, its file {was} \u2713 read back"
        assert page.js(f"{ROW % name}.querySelector('input').value") == value
    held = json.loads(tandem("config", "read", NAME, "--json").stdout)
    assert (held["battery_low_mv"], round(held["steer_rate_urad_s"], -3)) == (10800, 3000000)
    done = tandem("config", "write", NAME, "steer_rate_radps=3.2", "low_v=10.5", "--json")
    assert done.returncode == 0, done.stderr
    time.sleep(0.5)


def test_more_acceleration_than_its_file_has_is_refused_in_the_commands_words(set_up, page):
    said = asked(page, "work", do="write", car=NAME, changes={"accel_mps2": 9.0},
                 attest="wheels-off-ground")  # fmt: skip
    assert said["is_done"] is False
    assert "at most its vehicle file's" in said["text"]
    assert "up to 2.5" in said["text"]
