"""Draws the pictures of the READMEs anew: python -m tests.host_bridge.station.page.pictures

Of a real Chromium: a laptop's page with a car and its twin in a room, and a phone's after a Stop.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import pytest
from PIL import Image

from host_bridge import station
from tests.host_bridge.sharing.desk import runtime_folder
from tests.host_bridge.station.chromium import Chromium, Page
from tests.host_bridge.station.page.test_work import driven, seen
from tests.host_bridge.station.stage import PORTS, STATE, stage

FOLDER = Path(station.__file__).parent
ANSWER = "document.getElementById('answer')"
ALL_DRIVE = "document.querySelectorAll('.state.is_driving').length === 2"
WAIT_S = 20.0  # for paths on the map, and for plots that fill


def drawn(page: Page, name: str, width: int, height: int) -> None:
    """A screenshot whose frames have had the time to follow, in few colours."""
    path = FOLDER / name
    page.screenshot(path, width, height)
    time.sleep(4.0)
    page.screenshot(path, width, height)
    with Image.open(path) as image:
        image.convert("RGB").quantize(64).save(path, optimize=True)
    print(path)


def of_a_laptop(browser: Chromium, folder: Path) -> None:
    """A car and its twin."""
    with driven(folder, times=1) as drive:
        page = seen(browser, drive.address)
        page.until(ALL_DRIVE, 120.0)
        page.js("document.documentElement.dataset.theme = 'night'")
        time.sleep(WAIT_S)
        drawn(page, "station.png", 1280, 800)


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


def main() -> None:
    """Both."""
    with (
        pytest.MonkeyPatch.context() as patch,
        runtime_folder(patch),
        tempfile.TemporaryDirectory() as folder,
    ):
        patch.setenv("TANDEM_DATA_DIR", folder)
        browser = Chromium()
        try:
            for draw in (of_a_phone, of_a_laptop):
                draw(browser, Path(folder))
        finally:
            browser.close()


if __name__ == "__main__":
    main()
