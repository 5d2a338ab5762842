"""A real Chromium as the phone: it watches, stops, trusts, drives, and loses the network."""

from __future__ import annotations

import base64
import hashlib
import json
import select
import socket
import ssl
import subprocess
import threading
import time
from urllib.parse import urlsplit

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import serialization

from tests.host_bridge.cli.programs import program, serving, tandem
from tests.host_bridge.sharing.desk import runtime_folder
from tests.host_bridge.station.chromium import Chromium
from tests.support import patience

pytestmark = [
    pytest.mark.browser,
    pytest.mark.process(drives=True),
    pytest.mark.xdist_group("wall clock"),
]
ADDRESS, BY = "127.0.0.7", "127.0.0.8"  # the station's, and that of the network before it
HTTPS, HTTP = 27_443, 27_480
LOST_S = 0.5
NO_KEY, NO_LEAVE = 403, 403
OWN = ("owner", "seat", "fleet", "command")  # who arms by every vehicle file


class Network(threading.Thread):
    """The network between phone and station: connections that it passes on, until it is cut."""

    def __init__(self):
        super().__init__(daemon=True)
        self.is_cut = self.is_over = False
        self._ends = [socket.create_server((BY, port)) for port in (HTTPS, HTTP)]
        self._pairs: dict[socket.socket, socket.socket] = {}

    def run(self):
        while not self.is_over:
            if self.is_cut:
                time.sleep(0.005)
                continue
            ready, _, _ = select.select([*self._ends, *self._pairs], [], [], 0.02)
            for end in ready if not self.is_cut else ():
                self._take(end) if end in self._ends else self._pass_on(end)

    def _take(self, end):
        near, _ = end.accept()
        far = socket.create_connection((ADDRESS, end.getsockname()[1]))
        self._pairs |= {near: far, far: near}

    def _pass_on(self, end):
        far = self._pairs.get(end)
        try:
            data = end.recv(65_536)
            if data and far:
                far.sendall(data)
                return
        except OSError:
            pass
        for it in (end, far):
            self._pairs.pop(it, None)
            if it:
                it.close()

    def close(self):
        self.is_over = True
        self.join()
        for it in (*self._ends, *self._pairs):
            it.close()


@pytest.fixture
def network():
    network = Network()
    network.start()
    yield network
    network.close()


class Station:
    """A station with phones, and what its operator reads."""

    def __init__(self, process):
        self.process = process
        self.told: list[str] = []
        self.urls: list[str] = []
        self.times: list[tuple[float, str]] = []
        for stream, to in ((process.stdout, self.urls), (process.stderr, self.told)):
            threading.Thread(target=self._read, args=(stream, to), daemon=True).start()

    def _read(self, stream, to):
        for line in stream:
            self.times.append((time.monotonic(), line))
            to.append(line.strip())

    def url(self, begin):
        def found():
            return [it for it in self.urls if begin in it]

        patience.until(found, begin, 60.0)
        return found()[-1]

    def line(self, text):
        patience.until(lambda: any(text in it for it in self.told), text, 60.0)

    def types(self, text):
        self.process.stdin.write(f"{text}\n")
        self.process.stdin.flush()


@pytest.fixture
def station(monkeypatch, tmp_path, request):
    """A station with one virtual car; a test may name who arms it by its file."""
    monkeypatch.setenv("TANDEM_DATA_DIR", str(tmp_path))
    file = tmp_path / "lent.toml"
    arms = json.dumps(getattr(request, "param", OWN))
    file.write_text(f'base = "nigel"\n[stop]\nmay_arm = {arms}\n')
    with (
        runtime_folder(monkeypatch),
        serving(f"sim://{file}", "red"),
        program("station", "--port", "18790", "--no-plots", "--phone", ADDRESS,
                stdin=subprocess.PIPE) as process,
    ):  # fmt: skip
        station = Station(process)
        station.folder = tmp_path
        station.url("/join#key=")
        yield station


