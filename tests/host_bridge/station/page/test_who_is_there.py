"""The page's drawer says who is at a car by way of a gateway, and no longer once it is gone."""

from __future__ import annotations

import pytest

from host_bridge.sharing.endpoints.attached import Attached, tell_attached, withdraw_attached
from tests.host_bridge.cli.programs import program, serving
from tests.host_bridge.sharing.desk import runtime_folder
from tests.host_bridge.station.chromium import Chromium
from tests.host_bridge.station.stage import PORTS, STATE

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("station")]
PORT = PORTS + 74
TOLD = "document.querySelector('#facts-rover [data-key=stations]').textContent"
STATION = Attached("MAVLink", "255/190", "192.0.2.7:14550", is_signed=True, drives=True)


@pytest.fixture
def browser():
    it = Chromium()
    yield it
    it.close()


def test_a_station_of_others_is_shown_beside_the_car(monkeypatch, browser, tmp_path):
    with (
        runtime_folder(monkeypatch),
        serving("sim://nigel", "rover"),
        program("station", "--port", str(PORT), "--no-plots") as station,
    ):
        assert station.stdout is not None
        page = browser.page(station.stdout.readline().split()[0].partition("#")[0])
        page.until(f"{STATE} === 'STANDBY'")
        page.click("#open-drawer")
        page.until(f"{TOLD} === 'none'")
        tell_attached("rover", [STATION])
        page.until(f"{TOLD} === '{STATION}'")
        page.screenshot(tmp_path / "drawer.png", 1280, 900)
        withdraw_attached("rover")
        page.until(f"{TOLD} === 'none'")
