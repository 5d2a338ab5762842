"""Another login crowds a station: with requests for a car that hangs, and with connections that say
nothing. The Stop of a page that is open, and a plain request of one that is not, are answered."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import resource
import select
import socket
import subprocess
import time
from collections.abc import Iterator

import pytest
from websockets.exceptions import WebSocketException
from websockets.sync.client import ClientConnection, connect

from tests.host_bridge.cli.programs import program, serving
from tests.safety.attackers import logins, tries
from tests.safety.attackers.attack import Attack, Notes, attacking
from tests.support import patience

pytestmark = [pytest.mark.process, logins.as_root]
ASKED_AT_ONCE = 120
SLOW = 300
FILES = 256
PATIENCE_S = 45.0
EVIL = "tandem-stop.evil.00000000.00000000."
REQUEST = (
    b"GET /stop?car=evil HTTP/1.1\r\nHost: evil.example\r\nOrigin: http://evil.example\r\n\r\n"
)
COUNTS = [12, 300]
# Between two bursts: without one it takes the processor, too; the other is short beside 12 tries
PAUSES_S = [0.0, 0.25]


@contextlib.contextmanager
def station(port: int) -> Iterator[subprocess.Popen[str]]:
    with program("station", "--port", str(port), "--no-plots") as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("http://127.0.0.1:")
        yield process


class Page:
    """What a page of the station does when its Stop is pressed: it says so on its own socket, which
    is open all the while, and asks by a plain request, which needs a connection of its own."""

    def __init__(self, port: int, stop: ClientConnection) -> None:
        self._port = port
        self._socket = stop
        self._token = 0

    def pressed(self, count: int) -> dict[str, tries.Tries]:
        """Press so often: how long each way took until it said that the car had acknowledged."""
        ways = {"its open socket": self._by_socket, "a plain request": self._by_request}
        found: dict[str, list[tuple[float, float | None]]] = {name: [] for name in ways}
        for _ in range(count):
            for name, way in ways.items():
                begun_s = time.monotonic()
                found[name].append((begun_s, (time.monotonic() - begun_s) * 1e3 if way() else None))
                time.sleep(tries.PAUSE_S)
        return {name: tries.of(rows) for name, rows in found.items()}

    def _by_socket(self) -> bool:
        self._token += 1
        self._socket.send(json.dumps({"token": self._token, "cars": ["car"]}))
        while True:
            row = json.loads(self._socket.recv(timeout=PATIENCE_S))
            if row["token"] == self._token:
                return (row["name"], row["is_seen"]) == ("car", True)

    def _by_request(self) -> bool:
        """Again, as the page does, where the answer is that the car has not answered yet."""
        deadline = patience.Deadline(PATIENCE_S)
        while not deadline.is_over():
            page = http.client.HTTPConnection("127.0.0.1", self._port, timeout=PATIENCE_S)
            try:
                page.request("GET", "/stop?car=car")
                rows = json.loads(page.getresponse().read())
            finally:
                page.close()
            if ("car", True) in [(row["name"], row["is_seen"]) for row in rows]:
                return True
        return False


@contextlib.contextmanager
def page(port: int) -> Iterator[Page]:
    here = f"http://127.0.0.1:{port}"
    address = f"ws://127.0.0.1:{port}/stop"
    with connect(address, origin=here, proxy=None, ping_interval=None) as stop:  # type: ignore[arg-type]
        yield Page(port, stop)


def judged(
    control: dict[str, tries.Tries], attacked: dict[str, tries.Tries], attack: Attack, deeds: str
) -> None:
    """Each way in which the page asks is held to one second."""
    for way, found in attacked.items():
        tries.page_judged(control[way], found, f"{attack.told(deeds)}\n  the page's Stop by {way}")


# --- a car that hangs


def ask_for_evil(notes: Notes, folder: str, port: int, pause_s: float) -> None:
    """Lay out a stop socket that hangs, and ask for its stop, so many at a time, until killed.
    What it did are requests; it holds those that are not answered yet."""
    hanging = socket.socket(socket.AF_UNIX)
    hanging.bind(os.path.join(folder, EVIL + os.urandom(4).hex()))
    os.chmod(hanging.getsockname(), 0o666)
    hanging.listen(64)
    asked = 0
    ends: list[socket.socket] = []
    while True:
        for _ in range(ASKED_AT_ONCE - len(ends)):
            with contextlib.suppress(OSError):
                end = socket.create_connection(("127.0.0.1", port), 5.0)
                end.sendall(REQUEST)
                ends.append(end)
                asked += 1
        notes.holds(len(ends))
        notes.did(asked)
        ends = still_open(ends, 0.05)
        time.sleep(pause_s)


def still_open(ends: list[socket.socket], wait_s: float) -> list[socket.socket]:
    """Read what came of any within this time, and close those whose far end is gone."""
    poll = select.poll()
    by_file = {end.fileno(): end for end in ends}
    for file in by_file:
        poll.register(file, select.POLLIN)
    for file, _ in poll.poll(wait_s * 1e3):
        with contextlib.suppress(OSError):
            if by_file[file].recv(65_536):
                continue
        by_file.pop(file).close()
    return list(by_file.values())


@pytest.mark.exhaustive
@pytest.mark.timeout(900)
@pytest.mark.parametrize("pause_s", PAUSES_S)
@pytest.mark.parametrize("count", COUNTS)
def test_the_pages_stop_is_answered_while_others_ask_for_a_car_that_hangs(shared, count, pause_s):
    port = tries.free_port()
    with serving("sim://nigel", "car"), station(port), page(port) as opened:
        control = opened.pressed(count)
        with attacking(1, ask_for_evil, str(shared), port, pause_s) as attack:
            attacked = attack.beside(lambda: opened.pressed(count))
            stopped = tries.program("car")
    judged(control, attacked, attack, f"requests for a car that hangs, {ASKED_AT_ONCE} at once")
    assert stopped.returncode == 0, stopped.stderr


# --- connections that say nothing


def slow(notes: Notes, port: int, count: int, pause_s: float) -> None:
    """Connect so often and say the first bytes of a request, again for whatever was sent away,
    until killed. What it did are connections, and looks at all of them; it holds those that are
    open."""
    ends: list[socket.socket] = []
    made = 0
    while True:
        made += 1
        while len(ends) < count:
            with contextlib.suppress(OSError):
                end = socket.create_connection(("127.0.0.1", port), 5.0)
                end.sendall(b"GET / HTTP/1.1\r\n")
                ends.append(end)
                made += 1
        notes.holds(len(ends))
        notes.did(made)
        ends = still_open(ends, 0.05)
        time.sleep(pause_s)


@pytest.mark.exhaustive
@pytest.mark.timeout(900)
@pytest.mark.parametrize("pause_s", PAUSES_S)
@pytest.mark.parametrize("count", COUNTS)
def test_the_pages_stop_is_answered_while_300_connections_say_nothing(shared, count, pause_s):
    port = tries.free_port()
    with serving("sim://nigel", "car"), station(port) as process, page(port) as opened:
        resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (FILES, FILES))
        control = opened.pressed(count)
        with attacking(1, slow, port, SLOW, pause_s) as attack:
            attacked = attack.beside(lambda: opened.pressed(count))
            stopped = tries.program("car")
    judged(
        control,
        attacked,
        attack,
        f"slow connections, and looks at them, to a station with {FILES} files",
    )
    assert stopped.returncode == 0, stopped.stderr


# --- a page of another origin, which has the login of whoever has the seat

FOREIGN, MADE_PER_S = 200, 50


@pytest.mark.exhaustive
@pytest.mark.parametrize("count", [6, 300])
def test_the_page_stays_and_comes_back_while_a_foreign_page_opens_stop_sockets(shared, count):
    """As many as a browser gives one page: more than a login's share of the station."""
    port = tries.free_port()
    with (
        serving("sim://nigel", "car"),
        station(port),
        page(port) as opened,
        contextlib.ExitStack() as stack,
    ):
        control = opened.pressed(count)
        for _ in range(FOREIGN):
            with contextlib.suppress(OSError, WebSocketException):
                address = f"ws://127.0.0.1:{port}/stop"
                stack.enter_context(
                    connect(address, origin="http://evil.example", proxy=None)  # type: ignore[arg-type]
                )
            time.sleep(1.0 / MADE_PER_S)
        attacked = opened.pressed(count)
        with page(port) as again:
            assert again.pressed(1)["its open socket"].acknowledged == 1
    for way, found in attacked.items():
        told = f"1 page of another origin, {FOREIGN} stop sockets of it\n  the page's Stop by {way}"
        tries.page_judged(control[way], found, told)