def spki(folder):
    """The hash of the leaf's key, by which a browser trusts it as if it were installed."""
    (file,) = folder.rglob("leaf.pem")
    certificate = x509.load_pem_x509_certificate(file.read_bytes())
    key = certificate.public_key().public_bytes(
        serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    return base64.b64encode(hashlib.sha256(key).digest()).decode()


def phone(*words):
    return Chromium(f"--host-resolver-rules=MAP {ADDRESS} {BY}", *words)


def answered(path, is_secure, **headers):
    """The status of a request that no browser makes."""
    port = HTTPS if is_secure else HTTP
    fields = {"Host": f"{ADDRESS}:{port}", "Connection": "close", **headers}
    text = f"GET {path} HTTP/1.1\r\n" + "".join(f"{k}: {v}\r\n" for k, v in fields.items())
    with socket.create_connection((ADDRESS, port), timeout=30) as plain:
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        end = context.wrap_socket(plain) if is_secure else plain
        end.sendall(f"{text}\r\n".encode())
        return int(end.recv(64).split()[1])


@pytest.mark.smoke
def test_whoever_has_no_secret_stops_and_nothing_else(station):
    key = station.url("/join#key=").partition("key=")[2]
    socket_words = {
        "Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
    }  # fmt: skip
    for is_secure in (True, False):
        assert (
            answered("/stop", is_secure, Host="evil.example", Origin="http://evil.example") == 200
        )
        assert answered("/join", is_secure) == 200
        assert answered("/ca.crt", is_secure) == 200
        assert answered(f"/state?key={key}", is_secure) == 200
        assert answered(f"/events?key={key}", is_secure) == 200
        for path in ("/state", "/state?key=wrong", "/events", "/trusted"):
            assert answered(path, is_secure) == NO_KEY, path
        for path in ("/hold", f"/hold?key={key}"):
            assert answered(path, is_secure, **socket_words) == NO_LEAVE
        assert answered("/exchange?key=" + key, is_secure) == NO_LEAVE
        assert answered("/join", is_secure, Host="evil.example") == 403
        assert answered(f"/state?key={key}", is_secure, Origin="http://evil.example") == 403
    assert answered("/seat", is_secure=False) == 404
    forged = {**socket_words, "Cookie": f"__Host-tandem={key}"}
    assert answered("/hold", is_secure=True, **forged) == NO_LEAVE


def test_a_phone_watches_and_stops_by_http_and_says_what_is_unproven(station, network):
    browser = phone()
    try:
        page = browser.page(station.url("/join#key="))
        page.until("window.tandem.cars.length === 1 && !window.tandem.lost")
        assert "unproven" in page.text()
        it_shows_every_step_as_a_picture(page)
        assert not page.js("document.getElementById('seat').hidden === false")
        assert tandem("arm", "red").returncode == 0
        page.until("window.tandem.cars[0].is_armed")
        page.click("#stop")
        page.until("/red/.test(document.getElementById('answer').textContent)")
        page.until("!window.tandem.cars[0].is_armed")
        for way in ("event stream", "asking"):  # what a browser without sockets does
            other = browser.page("about:blank#")
            other.call(
                "Page.addScriptToEvaluateOnNewDocument",
                source="window.WebSocket = class { constructor() { this.readyState = 3; "
                "setTimeout(() => this.onclose && this.onclose(), 0); } send() {} };"
                + ("delete window.EventSource;" * (way == "asking")),
            )
            other.call("Page.navigate", url=station.url("/join#key="))
            other.until(f"window.tandem && window.tandem.way === '{way}'")
            other.until("window.tandem.cars.length === 1")
            other.close()
        page.close()
    finally:
        browser.close()


def it_shows_every_step_as_a_picture(page):
    """Each says in words what it shows, none is wider than a small phone, none claims a phone."""
    page.call("Emulation.setDeviceMetricsOverride", width=360, height=740, deviceScaleFactor=1,
              mobile=True)  # fmt: skip
    page.js("document.getElementById('steps').open = true")
    steps = page.js(
        "[...document.querySelectorAll('#steps li')].map((step) => [...step.querySelectorAll("
        "'figure')].map((it) => [it.getAttribute('aria-label'), it.offsetWidth, it.offsetHeight]))"
    )
    assert [len(it) for it in steps] == [1, 7, 3, 2]
    for label, width, height in (figure for step in steps for figure in step):
        assert len(label) > 15
        assert 100 < width < 360, label
        assert height > 150, label
    assert page.js("document.documentElement.scrollWidth") <= 360
    told = page.js("document.getElementById('steps').textContent")
    assert "No phone was at hand to try them on" in told
    assert "On an iPhone or iPad nothing of this was tried" in told
    page.call("Emulation.clearDeviceMetricsOverride")


def test_a_browser_that_does_not_trust_the_certificate_is_told_no_number(station, network):
    key = station.url("/join#key=").partition("#")[2]
    browser = phone()
    try:
        page = browser.page("about:blank#")
        page.call("Security.enable")
        page.call("Security.setIgnoreCertificateErrors", ignore=True)  # as who waves it through
        page.call("Page.navigate", url=f"https://{ADDRESS}:{HTTPS}/trust#{key}")
        page.until("/not installed/.test(document.getElementById('head')?.textContent)")
        assert page.js("document.getElementById('code').textContent") == ""
        page.close()
    finally:
        browser.close()


def test_a_phone_that_trusts_drives_until_the_network_is_gone(station, network):
    browser = phone(f"--ignore-certificate-errors-spki-list={spki(station.folder)}")
    try:
        page, url = seated(station, browser)
        x, y = page.centre("#pad", 0, -0.6)
        page.mouse("mousePressed", x, y)
        page.until("Math.abs(window.tandem.cars[0].speed_mps) > 0.1")
        cut_s = time.monotonic()
        network.is_cut = True
        page.until("window.tandem.lost")
        assert page.js("window.tandem.lostAfterMs") < (LOST_S + page.lag_s()) * 1e3
        assert page.js("window.tandem.seen.endings.includes('network')")
        station.line("that drives is lost")
        at_s = next(at for at, it in station.times if "that drives is lost" in it)
        patience.took(cut_s, LOST_S, "the station sees the loss", 0.1, at_s)
        patience.until(
            lambda: "ACTIVE" not in tandem("cars", "--json").stdout, "the car to stop", 60.0
        )
        network.is_cut = False
        page.until("!window.tandem.lost")
        again = browser.page(url)  # the same code, scanned once more
        again.until("/counts no more/.test(document.getElementById('told').textContent)")
        again.close()
        page.close()
    finally:
        browser.close()


TOLD = "/%s/.test(document.getElementById('told').textContent)"
# Asks by the hold's own socket for what the page has no button for, until so many numbers came
ASKS = """
window.hold = { came: 0, code: null };
window.asker = new WebSocket(`wss://${location.host}/hold?${%s}`);
asker.onopen = () => asker.send(JSON.stringify({ car: "red", by: "asker" }));
asker.onclose = ({ code }) => { window.hold.code = code; };
asker.onmessage = ({ data }) => {
  const said = JSON.parse(data);
  if (said.challenge === undefined) return;
  window.hold.came++;
  for (const it of ["arm", "unlock", "cap"]) asker.send(JSON.stringify({ do: it }));
};
"""


@pytest.mark.parametrize("station", [OWN, (*OWN, "guest")], indirect=True)
def test_a_phone_arms_nothing_by_either_secret_and_drives_what_a_person_beside_it_armed(
    station, network
):
    """Whether or not the car's file lets guests arm it: a phone is none."""
    browser = phone(f"--ignore-certificate-errors-spki-list={spki(station.folder)}")
    try:
        page = browser.page("about:blank#")
        the_watch_key_opens_no_hold(station, page)
        let_drive(station, page)
        a_hold_arms_nothing_and_is_nobody_elses(page)
        take(page)
        page.until(TOLD % "Whoever stands beside the car arms it")
        assert tandem("arm", "red").returncode == 0
        page.until(TOLD % "drives at")
        x, y = page.centre("#pad", 0, -0.6)
        page.mouse("mousePressed", x, y)
        page.until("Math.abs(window.tandem.cars[0].speed_mps) > 0.1")
        page.mouse("mouseReleased", x, y)
        page.until("Math.abs(window.tandem.cars[0].speed_mps) < 0.02")
        assert tandem("stop", "red").returncode == 0
        page.until(TOLD % "whoever stands beside the car clears it")
        page.close()
    finally:
        browser.close()


def the_watch_key_opens_no_hold(station, page):
    key = station.url("/join#key=").partition("#")[2]
    page.call("Page.navigate", url=f"https://{ADDRESS}:{HTTPS}/join#{key}")
    page.until("window.tandem && window.tandem.cars.length === 1")
    page.js(ASKS % f"'{key}'")
    page.until("window.hold.code !== null")
    assert page.js("window.hold.came") == 0
    assert page.js(f"fetch('/exchange?{key}').then((it) => it.status)") == NO_LEAVE


def a_hold_arms_nothing_and_is_nobody_elses(page):
    page.js(ASKS % "''")
    page.until("window.hold.came > 30", 90.0)  # 1.5 s: an arming is done or refused within one
    assert page.js("window.hold.code") is None
    assert not page.js("window.tandem.cars[0].is_armed")
    page.click("#take")
    page.until(TOLD % "another phone drives: asker")
    page.js("asker.send(JSON.stringify({ do: 'end' }))")
    page.js("asker.close()")
    page.until("window.hold.code !== null")


def seated(station, browser):
    """A page that has the hold of an armed car, and the address by which it came."""
    page = browser.page("about:blank#")
    let_drive(station, page)
    take(page)
    assert tandem("arm", "red").returncode == 0
    return page, station.url("/seat#drive=")


def let_drive(station, page):
    """The station's operator lets the phone of this page drive."""
    key = station.url("/join#key=").partition("#")[2]
    page.call("Page.navigate", url=f"https://{ADDRESS}:{HTTPS}/trust#{key}")
    page.until("/^[0-9]{4}$/.test(document.getElementById('code')?.textContent)")
    station.line("has taken the certificate")
    station.types(page.js("document.getElementById('code').textContent"))
    url = station.url("/seat#drive=")
    assert urlsplit(url).scheme == "https"
    page.call("Page.navigate", url=url)
    page.until("window.tandem && window.tandem.cars.length === 1 && window.tandem.mayDrive")
    assert page.js("location.hash") == "", "the secret leaves the address"
    page.until("'wakeLock' in navigator")


def take(page):
    page.click("#take")
    page.until("document.getElementById('pad').getAttribute('aria-disabled') === 'false'")
