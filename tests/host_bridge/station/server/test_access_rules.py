"""Who may come in, and what a hold's frames are: logic, without a socket. Refusal first."""

from __future__ import annotations

import asyncio
import base64

import pytest

from host_bridge.core import OperatorRequest
from host_bridge.station import AccessRules, PageSeat
from host_bridge.station.server.page_seat import FRAME, STAND_FRAME
from tests.host_bridge.drive.drives import vehicle
from tests.host_bridge.inputs.made_inputs import DRIVING, context

DOORS = AccessRules(8090)


@pytest.mark.parametrize("path", ["/status", "/hold", "/work", "/distances", "/", "/station.js"])
@pytest.mark.parametrize(
    ("host", "origin"),
    [
        ("127.0.0.1:8090", "http://evil.example"),
        ("127.0.0.1:8090", "http://127.0.0.1:8091"),
        ("127.0.0.1:8090", "https://127.0.0.1:8090"),
        ("127.0.0.1:8090", "null"),
        ("evil.example:8090", "http://evil.example:8090"),
        ("evil.example:8090", None),
        ("127.0.0.1", None),
        ("", None),
    ],
)
def test_another_origin_or_host_sees_nothing_and_drives_nothing(path, host, origin):
    assert DOORS.may_request(path, host, origin) is False


@pytest.mark.parametrize("origin", ["http://evil.example", None, "null"])
def test_whoever_it_is_may_stop(origin):
    assert DOORS.may_request("/stop", "evil.example", origin)


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "[::1]"])
def test_the_stations_own_page_may_all(name):
    assert DOORS.may_request("/hold", f"{name}:8090", f"http://{name}:8090") is True


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "[::1]"])
def test_so_may_a_program_of_this_machine_which_names_no_origin(name):
    assert DOORS.may_request("/hold", f"{name}:8090", None) is True


def test_the_page_has_two_names():
    assert DOORS.csp_sources() == "http://127.0.0.1:8090 http://localhost:8090"


def test_a_token_is_128_random_bits_and_no_other_is_taken():
    assert len(DOORS.token) >= 22
    assert len(base64.urlsafe_b64decode(DOORS.token + "==")) == 16
    assert DOORS.token != AccessRules(8090).token
    assert not any(map(DOORS.has_token, ("", None, 7, DOORS.token[:-1], AccessRules(8090).token)))
    assert DOORS.has_token(DOORS.token)
    assert DOORS.token not in repr(DOORS)


class Table:
    def __init__(self):
        self.now_us = 1_000_000
        self.seat = PageSeat(lambda: self.now_us, lambda lines: None)
        asyncio.run(self.seat.open(context([vehicle()], speed_mps=1.0)))

    def hear(self, held=True, steer=0, speed=32767, count=0, flags=0):
        return self.seat.hear(FRAME.pack(1, held | flags, steer, speed, count))

    def step(self, ms=10):
        self.now_us += ms * 1000
        return self.seat.step(self.now_us, DRIVING)


@pytest.fixture
def table():
    return Table()


@pytest.mark.parametrize("frame", [b"", b"\1" * 9, b"\1" * 11, b"\2" + b"\1" * 9])
def test_what_is_no_frame_is_none(table, frame):
    table.hear(held=False)
    assert not table.seat.hear(frame)
    assert not table.step().is_held


def test_a_hold_that_was_there_before_is_none_until_it_is_released(table):
    table.hear()
    assert not table.step().is_held
    table.hear(held=False)
    table.hear()
    assert table.step().is_held


def test_a_frame_is_as_old_as_its_arrival_and_nothing_renews_it(table):
    table.hear(held=False)
    table.hear(steer=-32767)
    command = table.step()
    assert (command.speed_mps, command.steer_rad) == (1.0, pytest.approx(-0.4189, abs=1e-3))
    assert table.step(500).heard_us == 1_000_000


def test_the_newest_frame_counts(table):
    table.hear(held=False)
    for speed in (32767, 100, -32767):
        table.hear(speed=speed)
    assert table.step().speed_mps == -1.0


def test_let_go_by_the_drive_it_has_to_be_released(table):
    table.hear(held=False)
    table.hear()
    table.seat.let_go()
    table.hear()
    assert not table.step().is_held


def test_a_page_that_goes_with_a_hold_is_a_loss_and_without_one_an_end(table):
    table.hear(held=False)
    table.seat.leave()
    assert (table.step().lost, list(table.seat.requests())) == ("", [OperatorRequest.QUIT])
    table.hear()
    table.seat.leave()
    assert "gone" in table.step().lost
    assert list(table.seat.requests()) == [OperatorRequest.STOP, OperatorRequest.QUIT]


def test_a_browsers_gamepad_is_slow_and_has_to_say_something_each_second(table):
    table.hear(held=False)
    table.hear(flags=2, count=1)
    assert table.step().speed_mps == pytest.approx(0.3)
    for _ in range(97):
        table.hear(flags=2, count=1)
        assert table.step().is_held
    for _ in range(3):
        table.hear(flags=2, count=1)
        held = table.step().is_held
    assert not held
    table.hear(flags=2, count=2)
    assert not table.step().is_held, "released first"


def test_only_on_the_stand_a_frame_has_a_brake(table):
    braking = STAND_FRAME.pack(2, 1, 0, 0, 0, 0xFFFF)
    assert not table.seat.hear(braking)
    seat = PageSeat(lambda: table.now_us, lambda lines: None, is_on_stand=True)
    asyncio.run(seat.open(context([vehicle()], speed_mps=1.0)))
    assert not seat.hear(FRAME.pack(1, 0, 0, 0, 0))
    assert seat.hear(STAND_FRAME.pack(2, 0, 0, 0, 0, 0))
    assert seat.hear(braking)
    command = seat.step(table.now_us, DRIVING)
    assert (command.is_held, command.brake) == (True, 1.0)


@pytest.mark.parametrize("site", [None, "same-origin", "none"])
@pytest.mark.parametrize("name", [None, "127.0.0.1", "localhost", "[::1]"])
def test_a_page_of_this_station_is_told_by_origin_and_site(name, site):
    assert DOORS.is_page(f"http://{name}:8090" if name else None, site) is True


@pytest.mark.parametrize(
    ("origin", "site"),
    [
        ("http://evil.example", None),
        ("http://evil.example:8090", "same-origin"),
        ("http://127.0.0.1:8091", None),
        ("null", "none"),
        (None, "cross-site"),
        (None, "same-site"),
        ("http://127.0.0.1:8090", "cross-site"),
    ],
)
def test_whatever_else_a_browser_says_is_no_page_of_it(origin, site):
    assert DOORS.is_page(origin, site) is False
