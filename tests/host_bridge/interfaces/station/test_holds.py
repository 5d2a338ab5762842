"""Each way in which a hold of the page ends, in a real Chromium, with the car's stop in
milliseconds and metres out of the plant's trace; once each here, twenty times in ``make soak``."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from tests.host_bridge.interfaces.station.chromium import Chromium, Page
from tests.host_bridge.interfaces.station.stage import SPEED_MPS, STATE, Stage, stage
from tests.host_bridge.serve.desk import runtime_folder

pytestmark = pytest.mark.xdist_group("station")
# What is promised is 0.12 s of lease; the rest is the way of the fault into the browser, and a
# frame and a beat of each program on a machine that others use, too.
REACTION_S = 0.40
METRES = 1.6


@pytest.fixture(scope="module")
def set_up(tmp_path_factory):
    folder = tmp_path_factory.mktemp("station")
    with pytest.MonkeyPatch.context() as patch, runtime_folder(patch), stage(folder) as it:
        yield it


@dataclass
class Scene:
    """The browser, the page that holds, and where."""

    stage: Stage
    browser: Chromium
    page: Page
    x: float
    y: float


@dataclass
class Ending:
    """How a hold ends: ``said`` is what the page says of it, "" where it cannot say anything."""

    name: str
    end: Callable[[Scene], None]
    said: str
    state: str  # of the car, afterwards
    is_touch: bool = False

    def __str__(self) -> str:
        return self.name


def released(scene: Scene) -> None:
    scene.page.mouse("mouseReleased", scene.x, scene.y)


def finger_lifted(scene: Scene) -> None:
    scene.page.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])


def cancelled(scene: Scene) -> None:
    scene.page.call("Input.dispatchTouchEvent", type="touchCancel", touchPoints=[])


def second_touch(scene: Scene) -> None:
    points = [
        {"x": scene.x, "y": scene.y, "id": 0},
        {"x": scene.x + 30, "y": scene.y + 30, "id": 1},
    ]
    scene.page.call("Input.dispatchTouchEvent", type="touchStart", touchPoints=points)


def hidden(scene: Scene) -> None:
    scene.browser.page("about:blank#other").call("Page.bringToFront")


def blurred(scene: Scene) -> None:
    scene.page.js("document.activeElement.blur()")


def frozen(scene: Scene) -> None:
    scene.page.call("Page.setWebLifecycleState", state="frozen")


def closed(scene: Scene) -> None:
    scene.page.tell("Page.close")


def left(scene: Scene) -> None:
    scene.page.tell("Page.navigate", url="about:blank")


def offline(scene: Scene) -> None:
    scene.page.call(
        "Network.emulateNetworkConditions",
        offline=True, latency=0, downloadThroughput=-1, uploadThroughput=-1,
    )  # fmt: skip


def turned(scene: Scene) -> None:
    scene.page.call(
        "Emulation.setDeviceMetricsOverride",
        width=740, height=360, deviceScaleFactor=1, mobile=True,
        screenOrientation={"type": "landscapePrimary", "angle": 90},
    )  # fmt: skip


def busy(scene: Scene) -> None:
    """All of the page's processor time, for ever."""
    scene.page.tell("Runtime.evaluate", expression="for (;;);")


def killed(scene: Scene) -> None:
    scene.browser.signal(signal.SIGKILL)


def suspended(scene: Scene) -> None:
    scene.browser.signal(signal.SIGSTOP)


ENDINGS = [
    Ending("released", released, "release", "HOLD"),
    Ending("finger lifted", finger_lifted, "release", "HOLD", is_touch=True),
    Ending("touch cancelled", cancelled, "cancel", "HOLD", is_touch=True),
    Ending("second touch", second_touch, "second touch", "HOLD", is_touch=True),
    Ending("blur", blurred, "blur", "HOLD"),
    Ending("hidden", hidden, "blur hidden", "HOLD"),
    Ending("frozen", frozen, "", ""),
    Ending("closed", closed, "", ""),
    Ending("left for another page", left, "", ""),
    Ending("offline", offline, "offline", ""),
    Ending("screen turned", turned, "rotation", "HOLD"),
    Ending("100 % CPU", busy, "", "STOPPED"),
    Ending("kill -9", killed, "", "STOPPED"),
    Ending("SIGSTOP", suspended, "", "STOPPED"),
]


def run(set_up: Stage, ending: Ending) -> tuple[float, float]:
    """Drive, end the hold, judge the stop; reaction in ms, and metres."""
    browser = Chromium()
    try:
        page = set_up.page(browser)
        x, y = set_up.driven(page, ending.is_touch)
        fault_s = time.monotonic()
        ending.end(Scene(set_up, browser, page, x, y))
        stop = set_up.stop_after(fault_s)
        print(
            f"{ending}: {stop.reaction_s * 1e3:.0f} ms to react, {stop.seconds * 1e3:.0f} ms and "
            f"{stop.metres:.2f} m to stand, from {stop.from_mps:.2f} m/s"
        )
        assert stop.from_mps > 0.8 * SPEED_MPS
        assert stop.reaction_s <= REACTION_S
        assert stop.metres <= METRES
        if ending.said:
            assert set(ending.said.split()) & set(" ".join(page.js("station.endings")).split())
    finally:
        browser.close()
    if ending.state:
        watcher = Chromium()
        try:
            seen = set_up.page(watcher, set_up.watching)
            # whoever had the seat is gone: what was released is disarmed, and what was stopped
            # stays so; a release that a busy machine brings late finds the car stopped by silence
            wanted = ["STOPPED"] if ending.state == "STOPPED" else ["HOLD", "STANDBY", "STOPPED"]
            seen.until(f"{wanted!r}.includes({STATE})")
        finally:
            watcher.close()
    return stop.reaction_s * 1e3, stop.metres


@pytest.mark.parametrize("ending", ENDINGS, ids=str)
def test_a_hold_ends_and_the_car_stops(set_up, ending):
    run(set_up, ending)


@pytest.mark.soak
@pytest.mark.parametrize("ending", ENDINGS, ids=str)
def test_it_does_so_twenty_times(set_up, ending):
    done = [run(set_up, ending) for _ in range(20)]
    worst_ms, worst_m = (max(it) for it in zip(*done, strict=True))
    print(f"{ending}: twenty times, at worst {worst_ms:.0f} ms to react and {worst_m:.2f} m")
