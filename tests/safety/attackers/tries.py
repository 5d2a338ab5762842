"""Stops that one login tries, one after the other: how long each took until the car said so."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from host_bridge.sharing.stop.stop_request import StopCall, stop_served
from host_bridge.sharing.stop.stop_sockets import StopSocket, find_stop_sockets
from tests.host_bridge.cli.programs import TANDEM
from tests.safety.attackers import logins
from tests.support import patience

# A login has a share of each car's stop socket, and who asks faster than this uses it up
PAUSE_S = 0.03
STOP_MS = 300.0

CPU_S = 0.01  # of one try, owner and car included
PAGE_CPU_S = 0.05  # the same by a station, which sends others away meanwhile
BUSY_STOP_MS = 600.0  # where four programs or more want the processor
PAGE_MS = 1000.0  # a page's Stop, at any load


class Try(NamedTuple):
    """One stop: when it was begun, and how long it took until the car said so."""

    begun_s: float
    took_ms: float  # infinite where it was not acknowledged

    def withheld_ms(self, cpu_s: float) -> float:
        """What the machine withheld meanwhile, an attack's share included."""
        ended_s = self.begun_s + min(self.took_ms * 1e-3, 1.0)
        return patience.withheld_s(self.begun_s, ended_s, cpu_s) * 1e3


class Tries(NamedTuple):
    """What was tried, the fastest first."""

    rows: tuple[Try, ...]

    def within_ms(self, part: float) -> float:
        """The time within which this part of all was acknowledged; infinite where it was not."""
        return self.rows[max(round(part * len(self.rows)) - 1, 0)].took_ms

    @property
    def acknowledged(self) -> int:
        return sum(row.took_ms < float("inf") for row in self.rows)

    def told(self) -> str:
        """Say it in one line."""
        return (
            f"{self.acknowledged} of {len(self.rows)} acknowledged; half within "
            f"{self.within_ms(0.5):.1f} ms, 99 % within {self.within_ms(0.99):.1f}, "
            f"all within {self.within_ms(1.0):.1f}"
        )


def stops(count: int, name: str) -> list[tuple[float, float | None]]:
    """Stop this car so often, as the login whose process this is: when each was begun, and after
    how many milliseconds one car of this name said so, None if none or several did."""
    rows: list[tuple[float, float | None]] = []
    for _ in range(count):
        begun_s = time.monotonic()
        seen_s: list[float] = []

        def hear(call: StopCall, seen_s: list[float] = seen_s) -> None:
            if call.is_seen:
                seen_s.append(time.monotonic())

        stop_served(named(name), tell=hear)
        rows.append((begun_s, (seen_s[0] - begun_s) * 1e3 if len(seen_s) == 1 else None))
        logins.pause(PAUSE_S)
    return rows


def named(name: str) -> Iterator[StopSocket | None]:
    """What ``tandem stop NAME`` finds."""
    for it in find_stop_sockets():
        if it is None or it.name == name:
            yield it
        else:
            it.close()


def tried(count: int, name: str) -> Tries:
    """Have a third login, which neither serves nor attacks, try so often."""
    with logins.working(logins.STOPPER, stops, count, name) as work:
        return of(work.answer())


def of(rows_of: Sequence[tuple[float, float | None]]) -> Tries:
    """Sort them."""
    rows = [Try(at_s, float("inf") if took_ms is None else took_ms) for at_s, took_ms in rows_of]
    return Tries(tuple(sorted(rows, key=lambda row: row.took_ms)))


def judged(control: Tries, attacked: Tries, what: str, cpu_s: float = CPU_S) -> None:
    """Hold 99 of 100 of what was attacked against the control of the same run; ``cpu_s`` of a
    processor is what one takes. Raises patience.TooLate, and patience.NotMeasured where the machine
    withheld more than the limit is."""
    most_ms = BUSY_STOP_MS if logins.is_busy() else STOP_MS
    held_to(control.within_ms(0.99) + most_ms, 0.99, control, attacked, what, cpu_s)


def page_judged(control: Tries, attacked: Tries, what: str) -> None:
    """Hold each answer to a page's Stop to one second. Raises as ``judged`` does."""
    held_to(PAGE_MS, 1.0, control, attacked, what, PAGE_CPU_S)


def held_to(
    limit_ms: float, part: float, control: Tries, attacked: Tries, what: str, cpu_s: float
) -> None:
    """Tell of all, and hold this part of what was attacked to a limit."""
    told = f"{what}\n  control: {control.told()}\n  attacked: {attacked.told()}"
    logins.say(f"{told}\n  load {os.getloadavg()[0]:.1f}, limit {limit_ms:.0f} ms")
    assert len(control.rows) == len(attacked.rows)
    if limit_ms == float("inf") or control.within_ms(part) > limit_ms:
        raise patience.NotMeasured(f"too slow a machine for a stop without an attack: {told}")
    may_be_late = len(attacked.rows) - max(round(part * len(attacked.rows)), 1)
    if part < 1.0 and attacked.acknowledged == len(attacked.rows) > 1:
        may_be_late = max(may_be_late, 1)  # of few tries 99 % would be all of them
    late = [row for row in attacked.rows if row.took_ms > limit_ms]
    if len(late) <= may_be_late:
        return
    own = [row for row in late if row.took_ms - row.withheld_ms(cpu_s) > limit_ms]
    if len(own) > may_be_late:
        raise patience.TooLate(told)
    raise patience.NotMeasured(f"{told}\n  of {len(late)} late ones the machine explains some")


def free_port() -> int:
    """A port of which both addresses of the loopback are free."""
    with socket.socket(socket.AF_INET) as end, socket.socket(socket.AF_INET6) as other:
        end.bind(("127.0.0.1", 0))
        other.bind(("::1", end.getsockname()[1]))
        return end.getsockname()[1]


def program(*words: str) -> subprocess.CompletedProcess[str]:
    """``tandem stop`` itself, as the third login."""
    own = {"PATH": os.environ["PATH"], "PYTHONPATH": str(patience.__file__).rsplit("/tests/")[0]}
    shared = {"TANDEM_STOP_DIR": os.environ["TANDEM_STOP_DIR"]}
    line = logins.as_login([*TANDEM, "stop", *words], logins.STOPPER)
    return patience.run(line, env={**own, **shared}, cwd="/", text=True, within_s=45)
