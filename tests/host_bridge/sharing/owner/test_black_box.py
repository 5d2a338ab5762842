"""What a black box keeps of a car's last stops, and the log that it makes of one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from host_bridge.core import CarStatus, Cause, Profile, State
from host_bridge.core.errors import DataFileFault
from host_bridge.core.system.clock import ManualClock
from host_bridge.logs.reading import cars_in, facts, read, summary
from host_bridge.logs.recorder import Recorder, create
from host_bridge.sharing.owner.black_box import (
    AFTER_US,
    BEFORE_US,
    LINE_LOST,
    STOPS_MAX,
    BlackBox,
    new_stops,
)
from host_bridge.sharing.owner.board_verification import DOWN, RelayedFrames

START_US = 1 << 31  # beyond where the line's times wrap
STEP_US = 10_000
PARKED = CarStatus(
    time_us=0, state=State.STANDBY, causes=(), first_cause=None, faults=(), profile=Profile.TRACK,
    steering_source=None, drive_source=None, brake_source=None, steer_rad=0.0, target_mps=0.0,
    brake=0.0, speed_mps=0.0, claim_slot=0, claim_sequence=0, claim_count=0, claim_crc=0,
    applied_us=None,
)  # fmt: skip
DRIVING = replace(PARKED, state=State.ACTIVE)
HELD = replace(PARKED, state=State.HOLD)
STOPPING = replace(PARKED, state=State.STOPPING, causes=(Cause.STOP_REQUEST,))
WHY = "Stopped because somebody asked for it."


class Desk:
    """A black box and the clock by which it hears; ``asked`` counts its questions to the car."""

    def __init__(self) -> None:
        self.now_us = START_US
        self.asked = 0
        self.why = ""
        self.stops = new_stops()
        self.box = BlackBox(lambda: self.why, self._ask, self._describe, self.stops)

    def _ask(self) -> None:
        self.asked += 1

    @staticmethod
    def _describe(log: Recorder) -> None:
        log.car("red", {"board_id": "0102"})

    def hear(self, status: CarStatus, seconds: float, size: int = 60) -> None:
        """A status and some bytes each 10 ms."""
        for _ in range(round(seconds * 1e6) // STEP_US):
            self.now_us += STEP_US
            self.box.hear(RelayedFrames(DOWN, bytes(size), self.now_us))
            self.box.watch(status, self.now_us)

    def stop(self, drive_s: float = 1.0) -> None:
        """Drive, and stop for good."""
        self.hear(DRIVING, drive_s)
        self.why = WHY
        self.hear(STOPPING, 2.5)


@pytest.fixture
def desk():
    return Desk()


def test_ten_seconds_before_a_stop_and_two_after_are_kept(desk):
    desk.hear(PARKED, 30.0)
    desk.stop(15.0)
    (stop,) = desk.stops
    times_us = [it.time_us for it in stop.frames]
    assert times_us == list(range(times_us[0], times_us[-1] + 1, STEP_US))  # all of them, once each
    assert stop.at_us - times_us[0] == BEFORE_US
    assert 0 <= times_us[-1] - stop.at_us - AFTER_US < STEP_US
    assert (stop.before_s, stop.words, desk.asked) == (10.0, WHY, 1)


def test_what_came_before_a_short_drive_is_kept_with_it(desk):
    desk.hear(PARKED, 1.0)
    desk.stop(0.5)
    assert desk.stops[0].before_s == pytest.approx(1.5, abs=0.02)


@pytest.mark.parametrize("armed", [DRIVING, HELD])
@pytest.mark.parametrize(
    "stopped",
    [
        STOPPING,
        replace(PARKED, state=State.FAULT),
        replace(PARKED, causes=(Cause.STOP_REQUEST,)),
    ],
)
def test_each_way_out_of_being_armed_that_locks_it_is_a_stop(desk, armed, stopped):
    desk.hear(armed, 0.1)
    desk.hear(stopped, 3.0)
    assert len(desk.stops) == 1


def test_a_disarmed_car_and_one_that_was_never_armed_have_no_stop(desk):
    desk.hear(DRIVING, 0.5)
    desk.hear(PARKED, 0.5)  # disarmed, in order
    desk.hear(STOPPING, 3.0)  # stopped as it stood there
    assert (list(desk.stops), desk.asked) == ([], 0)


def test_a_stop_is_not_shown_before_its_end_was_heard_and_the_end_of_the_line_is_one(desk):
    desk.hear(DRIVING, 1.0)
    desk.why = WHY
    desk.hear(STOPPING, 1.0)
    assert not desk.stops
    desk.box.lose_line(desk.now_us)
    assert (desk.stops[0].frames[-1].time_us, desk.stops[0].words) == (desk.now_us, WHY)
    desk.box.lose_line(desk.now_us)
    assert len(desk.stops) == 1


@pytest.mark.parametrize("armed", [DRIVING, HELD])
def test_an_armed_car_whose_line_ends_has_a_stop_at_that_moment(desk, armed):
    desk.hear(PARKED, 3.0)
    desk.hear(armed, 4.0)
    desk.box.lose_line(desk.now_us)
    desk.box.lose_line(desk.now_us)
    (stop,) = desk.stops
    assert (stop.at_us, stop.words) == (desk.now_us, LINE_LOST)
    assert stop.before_s == pytest.approx(6.99)


def test_the_log_of_a_stop_with_which_the_line_ended_says_so(desk, tmp_path):
    desk.hear(DRIVING, 0.5, size=0)
    desk.box.lose_line(desk.now_us)
    path = tmp_path / "stop.mcap"
    clock = ManualClock(desk.now_us)
    desk.stops[0].write(create(path, clock, 1_790_000_000_000_000_000, {}), "red")
    assert summary(path).notes == [f"stopped: {LINE_LOST}"]


def test_a_stop_whose_end_is_awaited_is_kept_beside_the_end_of_the_line(desk):
    desk.hear(DRIVING, 1.0)
    desk.why = WHY
    desk.hear(STOPPING, 0.5)
    desk.hear(DRIVING, 0.5)  # armed again within two seconds
    desk.box.lose_line(desk.now_us)
    assert [it.words for it in desk.stops] == [WHY, LINE_LOST]


def test_a_disarmed_car_whose_line_ends_has_none_and_what_was_heard_goes(desk):
    desk.hear(DRIVING, 1.0)
    desk.hear(PARKED, 1.0)
    desk.box.lose_line(desk.now_us)
    assert not desk.stops
    desk.stop(0.1)
    assert desk.stops[0].before_s < 0.2


def test_the_words_are_the_later_ones_and_those_of_the_stop_where_it_was_cleared(desk):
    desk.hear(DRIVING, 1.0)
    desk.hear(STOPPING, 0.1)  # its cause comes with an event, a moment later
    desk.why = WHY
    desk.hear(STOPPING, 2.0)
    desk.stop()
    desk.hear(DRIVING, 1.0)
    desk.hear(STOPPING, 0.1)
    desk.why = ""
    desk.hear(PARKED, 2.0)
    assert [it.words for it in desk.stops] == [WHY, WHY, WHY]


def test_a_second_stop_soon_after_ends_the_first_and_no_more_than_three_are_kept(desk):
    for n in range(STOPS_MAX + 2):
        desk.hear(DRIVING, 0.5)
        desk.why = f"stop {n}"
        desk.hear(STOPPING, 0.5)
    desk.hear(STOPPING, 2.0)
    assert len(desk.stops) == STOPS_MAX
    moments = [it.at_us for it in desk.stops]
    assert moments == sorted(set(moments))


def test_a_flood_on_the_line_costs_four_megabytes_at_most(desk):
    desk.hear(DRIVING, 5.0, size=1 << 16)
    desk.stop(0.0)
    assert sum(len(it.frames) for it in desk.stops[0].frames) <= 4 << 20


def test_its_log_has_every_frame_at_its_time_and_says_when_it_stopped(desk, tmp_path):
    for n in range(1200):
        desk.now_us += STEP_US
        desk.box.hear(RelayedFrames(DOWN, b"\0frame %d\0" % n, desk.now_us))
        desk.box.watch(DRIVING if n < 1000 else STOPPING, desk.now_us)
    desk.why = WHY
    desk.hear(STOPPING, 0.1, size=0)
    (stop,) = desk.stops
    path = tmp_path / "stop.mcap"
    clock = ManualClock(desk.now_us + 600_000_000)  # it is written ten minutes later
    stop.write(create(path, clock, 1_790_000_000_000_000_000, {}), "red")
    frames = [it for it in read(path) if it.topic == DOWN]
    assert [(it.time_us, it.value) for it in frames] == [
        (it.time_us, it.frames) for it in stop.frames
    ]
    found = summary(path)
    assert found.notes == [f"stopped: {WHY}"]
    assert found.last_us - found.first_us == stop.frames[-1].time_us - stop.frames[0].time_us
    assert cars_in(facts(path))["red"]["board_id"] == "0102"
    assert found.is_complete


def test_a_log_that_could_not_be_written_is_an_error(desk, tmp_path):
    desk.stop()
    log = create(tmp_path / "stop.mcap", ManualClock(desk.now_us), 0, {})
    log.fault = DataFileFault("the disk is full")
    with pytest.raises(DataFileFault, match="disk is full"):
        desk.stops[0].write(log, "red")
