"""A stop source's words one by one: when, of whom, with which number, and when they are heard."""

from __future__ import annotations

from dataclasses import replace

import pytest

from firmware.protocol import messages
from host_bridge.cars import stop_source_heartbeat
from host_bridge.cars.stop_source_heartbeat import SEAT, StopSourceHeartbeat
from host_bridge.core.board_time import TIME_MASK
from host_bridge.link.protocol import wire
from tests.host_bridge.drive.drives import EPOCH, Drive, Rig, vehicle

EVERY_US, HEARD_US = 20_000, 100_000
LATER_US = 1_000_000


def registered(**changes):
    """A vehicle whose stop source seat is like this; it is the only one that counts here."""
    sources = [
        replace(source, **changes) if source.name == SEAT else source
        for source in vehicle().stop_sources
    ]
    return replace(vehicle(), stop_sources=tuple(sources))


class Seat:
    """A sign of a car that is bound, and what it puts on the wire."""

    def __init__(self, of=None, name: str = SEAT) -> None:
        self.rig = Rig("a", of=of or registered(silence_s=1.0, needs={"track": "required"}))
        self.drive = Drive(self.rig)
        self.drive.is_host_alive = False
        self.drive.bind()
        self.now_us = self.drive.now_us
        self.heartbeat = StopSourceHeartbeat(self.rig.car, name)
        self.id = next(it.id for it in vehicle().stop_sources if it.name == SEAT)

    def step(self, after_us: int) -> list[messages.Alive]:
        self.rig.car.data_to_send()
        self.heartbeat.step(self.now_us + after_us)
        data = self.rig.car.data_to_send()
        found = (
            wire.MessageDecoder().feed(b"\0" + it + b"\0")[0] for it in data.split(b"\0") if it
        )
        return [message for message in found if isinstance(message, messages.Alive)]

    def says(self, after_us: int) -> bool:
        return bool(self.step(after_us))

    def is_heard(self, after_us: int) -> bool:
        return self.heartbeat.is_heard(self.now_us + after_us)


@pytest.fixture
def seat():
    return Seat()


def test_a_word_names_its_session_source_number_and_time(seat):
    (first,) = seat.step(0)
    assert (first.epoch, first.stop_source, first.runs) == (EPOCH, seat.id, 1)
    assert (first.sequence, first.stamp_us) == (1, seat.now_us & TIME_MASK)
    (second,) = seat.step(7)
    assert (second.sequence, second.stamp_us) == (2, seat.now_us + 7 & TIME_MASK)


def test_a_vehicle_is_searched_for_the_source_once_and_again_when_it_is_another(seat, monkeypatch):
    searched = []

    def search(of, name):
        searched.append(of)
        return of and next(it for it in of.stop_sources if it.name == name)

    monkeypatch.setattr(stop_source_heartbeat, "_registered", search)
    first, second = registered(), registered(id=9)
    found = []
    for n, of in enumerate((first, first, None, second, second)):
        seat.rig.car.vehicle = of
        found.append([it.stop_source for it in seat.step(n * LATER_US)])
    assert found == [[seat.id], [seat.id], [], [9], [9]]
    assert [of for of in searched if of] == [first, second]


def test_it_is_said_at_once_twice_and_then_every_20_ms(seat):
    sent_us = [at_us for at_us in range(0, 100_000, 1000) if seat.says(at_us)]
    assert sent_us == [0, 1000, 20_000, 40_000, 60_000, 80_000]


def test_who_is_late_is_not_late_for_ever_and_who_was_away_does_not_make_up_for_it(seat):
    assert [seat.says(at_us) for at_us in (0, 1, 25_000, 39_999, 40_000)] == [
        True, True, True, False, True,
    ]  # fmt: skip
    assert [seat.says(LATER_US + at_us) for at_us in (0, 1, 2, 19_999, 20_000)] == [
        True, True, False, False, True,
    ]  # fmt: skip


@pytest.mark.parametrize(("silence_s", "every_us"), [(0.12, 10_000), (0.24, 20_000), (0.5, 20_000)])
def test_it_is_said_twelve_times_in_the_silence_that_is_allowed(silence_s, every_us):
    seat = Seat(registered(silence_s=silence_s, needs={"track": "required"}))
    assert [seat.says(at_us) for at_us in (0, 1, every_us - 1, every_us)] == [
        True, True, False, True,
    ]  # fmt: skip


def test_its_numbers_wrap(seat):
    seat.heartbeat._sequence = 0xFFFF
    assert [seat.step(at_us)[0].sequence for at_us in (0, EVERY_US)] == [0, 1]


def test_it_is_taken_to_be_heard_a_tenth_of_a_second_after_it_was_said_first(seat):
    assert not seat.is_heard(0)
    seat.step(5)
    seat.step(50_000)
    assert not seat.is_heard(HEARD_US + 4)
    assert seat.is_heard(HEARD_US + 5)


def test_another_word_is_said_at_once_and_has_to_be_heard_anew(seat):
    seat.step(0)
    seat.heartbeat.set_state(runs=False)
    assert not seat.is_heard(LATER_US)
    (word,) = seat.step(1000)
    assert word.runs == 0
    assert not seat.is_heard(HEARD_US + 999)
    assert seat.is_heard(HEARD_US + 1000)
    seat.heartbeat.set_state(runs=True)
    (word,) = seat.step(2000)
    assert word.runs == 1


def test_the_same_word_said_again_changes_nothing(seat):
    seat.step(0)
    seat.step(1)
    seat.heartbeat.set_state(runs=True)
    assert seat.step(1000) == []
    assert seat.is_heard(HEARD_US)


def test_to_a_car_that_is_not_bound_nothing_is_said_and_it_has_heard_nothing(seat):
    seat.step(0)
    assert seat.is_heard(LATER_US)
    seat.rig.car.closed(seat.now_us)
    assert seat.step(LATER_US) == []
    assert not seat.is_heard(2 * LATER_US)


def test_a_listener_without_a_session_says_nothing(seat):
    seat.rig.car.connection.epoch = None
    assert seat.step(0) == []


@pytest.mark.parametrize(
    ("needs", "speaks"),
    [
        ({"stand": "no", "track": "no"}, False), ({"stand": "no", "track": "optional"}, True),
        ({"stand": "required", "track": "no"}, True), ({}, False),
    ],
)  # fmt: skip
def test_it_speaks_only_where_some_profile_needs_it(needs, speaks):
    seat = Seat(registered(silence_s=1.0, needs=needs))
    assert seat.says(0) is speaks
    assert seat.is_heard(1) is not speaks, "where it is not asked for there is nothing to wait for"


def test_who_is_not_registered_says_nothing():
    seat = Seat(name="nobody")
    assert not seat.says(0)
    assert seat.is_heard(0)


def test_of_a_car_without_a_vehicle_file_nothing_is_known(seat):
    seat.rig.car.vehicle = None
    assert not seat.says(0)
    assert seat.is_heard(0)
