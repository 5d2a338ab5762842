"""What the station's server lets in, whom it gives the seat, which stops it hears: no sockets."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
from collections.abc import Callable
from types import SimpleNamespace
from urllib.parse import quote

import pytest
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosedError
from websockets.http11 import Request

from host_bridge.core import OperatorRequest
from host_bridge.core.errors import DeviceFault
from host_bridge.station.server import page_messages, stop_answers
from host_bridge.station.server import server as under_test
from host_bridge.station.server.page_files import FOLDER, PAGES
from host_bridge.station.server.page_seat import FRAME, STAND_FRAME, PageSeat
from host_bridge.station.server.server import WHEELS_OFF_GROUND, Server
from tests.support.evidence import every

PORT = 8090
HERE = f"127.0.0.1:{PORT}"


class Connection:
    """A page's end: ``says`` is what comes of it, in turn; what it was sent is kept."""

    def __init__(self, path: str = "/status", says=(), full_bytes: int = 0) -> None:
        self.request = Request(path, Headers())
        self.says = [it if isinstance(it, str | bytes) else json.dumps(it) for it in says]
        self.sent: list[dict] = []
        self.closed: tuple[int, str] | None = None
        self.transport = SimpleNamespace(get_write_buffer_size=lambda: full_bytes)
        self.between: Callable[[], None] = lambda: None
        self.is_lost = False

    async def recv(self):
        return self.says.pop(0)

    async def send(self, text: str) -> None:
        self.sent.append(json.loads(text))

    async def close(self, code: int, reason: str) -> None:
        self.closed = code, reason

    async def __aiter__(self):
        while self.says:
            yield self.says.pop(0)
            self.between()
        if self.is_lost:
            raise ConnectionClosedError(None, None)


class StationBackend:
    """The cars, as the server asks for them."""

    def __init__(self) -> None:
        self.stops: list[tuple[str, ...]] = []
        self.rows: list[dict] = [{"name": "car", "is_seen": True}]
        self.fault: Exception | None = None
        self.begun: list[tuple[tuple[str, ...], PageSeat]] = []
        self.ended: Callable[[str], None] = lambda why: None
        self.sought: list[tuple[float, bool]] = []
        self.asked: list[dict] = []
        self.boards: list[dict[str, str]] = []
        self.programs: list[str] = []
        self.flags: list[str] = []
        self.slowed: list[str] = []
        self.of_pages: list[bool] = []

    async def stop(self, names, tell, *, is_page) -> None:
        self.stops.append(names)
        self.of_pages.append(is_page)
        for row in self.rows:
            tell(row)
        if self.fault:
            raise self.fault

    async def raise_flag(self, by) -> None:
        self.flags.append(by)

    async def lower_caps(self, by) -> None:
        self.slowed.append(by)

    def start_drive(self, names, seat, ended, boards, program):
        self.boards.append(boards)
        self.programs.append(program)
        self.begun.append((names, seat))
        self.ended = ended
        if self.fault:
            raise self.fault
        return {"steering": 0.4}

    def car_rows(self):
        return []

    def extras(self):
        return {}

    def replay_position(self):
        return None

    def distances(self, car):
        return [{"car": car}]

    async def handle_request(self, asked):
        self.asked.append(asked)
        return {"is_done": True}

    def timeline(self):
        return {"seconds": 7}

    def seek(self, time_s, plays) -> None:
        self.sought.append((time_s, plays))

    def now_us(self) -> int:
        return 5_000_000


class Desk:
    def __init__(self, views: str = "", camera: str = "") -> None:
        self.backend = StationBackend()
        self.server = Server(self.backend, PORT, views, camera)
        self.token = self.server.access.token

    def ask(self, path: str, host: str = HERE, **headers: str):
        """What a request is answered; None lets a socket in."""
        request = Request(path, Headers({"Host": host, **headers}))
        return asyncio.run(self.server._request(Connection(path), request))

    def page(self, path: str, *says, **given) -> Connection:
        """A socket that says these things and goes."""
        connection = Connection(path, says, **given)
        asyncio.run(self.server._answer(connection))
        return connection

    def hold(self, *says, **first) -> Connection:
        return self.page("/hold", {"seat": self.token, "car": "car", **first}, *says)


