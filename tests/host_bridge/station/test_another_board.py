"""A page is open while its car is served anew, by the same name and on another board."""

from __future__ import annotations

import pytest

from sim_mock.board.stored_image import board_id_of
from tests.host_bridge.cli.programs import program, serving
from tests.host_bridge.sharing.desk import runtime_folder
from tests.host_bridge.station.chromium import Chromium
from tests.host_bridge.station.stage import PORTS, SEATED, STATE

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("station")]
PORT = PORTS + 31
WHY = "document.querySelector('.why')?.textContent ?? ''"
TOLD = "document.getElementById('told').textContent"
ANOTHER = "document.getElementById('another')"
ONE, TWO = (board_id_of(word).hex() for word in ("one", "two"))


@pytest.fixture
def browser():
    it = Chromium()
    yield it
    it.close()


def test_it_is_neither_armed_nor_driven_by_the_old_name_until_a_person_says_so(
    browser, monkeypatch
):
    with (
        runtime_folder(monkeypatch),
        program("station", "--port", str(PORT), "--no-plots") as station,
    ):
        address = station.stdout.readline().split()[0]
        with serving("sim://nigel?board=one", "car"):
            page = browser.page(address)
            page.until(f"{STATE} === 'STANDBY'")
            assert page.js(f"{ANOTHER}.hidden")
        page.until("document.querySelectorAll('article.gone').length === 1")
        with serving("sim://nigel?board=two", "car"):
            page.until(f"/ANOTHER CAR/.test({WHY})")
            assert ONE in page.js(WHY)
            assert TWO in page.js(WHY)
            page.click("#take")
            page.until(f"/^refused/.test({TOLD})")
            assert ONE in page.js(TOLD)
            assert TWO in page.js(TOLD)
            assert not page.js(SEATED)
            page.until(f"{STATE} === 'STANDBY'")
            page.click("#another")
            page.until(f"{ANOTHER}.hidden && !/ANOTHER CAR/.test({WHY})")
            page.click("#take")
            page.until(SEATED)
            page.click("#end")
