"""A car says itself that it is virtual; nothing else makes a program hold a deadman."""

from __future__ import annotations

import asyncio
import threading

import pytest

from firmware.boards.simulated.virtual import VirtualBoard
from firmware.core.settings.params import TABLE
from host_bridge.core.errors import UsageFault
from host_bridge.drive import DriveOptions, drive
from host_bridge.sharing.services import make_host
from sim_mock.programs.real_time import Cable
from tests.host_bridge.cli.programs import tandem, virtual_car
from tests.host_bridge.sharing.desk import runtime_folder


@pytest.fixture(autouse=True)
def folder(monkeypatch):
    with runtime_folder(monkeypatch) as path:
        yield path


def as_metal(monkeypatch):
    """A real car's board, as test_held_at_boot.py has it; the virtual one says 0."""
    begun = VirtualBoard.__init__

    def begin(self, *args):
        begun(self, *args)
        self.is_virtual = 0

    monkeypatch.setattr(VirtualBoard, "__init__", begin)


def says(uri):
    async def ask():
        opened = await make_host().cars.open(uri)
        found = opened.is_virtual
        await opened.close()
        return found

    return asyncio.run(ask())


def test_it_is_the_cars_word_that_counts_and_not_its_uri(monkeypatch):
    assert says("sim://nigel")
    as_metal(monkeypatch)
    assert not says("sim://nigel")


def test_a_real_car_behind_a_pseudo_terminal_is_not_driven_by_a_program(monkeypatch, folder):
    """As by socat, ssh or a bridge of a virtual machine."""
    as_metal(monkeypatch)
    with bridged("sim://nigel", folder / "port") as uri:
        assert not says(uri)
        csv = folder / "drive.csv"
        csv.write_text("time_s,speed_mps,steer_rad\n0,0.1,0\n1,0.1,0\n")
        with pytest.raises(UsageFault, match="a real car is among them"):
            asyncio.run(drive(DriveOptions(cars=(uri,), input=f"csv:{csv}"), None, make_host()))


class bridged:  # noqa: N801 - a context manager
    """A car's line carried to a pseudo-terminal by another program: here, a thread."""

    def __init__(self, uri, link):
        self._uri, self._link = uri, link
        self._is_over = threading.Event()
        self._is_up = threading.Event()

    def __enter__(self):
        self._thread = threading.Thread(target=lambda: asyncio.run(self._carry()))
        self._thread.start()
        assert self._is_up.wait(10)
        return f"serial://{self._link}"

    def __exit__(self, *_):
        self._is_over.set()
        self._thread.join()

    async def _carry(self):
        cable = Cable(self._link)
        transport = make_host().cars.transport(self._uri)
        await transport.open(cable.write, lambda fault: None)
        self._is_up.set()
        while not self._is_over.is_set():
            transport.send(cable.read())
            await asyncio.sleep(0.002)
        transport.close()
        cable.unplug()


@pytest.mark.process(drives=True)
def test_a_virtual_car_behind_a_pseudo_terminal_still_is_one(folder):
    with virtual_car("nigel", folder / "port"):
        assert says(f"serial://{folder / 'port'}")
        shown = tandem("identify", "--json")
        assert shown.returncode == 0


def test_no_parameter_makes_a_car_virtual():
    assert not [row[0] for row in TABLE if "virtual" in row[0] or "hitl" in row[0]]