@pytest.fixture
def desk(monkeypatch):
    def send_all(connections, text: str) -> None:
        for it in connections:
            it.sent.append(json.loads(text))

    monkeypatch.setattr(under_test, "broadcast", send_all)
    monkeypatch.setattr(page_messages, "broadcast", send_all)
    return Desk()


def frame(held: int, speed: int = 32_767) -> bytes:
    return FRAME.pack(1, held, 0, speed, 0)


# --- who is let in


@pytest.mark.parametrize("path", ["/", "/status", "/hold", "/work", "/timeline", "/distances"])
@pytest.mark.parametrize(
    "foreign", [{"Origin": "http://evil.example"}, {"host": "evil.example:8090"}]
)
def test_a_foreign_page_is_let_in_nowhere(desk, path, foreign):
    answer = desk.ask(path, **foreign, Upgrade="websocket")
    assert answer is not None
    assert (answer.status_code, answer.body) == (403, b"not from this station's page\n")


def test_who_names_no_host_is_not_let_in(desk):
    request = Request("/", Headers())
    answer = asyncio.run(desk.server._request(Connection("/"), request))
    assert answer.status_code == 403


@pytest.mark.parametrize("path", ["/status", "/stop", "/hold", "/work"])
def test_a_socket_is_one_of_four(desk, path):
    assert desk.ask(path, Upgrade="websocket") is None
    assert desk.ask(f"{path}?car=a", Upgrade="websocket") is None
    assert desk.backend.stops == []


@pytest.mark.parametrize("path", ["/status", "/hold", "/work", "/nothing"])
def test_there_is_nothing_else(desk, path):
    answer = desk.ask(path)
    assert (answer.status_code, answer.body) == (404, b"there is nothing here\n")
    assert desk.ask("/nothing", Upgrade="websocket").status_code == 404


@pytest.mark.parametrize(
    ("asked", "text"),
    [("?car=car&car=evil", "evil: no answer within"), ("", "another car: no answer within")],
)
def test_a_plain_request_is_answered_though_a_car_is_not(desk, monkeypatch, asked, text):
    monkeypatch.setattr(stop_answers, "_PLAIN_S", 0.01)
    is_gone = []

    async def stop(names, tell, *, is_page):
        tell({"name": "car", "is_seen": True})
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            is_gone.append(names)

    desk.backend.stop = stop
    first, last = json.loads(desk.ask(f"/stop{asked}").body)
    assert first == {"name": "car", "is_seen": True}
    assert (last["name"], last["is_seen"]) == ("", False)
    assert last["text"].startswith(text)
    assert len(is_gone) == 1  # nobody waits for it any more


def test_what_a_page_asks_for_is_told_apart_by_what_a_browser_says_and_by_the_login(desk):
    for headers in (
        {}, {"Origin": f"http://{HERE}"}, {"Sec-Fetch-Site": "same-origin"},
        {"Origin": "http://evil.example"}, {"Sec-Fetch-Site": "cross-site"},
    ):  # fmt: skip
        desk.ask("/stop", **headers)
    assert desk.backend.of_pages == [True, True, True, False, False]
    strangers: list[bool] = []
    desk.server._connection_limit = SimpleNamespace(
        leave=lambda it, is_stranger: strangers.append(is_stranger), is_own=lambda it: False
    )
    desk.ask("/stop")
    assert strangers == [True]
    desk.page("/stop", {"cars": []})
    assert desk.backend.of_pages[-2:] == [False, False]


def test_whoever_it_is_stops_by_a_plain_request(desk):
    answer = desk.ask("/stop?car=a&car=b", host="evil.example", Origin="http://evil.example")
    assert (answer.status_code, json.loads(answer.body)) == (200, desk.backend.rows)
    assert answer.headers["Content-Type"] == "application/json"
    desk.ask("/stop")
    assert desk.backend.stops == [("a", "b"), ()]


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("/timeline", {"seconds": 7}),
        ("/distances?car=a&car=b", [{"car": "a"}]),
        ("/distances", [{"car": ""}]),
        (f"/distances?car={quote('a b')}", [{"car": "a b"}]),
    ],
)
def test_what_is_known_of_a_log_and_of_stops_is_told(desk, path, told):
    answer = desk.ask(path)
    assert (answer.status_code, json.loads(answer.body)) == (200, told)
    assert answer.headers["Content-Type"] == "application/json"


