"""A host that runs by a clock of its own: what it says comes at every moment of the car's beat."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from host_bridge.hil.port import Port

Call = Callable[[], object]


@dataclass
class _Row:
    """A call, how often it is made, and when it is due next, by the car's time."""

    due_us: int
    every_us: int
    call: Call


class OwnTimes:
    """Calls that are made each so many microseconds of the car's time, whatever its beat is."""

    def __init__(self, port: Port) -> None:
        self._port = port
        self._rows: list[_Row] = []

    @contextlib.contextmanager
    def every(self, every_us: int, call: Call) -> Iterator[None]:
        """Have this called meanwhile, the first time at once."""
        row = _Row(self._port.car_us, every_us, call)
        self._rows.append(row)
        try:
            yield
        finally:
            self._rows.remove(row)

    def until_next_step(self, step_us: int) -> None:
        """Make the calls that are due within a step of the car's, which begins now, each at its
        moment. This machine waits as long as the car takes, which may be slower than time."""
        begun_us, begun_s = self._port.car_us, self._port.now_s()
        while self._rows:
            row = min(self._rows, key=lambda row: row.due_us)
            if row.due_us >= begun_us + step_us:
                return
            at_s = begun_s + (row.due_us - begun_us) / self._port.us_per_s()
            self._port.sleep(max(at_s - self._port.now_s(), 0.0))
            row.call()
            # what this machine was too late for is not said twice
            row.due_us = max(row.due_us, begun_us) + row.every_us
