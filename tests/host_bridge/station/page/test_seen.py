"""What a watcher computes: loss, skew and divergence by the boards' own words. Virtual time."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace

import pytest

from host_bridge.core import CarEvent, CarMotion, CarStatus, ClockReport, EventCode, Profile, State
from host_bridge.station import CarComparison
from host_bridge.station.views.feed import ShownScan
from host_bridge.station.views.telemetry_view import EventTimes, StatusLoss
from tests.host_bridge.drive.drives import vehicle

NOW_US = 5_000_000_000  # far beyond 30 bits of microseconds
EPOCH = 77
STATUS = CarStatus(
    0, State.ACTIVE, (), None, (), Profile.TRACK, 1, 1, 1, 0.1, 1.0, 0.0, 1.0, 0, 0, 0, 0, None
)
MOTION = CarMotion(0, 0, 0, 0.0, 0.0, 0.0, 0.0, 0.2, 0.0, 0.0)


class Board:
    """A car whose clock is ``ahead_us`` of the session's."""

    def __init__(self, comparison: CarComparison, name: str, ahead_us: int) -> None:
        self.car = SimpleNamespace(
            name=name, status=STATUS, vehicle=vehicle(), is_online=lambda: True,
            identity=SimpleNamespace(is_virtual=name != "real"), motion=None,
        )  # fmt: skip
        self._ahead_us = ahead_us
        self.reports = comparison.add(self.car)

    def bound(self, epoch: int = EPOCH) -> None:
        self.reports.hear([ClockReport(epoch, 0, -self._ahead_us & (1 << 30) - 1, 500)], NOW_US)

    def accepts(self, sequence: int, applied_us: int) -> None:
        board_us = applied_us + self._ahead_us & (1 << 30) - 1
        self.car.status = replace(
            STATUS, claim_sequence=sequence, claim_count=sequence, applied_us=board_us
        )
        self.reports.hear([self.car.status], applied_us)

    def is_at(self, x_m: float, time_us: int) -> None:
        captured_us = time_us + self._ahead_us & (1 << 30) - 1
        self.reports.hear([replace(MOTION, captured_us=captured_us, x_m=x_m)], time_us)


@pytest.fixture
def comparison():
    return CarComparison()


def pair(comparison):
    return Board(comparison, "twin", 123_456), Board(comparison, "real", 987_654_321)


def test_skew_is_told_by_two_boards_whose_clocks_differ(comparison):
    twin, real = pair(comparison)
    for board, late_us in ((twin, 0), (real, 3_500)):
        board.bound()
        board.accepts(9, NOW_US + late_us)
    comparison.step()
    (row,) = comparison.rows()
    assert (row["car"], row["twin"]) == ("real", "twin")  # the real one first, whatever its name
    assert row["skew_ms"] == 3.5


def test_a_claim_that_one_of_them_did_not_apply_is_no_skew(comparison):
    twin, real = pair(comparison)
    for board, sequence in ((twin, 9), (real, 10)):
        board.bound()
        board.accepts(sequence, NOW_US)
    comparison.step()
    assert comparison.rows()[0]["skew_ms"] is None


def test_paths_are_compared_at_the_same_moment_of_the_session(comparison):
    twin, real = pair(comparison)
    for board in (twin, real):
        board.bound()
        board.accepts(9, NOW_US)
    for i in range(40):
        time_us = NOW_US + i * 10_000
        twin.is_at(0.01 * i, time_us)
        real.is_at(0.02 * i, time_us)
        comparison.step()
    path = {it["what"]: it for it in comparison.rows()[0]["differences"]}["path"]
    assert path["amount"] == pytest.approx(0.39, abs=0.02)
    assert (path["unit"], path["differs"]) == ("m", False)


def test_a_twin_is_drawn_where_its_car_stood_when_both_were_armed(comparison):
    twin, real = pair(comparison)
    twin.car.motion = replace(MOTION, x_m=5.0, y_m=1.0, yaw_rad=0.0)
    real.car.motion = replace(MOTION, x_m=2.0, y_m=0.0, yaw_rad=math.pi / 2)
    for board in (twin, real):
        board.bound()
        board.accepts(9, NOW_US)
    comparison.step()
    x_m, y_m, turn_rad = comparison.rows()[0]["twin_frame"]
    assert turn_rad == pytest.approx(math.pi / 2, abs=1e-3)
    # in the twin's own reckoning it is at 5, 1: a quarter turn brings that to -1, 5
    assert (x_m - 1.0, y_m + 5.0) == (pytest.approx(2.0), pytest.approx(0.0))


def test_a_watcher_knows_how_well_a_car_knows_its_sessions_clock(comparison):
    twin, _ = pair(comparison)
    assert twin.reports.clock_bound_ms() is None
    twin.bound()
    twin.accepts(9, NOW_US)
    assert twin.reports.clock_bound_ms() == 0.5


def test_cars_of_two_sessions_are_not_compared(comparison):
    twin, real = pair(comparison)
    twin.bound()
    real.bound(EPOCH + 1)
    for board in (twin, real):
        board.accepts(9, NOW_US)
    comparison.step()
    assert comparison.rows() == []


def test_a_car_that_nobody_looks_at_any_more_is_compared_with_none(comparison):
    twin, real = pair(comparison)
    for board in (twin, real):
        board.bound()
        board.accepts(9, NOW_US)
    comparison.drop("real")
    comparison.step()
    assert comparison.rows() == []


def test_a_loss_is_a_part_of_what_was_sent_in_the_last_seconds():
    loss = StatusLoss()
    assert loss.percent() is None
    for i in range(21):
        loss.add(i * 500_000, i // 2, i * 5)  # in 5 s five of 55
    assert loss.percent() == pytest.approx(9.1, abs=0.1)


def test_a_scan_is_drawn_from_where_the_lidar_is_and_looks():
    scan = ShownScan(0.0, 0.0, 1.5708, [2.0, None, -1.0, 1.0])
    points = scan.points((1.0, 1.0, 1.5708), 0.5)
    assert points == [pytest.approx([1.0, 3.5], abs=0.01), pytest.approx([2.0, 1.5], abs=0.01)]


def event(number, time_us):
    return CarEvent(number, time_us % (1 << 30), EventCode.STATE_CHANGED, 1, 2)


def seconds(at_us):
    return f"{at_us * 1e-6:.2f} s"


def test_an_event_has_the_time_at_which_its_board_noticed_it():
    times = EventTimes(seconds)
    board_us = 7_000_000_000  # beyond every wrap
    now_us = 60_000_000
    times.hear(event(1, board_us - 4_000_000), board_us % (1 << 30), now_us)
    now_us, board_us = now_us + 10_000_000, board_us + 10_000_000
    times.hear(event(2, board_us - 250_000), board_us % (1 << 30), now_us)
    times.hear(event(3, board_us + 3_000), board_us % (1 << 30), now_us)  # told before its status
    told = times.of([event(1, 7_000_000_000 - 4_000_000), event(2, board_us - 250_000),
                     event(3, board_us + 3_000)])  # fmt: skip
    assert told == ["earlier", "69.75 s", "70.00 s"]


def test_of_what_came_before_it_was_looked_at_nobody_knows_when():
    """The board's clock may have wrapped since, so often as nobody can say."""
    times = EventTimes(seconds)
    old = event(1, 5_000_000)
    times.hear(old, None, 1_000_000)
    assert times.of([old]) == ["earlier"]
    times.hear(old, 600_000_000, 2_000_000)
    assert times.of([old]) == ["earlier"]