@pytest.mark.parametrize("path", sorted(PAGES))
def test_a_page_is_what_lies_in_its_file_and_loads_nothing_foreign(path):
    answer = Desk("http://views", "http://camera").ask(path)
    name, kind = PAGES[path]
    assert answer.status_code == 200
    if not name.endswith(".html"):
        assert answer.body == (FOLDER / name).read_bytes()
    assert answer.headers["Content-Type"] == kind
    policy = answer.headers["Content-Security-Policy"]
    is_bar = path == "/bar.html"
    sites = f"http://127.0.0.1:{PORT} http://localhost:{PORT}"
    assert (f"frame-ancestors {sites};" in policy) is is_bar
    assert (f"frame-src {sites} http://views;" in policy) is not is_bar
    assert ("data: http://camera;" in policy) is not is_bar


@pytest.mark.parametrize(
    ("path", "sheets"), [("/", "*"), ("/bar.html", "tokens"), ("/bar.html", "seat")]
)
def test_a_page_waits_for_no_style_sheet_and_allows_no_other_style(path, sheets):
    """A browser shows nothing before it has all sheets; so the page brings them along."""
    answer = Desk().ask(path)
    body = answer.body.decode()
    assert ("stylesheet" in body, "<title>" in body, "</html>" in body) == (False, True, True)
    style = body.partition("<style>")[2].partition("</style>")[0]
    assert every(it.read_text() in style for it in (FOLDER / "style").glob(f"{sheets}.css"))
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert f"style-src 'sha256-{digest}';" in answer.headers["Content-Security-Policy"]


# --- who looks on


def test_who_looks_on_is_an_observer_until_they_go(desk):
    connection = Connection("/status", ["", "x"])
    seen = []
    connection.between = lambda: seen.append(set(desk.server._observers))
    asyncio.run(desk.server._answer(connection))
    assert seen == [{connection}, {connection}]
    assert desk.server._observers == set()


def test_one_that_is_cut_off_is_no_observer_either(desk):
    connection = Connection("/status")
    connection.is_lost = True
    asyncio.run(desk.server._answer(connection))
    assert desk.server._observers == set()


def test_of_a_log_another_place_can_be_asked_for(desk):
    desk.page(
        "/status",
        {"seek_s": 3}, {"seek_s": 1.5, "plays": True}, {"seek_s": 2, "plays": 1},
        {"seek_s": "4"}, {"plays": True}, b"\xff", "[]",
    )  # fmt: skip
    assert desk.backend.sought == [(3.0, False), (1.5, True), (2.0, False)]


# --- stops


def test_each_word_on_the_stop_socket_is_a_stop_of_those_it_names_or_of_all(desk):
    desk.page(
        "/stop",
        {"cars": ["a", 7]}, {"cars": []}, {}, {"cars": "a"}, {"cars": {"a": 1}},
        "no json", "7", b"",
    )  # fmt: skip
    assert desk.backend.stops == [("a", "7"), *[()] * 7]


@pytest.mark.parametrize("text", ["[" * 4000, '{"cars":' * 400 + "7", '{"cars": ["\\ud800"]}'])
def test_what_nests_too_deep_or_is_no_text_stops_all_as_any_other_word(desk, text):
    desk.page("/stop", text, {"cars": ["a"]})
    assert desk.backend.stops == [(), ("a",)]


@pytest.mark.parametrize("token", ["\ud800", "\udfff" * 22, "é"])
@pytest.mark.parametrize("path", ["/hold", "/work"])
def test_a_token_that_is_no_text_is_refused_as_any_other(desk, path, token):
    connection = desk.page(path, {"seat": token, "car": "car"})
    assert connection.sent == [{"is_granted": False, "why": under_test._WHERE_PRINTED}]
    assert connection.closed == (1008, "refused")
    assert not desk.server.access.has_token(token)
    assert (desk.backend.begun, desk.backend.asked) == ([], [])


