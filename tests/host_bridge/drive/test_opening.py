"""A log is begun before a drive is, of every car, and ends with it."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path
from types import SimpleNamespace

import pytest

from host_bridge.drive import opening
from host_bridge.drive.opening import start_log


class Log:
    def __init__(self, path, clock) -> None:
        self.path = path
        self.clock = clock
        self.closed = 0

    def close(self) -> None:
        self.closed += 1


class Opened:
    """A car, and the logs that were handed to it."""

    def __init__(self) -> None:
        self.logs = []

    async def record(self, log) -> None:
        self.logs.append(log)


CLOCK = object()
HOST = SimpleNamespace(cars=SimpleNamespace(clock=CLOCK))


@pytest.fixture(autouse=True)
def _nothing_is_written(monkeypatch):
    monkeypatch.setattr(opening, "new_recorder", Log)


def begun(path, cars):
    async def begin():
        async with AsyncExitStack() as stack:
            log = await start_log(path, HOST, cars, stack)
            return log, log and log.closed

    return asyncio.run(begin())


def test_all_cars_are_recorded_in_one_log_which_is_closed_at_the_end():
    cars = [Opened(), Opened()]
    log, closed_before = begun(Path("drive.mcap"), cars)
    assert (log.path, log.clock) == (Path("drive.mcap"), CLOCK)
    assert [car.logs for car in cars] == [[log], [log]]
    assert (closed_before, log.closed) == (0, 1)


def test_without_a_path_there_is_no_log():
    car = Opened()
    assert begun(None, [car]) == (None, None)
    assert car.logs == []
