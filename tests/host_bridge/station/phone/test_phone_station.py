"""What the operator of a station with phones sees and types: who may watch, and who may drive."""

from __future__ import annotations

import asyncio
import io
import os
import sys
from contextlib import asynccontextmanager
from types import SimpleNamespace

import pytest

from host_bridge.station.phone import phone_station
from host_bridge.station.phone.phone_station import phones_at
from tests.host_bridge.sharing.desk import run, until


class Station:
    """A station whose phones' server is none, and a terminal at which somebody types."""

    def __init__(self, monkeypatch, stdin, writes) -> None:
        self.stdin = stdin
        self.writes = writes
        self.servers: list[object] = []
        monkeypatch.setattr(sys, "stdin", self.stdin)
        monkeypatch.setattr(phone_station, "PhoneServer", self._server)
        certificates = SimpleNamespace(fingerprint=lambda: "AB:CD")
        monkeypatch.setattr(phone_station, "certificates_for", lambda address, now: certificates)
        self.backend = SimpleNamespace(now_us=lambda: 0)

    def _server(self, backend, address, certificates, access, tell):
        @asynccontextmanager
        async def serving():
            self.servers.append(address)
            yield

        self.access = access
        return SimpleNamespace(
            access=access,
            serving=serving,
            url=lambda path, is_secure: f"http{'s' * is_secure}://{address}{path}",
        )

    def types(self, line) -> None:
        os.write(self.writes, line.encode())


@pytest.fixture
def station(monkeypatch):
    reads, writes = os.pipe()
    with open(reads, encoding="utf-8") as stdin:
        station = Station(monkeypatch, stdin, writes)
        yield station
        os.close(station.writes)


def test_a_number_that_a_phone_shows_gives_that_phone_a_key_and_no_other(station, capsys):
    async def main():
        async with phones_at("192.0.2.7", station.backend, has_seat=True):
            assert capsys.readouterr() == (
                f"http://192.0.2.7/join#key={station.access.watch_key}\n",
                "Phones: whoever scans this may watch and stop\n"
                "For who is to drive the page has the steps. The certificate's SHA-256 is\nAB:CD\n",
            )
            code = station.access.new_code("192.0.2.1")
            station.types("\n" + code + "\n")
            told = await said(capsys)
            assert told.out.startswith("https://192.0.2.7/seat#drive=")
            key = told.out.strip().partition("=")[2]
            assert told.err == (
                "For the phone at 192.0.2.1: scan this within two minutes. It counts once\n"
            )
            assert station.access.exchange(key)
            station.types(code + "\n")
            assert await said(capsys) == (
                "", "no phone shows this number, or it is older than two minutes\n"
            )  # fmt: skip
        assert not is_heard(station)

    run(main())


async def said(capsys):
    """What is printed next, once it is."""
    found = []

    def is_there() -> bool:
        found.append(capsys.readouterr())
        return bool(found[-1].err)

    await until(is_there)
    return type(found[0])("".join(it.out for it in found), "".join(it.err for it in found))


def is_heard(station) -> bool:
    """Whether what is typed is still read; it is not any more after this."""
    return asyncio.get_running_loop().remove_reader(station.stdin.fileno())


def test_half_a_line_keeps_the_station_from_nothing(station, capsys):
    """Ctrl-D in a line hands on what is there of it."""

    async def main():
        async with phones_at("192.0.2.7", station.backend, has_seat=True):
            capsys.readouterr()
            station.types("12")
            for _ in range(5):
                await asyncio.sleep(0)
            station.types("34\n1234\n")
            wrong = "no phone shows this number, or it is older than two minutes\n"
            told = []
            await until(lambda: told.append(capsys.readouterr().err) or "".join(told) == 2 * wrong)

    run(main())


def test_a_terminal_that_is_closed_is_read_no_more(station, capsys):
    async def main():
        async with phones_at("192.0.2.7", station.backend, has_seat=True):
            os.close(station.writes)
            station.writes = os.open(os.devnull, os.O_WRONLY)
            key = asyncio.get_running_loop()._selector.get_map()
            await until(lambda: station.stdin.fileno() not in key)

    run(main())


def test_a_station_without_a_seat_lets_nobody_drive(station, capsys):
    async def main():
        async with phones_at("192.0.2.7", station.backend, has_seat=False):
            assert not is_heard(station)

    run(main())
    told = capsys.readouterr()
    assert "/join#key=" in told.out
    assert told.err == "Phones: whoever scans this may watch and stop\n"


def test_without_an_address_there_are_no_phones(station, capsys):
    async def main():
        async with phones_at(None, station.backend, has_seat=True):
            assert not is_heard(station)

    run(main())
    assert capsys.readouterr() == ("", "")
    assert station.servers == []


def test_where_nobody_can_type_it_serves_all_the_same(station, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO("1234\n"))

    async def main():
        async with phones_at("192.0.2.7", station.backend, has_seat=True):
            assert station.servers == ["192.0.2.7"]

    run(main())
