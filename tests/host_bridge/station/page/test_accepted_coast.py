"""A car whose vehicle file accepts a long coast says so on its card, before anybody arms it."""

from __future__ import annotations

import pytest

from host_bridge.config import load_vehicle
from host_bridge.core import unaided_text
from tests.host_bridge.cli.programs import program, serving
from tests.host_bridge.sharing.desk import runtime_folder
from tests.host_bridge.station.chromium import Chromium
from tests.host_bridge.station.stage import PORTS, STATE

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("station")]
PORT = PORTS + 70
REASON = "an empty hall of 40 m"
FAST = f"""base = "f1tenth"
title = "a fast car"

[profiles.track]
speed_cap_mps = 4.0

[accepted_coast]
distance_m = 16.5
reason = "{REASON}"
"""
# What a person sees of it: its words, how large they are, and whether anything lies over them
SEEN = """(() => {
  const card = document.body;
  const it = [...card.querySelectorAll('*')].find(
    (one) => one.children.length === 0 && one.textContent.includes('REASON'));
  if (!it) return null;
  it.scrollIntoView({block: 'center'});
  const box = it.getBoundingClientRect(), style = getComputedStyle(it);
  const top = document.elementFromPoint(box.left + 8, box.top + 8);
  return {text: it.textContent, width: box.width, height: box.height,
          size: parseFloat(style.fontSize), isOnTop: top === it};
})()""".replace("REASON", REASON)


@pytest.fixture
def browser():
    it = Chromium()
    yield it
    it.close()


def test_its_card_says_how_far_it_goes_what_is_accepted_and_why(tmp_path, monkeypatch, browser):
    path = tmp_path / "fast.toml"
    path.write_text(FAST)
    said = unaided_text(load_vehicle(str(path)), "track")
    assert said.endswith(f"Its vehicle file accepts 16.5 m: {REASON}.")
    with (
        runtime_folder(monkeypatch),
        serving(f"sim://{path}", "fast"),
        serving("sim://nigel", "slow"),
        program("station", "--port", str(PORT), "--no-plots") as station,
    ):
        assert station.stdout is not None
        page = browser.page(station.stdout.readline().split()[0].partition("#")[0])
        page.until(f"document.querySelectorAll('article').length === 2 && {STATE} === 'STANDBY'")
        page.click("#open-drawer")
        page.until(f"{SEEN} !== null")
        seen = page.js(SEEN)
        slow = page.js("document.getElementById('facts-slow').textContent")
        page.screenshot(tmp_path / "card.png", 1280, 900)
    assert seen["text"] == said
    assert seen["isOnTop"]
    assert seen["width"] > 100
    assert seen["size"] >= 12.0
    assert "accepts" not in slow, "of a car that stops within 4 m nothing is said"