@pytest.mark.parametrize("text", ["[" * 4000, '{"a":' * 4000])
@pytest.mark.parametrize("path", ["/hold", "/work"])
def test_so_is_a_first_word_that_nests_too_deep(desk, path, text):
    assert desk.page(path, text).closed == (1008, "refused")


def test_a_car_whose_name_is_no_text_is_none(desk):
    token = json.dumps(desk.token)
    assert desk.page("/hold", f'{{"seat": {token}, "car": "\\ud800"}}').closed == (1008, "refused")
    assert desk.backend.begun == []


def test_each_car_answers_itself_under_the_token_of_who_asked(desk):
    desk.backend.rows = [{"name": "a"}, {"name": "b"}]
    connection = desk.page("/stop", {"token": 7}, {})
    assert connection.sent == [
        {"token": 7, "name": "a"}, {"token": 7, "name": "b"},
        {"token": None, "name": "a"}, {"token": None, "name": "b"},
    ]  # fmt: skip


def test_a_probe_stops_nothing_and_is_answered_with_what_its_page_may(desk):
    connection = desk.page("/stop", {"probe": 1, "seat": desk.token}, {"probe": 2, "seat": "x"},
                           {"probe": 3})  # fmt: skip
    assert connection.sent == [
        {"probe": 1, "role": "drive"},
        {"probe": 2, "role": "watch"},
        {"probe": 3, "role": "watch"},
    ]
    assert desk.backend.stops == []


def test_a_page_of_another_origin_may_stop_and_is_told_so_even_with_the_token(desk):
    connection = Connection("/stop", [{"probe": 1, "seat": desk.token}])
    connection.request.headers["Origin"] = "http://elsewhere.example"
    asyncio.run(desk.server._answer(connection))
    assert connection.sent == [{"probe": 1, "role": "stop"}]


@pytest.mark.parametrize(
    "said", [{"probe": 1, "cars": []}, {"probe": "1"}, {"probe": None}, "{", {}]
)
def test_whatever_is_no_plain_probe_is_a_stop(desk, said):
    desk.page("/stop", said)
    assert desk.backend.stops == [()]


def test_the_answer_to_a_probe_never_waits_for_a_page_that_does_not_read(desk):
    connection = desk.page("/stop", {"probe": 1}, {"cars": ["a"]}, full_bytes=1)
    assert {"probe": 1, "role": "watch"} not in connection.sent
    assert desk.backend.stops == [("a",)]


def test_what_kept_a_stop_from_being_said_is_told_beside_who_answered(desk):
    desk.backend.fault = DeviceFault("the folder is gone", got="nothing")
    (first, second) = desk.page("/stop", {"token": 7}).sent
    assert first == {"token": 7, "name": "car", "is_seen": True}
    assert (second["token"], second["name"], second["is_seen"]) == (7, "", False)
    assert "the folder is gone" in second["text"]
    assert [row["name"] for row in json.loads(desk.ask("/stop").body)] == ["car", ""]


# --- what neither stops nor drives


def test_work_is_done_for_whoever_has_the_token_each_time(desk):
    connection = desk.page(
        "/work", {"seat": desk.token, "do": "a"}, {"seat": desk.token, "do": "b"}
    )
    assert desk.backend.asked == [{"do": "a"}, {"do": "b"}]
    assert connection.sent == [{"is_done": True}] * 2
    assert connection.closed is None


@pytest.mark.parametrize("first", [{}, {"seat": "another"}, {"seat": None}])
def test_without_it_nothing_is_done_and_nothing_more_is_heard(desk, first):
    connection = desk.page("/work", first, {"seat": desk.token})
    assert desk.backend.asked == []
    why = "the address of the seat was printed where the station runs"
    assert connection.sent == [{"is_granted": False, "why": why}]
    assert connection.closed == (1008, "refused")


# --- the seat


def refused(connection: Connection) -> str:
    ((row),) = connection.sent
    assert row["is_granted"] is False
    assert connection.closed == (1008, "refused")
    return row["why"]


