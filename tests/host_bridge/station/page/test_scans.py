"""The plots' program gives the page's map the scans of LIDARs, and nobody else."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest

pytest.importorskip("nicegui", reason="the station's plots need tandem-cars[station]")
disconnect = pytest.importorskip("starlette.websockets").WebSocketDisconnect
views = pytest.importorskip("host_bridge.station.views.plots_page")


class Socket:
    """A page of this origin, which goes after so many messages."""

    def __init__(self, origin: str | None, most: int = 1) -> None:
        self.headers = {} if origin is None else {"origin": origin}
        self.told: list[dict] = []
        self.deeds: list[str] = []
        self._most = most

    async def accept(self) -> None:
        self.deeds.append("accepted")

    async def close(self) -> None:
        self.deeds.append("closed")

    async def send_json(self, message: dict) -> None:
        if len(self.told) == self._most:
            raise disconnect(1001)
        self.told.append(message)


def sent(socket: Socket, monkeypatch) -> Socket:
    scans = {"red": [[1.0, 2.0]], "blue": []}
    feed = SimpleNamespace(cars=scans, scan=lambda name: scans[name])
    monkeypatch.setattr(views, "_SCANS_S", 0.0)
    asyncio.run(views.send_scans(socket, feed, "8090"))
    return socket


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a_page_of_the_station_has_the_points_of_each_car_that_has_any(host, monkeypatch):
    socket = sent(Socket(f"http://{host}:8090", 2), monkeypatch)
    assert (socket.deeds, socket.told) == (["accepted"], [{"red": [[1.0, 2.0]]}] * 2)


@pytest.mark.parametrize(
    "origin", [None, "http://evil.example", "http://127.0.0.1:8091", "https://127.0.0.1:8090"]
)
def test_nobody_else_has_them(origin, monkeypatch):
    socket = sent(Socket(origin), monkeypatch)
    assert (socket.deeds, socket.told) == (["closed"], [])
