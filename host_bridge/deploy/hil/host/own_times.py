"""Calls by the host's own clock, so that its messages come at every phase of the car's step."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from host_bridge.deploy.hil.host.port import Port

Call = Callable[[], object]


@dataclass
class _PeriodicCall:
    """A call, its period, and its next due time, by the car's clock."""

    due_us: int
    every_us: int
    call: Call


class CarClockCalls:
    """Periodic calls by the car's clock, independent of its control period."""

    def __init__(self, port: Port) -> None:
        self._port = port
        self._rows: list[_PeriodicCall] = []

    @contextlib.contextmanager
    def every(self, every_us: int, call: Call) -> Iterator[None]:
        """Call this periodically in this context, the first time at once."""
        row = _PeriodicCall(self._port.car_us, every_us, call)
        self._rows.append(row)
        try:
            yield
        finally:
            self._rows.remove(row)

    def until_next_step(self, step_us: int) -> None:
        """Make the calls that are due within the car's step that begins now, each at its time.

        This machine waits as long as the car takes, which may be slower than real time.
        """
        begun_us, begun_s = self._port.car_us, self._port.now_s()
        while self._rows:
            row = min(self._rows, key=lambda row: row.due_us)
            if row.due_us >= begun_us + step_us:
                return
            at_s = begun_s + (row.due_us - begun_us) / self._port.us_per_s()
            self._port.sleep(max(at_s - self._port.now_s(), 0.0))
            row.call()
            # calls that this machine was too late for are skipped
            row.due_us = max(row.due_us, begun_us) + row.every_us