@pytest.mark.parametrize("token", ["", None, "another"])
def test_without_the_token_nobody_gets_the_seat(desk, token):
    why = refused(desk.hold(seat=token))
    assert why == "the address of the seat was printed where the station runs"
    assert desk.backend.begun == []


def test_whoever_has_it_drives_the_car_that_they_name(desk):
    connection = desk.hold()
    assert connection.sent == [
        {"is_granted": True, "is_on_stand": False, "limits": {"steering": 0.4}}
    ]
    ((names, seat),) = desk.backend.begun
    assert names == ("car",)
    assert not seat.is_on_stand
    assert connection.closed is None


def test_no_name_is_the_only_cars(desk):
    desk.page("/hold", {"seat": desk.token})
    assert desk.backend.begun[0][0] == ("",)


def test_of_two_pages_one_has_the_seat_until_it_goes(desk):
    others: list[Connection] = []
    seats = []

    async def other() -> None:
        others.append(Connection("/hold", [{"seat": desk.token, "car": "other"}]))
        await desk.server._answer(others[-1])

    class First(Connection):
        """Another page comes while this one drives."""

        async def __aiter__(self):
            seats.append(desk.server._seat)
            await other()
            seats.append(desk.server._seat)
            yield frame(0)

    async def main() -> None:
        await desk.server._answer(First("/hold", [{"seat": desk.token, "car": "car"}]))
        await other()

    asyncio.run(main())
    assert refused(others[0]) == "another page has the seat"
    assert others[1].sent[0]["is_granted"] is True
    assert [names for names, _ in desk.backend.begun] == [("car",), ("other",)]
    assert [seat.cars for seat in seats] == [("car",)] * 2, "it stays the first one's"
    assert seats[0] is seats[1]
    assert desk.server._seat is None


@pytest.mark.parametrize("attest", [{}, {"attest": True}, {"attest": "wheels off"}])
def test_on_the_stand_somebody_has_to_say_that_the_wheels_are_off_the_ground(desk, attest):
    why = refused(desk.hold(profile="stand", **attest))
    assert why == "say first that the wheels are off the ground"
    assert desk.backend.begun == []
    assert desk.server._seat is None


def test_who_said_so_has_the_stands_seat_with_its_brake(desk):
    connection = desk.hold(
        STAND_FRAME.pack(2, 0, 0, 0, 0, 0), profile="stand", attest=WHEELS_OFF_GROUND
    )
    assert connection.sent[0]["is_on_stand"] is True
    ((_, seat),) = desk.backend.begun
    assert (seat.is_on_stand, seat.frames) == (True, 1)


@pytest.mark.parametrize("profile", ["track", None])
def test_elsewhere_nobody_has_to(desk, profile):
    assert desk.hold(profile=profile, attest=WHEELS_OFF_GROUND).sent[0]["is_on_stand"] is False


def test_its_frames_are_heard_and_its_words_are_orders(desk):
    connection = Connection(
        "/hold",
        [{"seat": desk.token}, frame(0), {"do": "arm"}, {"do": "stop"}, {"do": "end"},
         {"do": "fly"}, "no json", {}, b'{"do": "arm"}', frame(1)],
    )  # fmt: skip
    asyncio.run(desk.server._answer(connection))
    ((_, seat),) = desk.backend.begun
    assert seat.frames == 2
    assert list(seat.requests()) == [
        OperatorRequest.ARM, OperatorRequest.STOP, OperatorRequest.QUIT,
        OperatorRequest.STOP, OperatorRequest.QUIT,  # it went with a hold
    ]  # fmt: skip


@pytest.mark.parametrize("is_lost", [False, True])
def test_a_page_that_goes_leaves_the_seat_and_frees_it(desk, is_lost):
    connection = Connection("/hold", [{"seat": desk.token}, frame(0)])
    connection.is_lost = is_lost
    asyncio.run(desk.server._answer(connection))
    ((_, seat),) = desk.backend.begun
    assert list(seat.requests()) == [OperatorRequest.QUIT]
    assert desk.server._seat is None


def test_the_board_that_a_page_knows_is_what_the_backend_is_told(desk):
    desk.hold(boards={"car": "0102030405060708", "twin": 7})
    desk.hold()
    desk.hold(boards="0102030405060708")
    assert desk.backend.boards == [{"car": "0102030405060708", "twin": "7"}, {}, {}]


