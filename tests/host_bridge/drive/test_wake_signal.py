"""An input that hears something new is asked at once, once between two beats; in virtual time."""

from __future__ import annotations

import asyncio
import itertools

import pytest

from host_bridge import drive as driving
from host_bridge.cars.fleet import Fleet
from host_bridge.core import DriveCommand, Input, OperatorRequest
from host_bridge.core.errors import NotHeldFault
from host_bridge.core.system.running import run_in_virtual_time
from host_bridge.core.system.virtual_time import VirtualTimeLoop
from host_bridge.drive import DriveOptions
from host_bridge.drive.control_task import TICK_US
from host_bridge.drive.display.lines import PlainView
from host_bridge.drive.wake_signal import WakeSignal
from host_bridge.sharing.services import make_host

SETTLED_US, SOME_US, SECONDS = 200_000, 500_000, 0.9


class Device(Input):
    """Hears a command each ``every_us`` and wakes the session for it; ``asked`` is when it was
    asked, and whether between two ticks."""

    hears_stop = False  # with the first command after it has settled
    since_us = 0  # it drives

    def __init__(self, every_us: int) -> None:
        self.every_us = every_us
        self.heard = 0
        self.asked: list[tuple[int, bool]] = []
        self.heard_us: list[int] = []
        self._requests: list[OperatorRequest] = []

    async def open(self, context):
        self._context = context
        self._hearing = asyncio.ensure_future(self._hear())

    async def close(self):
        self._hearing.cancel()

    async def _hear(self):
        while True:
            await asyncio.sleep(self.every_us * 1e-6)
            self.heard += 1
            self.heard_us.append(self._context.now_us())
            self._context.wake()

    def step(self, now_us, observed):
        self.asked.append((now_us, observed.is_between_ticks))
        if observed.is_driving and not self.since_us:
            self.since_us = now_us
        if self.hears_stop and observed.is_between_ticks and now_us > self.since_us + SETTLED_US:
            self.hears_stop = False
            self._requests.append(OperatorRequest.STOP)
        return DriveCommand(
            1e-5 * self.heard, 0.5, is_held=True, input_count=len(self.asked) & 0xFFFF
        )

    def requests(self):
        requests, self._requests = self._requests, []
        return requests


class Computed(Device):
    """The same, of one that says that it asks for nothing but the time and the cars."""

    is_computed = True


class Sent:
    """When claims were offered, and the steering of each."""

    def __init__(self, monkeypatch, now_us) -> None:
        self.rows: list[tuple[int, float]] = []
        offer = Fleet.offer

        def watch(fleet, claim):
            self.rows.append((now_us(), claim.steer_rad))
            return offer(fleet, claim)

        monkeypatch.setattr(Fleet, "offer", watch)

    def of(self, since_us: int) -> list[tuple[int, float]]:
        return [row for row in self.rows if since_us <= row[0] < since_us + SOME_US]


@pytest.fixture
def drive(monkeypatch):
    def run(device: Device) -> tuple[Sent, int, int]:
        """What was sent, from when on it drives, and the exit code."""
        loop = VirtualTimeLoop()
        sent = Sent(monkeypatch, loop.now_us)
        options = DriveOptions(cars=("sim://nigel",), input=device, seconds=SECONDS)
        code = run_in_virtual_time(driving.drive(options, PlainView(), make_host(loop)), loop)
        return sent, device.since_us + SETTLED_US, code

    return run


def test_what_is_heard_between_two_beats_is_a_claim_at_that_moment(drive):
    device = Device(23_000)
    sent, since_us, code = drive(device)
    assert code == 0
    first_sent_us = {}
    for at_us, steer_rad in sent.rows:
        first_sent_us.setdefault(round(steer_rad * 1e5), at_us)
    waited_us = [
        first_sent_us[number] - at_us
        for number, at_us in enumerate(device.heard_us, 1)
        if since_us <= at_us < since_us + SOME_US
    ]
    assert len(waited_us) > 20
    assert max(waited_us) == 0


def test_ticks_go_on_as_if_nothing_had_come_between(drive):
    device = Device(23_000)
    drive(device)
    beats_us = [at_us for at_us, is_between_ticks in device.asked if not is_between_ticks]
    assert {b - a for a, b in itertools.pairwise(beats_us)} == {TICK_US}


@pytest.mark.parametrize("every_us", [1_000, 3_700])
def test_a_flood_makes_one_claim_more_a_beat_and_the_newest_counts(drive, every_us):
    device = Device(every_us)
    sent, since_us, code = drive(device)
    assert code == 0
    rows = sent.of(since_us)
    assert len(rows) == 2 * SOME_US // TICK_US  # 200 a second
    for at_us, steer_rad in rows:
        heard = sum(heard_us < at_us for heard_us in device.heard_us)
        assert round(steer_rad * 1e5) >= heard


def test_what_wakes_nobody_is_asked_on_the_beat_alone(drive):
    device = Device(3_000_000)
    sent, since_us, _ = drive(device)
    assert len(sent.of(since_us)) == SOME_US // TICK_US
    assert not any(is_between_ticks for _, is_between_ticks in device.asked)


def test_what_is_computed_is_asked_on_the_beat_alone(drive):
    device = Computed(3_700)
    sent, since_us, _ = drive(device)
    assert len(sent.of(since_us)) == SOME_US // TICK_US
    assert not any(is_between_ticks for _, is_between_ticks in device.asked)


def test_a_stop_that_is_heard_between_two_beats_is_obeyed_then(drive, monkeypatch):
    stopped_us: list[int] = []
    device = Device(53_000)
    device.hears_stop = True
    stop = Fleet.stop

    def watch(fleet, sender, name, now_us):
        stopped_us.append(now_us)
        return stop(fleet, sender, name, now_us)

    monkeypatch.setattr(Fleet, "stop", watch)
    with pytest.raises(NotHeldFault):
        drive(device)
    assert stopped_us[0] in device.heard_us
    assert stopped_us[0] % TICK_US


# --- the wake-up


def waited(notify_at_us: int | None, until_us: int) -> tuple[bool, int]:
    """Whether it was notified before that, and when the wait ended, from 1 s on."""
    loop = VirtualTimeLoop()

    async def wait():
        wake_signal = WakeSignal(loop.now_us)
        wake_signal.notify()  # nobody waits for it yet
        if notify_at_us is not None:
            loop.call_later((notify_at_us - loop.now_us()) * 1e-6, wake_signal.notify)
        return await wake_signal.wait_until(until_us), loop.now_us()

    try:
        return loop.run_until_complete(wait())
    finally:
        loop.close()


@pytest.mark.parametrize(
    ("notify_at_us", "until_us", "ended"),
    [
        (None, 1_010_000, (False, 1_010_000)),
        (1_004_000, 1_010_000, (True, 1_004_000)),
        (1_020_000, 1_010_000, (False, 1_010_000)),
        (None, 900_000, (False, 1_000_000)),
    ],
)
def test_a_notification_counts_while_it_is_waited_for(notify_at_us, until_us, ended):
    assert waited(notify_at_us, until_us) == ended


def test_a_wait_that_was_notified_does_not_end_the_next_one():
    loop = VirtualTimeLoop()

    async def wait():
        wake_signal = WakeSignal(loop.now_us)
        loop.call_later(0.004, wake_signal.notify)
        first = await wake_signal.wait_until(1_010_000)
        return first, await wake_signal.wait_until(1_020_000), loop.now_us()

    try:
        assert loop.run_until_complete(wait()) == (True, False, 1_020_000)
    finally:
        loop.close()
