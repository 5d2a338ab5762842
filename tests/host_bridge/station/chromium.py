"""A real Chromium, by its debugging protocol."""

from __future__ import annotations

import base64
import contextlib
import itertools
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
import urllib.request
from contextlib import ExitStack
from pathlib import Path

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from tests.support import patience

PATIENCE_S = 60.0  # only a failing test waits for it
_ENDS_WITHIN_S = 10.0
_PRESSES, _PRESSED_AGAIN_S = 12, 5.0
_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def found() -> str:
    """Its program. Without one a test skips; in CI it fails."""
    path = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, _NAMES)), None)
    if path is None and os.environ.get("CI"):
        pytest.fail("CI has no Chromium: apt-get install chromium")
    if path is None:
        pytest.skip("needs Chromium: apt-get install chromium, or $CHROMIUM")
    return path


class BrowserEnded(AssertionError):
    """The browser's own program has ended while a page of it was asked: it crashed."""


class Page:
    """One page, over a socket of its own, of the browser whose ``process`` it is."""

    def __init__(self, url: str, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self._stack = ExitStack()
        self._socket = self._stack.enter_context(
            connect(
                url, max_size=None, proxy=None, ping_interval=None
            )  # it may wait unread for long
        )
        self._numbers = itertools.count(1)
        self.events: list[dict] = []
        self.target = ""

    def call(self, method: str, **words):
        """A command of the protocol, and its result, whatever else is told meanwhile.

        Raises patience.Hang where none comes.
        """
        number = next(self._numbers)
        self._socket.send(json.dumps({"id": number, "method": method, "params": words}))
        deadline = patience.Deadline(PATIENCE_S)
        while True:
            said = json.loads(self._received(method, deadline))
            if said.get("id") == number:
                assert "error" not in said, (method, said["error"])
                return said["result"]
            self.events.append(said)

    def _received(self, method: str, deadline: patience.Deadline) -> str | bytes:
        while True:
            try:
                return self._socket.recv(timeout=1.0)
            except TimeoutError:
                deadline.check(f"an answer to {method}")
            except ConnectionClosed:
                self._refuse_ended(method)
                raise

    def _refuse_ended(self, method: str) -> None:
        """Raises BrowserEnded where the browser is no more; it ends soon after its sockets."""
        with contextlib.suppress(patience.Hang):
            code = patience.wait(self._process, _ENDS_WITHIN_S)
            raise BrowserEnded(f"Chromium ended by itself, exit code {code}, at {method}")

    def tell(self, method: str, **words) -> None:
        """A command whose answer nobody waits for: the page may be about to hang."""
        text = json.dumps({"id": next(self._numbers), "method": method, "params": words})
        self._socket.send(text)

    def js(self, expression: str):
        """The value of an expression in the page."""
        done = self.call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in done, done
        return done["result"].get("value")

    def text(self) -> str | None:
        """All that it shows; None while it has no body yet."""
        return self.js("document.body?.innerText")

    def until(self, expression: str, within_s: float = PATIENCE_S):
        """Until it is true; patience.Hang with what the page says, if it does not become so."""
        deadline = patience.Deadline(within_s)
        while not (value := self.js(expression)):
            deadline.check(lambda: f"{expression}; the page says: {self.text()}")
            time.sleep(0.02)
        return value

    def press(self, selector: str, until: str) -> None:
        """As a person does where something hangs: again each few seconds, until it is so. A press
        that goes to what hangs is never answered."""
        for _ in range(_PRESSES):
            x, y = self.centre(selector)
            for kind in ("mousePressed", "mouseReleased"):
                self.tell("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left",
                          clickCount=1)  # fmt: skip
            deadline = patience.Deadline(_PRESSED_AGAIN_S)
            while not deadline.is_over():
                if self.js(until):
                    return
                time.sleep(0.02)
        raise patience.Hang(f"{until}: never so; {self.text()}")

    def lag_s(self) -> float:
        """How long a word to the page takes until its next frame is drawn; the worst of three."""
        found = []
        for _ in range(3):
            begun_s = time.monotonic()
            self.js("new Promise((drawn) => requestAnimationFrame(() => drawn(1)))")
            found.append(time.monotonic() - begun_s)
        return max(found)

    def mouse(self, kind: str, x: float, y: float, **words) -> None:
        down = kind == "mousePressed" or words.pop("is_down", False)
        self.call(
            "Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left",
            buttons=1 if down else 0, clickCount=1, **words,
        )  # fmt: skip

    def click(self, selector: str) -> None:
        x, y = self.centre(selector)
        self.mouse("mousePressed", x, y)
        self.mouse("mouseReleased", x, y)

    def centre(self, selector: str, dx: float = 0.0, dy: float = 0.0) -> tuple[float, float]:
        """On the screen, so many halves of its size beside its middle."""
        box = self.js(
            f"(() => {{ const it = document.querySelector({selector!r}); it.scrollIntoView("
            "{block: 'center'}); const b = it.getBoundingClientRect();"
            " return [b.left, b.top, b.width, b.height]; })()"
        )
        left, top, width, height = box
        return left + width * (1 + dx) / 2, top + height * (1 + dy) / 2

    def screenshot(self, path: Path, width: int, height: int) -> None:
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height,
            deviceScaleFactor=1, mobile=width < 600,
        )  # fmt: skip
        time.sleep(0.5)
        data = self.call("Page.captureScreenshot", format="png")["data"]
        path.write_bytes(base64.b64decode(data))

    def close(self) -> None:
        self._stack.close()