def test_a_car_that_is_refused_is_not_granted_and_the_seat_is_free(desk):
    desk.backend.fault = DeviceFault("car is on another board", got="board 02")
    connection = desk.hold(boards={"car": "01"})
    (said,) = connection.sent
    assert said["is_granted"] is False
    assert "another board" in said["why"]
    assert connection.closed is not None
    assert desk.server._seat is None
    ((_, seat),) = desk.backend.begun
    assert list(seat.requests()) == [OperatorRequest.QUIT]


def test_a_car_that_cannot_be_driven_leaves_the_seat_free(desk):
    desk.backend.fault = KeyError("no such car")
    with pytest.raises(KeyError):
        desk.hold()
    ((_, seat),) = desk.backend.begun
    assert list(seat.requests()) == [OperatorRequest.QUIT]
    assert desk.server._seat is None


def test_the_seat_has_the_cars_time_and_its_page_is_told(desk):
    connection = desk.hold(frame(0))
    ((_, seat),) = desk.backend.begun
    assert seat._heard_us == 5_000_000
    seat.show(["a line"])
    desk.backend.ended("it was let go")
    assert connection.sent[1:] == [
        {"lines": ["a line"]},
        {"is_over": True, "why": "it was let go"},
    ]


def test_a_page_that_does_not_read_is_told_no_lines_but_that_it_is_over(desk):
    connection = Connection("/hold", [{"seat": desk.token}], full_bytes=1)
    asyncio.run(desk.server._answer(connection))
    ((_, seat),) = desk.backend.begun
    seat.show(["a line"])
    desk.backend.ended("it was let go")
    assert [it for it in connection.sent if "is_granted" not in it] == [
        {"is_over": True, "why": "it was let go"}
    ]


def test_without_views_there_are_none_yet():
    server = Desk("http://views").server
    assert (server._has_views, server._views_words) == (False, "")
    assert (server._views, server._camera) == ("http://views", "")
    assert (server.access.port, server._observers, server._seat) == (PORT, set(), None)


def test_the_plots_are_shown_while_they_are_there_and_else_why_not():
    server = Desk("http://views").server

    def shown() -> tuple[str, str]:
        picture = json.loads(server._text())
        return picture["views"], picture["views_words"]

    assert shown() == ("", "")
    server.tell_views(True, "")
    assert shown() == ("http://views", "")
    server.tell_views(False, "Plots stopped.")
    assert shown() == ("", "Plots stopped.")


@pytest.mark.parametrize(
    ("asked", "cars"),
    [
        ({"with": ["twin"]}, ("car", "twin")),
        ({"with": ["twin", "car", "twin", "third", "fourth", "fifth"]},
         ("car", "twin", "third", "fourth")),
        ({"with": "twin"}, ("car",)),
        ({"with": [7]}, ("car", "7")),
    ],
)  # fmt: skip
def test_a_seat_takes_a_car_and_its_twins_each_once_and_four_at_most(desk, asked, cars):
    desk.hold(**asked)
    assert desk.backend.begun[0][0] == cars


@pytest.mark.parametrize(
    ("given", "by"),
    [
        ("Phone 2", "Phone 2"), ("  Anna \n", "Anna"), ("\x1b[2J" + "x" * 40, "[2J" + "x" * 17),
        ("", "Another page"), (None, "Another page"),
    ],
)  # fmt: skip
def test_everybody_sees_by_which_name_the_seat_is_had_and_since_when(desk, given, by):
    rows = []
    connection = Connection("/hold", [
        {"seat": desk.token, "car": "car", **({} if given is None else {"by": given})}, frame(0)
    ])  # fmt: skip
    connection.between = lambda: rows.append(desk.server._seat.row(7_500_000))
    asyncio.run(desk.server._answer(connection))
    told = {"by": by, "cars": ["car"], "since_s": 2.5, "program": "", "drives": "", "asked_by": ""}
    assert rows == [told]


