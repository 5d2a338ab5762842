"""What a phone may, by which secret, and how old a hold is; in virtual time."""

from __future__ import annotations

import asyncio

import pytest

from host_bridge.cli.main import main
from host_bridge.core import InputLimits, Observed
from host_bridge.core.errors import UsageFault
from host_bridge.station.phone.challenges import SINCE_US, Challenges
from host_bridge.station.phone.phone_access import CODE_US, DRIVES_US, PhoneAccess
from host_bridge.station.phone.phone_seat import PHONE_FRAME, PhoneSeat
from tests.support.evidence import every

LEASE_US = 120_000
SEEN = Observed((), is_driving=True, is_permitted=True)


class Clock:
    def __init__(self):
        self.now_us = 1_000_000

    def __call__(self):
        return self.now_us


class Context:
    """What a drive opens its input with, as far as a phone's asks for it."""

    def limits(self, source):
        assert source == "remote"
        return InputLimits(1.0, 1.0, 0.4)

    def lease_s(self, source):
        return LEASE_US * 1e-6


@pytest.fixture
def clock():
    return Clock()


async def opened(clock):
    seat = PhoneSeat(clock, lambda lines: None, Challenges())
    await seat.open(Context())
    return seat


def frame(number, since_us, held=True, speed=1.0, count=1):
    flags = 1 if held else 0
    return PHONE_FRAME.pack(3, flags, 0, round(speed * 32767), count, number, since_us // SINCE_US)


def made(clock):
    return asyncio.run(opened(clock))


def test_a_hold_is_as_old_as_the_number_that_it_names(clock):
    seat = made(clock)
    number = seat._challenges.new(clock())
    clock.now_us += 30_000
    seat.hear(frame(number, 20_000, held=False))
    assert seat.hear(frame(number, 20_000))
    command = seat.step(clock(), SEEN)
    assert command.is_held
    assert command.heard_us == 1_020_000, "20 ms after the number went out, 10 ms before it came"


def test_a_late_burst_never_looks_new(clock):
    """400 ms of frames that TCP delivers at once: the last one is as old as it was said."""
    seat = made(clock)
    numbers = [(seat._challenges.new(clock.now_us + n * 50_000), n * 50_000) for n in range(2)]
    seat.hear(frame(numbers[0][0], 0, held=False))
    burst = [
        frame(numbers[0][0], since, count=n) for n, since in enumerate(range(0, 40_000, 16_000))
    ]
    clock.now_us += 400_000
    heard = []
    for it in burst:
        seat.hear(it)
        heard.append(seat.step(clock(), SEEN).heard_us)
    assert every(clock() - it > LEASE_US for it in heard), "older than the lease: no claim of it"


def test_no_clock_of_a_phone_makes_a_frame_younger_than_now(clock):
    seat = made(clock)
    number = seat._challenges.new(clock())
    clock.now_us += 10_000
    seat.hear(frame(number, 6_500_000, held=False))
    seat.hear(frame(number, 6_500_000))
    assert seat.step(clock(), SEEN).heard_us == clock()
    assert seat.hear(frame(number, 0, held=False)), "a release counts whatever its age"
    assert not seat.step(clock(), SEEN).is_held


@pytest.mark.parametrize(
    "wrong",
    [
        lambda number: frame(number ^ 1, 0),
        lambda number: frame(number, 0)[:-1],
        lambda number: b"\x01" + frame(number, 0)[1:],
        lambda number: b"",
    ],
)
def test_what_is_no_frame_of_a_phone_or_names_no_number_holds_nothing(clock, wrong):
    seat = made(clock)
    number = seat._challenges.new(clock())
    seat.hear(frame(number, 0, held=False))
    assert not seat.hear(wrong(number))
    assert not seat.step(clock(), SEEN).is_held


def test_an_old_number_is_forgotten(clock):
    seat = made(clock)
    first = seat._challenges.new(clock())
    for _ in range(64):
        seat._challenges.new(clock())
    assert not seat.hear(frame(first, 0))


def test_a_slow_network_drives_slowly(clock):
    seat = made(clock)
    for n in range(40):
        number = seat._challenges.new(clock())
        clock.now_us += 80_000  # more than half of the lease
        seat.hear(frame(number, 0, held=n > 0, count=n))
    command = seat.step(clock(), SEEN)
    assert command.is_held
    assert command.speed_mps == 0.3
    fast = made(clock)
    number = fast._challenges.new(clock())
    fast.hear(frame(number, 0, held=False))
    fast.hear(frame(number, 0))
    assert fast.step(clock(), SEEN).speed_mps == 1.0


def test_the_watch_key_never_drives_and_the_other_counts_once_and_not_for_long(clock):
    access = PhoneAccess(clock)
    assert access.may_watch(access.watch_key, "")
    assert not access.may_watch("", "")
    assert not access.may_drive(access.watch_key)
    assert access.exchange(access.watch_key) is None
    assert access.drive_key("1234") is None, "a number that no phone shows"
    code = access.new_code("192.0.2.1")
    key, address = access.drive_key(f" {code}\n")
    assert address == "192.0.2.1"
    assert access.drive_key(code) is None, "once"
    cookie = access.exchange(key)
    assert cookie is not None
    assert access.exchange(key) is None, "once"
    assert access.may_drive(cookie)
    assert access.may_watch("", cookie)
    clock.now_us += DRIVES_US
    assert not access.may_drive(cookie)


def test_numbers_and_keys_are_over_after_two_minutes(clock):
    access = PhoneAccess(clock)
    code = access.new_code("192.0.2.1")
    clock.now_us += CODE_US + 1
    assert access.drive_key(code) is None
    key, _ = access.drive_key(access.new_code("192.0.2.1"))
    clock.now_us += CODE_US + 1
    assert access.exchange(key) is None
    assert access.watch_key not in repr(access)


@pytest.mark.parametrize(
    ("words", "why"),
    [(("--phone", "127.0.0.7"), "on no phone"), (("--fleet", "hall"), "stops no fleet")],
)
def test_a_recorded_drive_is_on_no_phone_and_stops_no_fleet(words, why, tmp_path, capsys):
    log = str(tmp_path / "drive.mcap")
    assert main(["station", "--log", log, *words]) == UsageFault.exit_code
    assert why in capsys.readouterr().err
