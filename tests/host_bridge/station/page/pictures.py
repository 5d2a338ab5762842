"""Draws the pictures of the READMEs anew: python -m tests.host_bridge.station.page.pictures

Of a real Chromium: a laptop's page with a car and its twin in a room, a phone's after a Stop, a
marshal's phone while one car is gone, and two recorded drives over one another. With names of
pictures only those are drawn.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

import pytest
from PIL import Image

from host_bridge import station
from tests.host_bridge.cli.programs import program, serving, tandem
from tests.host_bridge.sharing.desk import runtime_folder
from tests.host_bridge.station.chromium import Chromium, Page
from tests.host_bridge.station.log_views.test_logs_page import KEY, chosen, logs_of
from tests.host_bridge.station.page.test_work import seen
from tests.host_bridge.station.stage import PORTS, STATE, STEP, stage

FOLDER = Path(station.__file__).parent
ANSWER = "document.getElementById('answer')"
ALL_DRIVE = "document.querySelectorAll('.state.is_driving').length === 2"
TRIES = 5
SETTLED_S = 15.0  # plots that load take the browser from whoever holds
HELD_S = 12.0  # for trails on the map, and for plots that fill


def drawn(page: Page, name: str, width: int, height: int, folder: Path = FOLDER) -> Path:
    """A screenshot whose frames have had the time to follow, in few colours."""
    path = folder / name
    page.screenshot(path, width, height)
    time.sleep(4.0)
    page.screenshot(path, width, height)
    with Image.open(path) as image:
        image.convert("RGB").quantize(256, Image.Quantize.MAXCOVERAGE).save(path, optimize=True)
    print(path)
    return path


def of_a_laptop(browser: Chromium, folder: Path) -> None:
    """A person who holds the pad: a path drives a car and its twin through a corridor."""
    for n in range(TRIES):
        (folder / str(n)).mkdir()
        if _is_driven_while_drawn(browser, folder / str(n)):
            return
        print("the machine was late, and the cars stopped: again")
    raise SystemExit("this machine is too busy for a browser to hold")


def _is_driven_while_drawn(browser: Chromium, folder: Path) -> bool:
    line, scans = folder / "centre.csv", folder / "scans.jsonl"
    assert not tandem("path", "centre", "corridor", "-o", str(line)).returncode
    scans.touch()
    cars = {
        "red": f"sim://f1tenth_vesc?track=corridor&sensors={scans}",
        "twin": "sim://f1tenth_vesc?track=corridor&payload_kg=0.5",
    }
    with ExitStack() as stack:
        for name, uri in cars.items():
            stack.enter_context(serving(f"{uri}&name={name}", name))
        station = stack.enter_context(
            program(
                "station", "--port", str(PORTS + 92), "--speed", "2", "--map", "corridor",
                "--program", f"path:{line}?laps=5", "--lidar", f"red={scans}",
            )
        )  # fmt: skip
        assert station.stdout
        page = seen(browser, station.stdout.readline().strip())
        page.call("Emulation.setDeviceMetricsOverride", width=1280, height=800,
                  deviceScaleFactor=1, mobile=False)  # fmt: skip
        page.js("document.documentElement.dataset.theme = 'night'")
        page.until("document.querySelector('#twin-choice input') !== null")
        page.js("document.querySelector('#twin-choice input[type=checkbox]').click()")
        page.js(_CHOOSE_PATH)
        page.until("document.querySelector('#views iframe') !== null", 60.0)
        time.sleep(SETTLED_S)
        return _is_held_while_drawn(page, folder)


def _is_held_while_drawn(page: Page, folder: Path) -> bool:
    """Take, unlock and arm as it takes, hold the pad, and draw; False where the cars stopped."""
    while (step := page.js(STEP)) != "pad":
        if step in ("take", "unlock", "arm"):
            page.click(f"#{step}")
        time.sleep(0.3)
    x, y = page.centre("#hold", 0, -0.5)
    page.mouse("mousePressed", x, y)
    page.until(f"{ALL_DRIVE} || /STOP/.test({STATE})", 60.0)
    time.sleep(HELD_S)
    picture = drawn(page, "station.png", 1280, 800, folder)
    is_driving = bool(page.js(ALL_DRIVE))
    if is_driving:  # else the picture that is there is the better one
        shutil.copyfile(picture, FOLDER / picture.name)
    page.mouse("mouseReleased", x, y)
    return is_driving


_CHOOSE_PATH = """(() => {
  const it = document.getElementById('program');
  it.value = [...it.options].find((one) => one.text.includes('centre')).value;
  it.dispatchEvent(new Event('change'));
})()"""


def of_a_phone(browser: Chromium, folder: Path) -> None:
    """A car that was armed from the page, and stopped."""
    with stage(folder, PORTS + 80, "--no-plots") as it:
        page = it.page(browser)
        page.call("Emulation.setDeviceMetricsOverride", width=390, height=844,
                  deviceScaleFactor=1, mobile=True)  # fmt: skip
        it.seated(page)
        page.press("#stop", f"{ANSWER}.className === 'good'")
        page.until(f"{STATE} === 'STOPPED'")
        page.js("scrollTo(0, 0)")
        drawn(page, "stop.png", 390, 844)


def of_a_marshal(browser: Chromium, folder: Path) -> None:
    """Three cars, of which one does not hear the page any more."""
    with stage(folder, PORTS + 84, "--no-plots") as it, ExitStack() as stack:
        stack.enter_context(serving("sim://nigel?name=blue", "blue"))
        with serving("sim://nigel?name=violet", "violet"):
            page = browser.page(it.watching)
            page.until("document.querySelectorAll('article').length === 3")
        page.until("document.querySelector('article.gone') !== null")
        page.js("document.documentElement.dataset.theme = 'night'")
        page.click("#view-wall")
        drawn(page, "marshal.png", 390, 844)


def of_logs(browser: Chromium, folder: Path) -> None:
    """The same manoeuvre at two speeds, recorded, the slower one over the faster."""
    logs = folder / "logs"
    logs.mkdir()
    for name, speed in (("fast", "1.0"), ("slow", "0.7")):
        done = tandem(
            "drive", "--car", "sim://f1tenth", "--json", "--input", "script:slalom",
            "--seconds", "12", "--speed", speed, "--record", str(logs / f"{name}.mcap"),
        )  # fmt: skip
        print(done.stderr)
    with stage(folder, PORTS + 88, "--record-to", str(logs)) as it:
        page = it.page(browser)
        page.js("document.documentElement.dataset.theme = 'night'")
        shown = logs_of(browser, page, "slow.mcap")
        chosen(shown, ("fast.mcap", "A"), ("slow.mcap", "B"))
        for _ in range(5):
            shown.js(KEY % "ArrowRight")
        page.click("#view-logs")
        drawn(page, "logs.png", 1280, 800)


PICTURES = {
    "stop.png": of_a_phone,
    "marshal.png": of_a_marshal,
    "logs.png": of_logs,
    "station.png": of_a_laptop,
}


def main() -> None:
    """All, or those that are named."""
    wanted = sys.argv[1:] or list(PICTURES)
    with (
        pytest.MonkeyPatch.context() as patch,
        runtime_folder(patch),
        tempfile.TemporaryDirectory() as folder,
    ):
        patch.setenv("TANDEM_DATA_DIR", folder)
        for name in wanted:
            browser = Chromium()
            try:
                (Path(folder) / name).mkdir()
                PICTURES[name](browser, Path(folder) / name)
            finally:
                browser.close()


if __name__ == "__main__":
    main()