class Chromium:
    """A browser with a profile of its own, gone at the end."""

    def __init__(self, *words: str) -> None:
        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.process = subprocess.Popen(
            [found(), "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run",
             "--disable-dev-shm-usage", "--disable-background-networking", "--disable-sync",
             "--disable-component-update", "--remote-debugging-port=0",
             "--remote-allow-origins=*", f"--user-data-dir={self._folder.name}", *words,
             "about:blank"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
            env={**os.environ, "TMPDIR": self._folder.name},  # it leaves folders there when killed
        )  # fmt: skip
        self._port = self._find_port()

    def _find_port(self) -> int:
        said = Path(self._folder.name, "DevToolsActivePort")
        patience.until(
            lambda: said.exists() and said.read_text(), "Chromium to be started", PATIENCE_S
        )
        return int(said.read_text().splitlines()[0])

    def page(self, address: str) -> Page:
        """A new page with this address, loaded."""
        request = urllib.request.Request(
            f"http://127.0.0.1:{self._port}/json/new?about:blank", method="PUT"
        )
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(request, timeout=PATIENCE_S) as reply:
            url = json.loads(reply.read())["webSocketDebuggerUrl"]
        page = Page(url, self.process)
        page.target = url.rpartition("/")[2]
        for domain in ("Page", "Runtime", "Network", "Log"):
            page.call(f"{domain}.enable")
        page.call("Page.navigate", url=address)
        page.until("document.readyState === 'complete' && location.href !== 'about:blank'")
        return page

    def frame(self, page: Page, path: str) -> Page:
        """A frame of it whose process is its own, as a page of its own; close it.

        ``path`` is the end of its address, without the colours."""
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        deadline = patience.Deadline(PATIENCE_S)
        while not deadline.is_over():
            with opener.open(f"http://127.0.0.1:{self._port}/json/list") as reply:
                rows = json.loads(reply.read())
            for row in rows:
                url = re.sub(r"[?&]theme=\w+", "", row["url"])
                is_its = row.get("parentId") == page.target and url.endswith(path)
                if row["type"] == "iframe" and is_its:
                    return Page(row["webSocketDebuggerUrl"], self.process)
            time.sleep(0.1)
        raise patience.Hang(f"no frame of {path}: {deadline.told()}; {rows}")

    def signal(self, number: int) -> None:
        """To all processes of the browser."""
        os.killpg(self.process.pid, number)

    def close(self) -> None:
        for number in (signal.SIGCONT, signal.SIGKILL):
            try:
                self.signal(number)
            except ProcessLookupError:
                break
        self.process.wait()
        self._folder.cleanup()