def test_to_unlock_and_to_arm_are_two_words(desk):
    desk.hold({"do": "unlock"}, {"do": "arm"})
    ((_, seat),) = desk.backend.begun
    assert list(seat.requests())[:2] == [OperatorRequest.UNLOCK, OperatorRequest.ARM]


def asked_for(desk, *words, then: Callable[[], None] = lambda: None):
    """The seat is had by one page; another one asks for it, and says these words."""
    other = Connection("/hold", [{"seat": desk.token, "ask": True, "by": "Phone"}, *words])
    rows = []

    class First(Connection):
        async def __aiter__(self):
            holder = desk.server._seat

            def look() -> None:
                rows.append(holder.row(5_000_000)["asked_by"])
                then()

            other.between = look
            await desk.server._answer(other)
            rows.append(holder.row(5_000_000)["asked_by"])
            return
            yield

    first = First("/hold", [{"seat": desk.token, "car": "car", "by": "Laptop"}])
    asyncio.run(desk.server._answer(first))
    return other, rows


def test_a_page_asks_for_the_seat_while_it_stays_and_everybody_sees_it(desk):
    other, rows = asked_for(desk, {"do": "nothing"})
    assert other.sent == [{"is_asked": True}]
    assert rows == ["Phone", ""], "and no more when it went"
    ((_, seat),) = desk.backend.begun
    assert list(seat.requests()) == [OperatorRequest.QUIT], "of the page that had it and went"


def test_before_its_time_nothing_is_taken_over(desk):
    other, _ = asked_for(desk, {"do": "take over"})
    assert other.sent == [{"is_asked": True}, {"is_taken_over": False}]


def test_without_an_answer_it_is_taken_over_and_the_cars_are_disarmed_first(desk):
    desk.backend.now_us = iter([5_000_000, 5_000_000, 35_000_000]).__next__
    other, _ = asked_for(desk, {"do": "take over"})
    assert other.sent == [{"is_asked": True}, {"is_taken_over": True}]
    ((_, seat),) = desk.backend.begun
    assert next(iter(seat.requests())) is OperatorRequest.QUIT


@pytest.mark.parametrize("token", ["", "another"])
def test_nobody_asks_for_it_without_the_token(desk, token):
    connection = desk.page("/hold", {"seat": token, "ask": True})
    assert refused(connection) == under_test._WHERE_PRINTED


def test_a_seat_that_nobody_has_is_not_asked_for(desk):
    assert refused(desk.page("/hold", {"seat": desk.token, "ask": True})) == "nobody has the seat"


# --- a program that drives while the page is held


def test_a_program_is_started_by_name_and_the_seat_lets_it_drive(desk):
    assert desk.hold(program="slalom").sent[0]["is_granted"]
    assert desk.backend.programs == ["slalom"]
    assert desk.backend.begun[0][1].has_separate_enable


@pytest.mark.parametrize("asked", [{}, {"program": ""}, {"program": None}])
def test_without_a_program_the_hand_itself_drives(desk, asked):
    desk.hold(**asked)
    assert desk.backend.programs == [""]
    assert not desk.backend.begun[0][1].has_separate_enable


def test_no_program_drives_on_the_stand(desk):
    said = desk.hold(program="slalom", profile="stand", attest=WHEELS_OFF_GROUND).sent[0]
    assert (said["is_granted"], "sliders" in said["why"]) == (False, True)
    assert desk.backend.begun == []


def test_any_page_of_the_station_raises_the_red_flag(desk):
    desk.page("/status", {"do": "red flag", "by": "Phone"}, {"do": "red flag"}, {"do": "other"})
    assert desk.backend.flags == ["Phone", "Another page"]


def test_any_page_of_the_station_slows_all_cars(desk):
    desk.page("/status", {"do": "slow", "by": "Phone"}, {"do": "slow"}, {"do": "other"})
    assert (desk.backend.slowed, desk.backend.flags) == (["Phone", "Another page"], [])


def test_the_red_flag_is_lifted_with_the_token_alone(desk):
    desk.page("/work", {"seat": "no", "do": "lift flag"})
    assert desk.backend.asked == []
    desk.page("/work", {"seat": desk.token, "do": "lift flag"})
    assert desk.backend.asked == [{"do": "lift flag"}]
