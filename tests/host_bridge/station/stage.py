"""A virtual car whose plant writes down the truth, a station that drives it, and a browser."""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import pairwise
from pathlib import Path

from host_bridge.demo.trace import MeasuredStop, read_trace, stop_after
from tests.host_bridge.cli.programs import program, serving, until, virtual_car
from tests.host_bridge.drive.drives import vehicle
from tests.host_bridge.station.chromium import Chromium, Page
from tests.support import patience

NAME = "car"
SPEED_MPS = 2.0
STATE = "document.querySelector('.state').dataset.state"
SEATED = "document.body.classList.contains('seated')"
STEP = "document.getElementById('seat').dataset.step"  # what the pad's place shows
SPEED = "parseFloat(document.querySelector('[data-key=speed]').textContent)"
# Each worker of a run has its own: a station of another one may still be there
PORTS = 18_090 + 100 * int(os.environ.get("PYTEST_XDIST_WORKER", "gw0")[2:])
PORT = PORTS
_TRIES = 20
_BEAT_S = 0.01
_SILENCES = re.compile("silent|silence|too old|too slow|took too long")


class Disturbed(AssertionError):
    """The car was stopped for silence: a machine that does much else has to do that."""


class Stage:
    """One car, one station, and pages of it."""

    def __init__(self, folder: Path, port: int) -> None:
        self.trace = folder / "trace.csv"
        self.link = folder / "port"
        self.port = port
        self.address = ""
        self.station_pid = 0
        self.owner: subprocess.Popen[str] | None = None
        drive = [it["kind"] != "servo_steering" for it in vehicle().channels].index(True)
        self._neutral = vehicle().parameters["channel_neutral"][drive]

    @property
    def watching(self) -> str:
        """The address without the seat."""
        return self.address.partition("#")[0]

    def page(self, browser: Chromium, address: str = "") -> Page:
        page = browser.page(address or self.address)
        page.until("document.querySelectorAll('article').length === 1")
        return page

    def seated(self, page: Page) -> None:
        """The seat taken, and the car armed."""
        deadline = patience.Deadline(60.0)
        while not page.js(SEATED):  # another page's is given back
            deadline.check(page.text)
            if page.js(f"{STEP} === 'take'"):
                page.click("#take")
            time.sleep(0.3)
        is_armed = f"told.dataset.phase === 'driving' && {STATE} === 'HOLD' && {STEP} === 'pad'"
        while not page.js(is_armed):
            deadline.check(page.text)
            step = page.js(f"told.dataset.phase === 'stopped' ? {STEP} : ''")
            if step in ("unlock", "arm"):
                page.click(f"#{step}")
            time.sleep(0.3)

    def hold(self, page: Page) -> tuple[float, float]:
        """A mouse's button down at the upper edge of the pad."""
        x, y = page.centre("#hold", 0, -0.98)
        page.mouse("mousePressed", x, y)
        return x, y

    def touch(self, page: Page) -> tuple[float, float]:
        """A finger down there."""
        x, y = page.centre("#hold", 0, -0.98)
        page.call("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}])
        return x, y

    def until(self, page: Page, expression: str) -> None:
        """Until it is so; Disturbed if the car is stopped before, for silence."""
        page.until(f"({expression}) || /STOP/.test({STATE})")
        if page.js(expression):
            return
        why = page.js("document.querySelector('.why').textContent")
        assert _SILENCES.search(why), (expression, why)
        raise Disturbed(expression, why)

    def undisturbed(self, page: Page, deed: Callable[[], None]) -> None:
        """Do it, seated and armed; again where the machine disturbed it."""
        for _ in range(_TRIES):
            self.seated(page)
            try:
                return deed()
            except Disturbed:
                page.mouse("mouseReleased", 0, 0)
        raise AssertionError("this machine is too busy for a browser to hold")

    def driven(self, page: Page, is_touch: bool = False) -> tuple[float, float]:
        """Seated, held, at speed: where it is held.

        A machine so busy that its browser draws nothing for 120 ms stops the car for that, as it
        has to; then again.
        """
        for _ in range(_TRIES):
            self.seated(page)
            x, y = self.touch(page) if is_touch else self.hold(page)
            fast = f"{STATE} === 'ACTIVE' && {SPEED} > {0.9 * SPEED_MPS}"
            page.until(f"{fast} || /STOP/.test({STATE})")
            if page.js(fast):
                return x, y
            if is_touch:
                page.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
            else:
                page.mouse("mouseReleased", x, y)
        raise AssertionError("this machine is too busy for a browser to hold")

    def longest_gap_s(self, begin_s: float, end_s: float) -> float:
        """For how long the car wrote nothing, beyond its beat: its program had no processor."""
        moments = [it.monotonic_s for it in read_trace(self.trace)]
        times = [it for it in moments if begin_s - _BEAT_S <= it <= end_s]
        return max((b - a for a, b in pairwise(times)), default=0.0) - _BEAT_S

    def stop_after(self, fault_s: float) -> MeasuredStop:
        """From the plant's own trace. AssertionError if it did not stop."""
        found: list[MeasuredStop] = []

        def stands() -> bool:
            stop = stop_after(read_trace(self.trace), fault_s, self._neutral)
            found.extend([stop] if stop else [])
            return bool(found)

        until(stands, "the car to stand")
        return found[0]


@contextmanager
def stage(folder: Path, port: int = PORT, *words: str) -> Iterator[Stage]:
    """All of it, up."""
    it = Stage(folder, port)
    with ExitStack() as stack:
        stack.enter_context(virtual_car("f1tenth", it.link, "--trace", str(it.trace)))
        serial = f"serial://{it.link}"
        it.owner = stack.enter_context(serving(serial, NAME, "--vehicle", "f1tenth"))
        station = stack.enter_context(
            program("station", "--port", str(port), "--speed", str(SPEED_MPS), *words)
        )
        assert station.stdout
        it.station_pid = station.pid
        it.address = station.stdout.readline().strip()
        assert it.address.startswith("http://127.0.0.1:"), it.address
        yield it
