"""Sealed probes over a guest's session, and a trace of the link made of their answers."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable
from dataclasses import dataclass, field

from host_bridge.core.files.link_traces import Probe
from host_bridge.sharing.network.guest_link import Echo
from host_bridge.sharing.network.guest_session import HEARD_BITS
from host_bridge.sharing.network.network_car import NetworkCar

EACH_S = 0.005  # a claim each 10 ms and its copy 5 ms later: every second probe is a copy
LAST_S = 1.0  # after the last one: what has not come by then is of no use to anybody who drives
_US = 1e6  # us of a second


@dataclass
class ProbeRecording:
    """The probes that were sent, and what came back, by the probes' numbers. Times in us."""

    sent: dict[int, int] = field(default_factory=dict)
    echoes: dict[int, tuple[Echo, int]] = field(default_factory=dict)  # and when it came
    heard: set[int] = field(default_factory=set)  # which arrived at the host, as far as it said

    def hear(self, echo: Echo, now_us: int) -> None:
        self.echoes.setdefault(echo.number, (echo, now_us))
        self.heard.add(echo.number)
        self.heard.update(
            echo.number - 1 - bit for bit in range(HEARD_BITS) if echo.heard >> bit & 1
        )

    def trace(self) -> list[Probe]:
        """Return a row for each probe.

        The clocks differ, so the ways are told apart by taking the fastest way there to be as long
        as the fastest way back. A probe that arrived and whose answer did not has the mean of the
        ways there.
        """
        raw = [(echo.received_us - echo.sent_us, at_us - echo.received_us)
               for echo, at_us in self.echoes.values()]  # fmt: skip
        if not raw:
            return []
        ahead_us = (min(up for up, _ in raw) - min(down for _, down in raw)) / 2
        mean_us = sum(up for up, _ in raw) / len(raw) - ahead_us
        began_us = min(self.sent.values())
        rows = []
        for number, sent_us in sorted(self.sent.items(), key=lambda it: it[1]):
            up_us: float | None = mean_us if number in self.heard else None
            down_us: float | None = None
            if number in self.echoes:
                echo, at_us = self.echoes[number]
                up_us = echo.received_us - echo.sent_us - ahead_us
                down_us = at_us - echo.received_us + ahead_us
            rows.append(Probe((sent_us - began_us) / _US, _seconds(up_us), _seconds(down_us)))
        return rows


def _seconds(us: float | None) -> float | None:
    return None if us is None else max(us, 0.0) / _US


async def record(
    car: NetworkCar,
    seconds: float,
    now_us: Callable[[], int],
    tell: Callable[[int, int], object],
) -> ProbeRecording:
    """Send probes for so long over an open session; ``tell`` gets how many went, and came back.

    Memory is not collected meanwhile. It would look at every probe that is kept, which after some
    minutes takes longer than a lease: a gap of this program's, not of the link.
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        return await _recorded(car, seconds, now_us, tell)
    finally:
        if collects:
            gc.enable()


async def _recorded(
    car: NetworkCar,
    seconds: float,
    now_us: Callable[[], int],
    tell: Callable[[int, int], object],
) -> ProbeRecording:
    recording = ProbeRecording()
    assert car.link, "it is open"
    car.link.on_echo = recording.hear
    loop = asyncio.get_running_loop()
    began_s = loop.time()
    count = round(seconds / EACH_S)
    for number in range(count):
        await asyncio.sleep(max(began_s + number * EACH_S - loop.time(), 0.0))
        sent_us = now_us()
        sent = car.send_probe(sent_us)
        if sent is None:
            break  # the session is over
        recording.sent[sent] = sent_us
        if number % round(1 / EACH_S) == 0:
            tell(len(recording.sent), len(recording.echoes))
    await asyncio.sleep(LAST_S)
    return recording
